"""Two clusters of one broker each, for transfers: the target stores what is sent to it, also in batches."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.protocol.stored_messages import StoredMessage, parse_properties
from nsadmin import AdminClient
from nsadmin.operations.transfer.message_rules import SavedRules
from nsadmin.operations.transfer.topic_plan import TopicPair, TopicPlan, TopicPlanner, TransferClusters
from nsadmin.operations.transfer.transfer_run import TransferOptions, TransferRun
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.servers import Answer, FakeNameServer

COPIED = TopicPair("T", "T")


class CopyBroker(DeadLetterBroker):
    """`loses_answers` is the number of next batches that are stored without an answer."""

    def __init__(self) -> None:
        super().__init__()
        self.loses_answers = 0
        self.batch_sizes: list[int] = []
        self.handlers[RequestCode.SEND_BATCH_MESSAGE] = self._store_batch

    def _store_batch(self, asked: RemotingCommand) -> Answer:
        ext = asked.ext or {}
        assert ext["m"] == "true"
        if self.refusals:
            return build_reply(asked, self.refusals.pop(0), remark="no")
        topic, queue_id = ext.get("b") or "", int(ext.get("e") or 0)
        begin_offset = len(self.queues.get((topic, queue_id), ()))
        position, message_count = 0, 0
        while position < len(asked.body):
            size, _, _, _, body_length = struct.unpack_from(">iiiii", asked.body, position)
            body_end = position + 20 + body_length
            [property_length] = struct.unpack_from(">h", asked.body, body_end)
            properties = asked.body[body_end + 2 : body_end + 2 + property_length]
            assert body_end + 2 + property_length == position + size
            body = asked.body[position + 20 : body_end]
            self.store(body, topic, queue_id, int(ext.get("f") or 0), **parse_properties(properties))
            position, message_count = position + size, message_count + 1
        self.batch_sizes.append(message_count)
        if self.loses_answers:
            self.loses_answers -= 1
            self.hang_up()
            return None
        return build_reply(asked, ext={"queueId": str(queue_id), "queueOffset": str(begin_offset)})


class ClusterPair(NamedTuple):
    """The brokers, the name servers, and the clients."""

    source: CopyBroker
    target: CopyBroker
    source_server: FakeNameServer
    target_server: FakeNameServer
    clusters: TransferClusters

    def plan(self, begin_ms: int = 0, rules: SavedRules | None = None) -> TopicPlan:
        return self.planner(begin_ms, rules).plan_topic(COPIED)

    def planner(self, begin_ms: int = 0, rules: SavedRules | None = None) -> TopicPlanner:
        return TopicPlanner(self.clusters, rules or {}, begin_ms)

    def copy(self, options: TransferOptions = TransferOptions()) -> TransferRun:  # noqa: B008
        """Copy everything, and return the finished run."""
        run = TransferRun(self.clusters, self.planner(), [self.plan()], options)
        assert list(run.run()) is not None
        return run

    def copied_bodies(self, queue_id: int = 0) -> list[bytes]:
        return [message.body for message in self.copies(queue_id)]

    def copies(self, queue_id: int = 0) -> list[StoredMessage]:
        return [message for message in self.target.stored("T") if message.queue_id == queue_id]


@contextmanager
def open_pair() -> Iterator[ClusterPair]:
    with (
        CopyBroker() as source,
        CopyBroker() as target,
        FakeNameServer({"C": {"broker-a": {0: source.addr}}}) as source_server,
        FakeNameServer({"C": {"broker-a": {0: target.addr}}}) as target_server,
        AdminClient(source_server.addr, timeout=2, ask_all=True) as source_admin,
        AdminClient(target_server.addr, timeout=2, ask_all=True) as target_admin,
    ):
        source_server.routes = target_server.routes = {"T": {"broker-a": 6}}
        yield ClusterPair(
            source, target, source_server, target_server, TransferClusters(source_admin, target_admin)
        )
