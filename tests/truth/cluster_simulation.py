"""ClusterSimulation: three name servers and six brokers in virtual time, and the network between them.

Only the network and the clock are simulated: name servers keep their tables and write their journals with
the code of the real server.
"""

import heapq
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from random import Random

from namesrv_core.fleet.broker_model import BrokerSpec
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol.command import RemotingCommand
from tests.truth.fault_plan import DURATION_SECONDS, GROUP_LETTERS, SERVER_NUMBERS
from tests.truth.true_facts import ServerPause
from tests.truth.true_history import TrueHistory
from tests.truth.virtual_broker import VirtualBroker
from tests.truth.virtual_name_server import Delivery, VirtualChannel, VirtualNameServer

START_MS = 1_767_600_000_000
"""2026-01-05T08:00:00Z: all simulations begin then."""

END_MS = START_MS + DURATION_SECONDS * 1000
HEARTBEAT_MS, _SCAN_MS, _TICK_MS = 30_000, 5_000, 1_000
_LONGEST_LATENCY_MS = 20


class ClusterSimulation:
    """A cluster. `name_prefix` begins the names of all members, and `address_prefix` their addresses."""

    def __init__(self, seed: int, folder: Path, name_prefix: str, address_prefix: str) -> None:
        self.now_ms = START_MS
        self.history = TrueHistory(lambda: self.now_ms)
        self.cluster_name = f"{name_prefix}-cluster"
        self._random = Random(f"network {seed}")
        self._name_prefix, self._address_prefix = name_prefix, address_prefix
        self._timers: list[tuple[int, int, Callable[[], None]]] = []
        self._timer_numbers, self._channel_ids = count(), count(1)
        self.servers = {
            name: VirtualNameServer(name, folder / name / "journal", lambda: self.now_ms, self.history)
            for name in (f"{name_prefix}-ns-{server_number}" for server_number in SERVER_NUMBERS)
        }
        self.brokers = {
            (letter, broker_id): self._make_broker(letter, broker_id, 2 * letter_number + broker_id + 1)
            for letter_number, letter in enumerate(GROUP_LETTERS)
            for broker_id in (0, 1)
        }
        # A constant latency keeps the order of what a broker sends to a name server.
        self._latencies_ms = {
            (broker.broker_addr, name): self._random.randint(1, _LONGEST_LATENCY_MS)
            for broker in self.brokers.values()
            for name in self.servers
        }

    def _make_broker(self, letter: str, broker_id: int, broker_number: int) -> VirtualBroker:
        topics = tuple(make_topic_config(f"{topic}-{letter}", 8) for topic in ("orders", "payments"))
        shared_topics = (make_topic_config("events", 4), make_topic_config("audit", 4, perm=4))
        spec = BrokerSpec(
            self.cluster_name, f"{self._name_prefix}-broker-{letter}", broker_id, (*topics, *shared_topics)
        )
        return VirtualBroker(spec, f"{self._address_prefix}.{broker_number}:10911", self.now_ms)

    def run_until_end(self) -> None:
        """Run everything that is due until the end, and note what lasts until then."""
        while self._timers and self._timers[0][0] < END_MS:
            self.now_ms, _, action = heapq.heappop(self._timers)
            action()
        self.now_ms = END_MS
        self.history.end_history()
        for server in self.servers.values():
            if server.run_state != "down":
                server.end(None)

    def call_after(self, delay_ms: int, action: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (self.now_ms + delay_ms, next(self._timer_numbers), action))

    def start_members(self) -> None:
        """Start the name servers, then the brokers, masters before slaves."""
        for server in self.servers.values():
            self.start_server(server)
        masters_first = sorted(self.brokers.values(), key=lambda broker: broker.spec.broker_id)
        for number, broker in enumerate(masters_first, 1):
            self.call_after(900 * number, partial(self.start_broker, broker))

    def open_channel(self, client_host: str) -> VirtualChannel:
        channel_id = next(self._channel_ids)
        return VirtualChannel(channel_id, f"{client_host}:{30_000 + channel_id % 30_000}")

    def start_server(self, server: VirtualNameServer) -> None:
        server.start()
        self._repeat_action(server, _SCAN_MS, server.scan_brokers)
        self._repeat_action(server, _TICK_MS, server.tick)

    def _repeat_action(self, server: VirtualNameServer, period_ms: int, action: Callable[[], None]) -> None:
        """Repeat an action of this run of a name server; a frozen process does nothing."""
        run_state = server.state

        def act() -> None:
            if server.run_state != "down" and server.state is run_state:
                if server.run_state == "up":
                    action()
                self.call_after(period_ms, act)

        self.call_after(period_ms, act)

    def end_server(self, server: VirtualNameServer, stop_reason: str | None) -> None:
        """End a process of a name server; without a reason it is killed."""
        run_end = "killed" if stop_reason is None else "stopped"
        frozen_since_ms = server.frozen_since_ms if server.run_state == "frozen" else None
        self.history.end_run(server.server_name, run_end, frozen_since_ms)
        server.end(stop_reason)
        for broker in self.brokers.values():
            if (channel := broker.channels.pop(server.server_name, None)) is not None:
                channel.close()

    def thaw_server(self, server: VirtualNameServer) -> None:
        self.history.facts.append(ServerPause(server.server_name, server.frozen_since_ms, self.now_ms))
        server.thaw()

    def start_broker(self, broker: VirtualBroker) -> None:
        broker.run_state = "up"
        broker.run_number += 1
        self.register_broker(broker)
        self._schedule_heartbeat(broker, self._random.randint(1_000, HEARTBEAT_MS))

    def _schedule_heartbeat(self, broker: VirtualBroker, delay_ms: int) -> None:
        run_number = broker.run_number

        def beat() -> None:
            if broker.run_number == run_number and broker.run_state != "down":
                self.register_broker(broker)
                self.call_after(HEARTBEAT_MS, beat)

        self.call_after(delay_ms, beat)

    def register_broker(self, broker: VirtualBroker) -> None:
        """Send a registration to every name server; a frozen broker sends nothing."""
        if broker.run_state == "frozen":
            for name in self.servers:
                self.history.miss_broker(name, *broker.place, "broker")
            return
        registration = broker.build_registration()
        for server in self.servers.values():
            channel = broker.channels.get(server.server_name)
            if channel is None or not channel.is_open:
                channel = self.open_channel(broker.broker_addr.partition(":")[0])
                broker.channels[server.server_name] = channel
            self._send_delivery(broker, server, Delivery(channel, registration, broker.place))

    def end_broker(self, broker: VirtualBroker, *, is_abrupt: bool) -> None:
        """End the process of a broker; it unregisters unless it is killed."""
        for name, channel in broker.channels.items():
            server = self.servers[name]
            if not is_abrupt:
                self._send_delivery(
                    broker, server, Delivery(channel, broker.model.build_unregistration(), broker.place)
                )
            self._send_delivery(broker, server, Delivery(channel, None, broker.place))
        broker.channels = {}
        broker.run_state = "down"

    def thaw_broker(self, broker: VirtualBroker) -> None:
        broker.run_state = "up"
        self.register_broker(broker)

    def _send_delivery(self, broker: VirtualBroker, server: VirtualNameServer, delivery: Delivery) -> None:
        latency_ms = self._latencies_ms[broker.broker_addr, server.server_name]
        self.call_after(latency_ms, partial(self._deliver, broker, server, delivery))

    def _deliver(self, broker: VirtualBroker, server: VirtualNameServer, delivery: Delivery) -> None:
        """Hand over what arrives. A partition loses requests, and delays the end of a connection."""
        if broker.cut_counts.get(server.server_name):
            all_cut = all(broker.cut_counts.get(name) for name in self.servers)
            self.history.miss_broker(server.server_name, *broker.place, "link")
            if all_cut or delivery.request is None:
                self.history.miss_broker(server.server_name, *broker.place, "broker")
            if delivery.request is None:
                broker.held_ends.append((server.server_name, delivery))
        elif server.run_state != "down":
            if server.run_state == "frozen":
                self.history.miss_broker(server.server_name, *broker.place, "name server")
            server.receive(delivery)

    def cut_links(self, broker: VirtualBroker, server_names: tuple[str, ...]) -> None:
        for name in server_names:
            broker.cut_counts[name] = broker.cut_counts.get(name, 0) + 1

    def heal_links(self, broker: VirtualBroker, server_names: tuple[str, ...]) -> None:
        """End a partition; the ends of connections that it held back arrive."""
        for name in server_names:
            broker.cut_counts[name] -= 1
        held_ends, broker.held_ends = broker.held_ends, []
        for name, delivery in held_ends:
            self._send_delivery(broker, self.servers[name], delivery)

    def send_operator_request(self, server: VirtualNameServer, request: RemotingCommand) -> None:
        """Send a request of an operator, who reaches every name server that runs."""
        if server.run_state != "down":
            server.receive(Delivery(self.open_channel("10.0.0.9"), request))
