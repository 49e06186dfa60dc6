"""VirtualNameServer, our name server in virtual time: its tables, handlers and journal, without sockets."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from namesrv_core.events import Event
from namesrv_core.handlers.dispatch import handle_request
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.server.broker_departures import BrokerDepartures
from namesrv_core.server.journal_publisher import JournalPublisher
from namesrv_core.state.kv_config import KvConfig
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.settings import NameServerSettings
from namesrv_core.storage.journal.rolling_writer import JournalLimits, JournalWriter

SEGMENT_MS = 3_600_000
"""A segment of a journal has at most an hour, so that each journal rolls in the middle of faults."""


class VirtualChannel:
    """A connection from a broker, or from an operator, to one run of a name server."""

    def __init__(self, channel_id: int, client_addr: str) -> None:
        self.channel_id = channel_id
        self.client_addr = client_addr
        self.is_open = True

    def close(self) -> None:
        """Close the connection from the side of the name server."""
        self.is_open = False


class Delivery(NamedTuple):
    """Something that arrives over a channel: a request, or the end of the channel (None).

    `sender` is the name and the id of a broker, None for an operator.
    """

    channel: VirtualChannel
    request: RemotingCommand | None
    sender: tuple[str, int] | None = None


class TableObserver(Protocol):
    """Learns of everything that may have changed the tables of a name server."""

    def observe_tables(self, server: "VirtualNameServer", cause: str) -> None: ...

    def hear_broker(self, server_name: str, broker_name: str, broker_id: int) -> None: ...


class _ImmediateScheduler:
    """Does all steps at once: work takes no virtual time."""

    def add_steps(self, steps: Iterator[None]) -> None:
        for _ in steps:
            pass


class VirtualNameServer:
    """A name server. `run_state` is up, down or frozen. `clock_error_ms` is the error of its wall clock.

    `clock_ms` returns the true time. `waiting` holds what arrived while the process is frozen, since
    `frozen_since_ms`.
    """

    def __init__(
        self, server_name: str, folder: Path, clock_ms: Callable[[], int], observer: TableObserver
    ) -> None:
        self.server_name = server_name
        self.journal_folder = folder
        self.run_state = "down"
        self.clock_error_ms = 0
        self.frozen_since_ms = 0
        self.waiting: list[Delivery] = []
        self.state: NameServerState
        self._clock_ms = clock_ms
        self._observer = observer
        self._channels: dict[int, VirtualChannel] = {}
        self._saved_tables: dict[str, dict[str, str | None]] = {}
        self._journal: JournalPublisher
        self._departures: BrokerDepartures

    def start(self) -> None:
        """Start with the saved KV config and without brokers."""
        self.state = NameServerState(NameServerSettings(), KvConfig(self._saved_tables), self._clock_ms())
        self._channels, self.waiting = {}, []
        self._departures = BrokerDepartures(
            self.state.tables,
            cast(Any, self._channels).values(),
            cast(Any, _ImmediateScheduler()),
            self._publish_events,
        )
        self._journal = JournalPublisher(
            JournalWriter(self.journal_folder, JournalLimits(segment_millis=SEGMENT_MS)),
            self.state,
            lambda: (self._copy_kv_tables(), self.state.settings.shown_items()),
            lambda: (self._clock_ms() + self.clock_error_ms) / 1000,
        )
        self._journal.start("127.0.0.1:9876", self.server_name, self._clock_ms())
        self.run_state = "up"
        self._observer.observe_tables(self, "start")

    def end(self, stop_reason: str | None) -> None:
        """End in order with a reason, or as if killed (None)."""
        self.run_state = "down"
        self._saved_tables = self._copy_kv_tables()
        self._journal.stop(stop_reason)

    def freeze(self) -> None:
        self.run_state, self.frozen_since_ms = "frozen", self._clock_ms()

    def thaw(self) -> None:
        """Read what arrived meanwhile, then do the periodic tasks that are due."""
        self.run_state = "up"
        waiting, self.waiting = self.waiting, []
        for delivery in waiting:
            self.receive(delivery)
        self.scan_brokers()
        self.tick()

    def receive(self, delivery: Delivery) -> None:
        """Handle what arrives, now or when the process continues."""
        if self.run_state == "frozen":
            self.waiting.append(delivery)
            return
        channel, request, sender = delivery
        if request is None:
            self._end_channel(channel)
            return
        if not channel.is_open:
            return
        self._channels[channel.channel_id] = channel
        reply, events = handle_request(self.state, request, channel.channel_id, self._clock_ms())
        assert reply.code == 0, (request, reply)
        self._publish_events(events, RequestCode.name_of(request.code), channel.client_addr)
        if request.code == RequestCode.REGISTER_BROKER and sender is not None:
            self._observer.hear_broker(self.server_name, *sender)
        self._observer.observe_tables(self, RequestCode.name_of(request.code))

    def _end_channel(self, channel: VirtualChannel) -> None:
        channel.close()
        if self._channels.pop(channel.channel_id, None) is not None:
            self._departures.end_channel(channel.channel_id, "channel closed", channel.client_addr)
            self._observer.observe_tables(self, "channel closed")

    def scan_brokers(self) -> None:
        """Remove silent brokers (every five seconds)."""
        self._departures.expire_silent_brokers(self._clock_ms())
        self._observer.observe_tables(self, "expired")

    def tick(self) -> None:
        """Let the journal do what is due (every second)."""
        self._journal.handle_tick(self._clock_ms())

    def _publish_events(self, events: Sequence[Event], cause: str, client_addr: str | None = None) -> None:
        if self._journal.publish_events(events, cause, client_addr):
            self.tick()

    def _copy_kv_tables(self) -> dict[str, dict[str, str | None]]:
        return {n: dict(t) for n, t in self.state.kv_config.tables_by_namespace.items()}
