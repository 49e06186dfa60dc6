"""IdleStreams, which closes connections that have been idle for too long."""

import asyncio
from collections.abc import Collection

from namesrv_core.server.counters import ServerCounters
from namesrv_core.server.log import log
from namesrv_core.state.settings import NameServerSettings
from namesrv_core.transport.command_stream import CommandStream

CHECK_SECONDS = 1.0


class IdleStreams:
    """The open connections that were closed for being idle, until they have ended."""

    def __init__(
        self, settings: NameServerSettings, open_streams: Collection[CommandStream], counters: ServerCounters
    ) -> None:
        self._settings = settings
        self._open_streams = open_streams
        self._counters = counters
        self._closing_streams: set[CommandStream] = set()

    def close_idle_streams(self) -> None:
        """Close the connections that are idle. Abort one whose peer has not accepted the remaining data."""
        max_idle_seconds = self._settings.serverChannelMaxIdleTimeSeconds
        silent_since = asyncio.get_running_loop().time() - max_idle_seconds
        for stream in [
            stream
            for stream in self._open_streams
            if max_idle_seconds > 0 and stream.active_at < silent_since
        ]:
            if stream in self._closing_streams:
                # The peer has had a second to accept the remaining data.
                stream.abort()
                continue
            log.info("closing %s, idle for %d s", stream.peer_addr, max_idle_seconds)
            self._closing_streams.add(stream)
            self._counters.idle_count += 1
            stream.close()

    def forget_stream(self, stream: CommandStream) -> bool:
        """Forget a connection that has ended. Return whether it was closed for being idle."""
        was_idle = stream in self._closing_streams
        self._closing_streams.discard(stream)
        return was_idle
