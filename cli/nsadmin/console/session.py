"""Owns the session: a command reaches servers and the operator only through it."""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from time import monotonic, sleep, time
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from namesrv_core.transport.multiplexed_client import CallError, ExchangeObserver
from nsadmin.client import AdminClient
from nsadmin.client.advised_command import own_connection, quote_command
from nsadmin.client.connection.access_options import Access
from nsadmin.client.connection.addresses import NameServerFinder, NameServerList, make_finder
from nsadmin.client.connection.connection_pool import Pool
from nsadmin.client.results import error_text
from nsadmin.console import confirmation, exit_codes, progress, request_observer, stderr
from nsadmin.console.output import OutputStyle, ResultRows

if TYPE_CHECKING:
    from nsadmin.client.bundles.bundle_file import SupportBundle

T = TypeVar("T")

_END_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
_BRIEF_TIMEOUT_SECONDS = 1.0
"""Timeout of requests that only look for a hint."""


class PluginOptions(NamedTuple):
    """The output options of a check, as they were typed; None for an option that was not typed."""

    format: str | None = None
    output_file: str | None = None
    wait_until_ok: str | None = None


class SharedOptions(NamedTuple):
    """The options that all commands have in common.

    `context` is the name of the context in force, and `color` its colour. `overruled_sources` describes the
    sources of name servers that were not used, `credentials_source` the source of the credentials.
    `journal_folders` are the folders that the context names. `bundle` is the support bundle that is read
    instead of servers.
    """

    namesrv_addr: tuple[str, ...] | NameServerList | NameServerFinder | None = None
    access: Access = Access()
    style: OutputStyle = OutputStyle()
    dry_run: bool = False
    yes: bool = False
    watch: float | None = None
    read_only: bool = False
    quiet: bool = False
    debug: bool = False
    context: str | None = None
    color: str | None = None
    overruled_sources: tuple[str, ...] = ()
    credentials_source: str | None = None
    journal_folders: tuple[str, ...] = ()
    plugin_options: PluginOptions = PluginOptions()
    bundle: "SupportBundle | None" = None

    @property
    def own_context(self) -> str | None:
        """The context in force; None if other name servers are used than its own, such as those of -n."""
        overruled = f"context {self.context} ("
        return None if any(w.startswith(overruled) for w in self.overruled_sources) else self.context

    @property
    def bundle_advice(self) -> str:
        """How to run the command on servers instead of the bundle."""
        return "leave out --bundle" if self.context is None else "use a context without a bundle"


class Session:
    """The servers and options of one command; it lives as long as the command.

    `namesrv_addrs` are the name servers that the command uses; empty if it uses none, because brokers were
    named by address. `shared_values` are the shared options as they were typed, for commands that start
    other command lines. `sent_changes` records the requests that change something. `output_form` turns the
    result into the text that another program would print; None for our own formats. `written_notes` are the
    lines below the result.

    No changing request can be sent by a command that reads, in a dry run, or in a read-only context.
    """

    def __init__(
        self,
        shared_options: SharedOptions,
        *,
        may_change: bool = True,
        connection_pool: Pool | None = None,
        run_line: Callable[[list[str]], int] | None = None,
    ) -> None:
        self.options = shared_options
        self._connection_pool = connection_pool
        self._run_line = run_line
        self._may_change = may_change and not shared_options.dry_run and shared_options.bundle is None
        self.namesrv_addrs: tuple[str, ...] = ()
        self.shared_values: Mapping[str, Any] = {}
        self.sent_changes = request_observer.SentChanges()
        self.output_form: Callable[[ResultRows | str], str] | None = None
        self.record_begun: Callable[[ResultRows], None] = lambda rows: None
        self._started_at = monotonic()
        self.started_ms = int(time() * 1000)
        self.written_notes: list[str] = []
        self._progress_bar: progress.RequestProgressBar | None = None
        self._first_values: list[Any] = []
        if shared_options.debug and shared_options.access.tunnel is not None:
            from nsadmin.client.connection.tunnels.tunnel_leases import report_forwards

            report_forwards(stderr.write_stderr_line)

    @property
    def is_dry_run(self) -> bool:
        return self.options.dry_run

    @cached_property
    def admin(self) -> AdminClient:
        """The client of the command; it asks every name server, to notice dead ones and disagreements.

        Requests to a server named by address need no name server.
        """
        if self._may_change:
            self._replace_handlers(signal.SIG_DFL, signal.default_int_handler)
        return AdminClient(
            self._find_name_servers,
            access=self.options.access,
            ask_all=True,
            observer=self._request_observer,
            read_only=not self._may_change or self.options.read_only,
            pool=self._connection_pool,
        )

    def _replace_handlers(self, present_handler: Any, new_handler: Any) -> None:
        """Let `kill` and the end of a terminal stop a change like Ctrl-C, with its record in the audit."""
        if threading.current_thread() is threading.main_thread():
            for signal_number in _END_SIGNALS:
                if signal.getsignal(signal_number) is present_handler:
                    signal.signal(signal_number, new_handler)

    def _find_name_servers(self) -> NameServerList:
        """Find the name servers, at the first request to one; note the default and other special cases."""
        servers = make_finder(self.options.namesrv_addr)()
        if servers.source == "default":
            context = f"the context {self.options.context}" if self.options.context else "a context"
            self.write_remark(
                f"no name server is set by -n, NAMESRV_ADDR or {context}: trying {servers.addrs[0]}"
            )
        if servers.note:
            stderr.write_stderr_line(servers.note)
        self.namesrv_addrs = servers.addrs
        return servers

    @cached_property
    def _request_tracer(self) -> ExchangeObserver | None:
        """The observer that prints each request of every client; None without --debug."""
        return request_observer.create_tracer(self._started_at) if self.options.debug else None

    @cached_property
    def _request_observer(self) -> ExchangeObserver | None:
        shared_options, request_observers = self.options, list[ExchangeObserver]()
        if self._request_tracer is not None:
            request_observers.append(self._request_tracer)
        elif progress.can_draw_on_stderr() and not shared_options.quiet and shared_options.watch is None:
            self._progress_bar = progress.RequestProgressBar()
            request_observers.append(self._progress_bar)
        if self._may_change:
            request_observers.append(self.sent_changes)
        return request_observer.combine_observers(request_observers)

    def open_brief_client(self) -> AdminClient:
        """Open a client of the same name servers with a short timeout; it notes no unreachable servers."""
        access = self.options.access
        return AdminClient(
            lambda: self.admin.addresses,
            access=access._replace(timeout=min(access.timeout, _BRIEF_TIMEOUT_SECONDS), retries=0),
            observer=self._request_tracer,
            read_only=True,
        )

    def open_other_client(
        self,
        namesrv_addr: tuple[str, ...] | NameServerList | NameServerFinder | None,
        access: Access,
        *,
        may_change: bool = False,
    ) -> AdminClient:
        """Open a client of other name servers, with the same observer.

        It only reads, unless `may_change` is set and the command itself may change something. The caller then
        checks that the context of those name servers is writable.
        """
        is_read_only = not (may_change and self._may_change)
        return AdminClient(
            namesrv_addr, access=access, observer=self._request_observer, read_only=is_read_only
        )

    @contextmanager
    def rehearse(self) -> Iterator["Session"]:
        """Yield a session of the same servers for a dry run, without remarks."""
        options = self.options._replace(dry_run=True, quiet=True, namesrv_addr=lambda: self.admin.addresses)
        rehearsal = Session(options, may_change=False, connection_pool=self._connection_pool)
        try:
            yield rehearsal
        finally:
            if "admin" in rehearsal.__dict__:
                rehearsal.admin.close()

    def open_background_client(
        self, find_name_servers: NameServerFinder | None = None, access: Access | None = None
    ) -> AdminClient:
        """Open a client for a thread that reads for days; without a progress bar.

        By default, it has the name servers and the access of this session.
        """
        return AdminClient(
            self.admin.addresses if find_name_servers is None else find_name_servers,
            access=self.options.access if access is None else access,
            observer=self._request_tracer,
            read_only=True,
        )

    def open_tunnel(self) -> None:
        """Open the tunnel for the rest of the process, so that a login can ask before a screen starts."""
        tunnel_target = self.options.access.tunnel
        if tunnel_target is None:
            return
        from nsadmin.client.connection.tunnels.tunnel_leases import lease_tunnel

        try:
            lease_tunnel(tunnel_target).open()
        except CallError as error:
            # The screen shows unreachable servers, and tries again.
            self.write_remark(str(error))

    @contextmanager
    def show_progress(self, step_label: str, total_steps: int) -> Iterator[Callable[[int], None]]:
        """Show a bar for the steps of a procedure, and hide the bar of requests meanwhile.

        Without that bar, a line on stderr every 10 seconds tells how far it is. Yields a function that takes
        the number of steps done since its last call.
        """
        if self.options.quiet:
            yield lambda _: None
            return
        request_bar = self._progress_bar
        step_progress = progress.StepProgressBar(
            step_label, total_steps, self.write_remark if request_bar is None else None
        )
        if request_bar is not None:
            request_bar.is_hushed = True
        try:
            yield step_progress.advance_steps
        finally:
            step_progress.close()
            if request_bar is not None:
                request_bar.is_hushed = False

    def write_remark(self, remark_text: str) -> None:
        """Write a line that is not an error to stderr; nothing with --quiet."""
        if not self.options.quiet:
            stderr.write_stderr_line(remark_text)

    @property
    def can_ask(self) -> bool:
        """Whether `confirm_change` asks."""
        return not (self.options.yes or self.is_dry_run) and confirmation.can_ask_operator()

    def confirm_change(self, question: str) -> None:
        """Ask before a change, if an operator can be asked; raise ChangeDeclined after a no."""
        if not self.can_ask:
            return
        if not confirmation.ask_yes_no(question):
            raise exit_codes.ChangeDeclined

    def ask_secret(
        self,
        secret_name: str,
        is_piped: bool,
        advice: str = "pipe it in with --secretKeyStdin, or name its source with --credentials",
    ) -> str:
        """Read a secret from the terminal, without echo, or if `is_piped` from a line of standard input.

        `advice` is the way to pass the secret without a terminal.
        """
        if not is_piped and not confirmation.can_ask_operator():
            raise exit_codes.UsageError(
                f"missing {secret_name}, and there is no terminal to ask on: {advice}"
            )
        secret_text = confirmation.ask_secret(secret_name)
        if not secret_text:
            raise exit_codes.UsageError(f"missing {secret_name}: standard input has no line for it")
        return secret_text

    def require_writable(self, command_name: str) -> None:
        """Raise ReadOnlyContextError in a read-only context or a bundle, except in a dry run."""
        if self.options.bundle is not None and not self.is_dry_run:
            raise exit_codes.ReadOnlyContextError(
                f"{command_name} changes the cluster, and a bundle only has its answers: "
                f"{self.options.bundle_advice}, or pass --dry-run"
            )
        if self.options.read_only and not self.is_dry_run:
            raise exit_codes.ReadOnlyContextError(
                f"{command_name} changes the cluster, and the context "
                f"{self.options.context} is read-only: use another context, or run "
                f"nsadmin context set {self.options.context} --writable"
            )

    def require_yes(self, command_name: str, loss: str) -> None:
        """Raise UsageError if --yes is missing and there is no terminal; `loss` says what is at stake."""
        if not (self.options.yes or self.is_dry_run or confirmation.can_ask_operator()):
            raise exit_codes.UsageError(f"{command_name}: {loss}: to do it without a terminal, pass --yes")

    def run_command_line(self, command_words: list[str]) -> int:
        """Run a command line with the options and connections of this batch; return its exit code."""
        assert self._run_line is not None, "only a batch runs other commands"
        return self._run_line(command_words)

    def continue_table(self) -> None:
        """Write the next rows without column names, because they continue the table before."""
        headless_style = self.options.style._replace(shows_headers=False)
        self.options = self.options._replace(style=headless_style)

    def remember_first(self, make_value: Callable[[], T]) -> T:
        """Return the value of the first call; with --watch, the first run makes it and later runs get it."""
        if not self._first_values:
            self._first_values.append(make_value())
        first_value: T = self._first_values[0]
        return first_value

    def repeat_every(self, period_seconds: float, run_once: Callable[[], T]) -> Iterator[T]:
        """Yield the results of endless runs, one per period."""
        while True:
            yield run_once()
            sleep(period_seconds)

    @property
    def is_complete(self) -> bool:
        """Whether every name server answered."""
        return "admin" not in self.__dict__ or not self.admin.unreachable

    def describe_interruption(self) -> str:
        if not self._may_change:
            return "interrupted"
        return f"interrupted; {self.sent_changes.describe_outcomes() or 'nothing was changed'}"

    def close(self) -> None:
        """Close the connections, and report unreachable name servers and disagreements."""
        if self._progress_bar is not None:
            self._progress_bar.close()
        if "admin" not in self.__dict__:
            return
        self._replace_handlers(signal.default_int_handler, signal.SIG_DFL)
        self.admin.close()
        unreachable_servers = self.admin.unreachable
        if unreachable_servers and len(unreachable_servers) < len(self.admin.addresses.addrs):
            for namesrv_addr, error in unreachable_servers.items():
                text = f"{namesrv_addr}: {error_text(error)}"
                if not any(text in note for note in self.written_notes):
                    stderr.write_stderr_line(f"name server {text}")
        for disagreement in self.admin.disagreements:
            self.write_remark(disagreement)
        if self.admin.disagreements:
            advised = quote_command("divergence", connection=own_connection.get()())
            self.write_remark(f"the result may be incomplete: run {advised}")
