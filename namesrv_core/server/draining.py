"""Draining: clients are sent to the other name servers before this one ends, so that no question is lost.

A client since 5.3.2 that is told GO_AWAY connects to the same address again and repeats its question there;
told so twice, it fails. Java clients ask one thing at a time, and ask another name server once a connection
is closed. So: GO_AWAY on a connection of before, for whoever understands it; for all others an answer, and
then the end of the connection. A balancer that has taken this server out leads what is repeated elsewhere.
"""

import asyncio
from collections.abc import Collection

from namesrv_core.errors import ResponseCode
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, reply
from namesrv_core.server.counters import Counters
from namesrv_core.state.tables import RouteTables
from namesrv_core.transport.stream import Stream

# Peers of this version and later understand GO_AWAY (V5_3_1 is the last that does not).
_UNDERSTANDS_GO_AWAY = 476
# A broker registers with each name server, none stands in for another: to the end it is listened to.
_OF_BROKERS = frozenset({
    RequestCode.REGISTER_BROKER, RequestCode.UNREGISTER_BROKER, RequestCode.QUERY_DATA_VERSION,
    RequestCode.BROKER_HEARTBEAT,
})  # fmt: skip
# Answered when they are on the disk: their connections last to the end.
_KEPT = frozenset({
    RequestCode.PUT_KV_CONFIG, RequestCode.DELETE_KV_CONFIG, RequestCode.UPDATE_NAMESRV_CONFIG,
})  # fmt: skip
_PATIENCE = 3.0


class Draining:
    """`streams` are the connections that there are when it begins."""

    def __init__(self, tables: RouteTables, streams: Collection[Stream], counters: Counters) -> None:
        self._tables = tables
        self._from_before = {stream.number for stream in streams}
        self._hurry = asyncio.Event()
        self._counters = counters

    async def last(self, seconds: float) -> None:
        """Until that many seconds have passed, or somebody hurries."""
        try:
            async with asyncio.timeout(seconds):
                await self._hurry.wait()
        except TimeoutError:
            pass

    def hurry(self) -> None:
        """End now."""
        self._hurry.set()

    def refusal(self, stream: Stream, request: Command) -> Command | None:
        """GO_AWAY for whoever repeats his question then; None for what is to be carried out all the same."""
        if request.code in _OF_BROKERS or any(self._tables.on_channel(stream.number)):
            return None
        loop = asyncio.get_running_loop()
        if stream.number in self._from_before and request.version >= _UNDERSTANDS_GO_AWAY:
            self._counters.sent_away += 1
            # What else is under way on this connection is told the same.
            loop.call_later(_PATIENCE, stream.close)
            return reply(request, ResponseCode.GO_AWAY, remark="please go away")
        if request.code not in _KEPT:
            loop.call_soon(stream.close)
        return None
