"""GracefulShutdown, which sends clients to other name servers before this one ends, to lose no request.

A client since 5.3.2 that receives GO_AWAY connects to the same address again and repeats its request; after a
second GO_AWAY it fails. Java clients send one request at a time and use another name server once a connection
is closed. So clients that understand GO_AWAY receive it on connections that existed before the shutdown. All
others receive an answer, and then their connection is closed. If a load balancer has removed this server, it
routes the repeated request to another one.
"""

import asyncio
from collections.abc import Collection

from namesrv_core.errors import ResponseCode
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.server.counters import ServerCounters
from namesrv_core.server.state_persistence import PERSISTED_REQUESTS
from namesrv_core.state.route_tables import RouteTables
from namesrv_core.transport.command_stream import CommandStream

# Peers of this version and later understand GO_AWAY (V5_3_1 is the last version that does not).
_GO_AWAY_VERSION = 476
# A broker registers with every name server separately, so its requests are served until the end.
_BROKER_REQUESTS = frozenset({
    RequestCode.REGISTER_BROKER, RequestCode.UNREGISTER_BROKER, RequestCode.QUERY_DATA_VERSION,
    RequestCode.BROKER_HEARTBEAT,
})  # fmt: skip
_CLOSE_AFTER_SECONDS = 3.0


class GracefulShutdown:
    """A shutdown in progress. `open_streams` are the connections at its beginning."""

    def __init__(
        self, tables: RouteTables, open_streams: Collection[CommandStream], counters: ServerCounters
    ) -> None:
        self._tables = tables
        self._earlier_channel_ids = {stream.channel_id for stream in open_streams}
        self._hurry_event = asyncio.Event()
        self._counters = counters

    async def wait_for_clients(self, max_seconds: float) -> None:
        """Wait until the time has passed or `end_wait` is called."""
        try:
            async with asyncio.timeout(max_seconds):
                await self._hurry_event.wait()
        except TimeoutError:
            pass

    def end_wait(self) -> None:
        self._hurry_event.set()

    def answer_go_away(self, stream: CommandStream, request: RemotingCommand) -> RemotingCommand | None:
        """The GO_AWAY answer, if the client will repeat its request; None if the request must be executed."""
        if request.code in _BROKER_REQUESTS or any(self._tables.live_keys_on_channel(stream.channel_id)):
            return None
        loop = asyncio.get_running_loop()
        if stream.channel_id in self._earlier_channel_ids and request.version >= _GO_AWAY_VERSION:
            self._counters.go_away_count += 1
            # Until then, other requests on this connection receive GO_AWAY as well.
            loop.call_later(_CLOSE_AFTER_SECONDS, stream.close)
            return build_reply(request, ResponseCode.GO_AWAY, remark="please go away")
        # A persisted request is answered once it is on disk, so its connection stays open until the end.
        if request.code not in PERSISTED_REQUESTS:
            loop.call_soon(stream.close)
        return None
