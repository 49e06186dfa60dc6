"""Two clusters of one broker each, for transfers: the target stores what is sent to it, also in batches."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.protocol.stored_messages import StoredMessage, parse_properties
from nsadmin import AdminClient
from nsadmin.operations.procedure_clock import SYSTEM_CLOCK, ProcedureClock
from nsadmin.operations.transfer.message_rules import SavedRules
from nsadmin.operations.transfer.topic_plan import TopicPair, TopicPlan, TopicPlanner, TransferClusters
from nsadmin.operations.transfer.transfer_run import TransferOptions, TransferRun
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.fake_servers import Answer, FakeNameServer, answer_json
from tests.support.message_brokers import answer_offset

COPIED = TopicPair("T", "T")


class CopyBroker(DeadLetterBroker):
    """`loses_answers` is the number of next batches that are stored without an answer.

    `offsets` has what groups committed, by "topic@group" and queue; `groups` are the groups it knows.
    """

    def __init__(self) -> None:
        super().__init__()
        self.loses_answers = 0
        self.batch_sizes: list[int] = []
        self.offsets: dict[str, dict[int, int]] = {}
        self.groups = {"G"}
        code = RequestCode
        self.handlers |= {
            code.SEND_BATCH_MESSAGE: self._store_batch,
            code.GET_ALL_CONSUMER_OFFSET: lambda asked: answer_json(asked, {"offsetTable": self.offsets}),
            code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: lambda asked: answer_json(
                asked, {"subscriptionGroupTable": {group: {"groupName": group} for group in self.groups}}
            ),
            code.GET_BROKER_CONFIG: lambda asked: build_reply(asked, body=b"useServerSideResetOffset=true\n"),
            code.INVOKE_BROKER_TO_RESET_OFFSET: self._reset_offset,
            code.QUERY_CONSUMER_OFFSET: self._find_offset,
        }

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
            self.store_message(
                asked.body[position + 20 : body_end],
                topic,
                queue_id,
                int(ext.get("f") or 0),
                **parse_properties(properties),
            )
            position, message_count = position + size, message_count + 1
        self.batch_sizes.append(message_count)
        if self.loses_answers:
            self.loses_answers -= 1
            self.hang_up()
            return None
        return build_reply(asked, ext={"queueId": str(queue_id), "queueOffset": str(begin_offset)})

    def store_again(self, copy: StoredMessage, body: bytes | None = None) -> None:
        """Another message with the properties of this one, in its queue."""
        self.store_message(
            copy.body if body is None else body, copy.topic, copy.queue_id, 0, **copy.properties
        )

    def _reset_offset(self, asked: RemotingCommand) -> RemotingCommand:
        ext = asked.ext or {}
        queue_id, offset = int(ext["queueId"] or 0), int(ext["offset"] or 0)
        self.offsets.setdefault(f"{ext['topic']}@{ext['group']}", {})[queue_id] = offset
        return build_reply(asked)

    def _find_offset(self, asked: RemotingCommand) -> RemotingCommand:
        ext = asked.ext or {}
        offsets = self.offsets.get(f"{ext['topic']}@{ext['consumerGroup']}", {})
        committed = offsets.get(int(ext["queueId"] or 0))
        return build_reply(asked, 22) if committed is None else answer_offset(asked, committed)


class ClusterPair(NamedTuple):
    """The brokers, the name servers, and the clients."""

    source: CopyBroker
    target: CopyBroker
    source_server: FakeNameServer
    target_server: FakeNameServer
    clusters: TransferClusters

    def plan_topic(self, begin_ms: int = 0, rules: SavedRules | None = None) -> TopicPlan:
        return self.make_planner(begin_ms, rules).plan_topic(COPIED)

    def make_planner(self, begin_ms: int = 0, rules: SavedRules | None = None) -> TopicPlanner:
        return TopicPlanner(self.clusters, rules or {}, begin_ms)

    def copy_all(
        self,
        options: TransferOptions = TransferOptions(),  # noqa: B008
        clock: ProcedureClock = SYSTEM_CLOCK,
    ) -> TransferRun:
        """Copy everything, and return the finished run."""
        saved_rules = options.rules.save()
        plan = self.plan_topic(rules=saved_rules)
        run = TransferRun(self.clusters, self.make_planner(rules=saved_rules), [plan], options, clock)
        assert list(run.run()) is not None
        return run

    def copied_bodies(self, queue_id: int = 0) -> list[bytes]:
        return [message.body for message in self.copied_messages(queue_id)]

    def copied_messages(self, queue_id: int = 0) -> list[StoredMessage]:
        return [message for message in self.target.stored_messages("T") if message.queue_id == queue_id]


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
            source,
            target,
            source_server,
            target_server,
            TransferClusters(source_admin, target_admin, "prod", "dr"),
        )
