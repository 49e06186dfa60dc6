"""Owns the commands for lite topics (RocketMQ 5.5.0): their state on brokers, their clients, their lag."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple, TypeVar

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotFound, ServerResult
from nsadmin.client.lite_topics import (
    COUNTS,
    BrokerLite,
    LiteClient,
    LiteGroup,
    LiteOffsets,
    LiteTopic,
    ParentTopic,
)
from nsadmin.client.results import NotApplied, error_text, is_not_found
from nsadmin.client.targets import at
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.results import outcome
from nsadmin.commands.targets import IDENTITY, AddrWord, addrs, identity, masters_at, matched
from nsadmin.commands.times import utc
from nsadmin.output import Row, Rows
from nsadmin.session import Session

T = TypeVar("T")

PLACE = ("brokerName", "brokerAddr")
BROKER_COLUMNS = (*IDENTITY, "storeType", *COUNTS, "topicMeta", "groupMeta", "error")
PARENT_COLUMNS = (*PLACE, "ttl", "liteTopicCount", "lmqNum", "groups", "error")
TOPIC_COLUMNS = (
    *PLACE, "minOffset", "maxOffset", "lastUpdated", "shardingToBroker", "subscriberCount", "subscribers",
    "error",
)  # fmt: skip
CLIENT_COLUMNS = (*PLACE, "liteTopicCount", "lastAccessTime", "lastConsumeTime", "liteTopics", "error")
GROUP_COLUMNS = (
    *PLACE, "liteTopic", "brokerOffset", "consumerOffset", "lagCount", "earliestUnconsumedTime", "lastTime",
    "error",
)  # fmt: skip
DISPATCH_COLUMNS = (*PLACE, "group", "clientId", "result", "error")

Parent = Annotated[str, Word(("-p", "--parentTopic"), "TOPIC", "The parent topic.")]
Group = Annotated[str, Word(("-g", "--group"), "GROUP", "The consumer group.")]


class _Place(NamedTuple):
    """A broker of a route; `error` is the reason why it is not asked, None if it can be asked."""

    name: str
    addr: str | None
    error: RocketMQError | None = None

    def row(self) -> Row:
        return {"brokerName": self.name, "brokerAddr": self.addr}


@shows(BROKER_COLUMNS)
def get_broker_lite_info(
    session: Session,
    broker: AddrWord,
    cluster: Annotated[
        str | None, Option("-c", "--cluster", metavar="CLUSTER", help="Every master of it.")
    ] = None,
    detail: Annotated[
        bool, Option("-d", "--showDetail", help="Parent topics and their groups in the table, too.")
    ] = False,
) -> Rows:
    """Show what brokers have of lite topics, and how many they may have.

    currentLmqNum of maxLmqNum queues are there; at the limit messages of new lite topics are refused.

    Examples:
        # Every master of a cluster
        nsadmin getBrokerLiteInfo -c cluster-a
        # With parent topics, their time to live in minutes, and their groups
        nsadmin getBrokerLiteInfo -c cluster-a -d
    """
    targets = masters_at(session, "getBrokerLiteInfo", broker, cluster)
    found = matched(targets, session.admin.lite_topics.brokers(addrs(targets)))
    rows: list[Row] = [
        {**identity(target), **_told(result, _broker)} for target, result in zip(targets, found, strict=True)
    ]
    in_table = BROKER_COLUMNS if detail else (*IDENTITY, "storeType", *COUNTS, "error")
    return Rows(BROKER_COLUMNS, rows, [result.error for result in found], (), in_table)


def _broker(found: BrokerLite) -> Row:
    groups = {topic: list(names) for topic, names in found.groups.items()}
    return {
        "storeType": found.store_type,
        **found.counts,
        "topicMeta": dict(found.topics),
        "groupMeta": groups,
    }


@shows(PARENT_COLUMNS)
def get_parent_topic_info(session: Session, parent: Parent) -> Rows:
    """Show how many lite topics there are below a parent topic, and which groups may read them.

    A parent topic is one with the attribute message.type=LITE; its lite topics go when nothing was written to
    them for ttl minutes. A group is bound to it by its attribute lite.bind.topic. lmqNum counts the queues of
    all parent topics of the broker.

    Examples:
        # On every broker of the topic
        nsadmin getParentTopicInfo chats
    """
    places = _route(session, parent)
    found = _asked(places, lambda some: session.admin.lite_topics.parents(some, parent))
    return _rows(PARENT_COLUMNS, places, found, _parent)


def _parent(found: ParentTopic) -> Row:
    numbers = {"ttl": found.ttl, "liteTopicCount": found.lite_topics, "lmqNum": found.lmq_num}
    return {**numbers, "groups": list(found.groups)}


@shows(TOPIC_COLUMNS)
def get_lite_topic_info(
    session: Session,
    parent: Parent,
    lite: Annotated[str, Word(("-l", "--liteTopic"), "LITE_TOPIC", "The lite topic.")],
    clients: Annotated[
        bool, Option("-s", "--showClientId", help="Who subscribes in the table, too.")
    ] = False,
) -> Rows:
    """Show the offsets of one lite topic on each broker, and who subscribes to it.

    A lite topic that no broker has a message of or a subscriber to is exit code 5; brokers themselves answer
    for any name.

    Examples:
        # Its messages
        nsadmin getLiteTopicInfo chats room-1
        # With its subscribers, as GROUP@CLIENT
        nsadmin getLiteTopicInfo -p chats -l room-1 -s
    """
    places = _route(session, parent)
    found = _asked(places, lambda some: session.admin.lite_topics.topics(some, parent, lite))
    in_table = tuple(name for name in TOPIC_COLUMNS if clients or name != "subscribers")
    rows = _rows(TOPIC_COLUMNS, places, found, _topic)._replace(in_table=in_table)
    if all(result.result is not None and not result.result.is_known for result in found):
        raise NotFound(f"no broker has a message of the lite topic {lite!r}, or a subscriber to it")
    return rows


def _topic(found: LiteTopic) -> Row:
    return {
        "minOffset": found.min_offset,
        "maxOffset": found.max_offset,
        "lastUpdated": utc(found.last_update),
        "shardingToBroker": found.is_here,
        "subscriberCount": len(found.subscribers),
        "subscribers": [f"{group}@{client}" for group, client in found.subscribers],
    }


@shows(CLIENT_COLUMNS)
def get_lite_client_info(
    session: Session,
    parent: Parent,
    group: Group,
    client: Annotated[str, Word(("-c", "--clientId"), "CLIENT", "The client's id.")],
    detail: Annotated[bool, Option("-s", "--showDetail", help="Its lite topics in the table, too.")] = False,
) -> Rows:
    """Show to how many lite topics a client subscribes on each broker, and when it was last there.

    A client that subscribes on no broker is exit code 5. Brokers list no more than 1000 names.

    Examples:
        # On every broker of the topic
        nsadmin getLiteClientInfo chats readers client-1
        # With the names of its lite topics
        nsadmin getLiteClientInfo -p chats -g readers -c client-1 -s
    """
    places = _holding(session, parent, group)
    found = _asked(places, lambda some: session.admin.lite_topics.clients(some, parent, group, client))
    in_table = tuple(name for name in CLIENT_COLUMNS if detail or name != "liteTopics")
    rows = _rows(CLIENT_COLUMNS, places, found, _client)._replace(in_table=in_table)
    return _found_somewhere(rows)


def _client(found: LiteClient) -> Row:
    times = {"lastAccessTime": utc(found.last_access), "lastConsumeTime": utc(found.last_consume)}
    return {"liteTopicCount": found.number, **times, "liteTopics": list(found.lite_topics)}


@shows(GROUP_COLUMNS)
def get_lite_group_info(
    session: Session,
    parent: Parent,
    group: Group,
    lite: Annotated[
        str | None, Option("-l", "--liteTopic", metavar="LITE_TOPIC", help="Only this lite topic.")
    ] = None,
    top: Annotated[
        int, Option("-k", "--topK", metavar="N", help="So many that are furthest behind.", minimum=1)
    ] = 20,
) -> Rows:
    """Show how far a group is behind on the lite topics of a parent topic.

    For each broker a row with the sum (liteTopic is null), and below it the lite topics that are furthest
    behind. What the group never consumed has no lag; brokers leave it out of the sum. A group that is nowhere
    is exit code 5; it is looked for first, as brokers make a group by being asked for it.

    Examples:
        # The sum, and what is furthest behind
        nsadmin getLiteGroupInfo chats readers
        # One lite topic
        nsadmin getLiteGroupInfo -p chats -g readers -l room-1
    """
    places = _holding(session, parent, group)
    lites = session.admin.lite_topics
    if lite is not None:
        one = _asked(places, lambda some: lites.offsets(some, group, lite))
        return _found_somewhere(_rows(GROUP_COLUMNS, places, one, partial(_offsets, lite)))
    bound = [
        result.then(lambda found: _bound(found, group, parent))
        for result in _asked(places, lambda some: lites.groups(some, group, top))
    ]
    rows = list[Row]()
    for place, result in zip(places, bound, strict=True):
        rows.append({**place.row(), **_told(result, lambda found: _lag(None, found.lag, found.earliest))})
        furthest = result.result.furthest if result.result is not None else ()
        rows += [{**place.row(), **_lag(*one)} for one in furthest]
    return Rows(GROUP_COLUMNS, rows, [result.error for result in bound])


def _bound(found: LiteGroup, group: str, parent: str) -> LiteGroup:
    """Brokers look up the group only, so their answer may be about another parent topic: raise NotApplied."""
    if found.parent_topic != parent:
        raise NotApplied(f"{group!r} is bound to the parent topic {found.parent_topic!r}, not {parent!r}")
    return found


def _offsets(lite: str, found: LiteOffsets) -> Row:
    return {
        **_lag(lite, found.lag, found.earliest),
        "brokerOffset": found.broker_offset,
        "consumerOffset": found.consumer_offset,
        "lastTime": utc(found.last),
    }


def _lag(lite: str | None, lag: int | None, earliest: int | None) -> Row:
    return {"liteTopic": lite, "lagCount": lag, "earliestUnconsumedTime": utc(earliest)}


@shows(DISPATCH_COLUMNS)
def trigger_lite_dispatch(
    session: Session,
    parent: Parent,
    group: Group,
    client: Annotated[
        str | None, Option("-c", "--clientId", metavar="CLIENT", help="Only for this client.")
    ] = None,
    broker: Annotated[
        str | None,
        Option("-b", "--brokerName", metavar="BROKER", help="Only on this broker.", values="brokers"),
    ] = None,
) -> Rows:
    """Have brokers look anew which lite topics have messages for the clients of a group.

    For clients that get nothing though there are messages. It moves no offset. Brokers do it after they have
    answered, and answer the same for a client that nobody knows.

    Examples:
        # Which brokers would do it
        nsadmin triggerLiteDispatch chats readers --dry-run
        # For one client
        nsadmin triggerLiteDispatch -p chats -g readers -c client-1 --yes
    """
    places = _holding(session, parent, group)
    if broker is not None:
        places = [place for place in places if place.name == broker]
        if not places:
            raise NotFound(f"{broker!r} has no part of the topic {parent!r}")
    names = ", ".join(place.name for place in places)
    session.confirm(f"Have {names} look anew what {client or 'the clients'} of {group} can get?")
    lites = session.admin.lite_topics
    found: list[ServerResult[Any]]
    if session.dry_run:
        found = _asked(places, lambda some: lites.groups(some, group, 1))
    else:
        found = _asked(places, lambda some: lites.dispatch(some, group, client))
    word = "dry-run" if session.dry_run else "done"
    rows: list[Row] = [
        {**place.row(), "group": group, "clientId": client, **outcome(result.error, word)}
        for place, result in zip(places, found, strict=True)
    ]
    return Rows(DISPATCH_COLUMNS, rows, [result.error for result in found])


def _route(session: Session, parent: str) -> list[_Place]:
    """The brokers of the topic's route, each with its master's address, or a slave's if it has no master."""
    return [
        _Place(queue.broker_name, queue.any_addr, None if queue.any_addr else NotFound("it is not there now"))
        for queue in session.admin.topics.route(parent).queues
    ]


def _holding(session: Session, parent: str, group: str) -> list[_Place]:
    """The brokers of the route, with an error for each that lacks the group; NotFound if no broker has it.

    The commands check this first: asked for a missing group, brokers create it (autoCreateSubscriptionGroup).
    """
    places = _route(session, parent)
    held = _asked(places, lambda some: session.admin.groups.holders(group, map(at, some)))
    if all(isinstance(result.error, NotFound) for result in held):
        raise NotFound(f"no broker of {parent!r} knows the consumer group {group!r}")
    return [place._replace(error=result.error) for place, result in zip(places, held, strict=True)]


def _asked(
    places: Sequence[_Place], ask: Callable[[list[str]], list[ServerResult[T]]]
) -> list[ServerResult[T]]:
    """One result for each broker: its answer, or the error because of which it is not asked."""
    results = iter(ask([place.addr for place in places if place.addr and not place.error]))
    return [
        ServerResult(place.addr or "", None, place.error) if place.error or not place.addr else next(results)
        for place in places
    ]


def _rows(
    columns: Sequence[str],
    places: Sequence[_Place],
    found: Sequence[ServerResult[T]],
    tell: Callable[[T], Row],
) -> Rows:
    rows = [{**place.row(), **_told(result, tell)} for place, result in zip(places, found, strict=True)]
    return Rows(columns, rows, [result.error for result in found])


def _told(result: ServerResult[T], tell: Callable[[T], Row]) -> Row:
    if result.result is None:
        return {"error": None if result.error is None else error_text(result.error)}
    return tell(result.result)


def _found_somewhere(rows: Rows) -> Rows:
    """If at least one broker succeeded, "not found" on the others is no error."""
    if None not in rows.errors:
        return rows
    return rows._replace(errors=[None if is_not_found(error) else error for error in rows.errors])
