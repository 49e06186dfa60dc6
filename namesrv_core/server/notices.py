"""Brokers are told that the smallest id of their group has changed (NOTIFY_MIN_BROKER_ID_CHANGE)."""

import asyncio
from typing import TYPE_CHECKING

from namesrv_core.events import MinBrokerIdChanged
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import request
from namesrv_core.server.log import log
from namesrv_core.transport.channel import Channel

if TYPE_CHECKING:
    import ssl


class Notices:
    """Sends notices in the background; a broker that cannot be reached is logged, nobody waits for it.

    With `tls` brokers are told through that.
    """

    def __init__(self, tls: "ssl.SSLContext | None" = None) -> None:
        self._tls = tls
        self._under_way: set[asyncio.Task[None]] = set()

    def send(self, event: MinBrokerIdChanged) -> None:
        header = headers.MinBrokerIdChange(
            event.min_broker_id, event.min_broker_addr, event.offline_broker_addr, event.ha_broker_addr
        )
        for addr in event.recipients:
            task = asyncio.get_running_loop().create_task(self._tell(addr, headers.write(header)))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)

    async def _tell(self, addr: str, ext: dict[str, str]) -> None:
        channel = Channel(addr, tls=self._tls)
        try:
            await channel.oneway(request(RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE, ext, oneway=True))
        except (OSError, ValueError) as error:
            log.warning("could not tell %s that the smallest broker id changed: %s", addr, error)
        finally:
            channel.close()

    def stop(self) -> None:
        for task in self._under_way:
            task.cancel()
