"""Tracks: which consumer groups have consumed a message, as far as brokers know it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.read_retry import decode_answer
from nsadmin.client.connection.response_bodies import list_texts, parse_json_object
from nsadmin.client.consumers import client_connections
from nsadmin.client.consumers.client_connections import GroupConnections
from nsadmin.client.consumers.committed_offsets import CommittedOffset, read_committed_offsets
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.results import error_text
from nsadmin.client.topics.topics import TopicAdmin


class ConsumeTrack(NamedTuple):
    """One group and one message.

    `track_type` is CONSUMED, CONSUMED_BUT_FILTERED (passed over: its tag was not wanted), NOT_CONSUME_YET,
    NOT_ONLINE (nobody is connected), PULL or CONSUME_BROADCASTING (offsets that brokers do not know), or
    UNKNOWN, of which `error` is the reason.
    """

    group: str
    track_type: str
    error: RocketMQError | None = None


class ConsumeTracks:
    """`admin.tracks`."""

    def __init__(self, caller: Caller, topics: TopicAdmin) -> None:
        self._caller = caller
        self._topics = topics

    def get_tracks(self, located_message: LocatedMessage) -> tuple[ConsumeTrack, ...]:
        """A track for each group that the broker of the message knows for its topic, in order.

        RocketMQError where that broker does not say which groups there are.
        """
        topic = located_message.message.topic
        broker_addr = self.find_broker_addr(located_message)
        ext_fields = headers.write_header(headers.TopicName(topic))
        [answer] = self._caller.send_to_each(
            [broker_addr], RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, ext_fields
        )
        _, group_names, error = decode_answer(answer, _parse_group_names)
        if group_names is None:
            raise error or RuntimeError(broker_addr)
        connections_by_group = client_connections.read_consumers(self._caller, group_names, [broker_addr])
        message_queue = MessageQueue(
            topic, located_message.broker_name or "", located_message.message.queue_id
        )
        committed_offsets = read_committed_offsets(
            self._caller, [(broker_addr, group, message_queue) for group in group_names]
        )
        return tuple(
            _make_track(located_message, group, connections_by_group[group], committed_offset)
            for group, committed_offset in zip(group_names, committed_offsets, strict=True)
        )

    def find_broker_addr(self, located_message: LocatedMessage) -> str:
        """Where the broker that stored the message is now: as its route says, else as the message does."""
        if located_message.broker_name is not None:
            for queue_route in self._topics.get_route(located_message.message.topic).queues:
                if (
                    queue_route.broker_name == located_message.broker_name
                    and queue_route.any_addr is not None
                ):
                    return queue_route.any_addr
        return located_message.message.store_host


def _parse_group_names(response: RemotingCommand) -> Sequence[str]:
    return sorted(list_texts(parse_json_object(response).get("groupList")))


def _make_track(
    located_message: LocatedMessage,
    group: str,
    group_connections: GroupConnections,
    committed_offset: CommittedOffset,
) -> ConsumeTrack:
    first_error = next(
        (broker_error for broker_error in group_connections.errors.values() if broker_error is not None), None
    )
    if not group_connections.clients:
        return ConsumeTrack(group, "UNKNOWN" if first_error else "NOT_ONLINE", first_error)
    if group_connections.message_model == "BROADCASTING":
        return ConsumeTrack(group, "CONSUME_BROADCASTING")
    if group_connections.consume_type == "CONSUME_ACTIVELY":
        return ConsumeTrack(group, "PULL")
    if committed_offset.error is not None:
        return ConsumeTrack(group, "UNKNOWN", committed_offset.error)
    if committed_offset.offset is None or committed_offset.offset <= located_message.message.queue_offset:
        return ConsumeTrack(group, "NOT_CONSUME_YET")
    return ConsumeTrack(
        group, "CONSUMED" if _is_wanted_tag(located_message, group_connections) else "CONSUMED_BUT_FILTERED"
    )


def _is_wanted_tag(located_message: LocatedMessage, group_connections: GroupConnections) -> bool:
    """Whether the message has one of the tags that the group subscribes to; what SQL92 takes is unknown."""
    for subscription in group_connections.subscriptions:
        if subscription.topic == located_message.message.topic and subscription.expression_type == "TAG":
            subscribed_tags = {tag_text.strip() for tag_text in subscription.sub_string.split("||")} - {""}
            return (
                not subscribed_tags
                or "*" in subscribed_tags
                or (located_message.message.tags or "") in subscribed_tags
            )
    return True


def map_track_types(tracks: Sequence[ConsumeTrack]) -> Mapping[str, str]:
    """Group to track type."""
    return {track.group: track.track_type for track in tracks}


def describe_track_errors(tracks: Sequence[ConsumeTrack]) -> list[str]:
    """A line for each group of which nothing is known."""
    return [f"group {track.group}: {error_text(track.error)}" for track in tracks if track.error is not None]
