"""`admin.lite_topics`: lite topics (5.5.0), many small queues below a parent topic.

The first message creates a lite topic. Brokers before 5.5.0 answer NotSupported to all requests here.
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
"""The maximum number of lite topics that a broker lists per client."""


COUNTS = (
    "maxLmqNum", "currentLmqNum", "liteSubscriptionCount", "orderInfoCount", "cqTableSize",
    "offsetTableSize", "eventMapSize",
)  # fmt: skip


class BrokerLite(NamedTuple):
    """The lite topics of one broker.

    Attributes:
        store_type: The type of the broker's store.
        counts: The counts LITE_COUNTS, by wire name.
        ttl_by_topic: Parent topic to time to live in minutes.
        groups_by_topic: Parent topic to the groups that may read it.
    """

    store_type: str
    counts: Mapping[str, int]
    topics: Mapping[str, int]
    groups: Mapping[str, tuple[str, ...]]


class ParentTopic(NamedTuple):
    """A parent topic on one broker.

    Attributes:
        ttl_minutes: The time to live of its lite topics, in minutes.
        lite_topic_count: The number of its lite topics.
        lmq_num: The number of lite queues of all parent topics.
        groups: The groups that may read it, in order.
    """

    ttl: int
    lite_topics: int
    lmq_num: int
    groups: tuple[str, ...]


class LiteTopic(NamedTuple):
    """One lite topic on one broker.

    Attributes:
        min_offset: The oldest offset.
        max_offset: The offset of the next message.
        last_update_ms: The time of the last message in ms since 1970; None without a message.
        is_here: Whether clients write the lite topic on this broker.
        subscribers: Pairs of (group, client id). The client id is "*" if a whole group reads everything.
    """

    min_offset: int
    max_offset: int
    last_update: int | None
    is_here: bool
    subscribers: tuple[tuple[str, str], ...]

    @property
    def is_known(self) -> bool:
        """Whether the broker has messages or subscribers of it. Brokers answer for any name."""
        return self.max_offset > 0 or bool(self.subscribers)


class LiteClient(NamedTuple):
    """A client's lite topics on one broker.

    Attributes:
        lite_topic_count: The number of lite topics that the client subscribes to.
        last_access_ms: The time of the last request in ms since 1970; None for never.
        last_consume_ms: The time of the last consumption in ms since 1970; None for never.
        lite_topics: The first 1000 lite topics, in order.
    """

    number: int
    last_access: int | None
    last_consume: int | None
    lite_topics: tuple[str, ...]


class LiteLag(NamedTuple):
    """The lag of a group on a lite topic.

    Attributes:
        lite_topic: The lite topic.
        lag_count: The number of unconsumed messages.
        earliest_ms: The store time of the oldest unconsumed message in ms since 1970; None if unknown.
    """

    lite_topic: str
    lag: int
    earliest: int | None


class LiteGroup(NamedTuple):
    """A group on one broker.

    Attributes:
        parent_topic: The parent topic.
        lag_count: Unconsumed messages of all lite topics for which the group committed an offset.
        earliest_ms: The store time of the oldest unconsumed message in ms since 1970; None if unknown.
        furthest_behind: The lite topics with the largest lag, the largest first.
    """

    parent_topic: str
    lag: int
    earliest: int | None
    furthest: tuple[LiteLag, ...]


class LiteOffsets(NamedTuple):
    """A group on one lite topic. All fields are None if the group never committed an offset.

    Attributes:
        broker_offset: The offset of the next message that the broker stores.
        consumer_offset: The committed offset.
        lag_count: The number of unconsumed messages.
        earliest_ms: The store time of the oldest unconsumed message in ms since 1970.
        last_stored_ms: The store time of the last consumed message in ms since 1970.
    """

    broker_offset: int | None
    consumer_offset: int | None
    lag: int | None
    earliest: int | None
    last: int | None


class LiteTopics:
    """`admin.lite_topics`: lite topics. Each method returns one ServerResult per broker address, in order."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def brokers(self, addrs: Iterable[str]) -> list[ServerResult[BrokerLite]]:
        """Return the lite topic counts of each broker (GET_BROKER_LITE_INFO, 200074)."""
        return self._ask(addrs, RequestCode.GET_BROKER_LITE_INFO, {}, _broker)

    def parents(self, addrs: Iterable[str], topic: str) -> list[ServerResult[ParentTopic]]:
        """Return a parent topic of each broker (GET_PARENT_TOPIC_INFO, 200075).

        The error is RequestError if the topic's attribute message.type is not LITE.
        """
        ext = headers.write(headers.TopicName(topic))
        return self._ask(addrs, RequestCode.GET_PARENT_TOPIC_INFO, ext, _parent)

    def topics(self, addrs: Iterable[str], parent: str, lite: str) -> list[ServerResult[LiteTopic]]:
        """Return one lite topic of each broker (GET_LITE_TOPIC_INFO, 200076); see `LiteTopic.is_known`."""
        ext = {"parentTopic": parent, "liteTopic": lite}
        return self._ask(addrs, RequestCode.GET_LITE_TOPIC_INFO, ext, _topic)

    def clients(
        self, addrs: Iterable[str], parent: str, group: str, client_id: str
    ) -> list[ServerResult[LiteClient]]:
        """Return the lite topics of one client on each broker (GET_LITE_CLIENT_INFO, 200077).

        The error is NotFound if the client subscribes to no lite topic there.
        """
        ext = {"parentTopic": parent, "group": group, "clientId": client_id, "maxCount": str(_MAX_TOPICS)}
        return self._ask(addrs, RequestCode.GET_LITE_CLIENT_INFO, ext, _client)

    def groups(self, addrs: Iterable[str], group: str, top: int) -> list[ServerResult[LiteGroup]]:
        """Return the lag of a group on each broker (GET_LITE_GROUP_INFO, 200078).

        Check first that the broker knows the group: it creates an unknown group, and then refuses.

        Args:
            broker_addrs: The brokers.
            group: The group.
            top_count: The number of lite topics with the largest lag to return, at least 1.
        """
        ext = {"group": group, "topK": str(top)}
        return self._ask(addrs, RequestCode.GET_LITE_GROUP_INFO, ext, _group)

    def offsets(self, addrs: Iterable[str], group: str, lite: str) -> list[ServerResult[LiteOffsets]]:
        """Return the offsets of a group on one lite topic (GET_LITE_GROUP_INFO, 200078).

        Check first that the broker knows the group. The error is NotFound if the broker has no message of the
        lite topic.
        """
        ext = {"group": group, "liteTopic": lite, "topK": "1"}
        return self._ask(addrs, RequestCode.GET_LITE_GROUP_INFO, ext, _offsets)

    def dispatch(self, addrs: Iterable[str], group: str, client_id: str | None) -> list[ServerResult[bool]]:
        """Make brokers dispatch the lite topics of a group again (TRIGGER_LITE_DISPATCH, 200079).

        Args:
            broker_addrs: The brokers.
            group: The group.
            client_id: Only this client; None for all clients of the group.

        Returns:
            One ServerResult per broker: True if it accepted the order, also for an unknown client.
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
    """Return the lite topic of a queue name: "LITE" for "%LMQ%$PARENT$LITE"."""
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
        # 5.5.0 omits it if the oldest message is not among those that it sorts by time.
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
