"""`admin.consume_tracks`: which consumer groups consumed a message, as far as its broker knows."""

from collections.abc import Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.response_bodies import parse_json_object
from nsadmin.client.consumers.committed_offsets import CommittedOffset, read_committed_offsets
from nsadmin.client.consumers.connected_clients import GroupConnections, read_consumers
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.proxies.proxies import ProxyAdmin
from nsadmin.client.topics.topics import TopicAdmin


class ConsumeTrack(NamedTuple):
    """The state of one message in one group.

    Attributes:
        group: The consumer group.
        track_type: CONSUMED, CONSUMED_BUT_FILTERED (skipped because of its tag), NOT_CONSUME_YET or UNKNOWN.
            NOT_ONLINE if no client is connected to the broker of the message. PULL or CONSUME_BROADCASTING if
            the broker does not know the offsets.
        error: The reason of UNKNOWN; None otherwise.
        other_client_count: The clients of a group that is NOT_ONLINE, at other brokers of the topic.
    """

    group: str
    track_type: str
    error: RocketMQError | None = None
    other_client_count: int = 0


class ConsumeTracks:
    """`admin.consume_tracks`: the groups that consumed a message."""

    def __init__(self, caller: Caller, topics: TopicAdmin, proxies: ProxyAdmin) -> None:
        self._caller, self._topics, self._proxies = caller, topics, proxies

    def get_tracks(self, located_message: LocatedMessage) -> tuple[ConsumeTrack, ...]:
        """Return the state of a message in each group of its topic, in the order of groups.

        Asks the broker of the message: QUERY_TOPIC_CONSUME_BY_WHO (300), then
        GET_CONSUMER_CONNECTION_LIST (203) and QUERY_CONSUMER_OFFSET (14) per group. Also reads the heartbeats
        of clients behind proxies. For groups without a client, asks the topic's other brokers (203), too.

        Raises:
            RocketMQError: The broker does not list the groups of the topic.
        """
        topic = located_message.message.topic
        broker_addr = self.find_broker_addr(located_message)
        group_names = self._caller.read_one(
            broker_addr, _parse_group_names, RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, headers.TopicName(topic)
        ).value()
        connections_by_group = self._proxies.add_clients(
            read_consumers(self._caller, group_names, [broker_addr])
        )
        queue = MessageQueue(topic, located_message.broker_name or "", located_message.message.queue_id)
        offsets = read_committed_offsets(self._caller, [(broker_addr, group, queue) for group in group_names])
        tracks = tuple(
            _make_track(located_message, group, connections_by_group[group], committed_offset)
            for group, committed_offset in zip(group_names, offsets, strict=True)
        )
        offline = [track.group for track in tracks if track.track_type == "NOT_ONLINE"]
        if not offline or located_message.broker_name is None:
            return tracks
        routes = self._topics.get_route(topic).queues
        others = {addr for route in routes for addr in route.broker_addrs.values()} - {broker_addr}
        elsewhere = read_consumers(self._caller, offline, sorted(others))
        return tuple(
            track._replace(other_client_count=len(elsewhere[track.group].clients))
            if track.group in elsewhere
            else track
            for track in tracks
        )

    def find_broker_addr(self, located_message: LocatedMessage) -> str:
        """Return the address of the message's broker: from the route, else the store host of the message.

        Returns:
            The address of the master, else of the slave with the lowest id. The store host if the broker name
            is unknown, or the broker has no address in the route.

        Raises:
            RocketMQError: The broker name is known, but the route of the topic could not be read.
        """
        if located_message.broker_name is not None:
            for route in self._topics.get_route(located_message.message.topic).queues:
                if route.broker_name == located_message.broker_name and route.any_addr is not None:
                    return route.any_addr
        return located_message.message.store_host


def _parse_group_names(response: RemotingCommand) -> Sequence[str]:
    return sorted(parse_json_object(response).texts("groupList"))


def _make_track(
    located_message: LocatedMessage,
    group: str,
    group_connections: GroupConnections,
    committed_offset: CommittedOffset,
) -> ConsumeTrack:
    all_errors = (*group_connections.errors.values(), *group_connections.proxy_errors.values())
    first_error = next((error for error in all_errors if error is not None), None)
    if not group_connections.clients:
        return ConsumeTrack(group, "UNKNOWN" if first_error else "NOT_ONLINE", first_error)
    if group_connections.is_broadcasting:
        return ConsumeTrack(group, "CONSUME_BROADCASTING")
    if group_connections.consume_type == "CONSUME_ACTIVELY" and not _has_grpc_client(group_connections):
        return ConsumeTrack(group, "PULL")
    if committed_offset.error is not None:
        return ConsumeTrack(group, "UNKNOWN", committed_offset.error)
    if committed_offset.offset is None or committed_offset.offset <= located_message.message.queue_offset:
        return ConsumeTrack(group, "NOT_CONSUME_YET")
    return ConsumeTrack(
        group, "CONSUMED" if _is_wanted_tag(located_message, group_connections) else "CONSUMED_BUT_FILTERED"
    )


def _has_grpc_client(group_connections: GroupConnections) -> bool:
    """Return whether a gRPC client consumes: brokers know its offsets, also those of simple consumers."""
    return any(client.protocol == "gRPC" for client in group_connections.clients)


def _is_wanted_tag(located_message: LocatedMessage, group_connections: GroupConnections) -> bool:
    """Return whether the group subscribes to the tag of the message; True for SQL92, which is unknown."""
    for subscription in group_connections.subscriptions:
        if subscription.topic == located_message.message.topic and subscription.expression_type == "TAG":
            tags = {tag_text.strip() for tag_text in subscription.sub_string.split("||")} - {""}
            return not tags or "*" in tags or (located_message.message.tags or "") in tags
    return True
