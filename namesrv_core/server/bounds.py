"""Bounds: what peers may take of this server, who is over it, and what is done about that.

One that is over a limit is refused, made to wait or cut off; it is counted, and said in the log now and then.
"""

import asyncio
import resource
from collections import Counter
from collections.abc import Callable, Collection

from namesrv_core.server.sparingly import Sparingly
from namesrv_core.state.limits import Met, effective
from namesrv_core.state.settings import Settings
from namesrv_core.transport.allowance import Allowance
from namesrv_core.transport.stream import Stream

LOOK = 1.0
"""Seconds between two looks at those who are slow."""

_OWN_FILES = 64
_MOST_OF_ONE = 0.75


def raise_file_limit() -> None:
    """Let this process have as many files open as it may ask for: each connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Bounds:
    """`streams` are those that are open, `clock` tells how long work takes (seconds)."""

    def __init__(
        self,
        settings: Settings,
        met: Met,
        streams: Collection[Stream],
        clock: Callable[[], float],
        log: Sparingly | None = None,
    ) -> None:
        self._settings = settings
        self._met = met
        self._streams = streams
        self._log = log or Sparingly()
        self._of_address: Counter[str] = Counter()
        self._kept: dict[Stream, int] = {}
        self._kept_bytes = 0
        self._unfinished: dict[Stream, tuple[int, float]] = {}
        self.allowance = Allowance(
            self,
            settings.limits(),
            effective(settings.maxFramesPerSecond),
            effective(settings.maxBytesPerSecond),
            effective(settings.maxUnsentBytes),
            clock,
        )
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self.places = effective(settings.maxConnections)
        if files != resource.RLIM_INFINITY:
            # Files of its own have room too: what is put must reach the disk.
            self.places = max(min(self.places, files - _OWN_FILES), 1)
        self.places_of_one = min(
            effective(settings.maxConnectionsPerAddress), max(int(self.places * _MOST_OF_ONE), 1)
        )

    # Connections.

    def admits(self, stream: Stream) -> bool:
        """Whether there is a place for one more; every stream that asked must say when it has `left`."""
        self._of_address[stream.host] += 1
        if len(self._streams) >= self.places:
            self.over(stream, "maxConnections", f"there are {self.places} connections")
            return False
        if self._of_address[stream.host] > self.places_of_one:
            self.over(stream, "maxConnectionsPerAddress", f"it has {self.places_of_one} connections")
            return False
        return True

    def left(self, stream: Stream) -> None:
        self._of_address[stream.host] -= 1
        if not self._of_address[stream.host]:
            del self._of_address[stream.host]
        self._unfinished.pop(stream, None)

    # Who is told by streams.

    def over(self, stream: Stream, limit: str, text: str) -> None:
        self._met.note(limit, f"{stream.peer}: {text}")
        self.tell()

    def holds(self, stream: Stream, size: int) -> None:
        self._kept_bytes += size - self._kept.pop(stream, 0)
        if size:
            self._kept[stream] = size
        allowed = effective(self._settings.maxBufferedBytes)
        while self._kept_bytes > allowed:
            largest = max(self._kept, key=self._kept.__getitem__)
            kept = self._kept.pop(largest)
            self._kept_bytes -= kept
            self.over(largest, "maxBufferedBytes", f"{kept} bytes are kept for it, the most of all")
            largest.abort()

    # What is looked for.

    def look(self) -> None:
        """Cut off those who are too slow in sending a frame or in taking answers."""
        now = asyncio.get_running_loop().time()
        self._look_at_senders(now, effective(self._settings.maxSecondsPerFrame))
        patience = effective(self._settings.maxUnsentSeconds)
        for stream in [stream for stream in self._streams if stream.full_since is not None]:
            if stream.full_since is not None and now - stream.full_since > patience:
                self.over(stream, "maxUnsentSeconds", f"it took no answer for {patience} s")
                stream.abort()
        self.tell()

    def _look_at_senders(self, now: float, patience: int) -> None:
        before, self._unfinished = self._unfinished, {}
        for stream in list(self._streams):
            if not stream.connection.unfinished:
                continue
            frames, since = before.get(stream, (-1, now))
            # Frames that came meanwhile say that this is another one.
            since = since if frames == stream.frames else now
            if now - since > patience:
                self.over(stream, "maxSecondsPerFrame", f"a frame was not complete after {patience} s")
                stream.abort()
            else:
                self._unfinished[stream] = (stream.frames, since)

    def tell(self) -> None:
        """Say in the log what was noticed: a line for each limit, once in a while."""
        noticed = self._met.noticed
        while noticed:
            limit, text = noticed.pop(0)
            self._log.warning(limit, f"over {limit}: {text}")
