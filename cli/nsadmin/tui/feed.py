"""The polling threads: they ask all servers once per interval and pass on the polls.

Rule: a slow or dead server does not delay the others. Each name server has its own thread. Brokers that
answered last time share one thread, and silent brokers share another. A third thread runs the queries of the
current screen. Requests are spread over the interval, and all threads share one rate limit.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from nsadmin.client import AdminClient
from nsadmin.operations.collector.pace import Pace
from nsadmin.tui import looking
from nsadmin.tui.looking import Clock, Looker, Stopwatch
from nsadmin.tui.polls import AnyPoll, BrokerPolled, DrainsPolled, NameServerPolled, Words
from nsadmin.tui.questions import Question, answers

Connect = Callable[[Sequence[str], float | None, Stopwatch], AdminClient]
"""Creates a client: name server addresses, timeout in seconds (None: the usual one), request observer."""
Post = Callable[[Sequence[AnyPoll]], object]

_PATIENCE = 1.0
"""Timeout for a broker that answered last time. It is short because the rest of the batch waits for it."""
_STEP = 0.2
_FIRST = 32
_DRAINS = 2.0
_AFTER_A_MISTAKE = 10.0


class Plan(NamedTuple):
    """The servers and journals to poll, the interval (seconds), and the limit of requests per second."""

    addrs: Sequence[str]
    namespaces: Sequence[str] = ("ORDER_TOPIC_CONFIG",)
    interval: float = 5.0
    rate: int = 250
    journals: Sequence[str] = ()
    said: Words = lambda kind, fields: None


class Feed:
    """Several threads call `post_polls`. `report_failure` gets the exception of a thread, which restarts."""

    def __init__(
        self,
        plan: Plan,
        connect: Connect,
        post: Post,
        failed: Callable[[BaseException], object],
        clock: Clock,
    ) -> None:
        self.interval = plan.interval
        self._plan = plan
        self._connect = connect
        self._post = post
        self._failed = failed
        self._clock = clock
        self._stop = threading.Event()
        self._running = threading.Event()
        self._running.set()
        self._pace = Pace(plan.rate, pause=self._stop.wait)
        self._lock = threading.Lock()
        self._listed: dict[str, list[str]] = {}
        self._silent: set[str] = set()
        self._questions: tuple[Question, ...] = ()
        self._asked = threading.Event()
        self._known = threading.Event()
        self._wake = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        works: list[Callable[[], None]] = [
            *(lambda addr=addr: self._name_server(addr) for addr in self._plan.addrs),
            self._answering,
            self._not_answering,
            self._curious,
            self._drains,
            *(lambda folder=folder: self._journal(folder) for folder in self._plan.journals),
        ]
        self._threads = [threading.Thread(target=self._guard, args=(work,), daemon=True) for work in works]
        for thread in self._threads:
            thread.start()

    def stop(self, patience: float = 0.0) -> None:
        """Stop all threads. Wait this many seconds for requests that are running."""
        self._stop.set()
        for event in (self._running, self._asked, self._known, self._wake):
            event.set()
        until = monotonic() + patience
        for thread in self._threads:
            thread.join(max(until - monotonic(), 0))

    mode = "live"

    @property
    def is_paused(self) -> bool:
        return not self._running.is_set()

    def pause(self, is_paused: bool) -> None:
        self._running.clear() if is_paused else self._running.set()

    def look_now(self) -> None:
        """Poll at once instead of at the next turn, because a command has changed something."""
        self._wake.set()

    def ask(self, questions: Iterable[Question]) -> None:
        """Set the detail queries that run from now on, in addition to the polls of all servers."""
        wanted = tuple(questions)
        with self._lock:
            if wanted == self._questions:
                return
            self._questions = wanted
        self._asked.set()

    def _guard(self, work: Callable[[], None]) -> None:
        while not self._stop.is_set():
            try:
                work()
            except Exception as error:
                self._failed(error)
                self._stop.wait(_AFTER_A_MISTAKE)

    @contextmanager
    def _looker(self, addrs: Sequence[str], timeout: float | None = None) -> Iterator[Looker]:
        watch = Stopwatch()
        with self._connect(addrs, timeout, watch) as admin:
            yield Looker(admin, watch, self._clock, self._plan.namespaces, {})

    def _rest(self, began: float, wake: threading.Event | None = None) -> None:
        """Wait until the next turn or until the event is set. While paused, wait until polling resumes."""
        (wake or self._wake).wait(max(began + self.interval - monotonic(), 0.02))
        self._running.wait()
        if self._wake.is_set() and not self._stop.is_set():
            # Give all waiting threads time to see the event before it is cleared.
            self._stop.wait(0.05)
            self._wake.clear()

    def _name_server(self, addr: str) -> None:
        with self._looker([addr]) as looker:
            while not self._stop.is_set():
                began = monotonic()
                with self._pace.turn(5):
                    seen = looking.name_server(looker, addr, self._plan.namespaces)
                self._learn(seen)
                self._post([seen])
                self._rest(began)

    def _learn(self, seen: NameServerPolled) -> None:
        if seen.error is None:
            with self._lock:
                self._listed[seen.addr] = [
                    addr for group in seen.groups.values() for addr in group.broker_addrs.values()
                ]
            self._known.set()

    def _brokers(self, are_silent: bool) -> list[str]:
        with self._lock:
            listed = dict.fromkeys(addr for addrs in self._listed.values() for addr in addrs)
            self._silent &= listed.keys()
            return [addr for addr in listed if (addr in self._silent) == are_silent]

    def _heard(self, seen: Iterable[BrokerPolled]) -> None:
        with self._lock:
            for poll in seen:
                # A broker that refuses answers fast, so it stays with the answering brokers.
                if poll.kind in (None, "refused"):
                    self._silent.discard(poll.addr)
                else:
                    self._silent.add(poll.addr)

    def _answering(self) -> None:
        self._known.wait()
        with self._looker(self._plan.addrs, _PATIENCE) as looker:
            is_first = True
            while not self._stop.is_set():
                began = monotonic()
                addrs = self._brokers(False)
                # The first turn uses the whole rate limit: the operator waits for the first screen.
                size = _FIRST if is_first else max(1, ceil(len(addrs) * _STEP / (self.interval * 0.8)))
                for at in range(0, len(addrs), size):
                    self._look(looker, addrs[at : at + size], pause=0 if is_first else _STEP)
                is_first = not addrs
                self._rest(began)

    def _look(self, looker: Looker, addrs: Sequence[str], pause: float) -> None:
        if self._stop.is_set():
            return
        with self._pace.turn(len(addrs)):
            seen = looking.brokers(looker, addrs)
        self._heard(seen)
        self._post(seen)
        self._stop.wait(pause)
        self._running.wait()

    def _not_answering(self) -> None:
        self._known.wait()
        with self._looker(self._plan.addrs) as looker:
            while not self._stop.is_set():
                began = monotonic()
                addrs = self._brokers(True)
                if addrs:
                    self._look(looker, addrs[: self._plan.rate], pause=0)
                self._rest(began)

    def _journal(self, folder: str) -> None:
        """Post the events of a journal as its name server writes them.

        If the folder cannot be read, `_run_with_restarts` reports the error and tries again later.
        """
        from nsadmin.tui.past import tail

        for events in tail(Path(folder), self._plan.said):
            if events:
                self._post(events)
            if self._stop.wait(1.0):
                return
            self._running.wait()

    def _drains(self) -> None:
        """Read the drain folders more often than the servers: an operator waits for their progress."""
        # Import here, while requests are running, so that the first screen appears sooner.
        from nsadmin.tui import drains

        before: DrainsPolled | None = None
        while not self._stop.is_set():
            seen = drains.look(self._clock)
            if before is None or (seen.drains, seen.errors) != (before.drains, before.errors):
                self._post([seen])
            before = seen
            self._stop.wait(min(self.interval, _DRAINS))
            self._running.wait()

    def _curious(self) -> None:
        with self._looker(self._plan.addrs) as looker:
            while not self._stop.is_set():
                began = monotonic()
                self._asked.clear()
                with self._lock:
                    questions = self._questions
                for poll in answers(looker, questions, self._plan.addrs, self._pace):
                    self._post([poll])
                    if self._stop.is_set() or self._asked.is_set():
                        break
                self._rest(began, self._asked)
