"""Mappings: which of its own queues each broker has for the logical queues of a static topic, whole; written.

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
    """A part of a logical queue (LogicQueueMappingItem): a queue of a broker from `start_offset` on.

    It begins at `logic_offset` of the logical queue, below 0 as long as that is not decided.
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
    """What one broker has of a static topic: its config, and the logical queues that it is or was for.

    `hosted` has the parts of each, the oldest first; the broker of the last one takes what is written.
    """

    config: Mapping[str, Any]
    epoch: int
    total: int
    hosted: Mapping[int, tuple[Item, ...]]
    scope: str = GLOBAL

    @property
    def queues(self) -> int:
        """How many queues of its own the broker has for the topic."""
        return int(self.config["writeQueueNums"])


class Mappings:
    """`admin.mappings`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def each(self, topic: str, addrs: Iterable[str]) -> list[ServerResult[Share | None]]:
        """What each of these masters has; None for one without the topic, NotApplied for a plain topic."""
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
        """Give masters their shares: (address, broker name, share) (UPDATE_AND_CREATE_STATIC_TOPIC)."""
        return self._caller.ask((addr, _put(topic, name, share, force)) for addr, name, share in shares)

    def ends(self, topic: str, addr: str) -> ServerResult[dict[int, int]]:
        """Where each of a broker's own queues ends: the offset of the next message."""
        ext = headers.write(headers.TopicName(topic))
        [answer] = self._caller.ask_each([addr], RequestCode.GET_TOPIC_STATS_INFO, ext)
        return decoded(answer, _ends)


def share(record: Mapping[str, Any]) -> Share:
    """A share as files and brokers have it; ValueError, TypeError or KeyError where it is none."""
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
    """The same as files have it."""
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
