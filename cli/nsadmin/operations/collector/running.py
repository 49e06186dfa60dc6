"""Running: a watch for each name server, in a thread of its own, so that none waits for another."""

import re
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic, time
from types import FrameType
from typing import NamedTuple

from namesrv_core.state.kv import ORDER_TOPIC_CONFIG
from nsadmin.client import AdminClient
from nsadmin.operations.collector.keeping import Keeping
from nsadmin.operations.collector.pace import Pace
from nsadmin.operations.collector.polling import Poller, Stopped
from nsadmin.operations.collector.watching import Turn, Voice, Watch

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Plan(NamedTuple):
    """What is collected and how: `interval` is seconds from one poll to the next, None for one poll alone.

    `in_flight` and `rate` are requests under way and per second, over all name servers together.
    """

    addrs: Sequence[str]
    folder: Path
    interval: float | None
    in_flight: int = 64
    rate: int = 1000
    namespaces: Sequence[str] = (ORDER_TOPIC_CONFIG,)


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
    def _watches(self) -> Iterator[list[Watch]]:
        """All journals open, or none. RocketMQError, OSError where one cannot be written."""
        plan, pace = self._plan, Pace(self._plan.rate, pause=self._stop.wait)
        share = max(1, plan.in_flight // len(plan.addrs))
        interval = None if plan.interval is None else round(plan.interval * 1000)
        with ExitStack() as stack:
            keepings, watches = [], []
            for addr in plan.addrs:
                keepings.append(Keeping(folder_of(plan.folder, addr), addr))
                stack.callback(keepings[-1].close)
            for addr, keeping in zip(plan.addrs, keepings, strict=True):
                tables = stack.enter_context(self._connect()).tables
                poller = Poller(tables, addr, plan.namespaces, pace, share, self._stop.is_set)
                watches.append(Watch(addr, poller, keeping, self._voice, interval, _now, _steady))
            yield watches

    def once(self) -> list[Turn]:
        """One poll of each name server, at the same time."""
        turns: dict[str, Turn] = {}

        def poll(watch: Watch) -> None:
            turns[watch.addr] = watch.turn()

        with self._watches() as watches:
            try:
                self._run(watches, poll, None)
            finally:
                for watch in watches:
                    watch.end("once")
        return [turns[addr] for addr in self._plan.addrs if addr in turns]

    def run(self, started: Callable[[], None] = lambda: None) -> str:
        """Poll until a signal says to stop; its name."""
        with self._watches() as watches:
            reason = "failure"
            try:
                reason = self._run(watches, self._repeat, started)
            finally:
                for watch in watches:
                    watch.end(reason)
        return reason

    def stop(self) -> None:
        """As a signal does, from another thread."""
        self._stop.set()

    def _repeat(self, watch: Watch) -> None:
        assert self._plan.interval is not None
        due = monotonic()
        while not self._stop.is_set():
            watch.turn()
            # Polls that were missed are not made up for.
            due = max(due + self._plan.interval, monotonic())
            self._stop.wait(due - monotonic())

    def _run(
        self, watches: list[Watch], work: Callable[[Watch], None], started: Callable[[], None] | None
    ) -> str:
        """Work on each in its thread; "end" where all ended by themselves. What a thread raised is raised."""
        threads = [threading.Thread(target=self._guard, args=(work, watch)) for watch in watches]
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

    def _guard(self, work: Callable[[Watch], None], watch: Watch) -> None:
        try:
            work(watch)
        except Stopped:
            pass
        except BaseException as error:
            # Whatever it is, it ends all of them and not this thread alone.
            self._failures.append(error)
            self._stop.set()


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
