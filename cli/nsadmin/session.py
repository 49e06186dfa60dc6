"""Session: the world that a command is handed, so that it neither connects nor prints."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from time import monotonic, sleep
from typing import Any, NamedTuple, TypeVar

from namesrv_core.transport.multiplexed_client import ExchangeObserver
from nsadmin import confirmation, exit_codes, progress, request_observer, stderr
from nsadmin.client import AdminClient
from nsadmin.client.brokers.brokers import BrokerAdmin
from nsadmin.client.connection.access_options import Access
from nsadmin.client.connection.addresses import NameServerFinder, NameServerList, make_finder
from nsadmin.client.connection.connection_pool import Pool
from nsadmin.client.results import error_text
from nsadmin.output import OutputStyle, ResultRows

T = TypeVar("T")

_BRIEF_TIMEOUT_SECONDS = 1.0
"""Seconds that hints are worth waiting for."""


class PluginOptions(NamedTuple):
    """How a check tells what it found: in a `format`, to a file or to stdout, at once or when all is well.

    As they were typed; None for what was not.
    """

    format: str | None = None
    output_file: str | None = None
    wait_until_ok: str | None = None


class SharedOptions(NamedTuple):
    """The options that all commands have in common.

    `context` is the name of the context in force, `color` what it is shown in. `overruled` are the ways to
    find name servers that did not win, and `signed_from` is where the credentials are from, in words.
    `journals` are the folders that the context names.
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


class Session:
    """Lives as long as one command; `changes` are the requests it sent that change something.

    `name_servers` are those it has to do with; none where brokers were named by address. `said` are the
    shared options as they were typed, for who starts other command lines. `form` makes text of what the
    command returns, where that is to look like another program's.

    Nothing of that kind can be sent for a command that may not change anything, in a dry run, or in a
    read-only context.
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
        self._may_change = may_change and not shared_options.dry_run and not shared_options.read_only
        self.namesrv_addrs: tuple[str, ...] = ()
        self.shared_values: Mapping[str, Any] = {}
        self.sent_changes = request_observer.SentChanges()
        self.output_form: Callable[[ResultRows | str], str] | None = None
        self._started_at = monotonic()
        self._progress_bar: progress.RequestProgressBar | None = None
        self._first_values: list[Any] = []

    @property
    def is_dry_run(self) -> bool:
        """Whether the command may only say what it would do."""
        return self.options.dry_run

    @cached_property
    def admin(self) -> AdminClient:
        """Asks every name server each time, so that one that is dead or tells another story is noticed.

        Whoever is named by address is asked there, for which no name server is needed.
        """
        return AdminClient(
            self._find_name_servers,
            access=self.options.access,
            ask_all=True,
            observer=self._request_observer,
            read_only=not self._may_change,
            pool=self._connection_pool,
        )

    def _find_name_servers(self) -> NameServerList:
        """Looked for when the first one is to be asked; what is special about them is said then."""
        found_name_servers = make_finder(self.options.namesrv_addr)()
        if found_name_servers.source == "default":
            context_name = self.options.context
            context_hint = f"context {context_name} names no name servers" if context_name else "no context"
            self.write_remark(
                f"no -n, no NAMESRV_ADDR and {context_hint}: asking {found_name_servers.addrs[0]}"
            )
        if found_name_servers.note:
            stderr.write_stderr_line(found_name_servers.note)
        self.namesrv_addrs = found_name_servers.addrs
        return found_name_servers

    @cached_property
    def _request_tracer(self) -> ExchangeObserver | None:
        """Who says each request, whichever client sends it."""
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

    @property
    def brokers(self) -> BrokerAdmin:
        """Brokers asked at their own addresses, for which no name server is needed."""
        return self.admin.brokers

    def open_brief_client(self) -> AdminClient:
        """Another client for the same name servers, asking briefly; who does not answer is not noted."""
        access = self.options.access
        return AdminClient(
            lambda: self.admin.addresses,
            access=access._replace(timeout=min(access.timeout, _BRIEF_TIMEOUT_SECONDS), retries=0),
            observer=self._request_tracer,
            read_only=True,
        )

    def open_other_client(
        self, namesrv_addr: tuple[str, ...] | NameServerList | NameServerFinder | None, access: Access
    ) -> AdminClient:
        """A client that reads from other name servers than the command's own, seen by the same observer."""
        return AdminClient(namesrv_addr, access=access, observer=self._request_observer, read_only=True)

    def open_background_client(self) -> AdminClient:
        """Another client for the same name servers, for a thread that reads for days; without a bar."""
        return AdminClient(
            self.admin.addresses,
            access=self.options.access,
            observer=self._request_tracer,
            read_only=True,
        )

    @contextmanager
    def show_progress(self, step_label: str, total_steps: int) -> Iterator[Callable[[int], None]]:
        """A bar for the steps of a procedure, told of each few that are done; no other is seen meanwhile."""
        if self._progress_bar is None:
            yield lambda _: None
            return
        step_progress = progress.StepProgressBar(step_label, total_steps)
        self._progress_bar.is_hushed = True
        try:
            yield step_progress.advance_steps
        finally:
            step_progress.close()
            self._progress_bar.is_hushed = False

    def write_remark(self, remark_text: str) -> None:
        """A line for the operator about what is no error; nothing with --quiet."""
        if not self.options.quiet:
            stderr.write_stderr_line(remark_text)

    def confirm_change(self, question: str) -> None:
        """Ask before a change, if there is somebody to ask; a no ends the command."""
        if self.options.yes or self.is_dry_run or not confirmation.can_ask_operator():
            return
        if not confirmation.ask_yes_no(question):
            raise exit_codes.ChangeDeclined

    def ask_secret(
        self,
        secret_name: str,
        is_piped: bool,
        advice: str = "pipe it in with --secretKeyStdin, or name where it is with --credentials",
    ) -> str:
        """A secret from the terminal, which shows nothing of it, or if `piped` a line of standard input.

        `advice` is what to do where there is no terminal.
        """
        if not is_piped and not confirmation.can_ask_operator():
            raise exit_codes.UsageError(
                f"the {secret_name} is missing, and there is no terminal to ask on: {advice}"
            )
        secret_text = confirmation.ask_secret(secret_name)
        if not secret_text:
            raise exit_codes.UsageError(f"the {secret_name} is missing: standard input has no line for it")
        return secret_text

    def require_writable(self, command_name: str) -> None:
        """In a read-only context nothing is changed; what would be may be looked at."""
        if self.options.read_only and not self.is_dry_run:
            raise exit_codes.ReadOnlyContextError(
                f"{command_name} changes something, and the context {self.options.context} is read-only"
            )

    def require_yes(self, command_name: str) -> None:
        """Where nobody can be asked, what cannot be undone needs --yes."""
        if not (self.options.yes or self.is_dry_run or confirmation.can_ask_operator()):
            raise exit_codes.UsageError(
                f"{command_name} cannot be undone, and there is no terminal to ask on: add --yes"
            )

    def run_command_line(self, command_words: list[str]) -> int:
        """Run another command line, with the options and the connections of this batch; its exit code."""
        assert self._run_line is not None, "only a batch runs other commands"
        return self._run_line(command_words)

    def continue_table(self) -> None:
        """What is written from now on belongs to the table before: no names above it again."""
        headless_style = self.options.style._replace(shows_headers=False)
        self.options = self.options._replace(style=headless_style)

    def remember_first(self, make_value: Callable[[], T]) -> T:
        """What was made the first time: with --watch, a command remembers by it what it saw before."""
        if not self._first_values:
            self._first_values.append(make_value())
        first_value: T = self._first_values[0]
        return first_value

    def repeat_every(self, period_seconds: float, run_once: Callable[[], T]) -> Iterator[T]:
        """The same again and again, until somebody stops it."""
        while True:
            yield run_once()
            sleep(period_seconds)

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since the command began."""
        return monotonic() - self._started_at

    @property
    def is_complete(self) -> bool:
        """Whether every name server that was asked could be reached."""
        return "admin" not in self.__dict__ or not self.admin.unreachable

    def describe_interruption(self) -> str:
        """What an interrupted command had done; a command that changes nothing was only interrupted."""
        if not self._may_change:
            return "interrupted"
        return f"interrupted; {self.sent_changes.describe_outcomes() or 'nothing was changed'}"

    def close(self) -> None:
        """Leave, and say what was noticed on the way."""
        if self._progress_bar is not None:
            self._progress_bar.close()
        if "admin" not in self.__dict__:
            return
        self.admin.close()
        unreachable_servers = self.admin.unreachable
        if unreachable_servers and len(unreachable_servers) < len(self.admin.addresses.addrs):
            for namesrv_addr, error in unreachable_servers.items():
                stderr.write_stderr_line(f"name server {namesrv_addr}: {error_text(error)}")
        for disagreement in self.admin.disagreements:
            self.write_remark(f"name server {disagreement}")
