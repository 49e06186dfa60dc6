"""`admin.queue_mappings`: reads and writes of a static topic's complete queue mapping.

Upstream: TopicConfigAndQueueMapping, TopicQueueMappingDetail, LogicQueueMappingItem.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError, TopicNotExist
from namesrv_core.protocol import broker_headers, fastjson, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject, to_integer
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_json_object, parse_offset
from nsadmin.client.consumers.committed_offsets import read_queue_offsets
from nsadmin.client.message_queues import MessageQueue, parse_queue_table
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.client.topics.topic_configs import DEFAULT_TOPIC

GLOBAL_SCOPE = "__global__"
_ITEM_MEMBERS = (
    "gen", "queueId", "bname", "logicOffset", "startOffset", "endOffset", "timeOfStart", "timeOfEnd",
)  # fmt: skip


class QueueMappingItem(NamedTuple):
    """A part of a logical queue (LogicQueueMappingItem): a range of a broker's own queue.

    Attributes:
        gen: The generation; the newest part has the highest.
        queue_id: The broker's own queue.
        bname: The broker name.
        logic_offset: The first offset in the logical queue; negative while undecided.
        start_offset: The first offset in the broker's own queue.
        end_offset: The end in the broker's own queue; -1 while open.
        time_of_start: The store time of the first message in ms since 1970; -1 if unknown.
        time_of_end: The store time of the last message in ms since 1970; -1 if unknown.
    """

    gen: int
    queue_id: int
    bname: str
    logic_offset: int
    start_offset: int = 0
    end_offset: int = -1
    time_of_start: int = -1
    time_of_end: int = -1


class BrokerQueueShare(NamedTuple):
    """The share of one broker in a static topic.

    Attributes:
        topic_config: The topic's settings, by wire name.
        epoch: The epoch of the mapping.
        total_queues: The number of logical queues of the topic.
        hosted_queues: Logical queue id to its parts, the oldest first. The broker of the last part receives
            new messages.
        scope: The scope of the mapping.
    """

    topic_config: Mapping[str, Any]
    epoch: int
    total_queues: int
    hosted_queues: Mapping[int, tuple[QueueMappingItem, ...]]
    scope: str = GLOBAL_SCOPE

    @property
    def own_queue_count(self) -> int:
        """The number of the broker's own queues for the topic."""
        return int(self.topic_config["writeQueueNums"])


class QueueMappings:
    """`admin.queue_mappings`: the queue mappings of static topics."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get_each(
        self, topic: str, broker_addrs: Iterable[str]
    ) -> list[ServerResult[BrokerQueueShare | None]]:
        """Return the share of each master in a static topic (GET_TOPIC_CONFIG, 351).

        Args:
            topic: The topic.
            broker_addrs: The addresses of the masters.

        Returns:
            One ServerResult per address, in order: the share, or None if the master does not have the topic.
            The error is NotApplied for a topic that is not static.
        """
        ext_fields = broker_headers.LogicalTopic(topic)
        answers = self._caller.send_to_each(broker_addrs, RequestCode.GET_TOPIC_CONFIG, ext_fields)
        return [
            ServerResult(answer.addr, None, None)
            if isinstance(answer.error, TopicNotExist)
            else decode_answer(answer, _parse_mapped_share)
            for answer in answers
        ]

    def put_shares(
        self,
        topic: str,
        addressed_shares: Iterable[tuple[str, str, BrokerQueueShare]],
        *,
        force: bool = False,
    ) -> list[ServerResult[RemotingCommand]]:
        """Write shares on masters (UPDATE_AND_CREATE_STATIC_TOPIC, 513).

        Args:
            topic: The topic.
            addressed_shares: Triples of (master address, broker name, share).
            force: Let the broker accept a mapping that it would refuse.

        Returns:
            One ServerResult per triple, in order.
        """
        return self._caller.send_requests(
            (addr, _build_put_request(topic, name, share, force)) for addr, name, share in addressed_shares
        )

    def get_queue_ends(self, topic: str, broker_addr: str) -> ServerResult[dict[int, int]]:
        """Return the offset of the next message in each own queue of a broker (GET_TOPIC_STATS_INFO, 202).

        Args:
            topic: The topic.
            broker_addr: The broker address.

        Returns:
            Queue id to offset.
        """
        header = headers.TopicName(topic)
        return self._caller.read_one(broker_addr, _parse_queue_ends, RequestCode.GET_TOPIC_STATS_INFO, header)

    def get_own_ends(
        self, topic: str, broker_addr: str, queue_ids: Iterable[int]
    ) -> list[int | RocketMQError]:
        """Return the offset of the next message in own queues of a broker (GET_MAX_OFFSET, 30).

        For a broker without a mapping of the topic, for example after the broker lost its table of topics.

        Args:
            topic: The topic.
            broker_addr: The broker address.
            queue_ids: The queues.

        Returns:
            The offset or the error of each queue, in order.
        """
        places = [(broker_addr, MessageQueue(topic, "", queue_id)) for queue_id in queue_ids]
        return read_queue_offsets(self._caller, places, RequestCode.GET_MAX_OFFSET)

    def commit_own_offsets(
        self, group: str, topic: str, broker_addr: str, offsets_by_queue: Mapping[int, int]
    ) -> list[RocketMQError | None]:
        """Commit offsets of a group in own queues of a broker, and read them back.

        Running consumers of the group overwrite them (UPDATE_CONSUMER_OFFSET, 15; QUERY_CONSUMER_OFFSET, 14).

        Args:
            group: The consumer group.
            topic: The topic.
            broker_addr: The broker address.
            offsets_by_queue: The broker's own queue to the offset in this queue.

        Returns:
            The error of each queue, in order; None after a success.
        """
        committed_offsets = [
            broker_headers.ConsumerOffset(group, topic, queue_id, offset, lo=False)
            for queue_id, offset in offsets_by_queue.items()
        ]
        commit_answers, query_answers = (
            self._caller.send_requests((broker_addr, make_request(code, c)) for c in committed_offsets)
            for code in (RequestCode.UPDATE_CONSUMER_OFFSET, RequestCode.QUERY_CONSUMER_OFFSET)
        )
        return [
            committed.error or _judge_committed(decode_answer(query_answer, parse_offset), wanted_offset)
            for committed, query_answer, wanted_offset in zip(
                commit_answers, query_answers, offsets_by_queue.values(), strict=True
            )
        ]


def parse_share(share_record: Mapping[str, Any]) -> BrokerQueueShare:
    """Parse a share from the JSON form of files and brokers (TopicConfigAndQueueMapping)."""
    mapping_detail = JsonObject(share_record["mappingDetail"], "mappingDetail")
    hosted_records = mapping_detail.child("hostedQueues")
    topic_config = {key: record_value for key, record_value in share_record.items() if key != "mappingDetail"}
    hosted_queues = {
        to_integer(logical_id, "a logical queue"): tuple(
            map(_parse_mapping_item, hosted_records.children(logical_id))
        )
        for logical_id in hosted_records.members
    }
    return BrokerQueueShare(
        topic_config,
        mapping_detail.integer("epoch"),
        mapping_detail.integer("totalQueues"),
        dict(sorted(hosted_queues.items())),
        mapping_detail.text("scope", "") or GLOBAL_SCOPE,
    )


def share_to_record(topic: str, broker_name: str, queue_share: BrokerQueueShare) -> dict[str, Any]:
    """Return a share in the JSON form of files (TopicConfigAndQueueMapping)."""
    return {**queue_share.topic_config, "mappingDetail": _mapping_detail(topic, broker_name, queue_share)}


def _mapping_detail(topic: str, broker_name: str, queue_share: BrokerQueueShare) -> dict[str, Any]:
    return {
        "topic": topic,
        "scope": queue_share.scope,
        "totalQueues": queue_share.total_queues,
        "bname": broker_name,
        "epoch": queue_share.epoch,
        "dirty": False,
        "hostedQueues": {
            str(logical_id): [dict(zip(_ITEM_MEMBERS, mapping_item, strict=True)) for mapping_item in items]
            for logical_id, items in queue_share.hosted_queues.items()
        },
    }


def _parse_mapping_item(item: JsonObject) -> QueueMappingItem:
    offsets_and_times = (item.integer(name) for name in _ITEM_MEMBERS[3:])
    return QueueMappingItem(
        item.integer("gen"), item.integer("queueId"), item.text("bname"), *offsets_and_times
    )


def _parse_mapped_share(response: RemotingCommand) -> BrokerQueueShare | None:
    json_body = parse_json_object(response)
    if not json_body.members.get("mappingDetail"):
        topic = json_body.text("topicName", None)
        raise NotApplied(f"{topic} is not a static topic here: its queues are not mapped")
    return parse_share(json_body.members)


def _build_put_request(topic: str, name: str, queue_share: BrokerQueueShare, force: bool) -> RemotingCommand:
    topic_config = queue_share.topic_config
    topic_header = broker_headers.CreateTopic(
        topic=topic,
        default_topic=DEFAULT_TOPIC,
        read_queue_nums=int(topic_config["readQueueNums"]),
        write_queue_nums=int(topic_config["writeQueueNums"]),
        perm=int(topic_config["perm"]),
        topic_filter_type=str(topic_config["topicFilterType"]),
        topic_sys_flag=int(topic_config["topicSysFlag"]),
        order=bool(topic_config["order"]),
    )
    ext_fields = headers.write_header(topic_header) | {"force": str(force).lower()}
    request_body = fastjson.encode_json(_mapping_detail(topic, name, queue_share))
    return make_request(RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC, ext_fields, request_body)


def _judge_committed(committed_result: ServerResult[int], wanted_offset: int) -> RocketMQError | None:
    if committed_result.error is None and committed_result.result != wanted_offset:
        return NotApplied(f"the broker reported success, but has the offset {committed_result.result}")
    return committed_result.error


def _parse_queue_ends(response: RemotingCommand) -> dict[int, int]:
    offset_table = parse_queue_table(parse_json_object(response).members.get("offsetTable"), JsonObject)
    return {queue.queue_id: offsets.integer("maxOffset") for queue, offsets in offset_table.items()}
