"""A cluster whose topics are rebalanced, without a network: brokers, name servers, clients, a clock.

Routes reach name servers late, and clients refresh their routes late. Everything that a client could notice
is written down: a send without a writable queue, a refused send, an unreadable message.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from nsadmin.client.name_servers.order_confs import parse_order_conf
from nsadmin.operations.rebalance.rebalance_plan import NO_QUEUES, QueuePair
from nsadmin.operations.rebalance.run_facts import (
    BrokerHealth,
    CommitStart,
    CreateGroupOn,
    DeleteTopicOn,
    GroupLag,
    MovingTopicFacts,
    NewQueueUse,
    PutOrderConf,
    PutTopic,
    RoutedQueues,
    RunAction,
    RunObservation,
    RunQuestions,
    TopicAtServer,
    TopicOnBroker,
    TopicQuestion,
)

POLL_MS = 30_000
STEP_MS = 1000
KEYS = tuple("abcdefghij")

Queue = tuple[str, int]
Message = tuple[str, int]


class RunKilled(Exception):
    """The process of the run ends here."""


@dataclass
class SeenRoute:
    """What a name server or a client knows of the topic."""

    queues: dict[str, QueuePair] = field(default_factory=dict)
    order_conf: str = ""

    def write_queues(self) -> list[Queue]:
        if self.order_conf:
            counts = parse_order_conf(self.order_conf)
            return [(broker, at) for broker, count in counts.items() for at in range(count)]
        return [(broker, at) for broker in sorted(self.queues) for at in range(self.queues[broker].write)]

    def read_queues(self) -> list[Queue]:
        return [(broker, at) for broker in sorted(self.queues) for at in range(self.queues[broker].read)]

    def copy(self) -> "SeenRoute":
        return SeenRoute(dict(self.queues), self.order_conf)


class RebalancedTopic:
    """One topic under load."""

    def __init__(
        self, random: Random, queues: dict[str, QueuePair], brokers: Sequence[str], ordered: bool
    ) -> None:
        self.random, self.ordered = random, ordered
        self.on_brokers: dict[str, QueuePair] = dict(queues)
        self.brokers = tuple(brokers)
        self.servers = {addr: SeenRoute(dict(queues)) for addr in ("ns-1", "ns-2")}
        self.late: list[tuple[int, str, str]] = []
        self.messages: dict[Queue, list[Message]] = {}
        self.committed: dict[Queue, int] = {
            (broker, queue_id): 0 for broker, pair in queues.items() for queue_id in range(pair.read)
        }
        self.sent: dict[str, int] = dict.fromkeys(KEYS, 0)
        self.consumed: dict[str, list[int]] = {key: [] for key in KEYS}
        self.faults: list[str] = []
        self.producers = [SeenRoute(dict(queues)) for _ in range(3)]
        self.consumer = SeenRoute(dict(queues))
        self.refreshes = [random.randrange(POLL_MS) for _ in range(4)]
        self.is_sending = True
        self.deleted: list[str] = []

    def register_broker(self, broker: str, now_ms: int) -> None:
        for addr in self.servers:
            self.late.append((now_ms + self.random.randrange(3000), addr, broker))

    def pass_second(self, now_ms: int) -> None:
        """One second: registrations arrive, clients refresh, send and consume."""
        arrived = [item for item in self.late if item[0] <= now_ms]
        self.late = [item for item in self.late if item[0] > now_ms]
        for _, addr, broker in arrived:
            if broker in self.on_brokers:
                self.servers[addr].queues[broker] = self.on_brokers[broker]
        for at, client in enumerate((*self.producers, self.consumer)):
            if now_ms >= self.refreshes[at]:
                self.refreshes[at] = now_ms + POLL_MS
                fresh = self.random.choice([*self.servers.values()]).copy()
                client.queues, client.order_conf = fresh.queues, fresh.order_conf
        if self.is_sending:
            for at, producer in enumerate(self.producers):
                self.send_message(at, producer)
        self.consume_messages()
        self.check_routes()

    def send_message(self, at: int, producer: SeenRoute) -> None:
        # Each key has one producer, as order needs.
        key = self.random.choice(KEYS[at :: len(self.producers)])
        queues = producer.write_queues()
        if not queues:
            self.faults.append("a producer found no writable queue")
            return
        broker, queue_id = queues[ord(key) % len(queues)] if self.ordered else self.random.choice(queues)
        present = self.on_brokers.get(broker)
        if present is None or queue_id >= max(present):
            self.faults.append(f"{broker} refused a message for queue {queue_id}")
            return
        self.messages.setdefault((broker, queue_id), []).append((key, self.sent[key]))
        self.sent[key] += 1

    def consume_messages(self) -> None:
        for queue in self.consumer.read_queues():
            present = self.on_brokers.get(queue[0], NO_QUEUES)
            if queue[1] >= present.read:
                continue
            stored = self.messages.get(queue, [])
            # A group without an offset may begin at the end.
            offset = self.committed.setdefault(queue, len(stored))
            end = max(offset, min(len(stored), offset + self.random.randrange(8)))
            for key, number in stored[offset:end]:
                self.consumed[key].append(number)
            self.committed[queue] = end

    def check_routes(self) -> None:
        """Note what must never be: nothing writable in a route, or a stored message that nobody can read."""
        for addr, route in self.servers.items():
            if not route.write_queues():
                self.faults.append(f"the route of {addr} has no writable queue")
        if not any(queues.write for queues in self.on_brokers.values()):
            self.faults.append("no broker has a writable queue")
        for (broker, queue_id), stored in self.messages.items():
            waits = len(stored) - self.committed.get((broker, queue_id), 0)
            if waits and not self.ordered and queue_id >= self.on_brokers.get(broker, NO_QUEUES).read:
                self.faults.append(f"{waits} messages of {broker} queue {queue_id} are unreadable")

    def lag_of_queue(self, queue: Queue) -> int:
        return len(self.messages.get(queue, [])) - self.committed.get(queue, 0)


class RebalancedCluster:
    """The environment of a run, and its clock; `failing` is how often a server is silent or a run killed."""

    def __init__(self, random: Random, topics: dict[str, RebalancedTopic], failing: float = 0.0) -> None:
        self.random, self.topics, self.failing = random, topics, failing
        self.now_ms = 1_000_000
        self.groups: dict[str, set[str]] = {}
        self.sent_changes: list[RunAction] = []

    def pause_seconds(self, seconds: float) -> None:
        until_ms = self.now_ms + int(seconds * 1000)
        while self.now_ms < until_ms:
            self.now_ms += STEP_MS
            for topic in self.topics.values():
                topic.pass_second(self.now_ms)

    def fails(self) -> bool:
        return self.random.random() < self.failing

    def observe(self, questions: RunQuestions, now_ms: int) -> RunObservation:
        self.pause_seconds(1)
        if self.fails():
            raise RunKilled
        return RunObservation(
            self.now_ms,
            {question.topic: self._read_topic(question) for question in questions.topics},
            {broker: frozenset(self.groups.get(broker, set())) for broker in questions.group_brokers},
            {broker: BrokerHealth(None, 0.3, 0) for broker in questions.health_brokers},
        )

    def _read_topic(self, question: TopicQuestion) -> MovingTopicFacts:
        topic = self.topics[question.topic]
        silent = {broker for broker in question.brokers if self.fails()}
        on_brokers = {
            broker: TopicOnBroker("no answer")
            if broker in silent
            else TopicOnBroker(None, broker in topic.on_brokers, topic.on_brokers.get(broker, NO_QUEUES), 6)
            for broker in question.brokers
        }
        at_servers = {
            addr: TopicAtServer("no answer")
            if self.fails()
            else TopicAtServer(
                None,
                {broker: RoutedQueues(pair, 6) for broker, pair in route.queues.items()},
                route.order_conf,
            )
            for addr, route in topic.servers.items()
        }
        if silent:
            return MovingTopicFacts(on_brokers, at_servers, undelivered=None, error="unknown")
        closing = [(broker, queue_id) for broker, ids in question.closing_queues.items() for queue_id in ids]
        new = [(broker, queue_id) for broker, ids in question.new_queues.items() for queue_id in ids]
        owned = topic.consumer.read_queues()
        missing: dict[str, tuple[int, ...]] = {}
        for broker, queue_id in new:
            queue = (broker, queue_id)
            if topic.committed.get(queue, 1 << 60) > len(topic.messages.get(queue, [])):
                missing[broker] = (*missing.get(broker, ()), queue_id)
        return MovingTopicFacts(
            on_brokers,
            at_servers,
            {
                broker: tuple(len(topic.messages.get((broker, queue_id), [])) for queue_id in ids)
                for broker, ids in question.closing_queues.items()
            },
            {"group": GroupLag(sum(topic.lag_of_queue(queue) for queue in closing), 0, 0, True)}
            if closing
            else {},
            0,
            {"group": NewQueueUse(sum(queue not in owned for queue in new), True, missing)} if new else {},
        )

    def carry_out(self, actions: Sequence[RunAction]) -> list[str | None]:
        errors: list[str | None] = []
        for action in actions:
            if self.fails():
                raise RunKilled
            self.sent_changes.append(action)
            if self.fails():
                errors.append("no answer")
                continue
            self._change(action)
            errors.append(None)
        return errors

    def _change(self, action: RunAction) -> None:
        if isinstance(action, CreateGroupOn):
            self.groups.setdefault(action.broker, set()).add(action.group)
            return
        topic = self.topics[action.topic]
        if isinstance(action, PutTopic):
            assert topic.on_brokers.keys() & {action.broker, *action.models}
            topic.on_brokers[action.broker] = action.queues
            topic.register_broker(action.broker, self.now_ms)
        elif isinstance(action, PutOrderConf):
            for route in topic.servers.values():
                route.order_conf = action.order_conf
        elif isinstance(action, CommitStart):
            for queue_id in action.queue_ids:
                queue = (action.broker, queue_id)
                topic.committed[queue] = len(topic.messages.get(queue, []))
        elif isinstance(action, DeleteTopicOn):
            topic.deleted.append(action.broker)
            del topic.on_brokers[action.broker]
            for queue in [queue for queue in topic.messages if queue[0] == action.broker]:
                assert not topic.lag_of_queue(queue)
                # Like brokers of 4.x, which keep the offsets.
                del topic.messages[queue]

    def finish(self) -> None:
        """Let consumers consume what is left."""
        for topic in self.topics.values():
            topic.is_sending = False
        self.pause_seconds(400)
