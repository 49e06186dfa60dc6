"""ConnectionLimits: how many connections, memory and time peers may take. IdleStreams closes idle ones.

A peer over a limit is refused, made to wait or cut off. Each case is counted, and logged at intervals.
"""

import asyncio
import resource
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress

from namesrv_core.protocol.size_limits import effective_limit
from namesrv_core.server.counters import ServerCounters
from namesrv_core.server.log import LogThrottle, log
from namesrv_core.state.server_limits import LimitHits
from namesrv_core.state.settings import NameServerSettings
from namesrv_core.transport.command_stream import CommandStream
from namesrv_core.transport.rate_limits import ObservedStream, StreamQuotas

CHECK_SECONDS = 1.0
"""The interval between two checks for slow peers."""

_RESERVED_FILES = 64
_MAX_ADDRESS_SHARE = 0.75
_SHARE_AFTER_CUT = 0.875
"""The part of `maxBufferedBytes` that may remain after a cut, so that each cut frees megabytes."""
_WORK_SHARE = 4
"""The share of `maxBufferedBytes` (1/4) for computations that run at the same time."""


def raise_file_limit() -> None:
    """Raise the soft limit of open files to the hard limit, because each connection needs a file."""
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))


class ConnectionLimits:
    """The limits of a server. `work_clock` measures how long work takes (seconds)."""

    def __init__(
        self,
        settings: NameServerSettings,
        limit_hits: LimitHits,
        open_streams: Collection[CommandStream],
        work_clock: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._hits = limit_hits
        self._open_streams = open_streams
        self._throttle = LogThrottle()
        self._by_host: Counter[str] = Counter()
        self._held_by_stream: dict[ObservedStream, int] = {}
        self._held_bytes = 0
        self._unfinished_frames: dict[CommandStream, tuple[int, float]] = {}
        self.stream_quotas = StreamQuotas(
            self,
            settings.build_decode_limits(),
            effective_limit(settings.maxFramesPerSecond),
            effective_limit(settings.maxBytesPerSecond),
            effective_limit(settings.maxUnsentBytes),
            work_clock,
            effective_limit(settings.maxBufferedBytes) // _WORK_SHARE,
        )
        file_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self.max_connections = effective_limit(settings.maxConnections)
        if file_limit != resource.RLIM_INFINITY:
            # Reserve descriptors for the server's own files, so that changes can always be saved.
            self.max_connections = max(min(self.max_connections, file_limit - _RESERVED_FILES), 1)
        self.max_connections_per_host = min(
            effective_limit(settings.maxConnectionsPerAddress),
            max(int(self.max_connections * _MAX_ADDRESS_SHARE), 1),
        )

    # Connections.

    def admit_stream(self, stream: CommandStream) -> bool:
        """Whether a new stream is within the limits. Every stream, admitted or not, must be released."""
        self._by_host[stream.host] += 1
        if len(self._open_streams) >= self.max_connections:
            self.report_over_limit(
                stream, "maxConnections", f"the server has {self.max_connections} connections"
            )
            return False
        if self._by_host[stream.host] > self.max_connections_per_host:
            self.report_over_limit(
                stream,
                "maxConnectionsPerAddress",
                f"this address has {self.max_connections_per_host} connections",
            )
            return False
        return True

    def release_stream(self, stream: CommandStream) -> None:
        self._by_host[stream.host] -= 1
        if not self._by_host[stream.host]:
            del self._by_host[stream.host]
        self._unfinished_frames.pop(stream, None)

    # Reports of streams (QuotaObserver).

    def report_over_limit(self, stream: ObservedStream, limit_key: str, text: str) -> None:
        self._hits.record_hit(limit_key, f"{stream.peer_addr}: {text}")
        self.log_limit_hits()

    def report_held_bytes(self, stream: ObservedStream, held: int) -> None:
        self._held_bytes += held - self._held_by_stream.pop(stream, 0)
        if held:
            self._held_by_stream[stream] = held
        if self._held_bytes > effective_limit(self._settings.maxBufferedBytes):
            self._cut_off_largest_streams(effective_limit(self._settings.maxBufferedBytes))

    def _cut_off_largest_streams(self, max_held_bytes: int) -> None:
        """Cut off the streams that hold the most. Free more than necessary: the next search is later then."""
        held = self._held_by_stream
        for stream in sorted(held, key=held.__getitem__, reverse=True):
            size = held.pop(stream)
            self._held_bytes -= size
            self.report_over_limit(
                stream, "maxBufferedBytes", f"closed, as the connection with the most buffered bytes ({size})"
            )
            stream.abort()
            if self._held_bytes <= max_held_bytes * _SHARE_AFTER_CUT:
                break

    # Periodic checks.

    def cut_off_slow_streams(self) -> None:
        """Cut off peers that are too slow in sending a frame or in accepting answers."""
        now = asyncio.get_running_loop().time()
        self._check_senders(now, effective_limit(self._settings.maxSecondsPerFrame))
        max_unsent_seconds = effective_limit(self._settings.maxUnsentSeconds)
        for stream in [stream for stream in self._open_streams if stream.full_since is not None]:
            if stream.full_since is not None and now - stream.full_since > max_unsent_seconds:
                self.report_over_limit(
                    stream, "maxUnsentSeconds", f"read no answer for {max_unsent_seconds} s"
                )
                stream.abort()
        self.log_limit_hits()

    def _check_senders(self, now: float, max_frame_seconds: int) -> None:
        """Count what all streams hold, and cut off those whose frame takes too long."""
        unfinished_before, self._unfinished_frames = self._unfinished_frames, {}
        for stream in list(self._open_streams):
            stream.check_held_bytes()
            if not stream.protocol_connection.unfinished_bytes:
                continue
            frame_count, unfinished_since = unfinished_before.get(stream, (-1, now))
            # If frames were completed in between, this is a different frame.
            unfinished_since = unfinished_since if frame_count == stream.frame_count else now
            if now - unfinished_since > max_frame_seconds:
                self.report_over_limit(
                    stream, "maxSecondsPerFrame", f"sent an incomplete frame for {max_frame_seconds} s"
                )
                stream.abort()
            else:
                self._unfinished_frames[stream] = (stream.frame_count, unfinished_since)

    def log_limit_hits(self) -> None:
        """Log the limit hits since the last call. The throttle allows few lines per limit."""
        unlogged = self._hits.unlogged_hits
        while unlogged:
            limit_key, text = unlogged.pop(0)
            self._throttle.log_warning(limit_key, f"limit {limit_key} exceeded: {text}")


class IdleStreams:
    """The open connections that were closed for being idle, until they have ended."""

    def __init__(
        self, settings: NameServerSettings, open_streams: Collection[CommandStream], counters: ServerCounters
    ) -> None:
        self._settings = settings
        self._open_streams = open_streams
        self._counters = counters
        self._closing: set[CommandStream] = set()

    def close_idle_streams(self) -> None:
        """Close the connections that are idle. Abort one whose peer has not accepted the remaining data."""
        max_idle_seconds = self._settings.serverChannelMaxIdleTimeSeconds
        silent_since = asyncio.get_running_loop().time() - max_idle_seconds
        for stream in [s for s in self._open_streams if max_idle_seconds > 0 and s.active_at < silent_since]:
            if stream in self._closing:
                # The peer has had a second to accept the remaining data.
                stream.abort()
                continue
            log.info("closing %s, idle for %d s", stream.peer_addr, max_idle_seconds)
            self._closing.add(stream)
            self._counters.idle_count += 1
            stream.close()

    def forget_stream(self, stream: CommandStream) -> bool:
        """Forget a connection that has ended. Return whether it was closed for being idle."""
        was_idle = stream in self._closing
        self._closing.discard(stream)
        return was_idle
