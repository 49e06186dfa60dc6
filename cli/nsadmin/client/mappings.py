"""`admin.queue_mappings`: reads and writes of a static topic's complete queue mapping.

Upstream: TopicConfigAndQueueMapping, TopicQueueMappingDetail, LogicQueueMappingItem.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from namesrv_core.errors import TopicNotExist
from namesrv_core.protocol import broker_headers, fastjson, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import json_object
from nsadmin.client.caller import Caller
from nsadmin.client.queues import queue_table
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.client.retry import decoded
from nsadmin.client.topic_configs import DEFAULT_TOPIC

GLOBAL = "__global__"


class Item(NamedTuple):
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


class Share(NamedTuple):
    """The share of one broker in a static topic.

    Attributes:
        topic_config: The topic's configuration, by wire name.
        epoch: The epoch of the mapping.
        total_queues: The number of logical queues of the topic.
        hosted_queues: Logical queue id to its parts, the oldest first. The broker of the last part receives
            new messages.
        scope: The scope of the mapping.
    """

    config: Mapping[str, Any]
    epoch: int
    total: int
    hosted: Mapping[int, tuple[Item, ...]]
    scope: str = GLOBAL

    @property
    def queues(self) -> int:
        """The number of the broker's own queues for the topic."""
        return int(self.config["writeQueueNums"])


class Mappings:
    """`admin.queue_mappings`: the queue mappings of static topics."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def each(self, topic: str, addrs: Iterable[str]) -> list[ServerResult[Share | None]]:
        """Return the share of each master in a static topic (GET_TOPIC_CONFIG, 351).

        Returns:
            One ServerResult per address, in order: the share, or None if the master does not have the topic.
            The error is NotApplied for a topic that is not static.
        """
        ext = headers.write(broker_headers.LogicalTopic(topic))
        answers = self._caller.ask_each(addrs, RequestCode.GET_TOPIC_CONFIG, ext)
        return [
            ServerResult(answer.addr, None, None)
            if isinstance(answer.error, TopicNotExist)
            else decoded(answer, _share_of)
            for answer in answers
        ]

    def put(
        self, topic: str, shares: Iterable[tuple[str, str, Share]], *, force: bool = False
    ) -> list[ServerResult[Command]]:
        """Write shares on masters (UPDATE_AND_CREATE_STATIC_TOPIC, 513).

        Args:
            topic: The topic.
            addressed_shares: Triples of (master address, broker name, share).
            force: Let the broker accept a mapping that it would refuse.

        Returns:
            One ServerResult per triple, in order.
        """
        return self._caller.ask((addr, _put(topic, name, share, force)) for addr, name, share in shares)

    def ends(self, topic: str, addr: str) -> ServerResult[dict[int, int]]:
        """Return the offset of the next message in each own queue of a broker (GET_TOPIC_STATS_INFO, 202).

        Returns:
            Queue id to offset.
        """
        ext = headers.write(headers.TopicName(topic))
        [answer] = self._caller.ask_each([addr], RequestCode.GET_TOPIC_STATS_INFO, ext)
        return decoded(answer, _ends)


def share(record: Mapping[str, Any]) -> Share:
    """Parse a share from the JSON form of files and brokers (TopicConfigAndQueueMapping).

    Raises:
        ValueError, TypeError, KeyError: The record is not a share.
    """
    detail = record["mappingDetail"]
    config = {key: value for key, value in record.items() if key != "mappingDetail"}
    hosted = {int(key): tuple(map(_item, items)) for key, items in (detail["hostedQueues"] or {}).items()}
    return Share(
        config,
        int(detail["epoch"]),
        int(detail["totalQueues"]),
        dict(sorted(hosted.items())),
        detail.get("scope") or GLOBAL,
    )


def record(topic: str, broker_name: str, share: Share) -> dict[str, Any]:
    """Return a share in the JSON form of files (TopicConfigAndQueueMapping)."""
    return {**share.config, "mappingDetail": _detail(topic, broker_name, share)}


def _detail(topic: str, broker_name: str, share: Share) -> dict[str, Any]:
    return {
        "topic": topic,
        "scope": share.scope,
        "totalQueues": share.total,
        "bname": broker_name,
        "epoch": share.epoch,
        "dirty": False,
        "hostedQueues": {str(key): [_wire(item) for item in items] for key, items in share.hosted.items()},
    }


def _wire(item: Item) -> dict[str, Any]:
    return {
        "gen": item.gen,
        "queueId": item.queue_id,
        "bname": item.bname,
        "logicOffset": item.logic_offset,
        "startOffset": item.start_offset,
        "endOffset": item.end_offset,
        "timeOfStart": item.time_of_start,
        "timeOfEnd": item.time_of_end,
    }


def _item(found: Mapping[str, Any]) -> Item:
    return Item(
        int(found["gen"]),
        int(found["queueId"]),
        str(found["bname"]),
        *(
            int(found[name])
            for name in ("logicOffset", "startOffset", "endOffset", "timeOfStart", "timeOfEnd")
        ),
    )


def _share_of(command: Command) -> Share | None:
    body = json_object(command)
    if not body.get("mappingDetail"):
        raise NotApplied(f"{body.get('topicName')} is a plain topic here, whose queues are not mapped")
    return share(body)


def _put(topic: str, broker_name: str, share: Share, force: bool) -> Command:
    config = share.config
    header = broker_headers.CreateTopic(
        topic=topic,
        default_topic=DEFAULT_TOPIC,
        read_queue_nums=int(config["readQueueNums"]),
        write_queue_nums=int(config["writeQueueNums"]),
        perm=int(config["perm"]),
        topic_filter_type=str(config["topicFilterType"]),
        topic_sys_flag=int(config["topicSysFlag"]),
        order=bool(config["order"]),
    )
    ext = headers.write(header) | {"force": str(force).lower()}
    body = fastjson.dumps(_detail(topic, broker_name, share))
    return request(RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC, ext, body)


def _ends(command: Command) -> dict[int, int]:
    table = queue_table(json_object(command).get("offsetTable"))
    return {queue.queue_id: int(item.get("maxOffset", 0)) for queue, item in table.items()}
