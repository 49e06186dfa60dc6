"""One simulated `transfer messages` and `transfer offsets` to another cluster, while faults happen there."""

import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any, ClassVar
from unittest.mock import patch

from namesrv_core.errors import RocketMQError
from namesrv_core.fleet.broker_model import BrokerSpec
from namesrv_core.fleet.groups import GroupTable
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.protocol.stored_messages import StoredMessage, parse_properties
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.brokers import brokers
from nsadmin.client.connection.access_options import Access
from nsadmin.client.messages import message_sender, topic_follower
from nsadmin.library.admin_client import AdminClient
from nsadmin.operations.copy_source import SourceQueue, find_source
from nsadmin.operations.transfer.group_transfer import GroupTransfer, MovedQueue
from nsadmin.operations.transfer.source_reader import SourceReader
from nsadmin.operations.transfer.topic_plan import TopicPair, TopicPlanner, TransferClusters
from nsadmin.operations.transfer.transfer_run import TransferOptions, TransferRun
from tests.simulation.broker import HEARTBEAT_MS
from tests.simulation.cluster import BROKER, FAULT_KINDS
from tests.simulation.name_server import SimulatedNameServer
from tests.simulation.network import Network
from tests.simulation.operated_run import OperatedRun
from tests.simulation.queue_broker import QueueBroker
from tests.simulation.record_store import RecordStore
from tests.simulation.world import Fault, InvariantBroken

_TOPIC, _GROUP = "billing", "bills"
_QUEUES = 2
_BATCH = 64


class CopyBroker(QueueBroker):
    """A broker whose messages can be read and sent. `losing` is how many messages a queue loses by a kill.

    So it is if a slave that is behind takes over, or if the machine loses its power.
    """

    losing = 0
    has_lost = is_loss_hidden = False

    def prepare_queues(self) -> None:
        super().prepare_queues()
        self.groups, self.keeps_offsets = {}, True
        self.records = RecordStore(self)
        self.model.group_table = GroupTable((_GROUP,), self.world.true_ms)

    def add_message(self, body: bytes, queue_id: int, properties: dict[str, str]) -> dict[str, str]:
        self.queues.stored.setdefault((_TOPIC, queue_id), []).append(self.world.true_ms)
        return self.records.add(body, _TOPIC, queue_id, properties)

    def messages_of(self, queue_id: int) -> list[StoredMessage]:
        return [m for m in self.records.list_stored(_TOPIC) if m.queue_id == queue_id]

    def stop(self, *, is_abrupt: bool) -> None:
        super().stop(is_abrupt=is_abrupt)
        if is_abrupt and self.losing:
            self.has_lost = self.is_loss_hidden = True
            self.world.tell(f"{self.title} has lost the last {self.losing} messages of each queue")
            for times, records in zip(self.queues.stored.values(), self.records.queues.values(), strict=True):
                del times[-self.losing :], records[-self.losing :]

    def handle(self, request: RemotingCommand) -> RemotingCommand:
        fields = request.ext or {}
        match request.code:
            case RequestCode.PULL_MESSAGE:
                return self.records.pull(request)
            case RequestCode.SEND_MESSAGE_V2:
                messages = [(request.body, parse_properties((fields["i"] or "").encode()))]
            case RequestCode.SEND_BATCH_MESSAGE:
                messages = list(_split_batch(request.body))
            case _:
                return super().handle(request)
        places = [self.add_message(body, int(fields["e"] or 0), table) for body, table in messages]
        return build_reply(request, ext=places[0])


def _split_batch(body: bytes) -> Iterator[tuple[bytes, dict[str, str]]]:
    """The messages of a batch, by the specification (MessageDecoder#decodeMessage)."""
    position = 0
    while position < len(body):
        size, _, _, _, length = struct.unpack_from(">iiiii", body, position)
        yield (
            body[position + 20 : position + 20 + length],
            parse_properties(body[position + 22 + length : position + size]),
        )
        position += size


class CopyRun(OperatedRun):
    """A run of one seed: messages are copied, and then the group moves to the copies, once or twice."""

    fault_kinds: ClassVar = tuple(
        kind
        for kind in FAULT_KINDS
        if kind
        not in (
            "create topic",
            "change topic",
            "delete topic",
            "wipe by other",
            "stale slave",
            "undrain by other",
        )
    )
    step_count: ClassVar = 130
    master_class: ClassVar = CopyBroker
    plan_changes: ClassVar = {"has_slave": False, "producers": 0, "has_slow_producer": False}
    shared_topics: ClassVar = (make_topic_config(_TOPIC, _QUEUES),)

    def __init__(self, seed: int, faults: list[Fault]) -> None:
        super().__init__(seed, faults)
        cluster, world = self.cluster, self.world
        server = SimulatedNameServer(world, "10.1.0.1:9876", is_old=False)
        self._source_servers = {server.addr: server}
        topics = make_topic_config(_TOPIC, _QUEUES), make_topic_config("history", 4, perm=4)
        self._sources = {
            name: CopyBroker(
                world, BrokerSpec("S", name, 0, topics), f"10.1.1.{n}:10911", self._source_servers
            )
            for n, name in enumerate((BROKER, "broker-b"), 1)
        }
        self._targets = {b.spec.broker_name: b for b in cluster.masters if isinstance(b, CopyBroker)}
        cluster.network = Network(
            world,
            {**cluster.name_servers, **self._source_servers},
            {**cluster.brokers, **{broker.addr: broker for broker in self._sources.values()}},
        )
        self._send = cluster.network.exchange
        self._sends_meanwhile = self.random.random() < 0.4
        self._source_restarts_ms = self.random.choice((None, None, 100, 1_000, 20_000, 60_000))

    def run(self) -> None:
        self._prepare()
        self.start_cluster()
        for server in self._source_servers.values():
            server.start()
        for broker in self._sources.values():
            broker.start(self.world.random.randint(1, HEARTBEAT_MS))
        self.begin_faults()
        if self._source_restarts_ms is not None:
            self.world.call_after(self._source_restarts_ms, self._restart_source)
        with ExitStack() as patches:
            world = self.world
            for module in (brokers, message_sender):
                patches.enter_context(patch.object(module, "sleep", world.pause_seconds))
            patches.enter_context(patch.object(topic_follower, "monotonic", lambda: world.true_ms / 1000))
            patches.enter_context(patch.object(self.cluster.network, "exchange", self._exchange))
            _read_without_thread(patches, world.pause_seconds)
            for broker in self._targets.values():
                broker.losing = self.random.choice((0, 0, 1, 10, 100))
            self.repeat_command(f"transfer messages {_TOPIC}", self._copy, lambda error: False)
            for broker in self._targets.values():
                broker.losing = 0
            if any(broker.has_lost for broker in self._targets.values()):
                # What was lost behind the end of the copies is found by the next run.
                self.repeat_command(f"transfer messages {_TOPIC}", self._copy, lambda error: False)
            self._require_copied()
            for _ in range(self.random.choice((1, 2))):
                self._read_on()
                self.repeat_command(f"transfer offsets {_GROUP}", self._move_group, lambda error: False)

    def _prepare(self) -> None:
        random = self.random
        for broker in (*self._sources.values(), *self._targets.values()):
            broker.prepare_queues()
            if random.random() < 0.7:
                broker.model.properties._values["useServerSideResetOffset"] = "true"
        for broker in self._sources.values():
            for queue_id in range(_QUEUES):
                for number in range(random.choice((0, 1, 30, 200))):
                    broker.add_message(
                        f"{broker.title} {queue_id} {number}".encode(), queue_id, {"UNIQ_KEY": "k"}
                    )
                end = broker.queues.end_of(_TOPIC, queue_id)
                broker.queues.committed[_GROUP, _TOPIC, queue_id] = random.randint(0, end)
        for broker in self._targets.values():
            for queue_id in range(_QUEUES):
                for _ in range(random.choice((0, 0, 5))):
                    broker.add_message(b"foreign", queue_id, {"UNIQ_KEY": "f"})
        if self._sends_meanwhile:
            self._send_foreign()

    def _restart_source(self) -> None:
        if self.have_faults_ended:
            return
        [server] = self._source_servers.values()
        server.stop()
        server.start()
        self.world.tell("the name server of the source starts again, without brokers")

    def _send_foreign(self) -> None:
        """A producer of the target sends to its queues, too.

        It does not fill the place of lost messages before nsadmin asks: only `transfer verify` can find that.
        """
        for broker in self._targets.values():
            if broker.is_up and not broker.is_frozen and not broker.is_loss_hidden:
                broker.add_message(b"foreign", self.random.randrange(_QUEUES), {"UNIQ_KEY": "f"})
        self.world.call_after(self.random.randint(200, 5_000), self._send_foreign)

    def _exchange(self, addr: str, *request: Any) -> RemotingCommand | CallError:
        target = next((b for b in self._targets.values() if b.addr == addr), None)
        if target is not None:
            target.is_loss_hidden = False
        return self._send(addr, *request)

    # The commands of the operator

    def _make_clusters(self) -> TransferClusters:
        source = AdminClient(self._source_servers, pool=self.cluster.network.pool, access=Access())
        return TransferClusters(source, self.make_admin(), "prod", "dr")

    def _copy(self) -> bool:
        clusters = self._make_clusters()
        planner = TopicPlanner(clusters, {})
        plan = planner.plan_topic(TopicPair(_TOPIC, _TOPIC))
        if plan.missing_queues is not None or len(plan.queues) + len(plan.unlisted) < 2 * _QUEUES:
            raise RocketMQError("the operator waits until all brokers are listed")
        run = TransferRun(clusters, planner, [plan], TransferOptions(), self.clock)
        with closing(run.run()) as rounds:
            for _ in rounds:
                pass
        for queue in run.queues:
            self.world.tell(f"nsadmin: {queue.record}, {queue.copied_count} copied, {queue.error}")
        if any(queue.is_failed for queue in run.queues):
            raise RocketMQError("not everything is copied")
        return True

    def _move_group(self) -> bool:
        transfer = GroupTransfer(self._make_clusters(), _GROUP, overwrites=False)
        moves, _ = transfer.plan_moves()
        if len(moves) < 2 * _QUEUES:
            raise InvariantBroken(f"{len(moves)} queues move, and {2 * _QUEUES} were copied")
        before = self._read_target_offsets()
        moved = transfer.apply_moves(moves)
        for move in moved:
            self.world.tell(
                f"nsadmin: {move.translated_queue.span.broker_name}/{move.translated_queue.span.queue_id}: "
                f"{move.old_offset} to {move.translated_queue.offset}: {move.result}, {move.error}"
            )
        self._require_no_return(before)
        if any(move.error for move in moved):
            raise RocketMQError("not every queue is moved")
        for move in moved:
            self._require_nothing_missed(move)
        return True

    def _read_on(self) -> None:
        """The group reads some of the copies."""
        for broker in self._targets.values():
            for key, offset in broker.queues.committed.items():
                end = broker.queues.end_of(_TOPIC, key[2])
                broker.queues.committed[key] = self.random.randint(offset, max(offset, end))

    # What must hold

    def _copies_of(self, source: SourceQueue) -> list[int]:
        """The source offsets of the copies of a queue, in the order of the target queue."""
        found = [
            (broker.title, place.offset)
            for broker in self._targets.values()
            for message in broker.records.list_stored(_TOPIC)
            if (place := find_source(message)) is not None and place.queue == source
        ]
        if len({title for title, _ in found}) > 1:
            raise InvariantBroken(f"the copies of {source} are on two brokers")
        return [offset for _, offset in found]

    def _require_copied(self) -> None:
        """All messages were copied in their order. Each kill and failure repeats at most a batch.

        What the target lost is copied again with everything behind it.
        """
        has_lost = any(broker.has_lost for broker in self._targets.values())
        failures = len(self.world.steps_with_faults) + len(self.faults)
        for name, broker in self._sources.items():
            for queue_id in range(_QUEUES):
                copies = self._copies_of(SourceQueue("S", name, _TOPIC, queue_id))
                ordered = list(dict.fromkeys(reversed(copies) if has_lost else copies))
                count = broker.queues.end_of(_TOPIC, queue_id)
                if sorted(ordered, reverse=has_lost) != ordered or len(ordered) != count:
                    missing = sorted(set(range(count)) - set(ordered))
                    raise InvariantBroken(
                        f"the copy succeeded, and queue {queue_id} of {name} has no copies of {missing}"
                        if missing
                        else f"the copies of queue {queue_id} of {name} are out of order: {copies}"
                    )
                if len(copies) - count > _BATCH * failures + (200 if has_lost else 0):
                    raise InvariantBroken(
                        f"{len(copies) - count} messages of queue {queue_id} of {name} were copied again"
                    )

    def _read_target_offsets(self) -> dict[tuple[str, int], int]:
        return {
            (name, key[2]): offset
            for name, broker in self._targets.items()
            for key, offset in broker.queues.committed.items()
        }

    def _require_no_return(self, before: dict[tuple[str, int], int]) -> None:
        """What the group has read in the target stays read."""
        now = self._read_target_offsets()
        for place, offset in before.items():
            if now[place] < offset:
                raise InvariantBroken(
                    f"the group had read {place} up to {offset}, and continues at {now[place]}"
                )

    def _require_nothing_missed(self, move: MovedQueue) -> None:
        """From its offset on, a queue has each message that was not read, and as many others as reported."""
        queue = move.translated_queue
        broker = self._targets[queue.span.broker_name]
        offset = broker.queues.committed[_GROUP, _TOPIC, queue.span.queue_id]
        if move.result == "done" and offset != queue.offset:
            raise InvariantBroken(f"{move} is done, and the offset is {offset}")
        if move.result != "done":
            return
        before = broker.messages_of(queue.span.queue_id)[queue.span.begin_offset : offset]
        if any(find_source(message) is None for message in before):
            raise InvariantBroken(f"the group continues at {offset}, and misses messages of another producer")
        # What arrives after nsadmin has looked is left out.
        messages = broker.messages_of(queue.span.queue_id)[offset : queue.span.end_offset]
        places = Counter(place for message in messages if (place := find_source(message)))
        wanted = 0
        for planned, committed in queue.sources:
            source = self._sources[planned.source.broker_name]
            offsets = {place.offset for place in places if place.queue == planned.source}
            unread = set(range(committed, source.queues.end_of(_TOPIC, planned.source.queue_id)))
            wanted += len(unread)
            if unread - offsets:
                raise InvariantBroken(
                    f"{planned.source} is read up to {committed}, and the group that continues at {offset} "
                    f"does not get {sorted(unread - offsets)}"
                )
        if places.total() - wanted != queue.repeated_count:
            raise InvariantBroken(
                f"nsadmin says that {queue.repeated_count} messages come again in {queue.span}, and "
                f"{places.total() - wanted} do"
            )


def _read_without_thread(patches: ExitStack, pause_seconds: Any) -> None:
    """Let the run read the source itself while it waits for pages: the order is then the same each time."""

    def wait_for_page(reader: Any, topic_queues: Any, max_seconds: float) -> None:
        if not any(reader._states[queue].pages for queue in topic_queues):
            try:
                seconds = reader._read_round()
            except Exception as error:
                reader._failure = error
            else:
                pause_seconds(min(seconds, max_seconds))

    patches.enter_context(patch.object(SourceReader, "start", lambda reader: None))
    patches.enter_context(patch.object(SourceReader, "wait_for_page", wait_for_page))
