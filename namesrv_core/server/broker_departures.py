"""BrokerDepartures, which removes brokers whose channel has closed or whose time is over, in turns."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from namesrv_core.events import Event
from namesrv_core.state import liveness
from namesrv_core.state.route_tables import RouteTables
from namesrv_core.state.unregistration import DepartureOrder, leave_in_steps
from namesrv_core.transport.command_stream import CommandStream
from namesrv_core.transport.fair_scheduler import FairScheduler

PublishFunction = Callable[[Sequence[Event], str, str | None], None]
"""Called with events, their cause and the address of the client that caused them."""

_NO_HEARTBEAT = "no heartbeat"


class _WaitingOrder(NamedTuple):
    departure_order: DepartureOrder
    cause: str
    client_addr: str | None = None


class BrokerDepartures:
    """The orders that wait. A turn carries out all orders that wait at its beginning."""

    def __init__(
        self,
        tables: RouteTables,
        open_streams: Collection[CommandStream],
        fair_scheduler: FairScheduler,
        publish_events: PublishFunction,
    ) -> None:
        self._tables = tables
        self._open_streams = open_streams
        self._scheduler = fair_scheduler
        self._publish_events = publish_events
        self._orders: list[_WaitingOrder] = []
        self._is_running = self._is_stopped = False

    def end_channel(self, channel_id: int, cause: str, client_addr: str) -> None:
        order = liveness.end_channel(self._tables, channel_id)
        self._add_order(_WaitingOrder(order, cause, client_addr))

    def expire_silent_brokers(self, now_ms: int) -> None:
        """Remove the brokers whose time is over and close their channels. Report those that are silent."""
        order = liveness.find_expired_brokers(self._tables, now_ms)
        self._add_order(_WaitingOrder(order, _NO_HEARTBEAT))
        self._scheduler.add_steps(self._report_silence(now_ms))

    def stop(self) -> None:
        self._is_stopped = True

    def _add_order(self, order: _WaitingOrder) -> None:
        if order.departure_order.live_keys:
            self._orders.append(order)
            if not self._is_running:
                self._is_running = True
                self._scheduler.add_steps(self._carry_out_orders())

    def _carry_out_orders(self) -> Iterator[None]:
        try:
            while self._orders:
                orders, self._orders = self._orders, []
                yield from self._carry_out_together(orders)
        finally:
            self._is_running = False

    def _carry_out_together(self, orders: Sequence[_WaitingOrder]) -> Iterator[None]:
        departure_orders = [order.departure_order for order in orders]
        streams: dict[int, CommandStream] = {}
        for departure in leave_in_steps(self._tables, departure_orders):
            _, cause, client_addr = orders[departure.order_number]
            self._publish_events(departure.events, cause, client_addr)
            if departure.channel_id is not None and cause == _NO_HEARTBEAT:
                streams = streams or {stream.channel_id: stream for stream in self._open_streams}
                stream = streams.pop(departure.channel_id, None)
                if stream is not None:
                    stream.close()
            yield
            if self._is_stopped:
                return

    def _report_silence(self, now_ms: int) -> Iterator[None]:
        for gap_events in liveness.detect_silent_brokers(self._tables, now_ms):
            self._publish_events(gap_events, _NO_HEARTBEAT, None)
            yield
            if self._is_stopped:
                return
