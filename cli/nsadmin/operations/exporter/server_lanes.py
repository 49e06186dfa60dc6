"""Runs a read per server in threads, so that slow servers delay only themselves.

Servers that were slow or silent in the last pass wait for a few threads of their own.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from time import monotonic

from nsadmin.operations.exporter.figures import ServerIdentity

_SLOW_SECONDS = 2.0
_SLOW_THREADS = 2

ServerRead = Callable[[ServerIdentity], bool]
"""Reads a server; returns whether it was asked everything in time."""


class ServerLanes:
    """The threads of one kind of pass."""

    def __init__(self, name: str, fast_threads: int) -> None:
        self._fast_lane = ThreadPoolExecutor(fast_threads, f"{name}-fast")
        self._slow_lane = ThreadPoolExecutor(_SLOW_THREADS, f"{name}-slow")
        self._slow_addrs: set[str] = set()
        self._running_reads: dict[str, Future[bool]] = {}

    def run_pass(self, servers: Sequence[ServerIdentity], read_server: ServerRead, deadline: float) -> int:
        """Read all servers; return how many were not finished before the deadline (seconds of monotonic).

        A server whose earlier read still runs is not asked again. A pass does not wait for slow servers if
        all others are done.
        """
        listed_addrs = {server.address for server in servers}
        self._slow_addrs &= listed_addrs
        unfinished_count = 0
        fast_reads: list[Future[bool]] = []
        slow_reads: list[Future[bool]] = []
        for server in servers:
            running_read = self._running_reads.get(server.address)
            if running_read is not None and not running_read.done():
                unfinished_count += 1
                continue
            is_slow = server.address in self._slow_addrs
            lane, lane_reads = (self._slow_lane, slow_reads) if is_slow else (self._fast_lane, fast_reads)
            started_read = lane.submit(self._time_read, server, read_server, deadline)
            self._running_reads[server.address] = started_read
            lane_reads.append(started_read)
        wait(fast_reads, max(deadline - monotonic(), 0))
        done_reads = [read for read in (*fast_reads, *slow_reads) if read.done()]
        self._running_reads = {addr: read for addr, read in self._running_reads.items() if not read.done()}
        undone_count = len(fast_reads) + len(slow_reads) - len(done_reads)
        return unfinished_count + undone_count + sum(not read.result() for read in done_reads)

    def _time_read(self, server: ServerIdentity, read_server: ServerRead, deadline: float) -> bool:
        began_at = monotonic()
        if began_at >= deadline:
            return False
        is_finished = read_server(server)
        # A large server takes long because it has many topics. It is slow if it did not finish.
        if not is_finished and monotonic() - began_at >= _SLOW_SECONDS:
            self._slow_addrs.add(server.address)
        else:
            self._slow_addrs.discard(server.address)
        return is_finished

    def close(self) -> None:
        """Start no more reads. Reads that are running end by themselves."""
        for lane in (self._fast_lane, self._slow_lane):
            lane.shutdown(wait=False, cancel_futures=True)
