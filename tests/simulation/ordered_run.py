"""One simulated rebalance of an ordered topic: each group reads the messages of each key in their order."""

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol import fastjson
from namesrv_core.state.kv_config import ORDER_TOPIC_CONFIG
from nsadmin.client.name_servers.order_confs import format_order_conf, parse_order_conf
from nsadmin.operations.rebalance.rebalance_plan import QueuePair, RebalanceMove
from tests.simulation.consumer import QueueProducer, RouteReader
from tests.simulation.queue_broker import QueueBroker
from tests.simulation.rebalance_run import RebalanceRun, plan_move
from tests.simulation.world import Fault, InvariantBroken

_TOPIC = "emails"
_KEYS = 7

KeyedMessage = tuple[str, int]
"""The key of a message, and its number among those of the key."""


class OrderedBroker(QueueBroker):
    """`last_read` has the last message of each key that a group has read, on all brokers."""

    last_read: Counter[tuple[str, str]]

    def prepare_queues(self) -> None:
        super().prepare_queues()
        self._keyed: dict[tuple[str, int], list[KeyedMessage]] = {}

    def writes(self, topic: str) -> int:
        """The write queues of a topic."""
        return self._counts_of(topic)[1]

    def store_keyed(self, topic: str, queue_id: int, message: KeyedMessage) -> bool:
        """Store a message of a key. Return whether it was not rejected."""
        end = self.queues.end_of(topic, queue_id)
        self.store(topic, queue_id)
        if self.queues.end_of(topic, queue_id) == end:
            return False
        self._keyed.setdefault((topic, queue_id), []).append(message)
        return True

    def read_queue(self, group: str, topic: str, queue_id: int, offset: int, limit: int) -> int:
        place = group, topic, queue_id
        known = self.queues.read.get(place, 0)
        next_offset = super().read_queue(group, topic, queue_id, offset, limit)
        messages = self._keyed.get((topic, queue_id), [])[known : self.queues.read.get(place, 0)]
        for key, number in messages:
            if number != self.last_read[group, key] + 1:
                raise InvariantBroken(
                    f"{group} reads message {number} of {key} in queue {queue_id} of {topic} on {self.title} "
                    f"after message {self.last_read[group, key]}"
                )
            self.last_read[group, key] = number
        return next_offset

    def _forget_messages(self, topic: str) -> None:
        super()._forget_messages(topic)
        self._keyed = {queue: messages for queue, messages in self._keyed.items() if queue[0] != topic}


class KeyedProducer(QueueProducer):
    """A producer that chooses the queue by the key, among those of the order configuration if there is one.

    It sends the next message of a key when the last one is stored.
    """

    def __init__(
        self,
        name: str,
        reader: RouteReader,
        masters: dict[str, OrderedBroker],
        send_ms: int,
    ) -> None:
        super().__init__(_TOPIC, reader, {**masters}, send_ms)
        self._keys = [f"{name}-{number}" for number in range(_KEYS)]
        self._sent: Counter[str] = Counter()
        self._ordered_masters = masters

    def _poll(self) -> None:
        found = self.reader.read_body(self.topic)
        conf = None if found is None else fastjson.decode_json(found[0]).get("orderTopicConf")
        if found is None or not conf:
            super()._poll()
        else:
            # As Java's clients, also without a look at the permissions.
            super().use_queues(
                [(n, i) for n, c in parse_order_conf(conf).items() for i in range(c)], found[1]
            )

    def use_queues(self, queues: list[tuple[str, int]], namesrv_addr: str) -> None:
        # Without an order configuration, an outage of a broker breaks the order. That is not looked at.
        if queues == [
            (n, i) for n, b in sorted(self._ordered_masters.items()) for i in range(b.writes(_TOPIC))
        ]:
            super().use_queues(queues, namesrv_addr)

    def _send_again(self) -> None:
        self.world.call_after(self.send_ms, self._send_again)
        if self.queues:
            self._turn += 1
            number = self._turn % _KEYS
            key, (broker_name, queue_id) = self._keys[number], self.queues[number % len(self.queues)]
            broker = self._ordered_masters[broker_name]
            if broker.is_up and not broker.is_frozen:
                self._sent[key] += broker.store_keyed(self.topic, queue_id, (key, self._sent[key] + 1))


class OrderedRun(RebalanceRun):
    """A run of one seed. The topic has an order configuration, or brokers alone say that it is ordered."""

    master_class: ClassVar = OrderedBroker
    shared_topics: ClassVar = (make_topic_config(_TOPIC, 4, is_ordered=True),)

    def __init__(self, seed: int, faults: list[Fault]) -> None:
        super().__init__(seed, faults)
        self.rules = self.rules._replace(allow_ordered=True)

    def plan_moves(self) -> list[RebalanceMove]:
        self._has_conf = self.random.random() < 0.5
        while True:
            move = plan_move(_TOPIC, self.random)
            if len({*move.before, *move.after}) > 1:
                conf = _format_conf(move.after) if self._has_conf else None
                return [move._replace(ordered=True, order_conf=conf)]

    def prepare_clients(self) -> None:
        super().prepare_clients()
        [move] = self.plan.moves
        last_read: Counter[tuple[str, str]] = Counter()
        for broker in self.masters.values():
            assert isinstance(broker, OrderedBroker)
            broker.last_read = last_read
        servers = list(self.cluster.name_servers.values())
        for server in servers:
            server.adds_order_confs = True
            if self._has_conf:
                server.kv_tables = {ORDER_TOPIC_CONFIG: {_TOPIC: _format_conf(move.before)}}
        masters = {n: b for n, b in self.masters.items() if isinstance(b, OrderedBroker)}
        self.cluster.producers = [
            KeyedProducer(name, RouteReader(self.world, servers, self.random), masters, send_ms)
            for name, send_ms in (("a", 900), ("b", self.random.choice((2_000, 7_000))))
        ]

    def require_moved(self) -> None:
        super().require_moved()
        [move] = self.plan.moves
        if self.stops_in_the_way:
            return
        wanted = _format_conf(move.before if self.is_rollback else move.after) if self._has_conf else None
        for server in self.cluster.name_servers.values():
            conf = server.state.kv_config.get_value(ORDER_TOPIC_CONFIG, _TOPIC)
            if conf != wanted:
                raise InvariantBroken(
                    f"the run is done, and {server.addr} has the order {conf}, not {wanted}"
                )


def _format_conf(queues: Mapping[str, QueuePair]) -> str:
    return format_order_conf({name: pair.write for name, pair in queues.items()})
