"""`admin.lite_topics`: lite topics (5.5.0), many small queues below a parent topic.

The first message creates a lite topic. Brokers before 5.5.0 answer NotSupported to all requests here.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeVar

from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.response_bodies import parse_json_object
from nsadmin.client.results import NotFound, ServerResult

T = TypeVar("T")

_MAX_TOPICS_OF_CLIENT = 1000
"""The maximum number of lite topics that a broker lists per client."""

LITE_QUEUE_PREFIX = "%LMQ%$"
"""The queues of lite topics are named "%LMQ%$PARENT$LITE"."""

LITE_COUNTS = (
    "maxLmqNum", "currentLmqNum", "liteSubscriptionCount", "orderInfoCount", "cqTableSize",
    "offsetTableSize", "eventMapSize",
)  # fmt: skip


class BrokerLiteInfo(NamedTuple):
    """The lite topics of one broker.

    Attributes:
        store_type: The type of the broker's store.
        counts: The counts LITE_COUNTS, by wire name.
        ttl_by_topic: Parent topic to time to live in minutes.
        groups_by_topic: Parent topic to the groups that may read it.
    """

    store_type: str
    counts: Mapping[str, int]
    ttl_by_topic: Mapping[str, int]
    groups_by_topic: Mapping[str, tuple[str, ...]]


class ParentTopic(NamedTuple):
    """A parent topic on one broker.

    Attributes:
        ttl_minutes: The time to live of its lite topics, in minutes.
        lite_topic_count: The number of its lite topics.
        lmq_num: The number of lite queues of all parent topics.
        groups: The groups that may read it, in order.
    """

    ttl_minutes: int
    lite_topic_count: int
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
    last_update_ms: int | None
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

    lite_topic_count: int
    last_access_ms: int | None
    last_consume_ms: int | None
    lite_topics: tuple[str, ...]


class LiteLag(NamedTuple):
    """The lag of a group on a lite topic.

    Attributes:
        lite_topic: The lite topic.
        lag: The number of unconsumed messages.
        earliest_ms: The store time of the oldest unconsumed message in ms since 1970; None if unknown.
    """

    lite_topic: str
    lag: int
    earliest_ms: int | None


class LiteGroup(NamedTuple):
    """A group on one broker.

    Attributes:
        parent_topic: The parent topic.
        lag: Unconsumed messages of all lite topics for which the group committed an offset.
        earliest_ms: The store time of the oldest unconsumed message in ms since 1970; None if unknown.
        furthest_behind: The lite topics with the largest lag, the largest first.
    """

    parent_topic: str
    lag: int
    earliest_ms: int | None
    furthest_behind: tuple[LiteLag, ...]


class LiteOffsets(NamedTuple):
    """A group on one lite topic. All fields are None if the group never committed an offset.

    Attributes:
        broker_offset: The offset of the next message that the broker stores.
        consumer_offset: The consumer offset.
        lag: The number of unconsumed messages.
        earliest_ms: The store time of the oldest unconsumed message in ms since 1970.
        last_stored_ms: The store time of the last consumed message in ms since 1970.
    """

    broker_offset: int | None
    consumer_offset: int | None
    lag: int | None
    earliest_ms: int | None
    last_stored_ms: int | None


class LiteTopicAdmin:
    """`admin.lite_topics`: lite topics. Each method returns one ServerResult per broker address, in order."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get_broker_info(self, broker_addrs: Iterable[str]) -> list[ServerResult[BrokerLiteInfo]]:
        """Return the lite topic counts of each broker (GET_BROKER_LITE_INFO, 200074).

        Args:
            broker_addrs: The broker addresses.
        """
        return self._caller.read_each(broker_addrs, _parse_broker_info, RequestCode.GET_BROKER_LITE_INFO)

    def get_parent_topic(self, broker_addrs: Iterable[str], topic: str) -> list[ServerResult[ParentTopic]]:
        """Return a parent topic of each broker (GET_PARENT_TOPIC_INFO, 200075).

        Args:
            broker_addrs: The broker addresses.
            topic: The parent topic.

        Returns:
            One ServerResult per address. The error is RequestError if the topic's attribute message.type is
            not LITE.
        """
        return self._caller.read_each(
            broker_addrs, _parse_parent_topic, RequestCode.GET_PARENT_TOPIC_INFO, headers.TopicName(topic)
        )

    def get_lite_topic(
        self, broker_addrs: Iterable[str], parent_topic: str, lite_topic: str
    ) -> list[ServerResult[LiteTopic]]:
        """Return one lite topic of each broker (GET_LITE_TOPIC_INFO, 200076); see `LiteTopic.is_known`.

        Args:
            broker_addrs: The broker addresses.
            parent_topic: The parent topic.
            lite_topic: The name of the lite topic, without its parent.
        """
        ext_fields = {"parentTopic": parent_topic, "liteTopic": lite_topic}
        return self._caller.read_each(
            broker_addrs, _parse_lite_topic, RequestCode.GET_LITE_TOPIC_INFO, ext_fields
        )

    def get_client(
        self, broker_addrs: Iterable[str], parent_topic: str, group: str, client_id: str
    ) -> list[ServerResult[LiteClient]]:
        """Return the lite topics of one client on each broker (GET_LITE_CLIENT_INFO, 200077).

        Args:
            broker_addrs: The broker addresses.
            parent_topic: The parent topic.
            group: The consumer group.
            client_id: The client id.

        Returns:
            One ServerResult per address. The error is NotFound if the client subscribes to no lite topic
            there.
        """
        fields = {
            "parentTopic": parent_topic,
            "group": group,
            "clientId": client_id,
            "maxCount": str(_MAX_TOPICS_OF_CLIENT),
        }
        return self._caller.read_each(broker_addrs, _parse_client, RequestCode.GET_LITE_CLIENT_INFO, fields)

    def get_group(
        self, broker_addrs: Iterable[str], group: str, top_count: int
    ) -> list[ServerResult[LiteGroup]]:
        """Return the lag of a group on each broker (GET_LITE_GROUP_INFO, 200078).

        Check first that the broker knows the group: it creates an unknown group, and then refuses.

        Args:
            broker_addrs: The brokers.
            group: The group.
            top_count: The number of lite topics with the largest lag to return, at least 1.
        """
        ext_fields = {"group": group, "topK": str(top_count)}
        return self._caller.read_each(broker_addrs, _parse_group, RequestCode.GET_LITE_GROUP_INFO, ext_fields)

    def get_group_offsets(
        self, broker_addrs: Iterable[str], group: str, lite_topic: str
    ) -> list[ServerResult[LiteOffsets]]:
        """Return the offsets of a group on one lite topic (GET_LITE_GROUP_INFO, 200078).

        Check first that the broker knows the group.

        Args:
            broker_addrs: The broker addresses.
            group: The consumer group.
            lite_topic: The name of the lite topic, without its parent.

        Returns:
            One ServerResult per address. The error is NotFound if the broker has no message of the lite
            topic.
        """
        fields = {"group": group, "liteTopic": lite_topic, "topK": "1"}
        return self._caller.read_each(broker_addrs, _parse_offsets, RequestCode.GET_LITE_GROUP_INFO, fields)

    def trigger_dispatch(
        self, broker_addrs: Iterable[str], group: str, client_id: str | None
    ) -> list[ServerResult[bool]]:
        """Make brokers dispatch the lite topics of a group again (TRIGGER_LITE_DISPATCH, 200079).

        Args:
            broker_addrs: The brokers.
            group: The group.
            client_id: Only this client; None for all clients of the group.

        Returns:
            One ServerResult per broker: True if it accepted the order, also for an unknown client.
        """
        fields = {"group": group, **({"clientId": client_id} if client_id else {})}
        return self._caller.read_each(broker_addrs, lambda _: True, RequestCode.TRIGGER_LITE_DISPATCH, fields)


def _parse_broker_info(response: RemotingCommand) -> BrokerLiteInfo:
    json_body = parse_json_object(response)
    groups, lifetimes = json_body.child("groupMeta"), json_body.child("topicMeta")
    return BrokerLiteInfo(
        json_body.text("storeType"),
        {count_name: json_body.integer(count_name) for count_name in LITE_COUNTS},
        {topic: lifetimes.integer(topic) for topic in lifetimes.members},
        {topic: tuple(sorted(groups.texts(topic))) for topic in groups.members},
    )


def _parse_parent_topic(response: RemotingCommand) -> ParentTopic:
    json_body = parse_json_object(response)
    return ParentTopic(
        json_body.integer("ttl"),
        json_body.integer("liteTopicCount"),
        json_body.integer("lmqNum"),
        tuple(sorted(json_body.texts("groups"))),
    )


def _parse_lite_topic(response: RemotingCommand) -> LiteTopic:
    json_body = parse_json_object(response)
    offsets = json_body.child("topicOffset")
    subscribers = ((s.text("group"), s.text("clientId")) for s in json_body.children("subscriber"))
    return LiteTopic(
        offsets.integer("minOffset"),
        offsets.integer("maxOffset"),
        _parse_time_ms(offsets, "lastUpdateTimestamp"),
        json_body.flag("shardingToBroker"),
        tuple(sorted(subscribers)),
    )


def _parse_client(response: RemotingCommand) -> LiteClient:
    json_body = parse_json_object(response)
    lite_topic_count = json_body.integer("liteTopicCount")
    if lite_topic_count < 0:
        raise NotFound(f'no client "{json_body.text("clientId", None)}" subscribes to lite topics here')
    lite_names = sorted(map(parse_lite_name, json_body.texts("liteTopicSet")))
    last_access_ms, last_consume_ms = (
        _parse_time_ms(json_body, time_member) for time_member in ("lastAccessTime", "lastConsumeTime")
    )
    return LiteClient(lite_topic_count, last_access_ms, last_consume_ms, tuple(lite_names))


def _parse_group(response: RemotingCommand) -> LiteGroup:
    body = parse_json_object(response)
    lags_by_topic = {
        lag.text("liteTopic"): LiteLag(
            lag.text("liteTopic"), lag.integer("lagCount"), _parse_time_ms(lag, "earliestUnconsumedTimestamp")
        )
        for list_name in ("lagTimestampTopK", "lagCountTopK")
        for lag in body.children(list_name)
    }
    behind = sorted(lags_by_topic.values(), key=lambda lite_lag: (-lite_lag.lag, lite_lag.lite_topic))
    earliest_ms = _parse_time_ms(body, "earliestUnconsumedTimestamp")
    if earliest_ms is None:
        # 5.5.0 omits it if the oldest message is not among those that it sorts by time.
        earliest_ms = min(
            (lite_lag.earliest_ms for lite_lag in behind if lite_lag.earliest_ms is not None), default=None
        )
    return LiteGroup(body.text("parentTopic"), body.integer("totalLagCount"), earliest_ms, tuple(behind))


def _parse_offsets(response: RemotingCommand) -> LiteOffsets:
    json_body = parse_json_object(response)
    if json_body.integer("totalLagCount") < 0:
        raise NotFound(f'the lite topic "{json_body.text("liteTopic", None)}" has no messages here')
    offsets = json_body.child("liteTopicOffsetWrapper")
    if not offsets.members:
        return LiteOffsets(None, None, None, None, None)
    return LiteOffsets(
        offsets.integer("brokerOffset"),
        offsets.integer("consumerOffset"),
        json_body.integer("totalLagCount"),
        _parse_time_ms(json_body, "earliestUnconsumedTimestamp"),
        _parse_time_ms(offsets, "lastTimestamp"),
    )


def _parse_time_ms(json_object: JsonObject, key: str) -> int | None:
    time_ms = json_object.integer(key, 0)
    return time_ms if time_ms > 0 else None


def parse_lite_name(queue_name: str) -> str:
    """Return the lite topic of a queue name: "LITE" for "%LMQ%$PARENT$LITE"."""
    return _split_name(queue_name)[1]


def parse_parent_name(queue_name: str) -> str:
    """Return the parent topic of a queue name: "PARENT" for "%LMQ%$PARENT$LITE"."""
    return _split_name(queue_name)[0]


def _split_name(queue_name: str) -> tuple[str, str]:
    """The parent topic and the lite topic; twice the same for the name of another topic."""
    if not queue_name.startswith(LITE_QUEUE_PREFIX):
        return queue_name, queue_name
    parent_name, _, lite_name = queue_name.removeprefix(LITE_QUEUE_PREFIX).partition("$")
    return parent_name, lite_name
