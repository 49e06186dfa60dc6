"""Lite topics (5.5.0): very many small queues below a parent topic, each made by its first message.

Brokers before 5.5.0 answer NotSupported to all of this.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command
from nsadmin.client.bodies import json_object, texts
from nsadmin.client.caller import Caller
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.retry import decoded

T = TypeVar("T")

QUEUE_PREFIX = "%LMQ%$"
_MAX_TOPICS = 1000
"""More lite topics of a client no broker lists."""


COUNTS = (
    "maxLmqNum", "currentLmqNum", "liteSubscriptionCount", "orderInfoCount", "cqTableSize",
    "offsetTableSize", "eventMapSize",
)  # fmt: skip


class BrokerLite(NamedTuple):
    """A broker's account of its lite topics: `counts` has COUNTS, under the wire's own names.

    `topics` are parent topics with their time to live in minutes, `groups` those that may read each of them.
    """

    store_type: str
    counts: Mapping[str, int]
    topics: Mapping[str, int]
    groups: Mapping[str, tuple[str, ...]]


class ParentTopic(NamedTuple):
    """A parent topic on one broker; `ttl` is in minutes, `lmq_num` counts the queues of all parent topics."""

    ttl: int
    lite_topics: int
    lmq_num: int
    groups: tuple[str, ...]


class LiteTopic(NamedTuple):
    """One lite topic on one broker; `last_update` is in ms, None where there is no message.

    `is_here` is whether clients are told to write it on this broker. `subscribers` are (group, client id),
    the client being "*" where a whole group reads everything.
    """

    min_offset: int
    max_offset: int
    last_update: int | None
    is_here: bool
    subscribers: tuple[tuple[str, str], ...]

    @property
    def is_known(self) -> bool:
        """Whether the broker has anything of it: brokers answer for any name."""
        return self.max_offset > 0 or bool(self.subscribers)


class LiteClient(NamedTuple):
    """A client's lite topics on one broker, of which `lite_topics` are the first 1000; times in ms."""

    number: int
    last_access: int | None
    last_consume: int | None
    lite_topics: tuple[str, ...]


class LiteLag(NamedTuple):
    """How far a group is behind on a lite topic; `earliest` is when the oldest of it was stored, in ms."""

    lite_topic: str
    lag: int
    earliest: int | None


class LiteGroup(NamedTuple):
    """A group on one broker: its lag over all lite topics, and the ones that are furthest behind.

    `lag` leaves out what the group never committed an offset of, as brokers do.
    """

    parent_topic: str
    lag: int
    earliest: int | None
    furthest: tuple[LiteLag, ...]


class LiteOffsets(NamedTuple):
    """A group on one lite topic, all None where it never committed an offset; times in ms.

    `last` is when the last message that it consumed was stored.
    """

    broker_offset: int | None
    consumer_offset: int | None
    lag: int | None
    earliest: int | None
    last: int | None


class LiteTopics:
    """`admin.lite_topics`; each call has a result for each broker address, in their order."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def brokers(self, addrs: Iterable[str]) -> list[ServerResult[BrokerLite]]:
        """What each broker has of lite topics (GET_BROKER_LITE_INFO)."""
        return self._ask(addrs, RequestCode.GET_BROKER_LITE_INFO, {}, _broker)

    def parents(self, addrs: Iterable[str], topic: str) -> list[ServerResult[ParentTopic]]:
        """A parent topic (GET_PARENT_TOPIC_INFO); RequestError for one whose message.type is not LITE."""
        ext = headers.write(headers.TopicName(topic))
        return self._ask(addrs, RequestCode.GET_PARENT_TOPIC_INFO, ext, _parent)

    def topics(self, addrs: Iterable[str], parent: str, lite: str) -> list[ServerResult[LiteTopic]]:
        """One lite topic (GET_LITE_TOPIC_INFO), known to the broker or not."""
        ext = {"parentTopic": parent, "liteTopic": lite}
        return self._ask(addrs, RequestCode.GET_LITE_TOPIC_INFO, ext, _topic)

    def clients(
        self, addrs: Iterable[str], parent: str, group: str, client_id: str
    ) -> list[ServerResult[LiteClient]]:
        """One client (GET_LITE_CLIENT_INFO); NotFound where it subscribes to nothing."""
        ext = {"parentTopic": parent, "group": group, "clientId": client_id, "maxCount": str(_MAX_TOPICS)}
        return self._ask(addrs, RequestCode.GET_LITE_CLIENT_INFO, ext, _client)

    def groups(self, addrs: Iterable[str], group: str, top: int) -> list[ServerResult[LiteGroup]]:
        """A group, with the `top` (1 or more) lite topics that are furthest behind (GET_LITE_GROUP_INFO).

        Only for a group that the broker knows: one that it does not know it makes, and then refuses.
        """
        ext = {"group": group, "topK": str(top)}
        return self._ask(addrs, RequestCode.GET_LITE_GROUP_INFO, ext, _group)

    def offsets(self, addrs: Iterable[str], group: str, lite: str) -> list[ServerResult[LiteOffsets]]:
        """A group on one lite topic (GET_LITE_GROUP_INFO), likewise; NotFound where no message of it is."""
        ext = {"group": group, "liteTopic": lite, "topK": "1"}
        return self._ask(addrs, RequestCode.GET_LITE_GROUP_INFO, ext, _offsets)

    def dispatch(self, addrs: Iterable[str], group: str, client_id: str | None) -> list[ServerResult[bool]]:
        """Have brokers look anew what a group's clients, or one of them, can get (TRIGGER_LITE_DISPATCH).

        True from a broker that took the order, also for a client that nobody knows.
        """
        ext = {"group": group, **({"clientId": client_id} if client_id else {})}
        return self._ask(addrs, RequestCode.TRIGGER_LITE_DISPATCH, ext, lambda _: True)

    def _ask(
        self,
        addrs: Iterable[str],
        code: RequestCode,
        ext: Mapping[str, str],
        decode: Callable[[Command], T],
    ) -> list[ServerResult[T]]:
        return [decoded(answer, decode) for answer in self._caller.ask_each(addrs, code, dict(ext))]


def lite_name(queue: str) -> str:
    """The lite topic's own name in that of its queue, %LMQ%$PARENT$LITE."""
    return queue.removeprefix(QUEUE_PREFIX).partition("$")[2] if queue.startswith(QUEUE_PREFIX) else queue


def _broker(command: Command) -> BrokerLite:
    body = json_object(command)
    groups = {topic: tuple(sorted(texts(each))) for topic, each in (body.get("groupMeta") or {}).items()}
    topics = {topic: int(ttl) for topic, ttl in (body.get("topicMeta") or {}).items()}
    return BrokerLite(str(body["storeType"]), {name: int(body[name]) for name in COUNTS}, topics, groups)


def _parent(command: Command) -> ParentTopic:
    body = json_object(command)
    ttl, lite_topics, lmq_num = (int(body[name]) for name in ("ttl", "liteTopicCount", "lmqNum"))
    return ParentTopic(ttl, lite_topics, lmq_num, tuple(sorted(texts(body.get("groups")))))


def _topic(command: Command) -> LiteTopic:
    body = json_object(command)
    offset = body["topicOffset"]
    subscribers = ((str(one["group"]), str(one["clientId"])) for one in body.get("subscriber") or ())
    return LiteTopic(
        int(offset["minOffset"]),
        int(offset["maxOffset"]),
        _time(offset.get("lastUpdateTimestamp")),
        bool(body["shardingToBroker"]),
        tuple(sorted(subscribers)),
    )


def _client(command: Command) -> LiteClient:
    body = json_object(command)
    number = int(body["liteTopicCount"])
    if number < 0:
        raise NotFound(f"no client {body.get('clientId')!r} subscribes to lite topics here")
    names = sorted(lite_name(queue) for queue in texts(body.get("liteTopicSet")))
    accessed, consumed = (_time(body.get(name)) for name in ("lastAccessTime", "lastConsumeTime"))
    return LiteClient(number, accessed, consumed, tuple(names))


def _group(command: Command) -> LiteGroup:
    body = json_object(command)
    found = {
        item["liteTopic"]: LiteLag(
            str(item["liteTopic"]), int(item["lagCount"]), _time(item.get("earliestUnconsumedTimestamp"))
        )
        for name in ("lagTimestampTopK", "lagCountTopK")
        for item in body.get(name) or ()
    }
    furthest = sorted(found.values(), key=lambda one: (-one.lag, one.lite_topic))
    earliest = _time(body.get("earliestUnconsumedTimestamp"))
    if earliest is None:
        # 5.5.0 leaves it out where the oldest is not among those that it keeps by time.
        earliest = min((one.earliest for one in furthest if one.earliest is not None), default=None)
    return LiteGroup(str(body["parentTopic"]), int(body["totalLagCount"]), earliest, tuple(furthest))


def _offsets(command: Command) -> LiteOffsets:
    body = json_object(command)
    if int(body["totalLagCount"]) < 0:
        raise NotFound(f"no message of the lite topic {body.get('liteTopic')!r} is here")
    wrapper = body.get("liteTopicOffsetWrapper")
    if wrapper is None:
        return LiteOffsets(None, None, None, None, None)
    return LiteOffsets(
        int(wrapper["brokerOffset"]),
        int(wrapper["consumerOffset"]),
        int(body["totalLagCount"]),
        _time(body.get("earliestUnconsumedTimestamp")),
        _time(wrapper.get("lastTimestamp")),
    )


def _time(value: Any) -> int | None:
    return int(value) if value is not None and int(value) > 0 else None
