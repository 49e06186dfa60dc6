"""Running: a watch for each name server, and the rounds of brokers, each in a thread, so that none waits."""

import re
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from time import monotonic, time
from types import FrameType
from typing import NamedTuple

from namesrv_core.state.kv import ORDER_TOPIC_CONFIG
from namesrv_core.storage.journal import Limits
from nsadmin.client import AdminClient
from nsadmin.operations.collector.asking import Questions
from nsadmin.operations.collector.keeping import Keeping, Writing
from nsadmin.operations.collector.pace import Pace
from nsadmin.operations.collector.polling import Poller, Stopped
from nsadmin.operations.collector.rounds import WHOSE, Round, Rounds
from nsadmin.operations.collector.watching import Turn, Voice, Watch

_A_MOMENT = 0.1
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Plan(NamedTuple):
    """What is collected and how: `interval` is seconds from one poll to the next, None for one poll alone.

    `in_flight` and `rate` are requests under way and per second, over all name servers together. Brokers are
    asked `questions`, if there are any, at a `broker_rate` of their own, `broker_interval` seconds from one
    round to the next. `limits` are those of each journal.
    """

    addrs: Sequence[str]
    folder: Path
    interval: float | None
    in_flight: int = 64
    rate: int = 1000
    namespaces: Sequence[str] = (ORDER_TOPIC_CONFIG,)
    questions: Questions = Questions()
    broker_interval: float = 60
    broker_rate: int = 50
    limits: Limits = Limits()


class Once(NamedTuple):
    """A poll of each name server, in the order asked for, and a round of brokers if they were to be asked."""

    turns: list[Turn]
    asked: Round | None


class _Told(BaseException):
    """A signal came: its name."""


def folder_of(folder: Path, addr: str) -> Path:
    """Where the journal of a name server is: a folder whose name has no colon, which other tools read."""
    return folder / re.sub(r"[^\w.-]+", "_", addr).strip("_")


class Collector:
    """`connect` makes a client, one for each name server; who is told, is told from several threads."""

    def __init__(self, plan: Plan, connect: Callable[[], AdminClient], voice: Voice) -> None:
        self._plan = plan
        self._connect = connect
        self._voice = voice
        self._stop = threading.Event()
        self._failures: list[BaseException] = []

    @contextmanager
    def _open(self) -> Iterator[tuple[list[Watch], Rounds | None]]:
        """All journals open, or none. RocketMQError, OSError where one cannot be written."""
        plan, pace = self._plan, Pace(self._plan.rate, pause=self._stop.wait)
        share = max(1, plan.in_flight // len(plan.addrs))
        interval = None if plan.interval is None else round(plan.interval * 1000)
        with ExitStack() as stack:
            keepings, watches = [], []
            for addr in plan.addrs:
                keepings.append(Keeping(folder_of(plan.folder, addr), addr, plan.limits))
                stack.callback(keepings[-1].close)
            writing = Writing(plan.folder / WHOSE, WHOSE, plan.limits) if any(plan.questions) else None
            if writing is not None:
                stack.callback(writing.close)
            for addr, keeping in zip(plan.addrs, keepings, strict=True):
                tables = stack.enter_context(self._connect()).tables
                poller = Poller(tables, addr, plan.namespaces, pace, share, self._stop.is_set)
                watches.append(Watch(addr, poller, keeping, self._voice, interval, _now, _steady))
            if writing is None:
                yield watches, None
                return
            yield watches, self._rounds(watches, stack.enter_context(self._connect()), writing)

    def _rounds(self, watches: list[Watch], admin: AdminClient, writing: Writing) -> Rounds:
        plan = self._plan
        return Rounds(
            watches,
            admin,
            plan.questions,
            Pace(plan.broker_rate, pause=self._stop.wait),
            plan.in_flight,
            writing,
            self._voice,
            None if plan.interval is None else round(plan.broker_interval * 1000),
            _now,
            _steady,
            self._stop.is_set,
        )

    def once(self) -> Once:
        """One poll of each name server, at the same time, then one round of the brokers that they know."""
        turns: dict[str, Turn] = {}
        asked: list[Round] = []

        def poll(watch: Watch) -> None:
            turns[watch.addr] = watch.turn()

        with self._open() as (watches, rounds):
            jobs = [partial(poll, watch) for watch in watches]
            try:
                asking = self._asking(watches, rounds, lambda one: asked.append(one.turn()))
                self._run([*jobs, *asking], None)
            finally:
                _end(watches, rounds, "once")
        found = [turns[addr] for addr in self._plan.addrs if addr in turns]
        return Once(found, asked[0] if asked else None)

    def run(self, started: Callable[[], None] = lambda: None) -> str:
        """Poll until a signal says to stop; its name."""
        plan = self._plan
        assert plan.interval is not None
        with self._open() as (watches, rounds):
            jobs = [partial(self._repeat, watch.turn, plan.interval) for watch in watches]
            reason = "failure"
            try:
                asking = self._asking(
                    watches, rounds, lambda one: self._repeat(one.turn, plan.broker_interval)
                )
                reason = self._run([*jobs, *asking], started)
            finally:
                _end(watches, rounds, reason)
        return reason

    def _asking(
        self, watches: list[Watch], rounds: Rounds | None, work: Callable[[Rounds], object]
    ) -> list[Callable[[], object]]:
        """The job of asking brokers, if there is one: it begins when all name servers have been looked at."""
        if rounds is None:
            return []

        def job() -> None:
            for watch in watches:
                while not (watch.has_looked.wait(_A_MOMENT) or self._stop.is_set()):
                    pass
            work(rounds)

        return [job]

    def stop(self) -> None:
        """As a signal does, from another thread."""
        self._stop.set()

    def _repeat(self, turn: Callable[[], object], interval: float) -> None:
        due = monotonic()
        while not self._stop.is_set():
            turn()
            # Turns that were missed are not made up for.
            due = max(due + interval, monotonic())
            self._stop.wait(due - monotonic())

    def _run(self, jobs: Sequence[Callable[[], object]], started: Callable[[], None] | None) -> str:
        """Each in its thread; "end" where all ended by themselves. What a thread raised is raised."""
        threads = [threading.Thread(target=self._guard, args=(job,)) for job in jobs]
        reason = "end"
        try:
            with _told_of_signals():
                for thread in threads:
                    thread.start()
                if started is not None:
                    started()
                for thread in threads:
                    thread.join()
        except _Told as told:
            reason = str(told)
        finally:
            self._stop.set()
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
        if self._failures:
            raise self._failures[0]
        return reason

    def _guard(self, job: Callable[[], object]) -> None:
        try:
            job()
        except Stopped:
            pass
        except BaseException as error:
            # Whatever it is, it ends all of them and not this thread alone.
            self._failures.append(error)
            self._stop.set()


def _end(watches: list[Watch], rounds: Rounds | None, reason: str) -> None:
    for watch in watches:
        watch.end(reason)
    if rounds is not None:
        rounds.end(reason)


@contextmanager
def _told_of_signals() -> Iterator[None]:
    """_Told when SIGINT or SIGTERM comes; a second one ends the process as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def tell(number: int, _: FrameType | None) -> None:
        raise _Told(signal.Signals(number).name)

    try:
        for number in _SIGNALS:
            signal.signal(number, tell)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _now() -> int:
    return int(time() * 1000)


def _steady() -> int:
    return int(monotonic() * 1000)
