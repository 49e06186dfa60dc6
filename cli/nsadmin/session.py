"""Session: the world that a command is handed, so that it neither connects nor prints."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from time import monotonic, sleep
from typing import Any, NamedTuple, TypeVar

from namesrv_core.transport.multiplexed_client import ExchangeObserver
from nsadmin import diagnostics, observing, progress
from nsadmin.client import AdminClient
from nsadmin.client.brokers.brokers import BrokerAdmin
from nsadmin.client.connection.access_options import Access
from nsadmin.client.connection.addresses import NameServerFinder, NameServerList, make_finder
from nsadmin.client.connection.connection_pool import Pool
from nsadmin.client.results import error_text
from nsadmin.output import Rows, Style

T = TypeVar("T")

_BRIEFLY = 1.0
"""Seconds that hints are worth waiting for."""


class Plugin(NamedTuple):
    """How a check tells what it found: in a `format`, to a file or to stdout, at once or when all is well.

    As they were typed; None for what was not.
    """

    format: str | None = None
    output_file: str | None = None
    wait_until_ok: str | None = None


class Options(NamedTuple):
    """The options that all commands have in common.

    `context` is the name of the context in force, `color` what it is shown in. `overruled` are the ways to
    find name servers that did not win, and `signed_from` is where the credentials are from, in words.
    `journals` are the folders that the context names.
    """

    namesrv_addr: tuple[str, ...] | NameServerList | NameServerFinder | None = None
    access: Access = Access()
    style: Style = Style()
    dry_run: bool = False
    yes: bool = False
    watch: float | None = None
    read_only: bool = False
    quiet: bool = False
    debug: bool = False
    context: str | None = None
    color: str | None = None
    overruled: tuple[str, ...] = ()
    signed_from: str | None = None
    journals: tuple[str, ...] = ()
    plugin: Plugin = Plugin()


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
        options: Options,
        *,
        may_change: bool = True,
        pool: Pool | None = None,
        perform: Callable[[list[str]], int] | None = None,
    ) -> None:
        self.options = options
        self._pool = pool
        self._perform = perform
        self._may_change = may_change and not options.dry_run and not options.read_only
        self.name_servers: tuple[str, ...] = ()
        self.said: Mapping[str, Any] = {}
        self.changes = observing.SentChanges()
        self.form: Callable[[Rows | str], str] | None = None
        self._started = monotonic()
        self._bar: progress.Bar | None = None
        self._kept: list[Any] = []

    @property
    def dry_run(self) -> bool:
        """Whether the command may only say what it would do."""
        return self.options.dry_run

    @cached_property
    def admin(self) -> AdminClient:
        """Asks every name server each time, so that one that is dead or tells another story is noticed.

        Whoever is named by address is asked there, for which no name server is needed.
        """
        return AdminClient(
            self._name_servers,
            access=self.options.access,
            ask_all=True,
            observer=self._observer,
            read_only=not self._may_change,
            pool=self._pool,
        )

    def _name_servers(self) -> NameServerList:
        """Looked for when the first one is to be asked; what is special about them is said then."""
        found = make_finder(self.options.namesrv_addr)()
        if found.source == "default":
            context = self.options.context
            where = f"context {context} names no name servers" if context else "no context"
            self.remark(f"no -n, no NAMESRV_ADDR and {where}: asking {found.addrs[0]}")
        if found.note:
            diagnostics.say(found.note)
        self.name_servers = found.addrs
        return found

    @cached_property
    def _tracer(self) -> ExchangeObserver | None:
        """Who says each request, whichever client sends it."""
        return observing.tracer(self._started) if self.options.debug else None

    @cached_property
    def _observer(self) -> ExchangeObserver | None:
        options, observers = self.options, list[ExchangeObserver]()
        if self._tracer is not None:
            observers.append(self._tracer)
        elif progress.is_wanted() and not options.quiet and options.watch is None:
            self._bar = progress.Bar()
            observers.append(self._bar)
        if self._may_change:
            observers.append(self.changes)
        return observing.together(observers)

    @property
    def brokers(self) -> BrokerAdmin:
        """Brokers asked at their own addresses, for which no name server is needed."""
        return self.admin.brokers

    def bystander(self) -> AdminClient:
        """Another client for the same name servers, asking briefly; who does not answer is not noted."""
        access = self.options.access
        return AdminClient(
            lambda: self.admin.addresses,
            access=access._replace(timeout=min(access.timeout, _BRIEFLY), retries=0),
            observer=self._tracer,
            read_only=True,
        )

    def other(
        self, namesrv_addr: tuple[str, ...] | NameServerList | NameServerFinder | None, access: Access
    ) -> AdminClient:
        """A client that reads from other name servers than the command's own, seen by the same observer."""
        return AdminClient(namesrv_addr, access=access, observer=self._observer, read_only=True)

    def onlooker(self) -> AdminClient:
        """Another client for the same name servers, for a thread that reads for days; without a bar."""
        return AdminClient(
            self.admin.addresses,
            access=self.options.access,
            observer=self._tracer,
            read_only=True,
        )

    @contextmanager
    def counting(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """A bar for the steps of a procedure, told of each few that are done; no other is seen meanwhile."""
        if self._bar is None:
            yield lambda _: None
            return
        steps = progress.Steps(what, total)
        self._bar.is_hushed = True
        try:
            yield steps.advance
        finally:
            steps.close()
            self._bar.is_hushed = False

    def remark(self, text: str) -> None:
        """A line for the operator about what is no error; nothing with --quiet."""
        if not self.options.quiet:
            diagnostics.say(text)

    def confirm(self, question: str) -> None:
        """Ask before a change, if there is somebody to ask; a no ends the command."""
        if self.options.yes or self.dry_run or not diagnostics.is_interactive():
            return
        if not diagnostics.ask(question):
            raise diagnostics.Declined

    def secret(
        self,
        what: str,
        piped: bool,
        advice: str = "pipe it in with --secretKeyStdin, or name where it is with --credentials",
    ) -> str:
        """A secret from the terminal, which shows nothing of it, or if `piped` a line of standard input.

        `advice` is what to do where there is no terminal.
        """
        if not piped and not diagnostics.is_interactive():
            raise diagnostics.UsageError(
                f"the {what} is missing, and there is no terminal to ask on: {advice}"
            )
        text = diagnostics.ask_secret(what)
        if not text:
            raise diagnostics.UsageError(f"the {what} is missing: standard input has no line for it")
        return text

    def require_writable(self, name: str) -> None:
        """In a read-only context nothing is changed; what would be may be looked at."""
        if self.options.read_only and not self.dry_run:
            raise diagnostics.ReadOnly(
                f"{name} changes something, and the context {self.options.context} is read-only"
            )

    def require_yes(self, name: str) -> None:
        """Where nobody can be asked, what cannot be undone needs --yes."""
        if not (self.options.yes or self.dry_run or diagnostics.is_interactive()):
            raise diagnostics.UsageError(
                f"{name} cannot be undone, and there is no terminal to ask on: add --yes"
            )

    def perform(self, words: list[str]) -> int:
        """Run another command line, with the options and the connections of this batch; its exit code."""
        assert self._perform is not None, "only a batch runs other commands"
        return self._perform(words)

    def continue_table(self) -> None:
        """What is written from now on belongs to the table before: no names above it again."""
        style = self.options.style._replace(headers=False)
        self.options = self.options._replace(style=style)

    def kept(self, make: Callable[[], T]) -> T:
        """What was made the first time: with --watch, a command remembers by it what it saw before."""
        if not self._kept:
            self._kept.append(make())
        found: T = self._kept[0]
        return found

    def repeat(self, seconds: float, once: Callable[[], T]) -> Iterator[T]:
        """The same again and again, until somebody stops it."""
        while True:
            yield once()
            sleep(seconds)

    @property
    def elapsed(self) -> float:
        """Seconds since the command began."""
        return monotonic() - self._started

    @property
    def is_complete(self) -> bool:
        """Whether every name server that was asked could be reached."""
        return "admin" not in self.__dict__ or not self.admin.unreachable

    def story_of_interruption(self) -> str:
        """What an interrupted command had done; a command that changes nothing was only interrupted."""
        if not self._may_change:
            return "interrupted"
        return f"interrupted; {self.changes.story() or 'nothing was changed'}"

    def close(self) -> None:
        """Leave, and say what was noticed on the way."""
        if self._bar is not None:
            self._bar.close()
        if "admin" not in self.__dict__:
            return
        self.admin.close()
        unreachable = self.admin.unreachable
        if unreachable and len(unreachable) < len(self.admin.addresses.addrs):
            for addr, error in unreachable.items():
                diagnostics.say(f"name server {addr}: {error_text(error)}")
        for line in self.admin.disagreements:
            self.remark(f"name server {line}")
