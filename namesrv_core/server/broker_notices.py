"""BrokerNotices, which notifies brokers of a new smallest id in their group (NOTIFY_MIN_BROKER_ID_CHANGE)."""

import asyncio
from typing import TYPE_CHECKING

from namesrv_core.events import MinBrokerIdChanged
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_request
from namesrv_core.server.log import log
from namesrv_core.transport.request_channel import RequestChannel

if TYPE_CHECKING:
    import ssl


class BrokerNotices:
    """Sends notices in the background, over TLS if `ssl_context` is given. Logs unreachable brokers."""

    def __init__(self, ssl_context: "ssl.SSLContext | None" = None) -> None:
        self._context = ssl_context
        self._tasks: set[asyncio.Task[None]] = set()

    def send_min_id_notice(self, event: MinBrokerIdChanged) -> None:
        header = headers.MinBrokerIdChange(
            event.min_broker_id, event.min_broker_addr, event.offline_broker_addr, event.ha_broker_addr
        )
        for broker_addr in event.recipients:
            task = asyncio.get_running_loop().create_task(
                self._notify_broker(broker_addr, headers.write_header(header))
            )
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _notify_broker(self, broker_addr: str, ext_fields: dict[str, str]) -> None:
        channel = RequestChannel(broker_addr, ssl_context=self._context)
        try:
            await channel.send_oneway(
                build_request(RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE, ext_fields, is_oneway=True)
            )
        except (OSError, ValueError) as error:
            log.warning("could not notify %s of the new smallest broker id: %s", broker_addr, error)
        finally:
            channel.close()

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
