"""Tracks: which consumer groups have consumed a message, as far as brokers know it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command
from nsadmin.client import connections
from nsadmin.client.bodies import json_object, texts
from nsadmin.client.caller import Caller
from nsadmin.client.committed import Offset, committed
from nsadmin.client.connections import GroupConnections
from nsadmin.client.messages import Located
from nsadmin.client.queues import MessageQueue
from nsadmin.client.results import error_text
from nsadmin.client.retry import decoded
from nsadmin.client.topics import Topics


class Track(NamedTuple):
    """One group and one message.

    `track_type` is CONSUMED, CONSUMED_BUT_FILTERED (passed over: its tag was not wanted), NOT_CONSUME_YET,
    NOT_ONLINE (nobody is connected), PULL or CONSUME_BROADCASTING (offsets that brokers do not know), or
    UNKNOWN, of which `error` is the reason.
    """

    group: str
    track_type: str
    error: RocketMQError | None = None


class Tracks:
    """`admin.tracks`."""

    def __init__(self, caller: Caller, topics: Topics) -> None:
        self._caller = caller
        self._topics = topics

    def of(self, item: Located) -> tuple[Track, ...]:
        """A track for each group that the broker of the message knows for its topic, in order.

        RocketMQError where that broker does not say which groups there are.
        """
        topic = item.message.topic
        addr = self.addr_of(item)
        ext = headers.write(headers.TopicName(topic))
        [answer] = self._caller.ask_each([addr], RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, ext)
        _, groups, error = decoded(answer, _groups)
        if groups is None:
            raise error or RuntimeError(addr)
        online = connections.consumers_of(self._caller, groups, [addr])
        queue = MessageQueue(topic, item.broker_name or "", item.message.queue_id)
        offsets = committed(self._caller, [(addr, group, queue) for group in groups])
        return tuple(
            _track(item, group, online[group], offset) for group, offset in zip(groups, offsets, strict=True)
        )

    def addr_of(self, item: Located) -> str:
        """Where the broker that stored the message is now: as its route says, else as the message does."""
        if item.broker_name is not None:
            for queues in self._topics.route(item.message.topic).queues:
                if queues.broker_name == item.broker_name and queues.any_addr is not None:
                    return queues.any_addr
        return item.message.store_host


def _groups(command: Command) -> Sequence[str]:
    return sorted(texts(json_object(command).get("groupList")))


def _track(item: Located, group: str, online: GroupConnections, offset: Offset) -> Track:
    error = next((found for found in online.errors.values() if found is not None), None)
    if not online.clients:
        return Track(group, "UNKNOWN" if error else "NOT_ONLINE", error)
    if online.message_model == "BROADCASTING":
        return Track(group, "CONSUME_BROADCASTING")
    if online.consume_type == "CONSUME_ACTIVELY":
        return Track(group, "PULL")
    if offset.error is not None:
        return Track(group, "UNKNOWN", offset.error)
    if offset.result is None or offset.result <= item.message.queue_offset:
        return Track(group, "NOT_CONSUME_YET")
    return Track(group, "CONSUMED" if _wanted(item, online) else "CONSUMED_BUT_FILTERED")


def _wanted(item: Located, online: GroupConnections) -> bool:
    """Whether the message has one of the tags that the group subscribes to; what SQL92 takes is unknown."""
    for subscription in online.subscriptions:
        if subscription.topic == item.message.topic and subscription.expression_type == "TAG":
            tags = {tag.strip() for tag in subscription.sub_string.split("||")} - {""}
            return not tags or "*" in tags or (item.message.tags or "") in tags
    return True


def track_table(tracks: Sequence[Track]) -> Mapping[str, str]:
    """Group to track type."""
    return {track.group: track.track_type for track in tracks}


def track_problems(tracks: Sequence[Track]) -> list[str]:
    """A line for each group of which nothing is known."""
    return [f"group {track.group}: {error_text(track.error)}" for track in tracks if track.error is not None]
