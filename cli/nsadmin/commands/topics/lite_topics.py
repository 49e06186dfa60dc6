"""Owns the commands for lite topics (RocketMQ 5.5.0): their state on brokers, their clients, their lag."""

from collections.abc import Callable, Sequence
from operator import attrgetter, itemgetter
from typing import Annotated, Any, NamedTuple, TypeVar

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotFound, ServerResult
from nsadmin.client.brokers.targets import BrokerTarget, target_at_addr
from nsadmin.client.results import NotApplied
from nsadmin.client.topics.lite_topics import BrokerLiteInfo, LiteGroup, LiteOffsets
from nsadmin.command_line.broker_targets import (
    ReadBrokerArgument,
    distinct_addrs,
    list_masters,
    match_results,
)
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_NAME, TARGET_COLUMNS
from nsadmin.commands.columns.changes import RESULT, ServerChange, forgive_not_found
from nsadmin.commands.columns.consumers import BROKER_OFFSET, CLIENT_ID, CONSUMER_OFFSET, GROUP, LAST_TIME
from nsadmin.commands.columns.servers import ERROR
from nsadmin.commands.columns.topics import MAX_OFFSET, MIN_OFFSET
from nsadmin.console.output import AnyColumn, Column, Columns, ResultRows, of_part
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

AnswerT = TypeVar("AnswerT")


class RouteBroker(NamedTuple):
    """A broker of a route; `error` is the reason why it is not asked, None if it can be asked."""

    broker_name: str
    broker_addr: str | None
    error: RocketMQError | None = None


class GroupLag(NamedTuple):
    """How far a group is behind on a broker: on a lite topic, or for None on all of them."""

    broker: RouteBroker
    error: RocketMQError | None = None
    lite_topic: str | None = None
    lag: int | None = None
    earliest_ms: int | None = None
    offsets: LiteOffsets | None = None


def _count(key: str, meaning: str) -> Column[BrokerLiteInfo]:
    return Column(key, meaning, lambda i: i.counts[key])


PLACE = (BROKER_NAME, BROKER_ADDR)


def _answer_columns(*own: AnyColumn) -> Columns[tuple[RouteBroker, ServerResult[Any]]]:
    """The columns of a broker with its answer."""
    return (
        *of_part(itemgetter(0), PLACE),
        *of_part(lambda r: r[1].result, own),
        *of_part(itemgetter(1), (ERROR,)),
    )


TOPIC_COUNT: Column[Any] = Column(
    "liteTopicCount",
    "number of lite topics, or of the client's subscriptions",
    lambda r: r.lite_topic_count,
)
BROKER_INFO: Columns[BrokerLiteInfo] = (
    Column("storeType", "how the broker stores queues: default or defaultRocksDB", lambda i: i.store_type),
    _count("maxLmqNum", "limit of lite topic queues"),
    _count("currentLmqNum", "number of lite topic queues"),
    _count("liteSubscriptionCount", "subscriptions of clients to lite topics"),
    _count("orderInfoCount", "queues with popped messages whose order is kept"),
    _count("cqTableSize", "open consume queues"),
    _count("offsetTableSize", "topics and groups with a consumer offset"),
    _count("eventMapSize", "clients that wait for messages of lite topics"),
    Column(
        "topicMeta",
        "parent topics with their time to live in minutes",
        lambda i: dict(i.ttl_by_topic),
        wide=True,
    ),
    Column(
        "groupMeta",
        "the groups of each parent topic",
        lambda i: {topic: list(groups) for topic, groups in i.groups_by_topic.items()},
        wide=True,
    ),
)
LITE_BROKER_COLUMNS = (TARGET_COLUMNS[0], TARGET_COLUMNS[1], *_answer_columns(*BROKER_INFO)[1:])
PARENT_TOPIC_COLUMNS = _answer_columns(
    Column(
        "ttl",
        "minutes without writes after which a lite topic is removed",
        lambda t: t.ttl_minutes,
    ),
    TOPIC_COUNT,
    Column("lmqNum", "lite topic queues of all parent topics of the broker", lambda t: t.lmq_num),
    Column("groups", "groups that may read its lite topics", lambda t: list(t.groups)),
)
LITE_TOPIC_COLUMNS = _answer_columns(
    MIN_OFFSET,
    MAX_OFFSET,
    Column("lastUpdated", "when the last message was stored (UTC)", lambda t: format_utc(t.last_update_ms)),
    Column("shardingToBroker", "whether the route lets clients write it on this broker", lambda t: t.is_here),
    Column("subscriberCount", "clients that subscribe to it", lambda t: len(t.subscribers)),
    Column(
        "subscribers",
        "the subscribed clients, as GROUP@CLIENT; * if the group reads all lite topics",
        lambda t: [f"{group}@{client_id}" for group, client_id in t.subscribers],
        wide=True,
    ),
)
LITE_CLIENT_COLUMNS = _answer_columns(
    TOPIC_COUNT,
    Column(
        "lastAccessTime",
        "when the client last requested messages (UTC)",
        lambda c: format_utc(c.last_access_ms),
    ),
    Column("lastConsumeTime", "when the client last consumed (UTC)", lambda c: format_utc(c.last_consume_ms)),
    Column("liteTopics", "names of the lite topics", lambda c: list(c.lite_topics), wide=True),
)
LITE_GROUP_COLUMNS: Columns[GroupLag] = (
    *of_part(attrgetter("broker"), PLACE),
    Column("liteTopic", "name of the lite topic; null for the total", lambda g: g.lite_topic),
    *of_part(attrgetter("offsets"), (BROKER_OFFSET, CONSUMER_OFFSET)),
    Column("lag", "messages not consumed; null if the group never consumed any", lambda g: g.lag),
    Column(
        "earliestUnconsumedTime",
        "when the oldest unconsumed message was stored (UTC)",
        lambda g: format_utc(g.earliest_ms),
    ),
    LAST_TIME.of(lambda g: format_utc(g.offsets and g.offsets.last_stored_ms)),
    ERROR,
)
DISPATCH_COLUMNS: Columns[tuple[RouteBroker, ServerChange]] = (
    *of_part(itemgetter(0), PLACE),
    GROUP,
    CLIENT_ID,
    *of_part(itemgetter(1), (RESULT, ERROR)),
)
ParentTopicArgument = Annotated[
    str, Argument(metavar="TOPIC", help="Name of a parent topic."), Flags("-p", "--parentTopic")
]
LiteGroupArgument = Annotated[
    str, Argument(metavar="GROUP", help="A consumer group."), Flags("-g", "--group")
]


@command(columns=LITE_BROKER_COLUMNS, examples=("broker", "simulated brokers have no lite topics"))
def get_broker_lite_info(
    session: Session,
    broker_text: ReadBrokerArgument,
    cluster_name: Annotated[
        str | None, Option("-c", "--cluster", metavar="CLUSTER", help="Every master of this cluster.")
    ] = None,
    show_detail: Annotated[
        bool, Option("-d", "--showDetail", help="Show parent topics and their groups in the table.")
    ] = False,
) -> ResultRows:
    """Show the lite topics of brokers, and their limit.

    currentLmqNum is the number of queues, maxLmqNum the limit. At the limit, brokers refuse messages of new
    lite topics.

    Examples:
        # Every master of a cluster; without -c, of all clusters
        nsadmin getBrokerLiteInfo -c cluster-a
        # With parent topics, their time to live in minutes, and their groups
        nsadmin getBrokerLiteInfo -c cluster-a -d
    """
    targets = list_masters(session, broker_text, cluster_name)
    results = match_results(targets, session.admin.lite_topics.get_broker_info(distinct_addrs(targets)))
    columns = _select_columns(LITE_BROKER_COLUMNS, with_details=show_detail)
    return _answer_rows(columns, targets, results)


def _select_columns(columns: Columns[Any], *, with_details: bool) -> Columns[Any]:
    """The columns, with the wide ones also in the table if the operator wants details."""
    return tuple(c._replace(wide=False) for c in columns) if with_details else columns


def _answer_rows(
    columns: Columns[Any],
    brokers: Sequence[RouteBroker | BrokerTarget],
    results: Sequence[ServerResult[AnswerT]],
) -> ResultRows:
    return ResultRows.from_records(columns, zip(brokers, results, strict=True), [r.error for r in results])


@command(columns=PARENT_TOPIC_COLUMNS, examples=("broker", "simulated brokers have no lite topics"))
def get_parent_topic_info(session: Session, parent_topic: ParentTopicArgument) -> ResultRows:
    """Show the number of lite topics of a parent topic, and the groups that may read them.

    A parent topic has the attribute message.type=LITE. Its lite topics are removed after ttl minutes without
    writes. A group is bound to it with the attribute lite.bind.topic. lmqNum counts the queues of all parent
    topics of the broker.

    Examples:
        # On every broker of the topic
        nsadmin getParentTopicInfo chats
    """
    brokers = _list_brokers(session, parent_topic)
    lite_topics = session.admin.lite_topics
    results = _ask_brokers(brokers, lambda addrs: lite_topics.get_parent_topic(addrs, parent_topic))
    return _answer_rows(PARENT_TOPIC_COLUMNS, brokers, results)


@command(columns=LITE_TOPIC_COLUMNS, examples=("broker", "simulated brokers have no lite topics"))
def get_lite_topic_info(
    session: Session,
    parent_topic: ParentTopicArgument,
    lite_topic: Annotated[
        str, Argument(metavar="LITE_TOPIC", help="Name of a lite topic."), Flags("-l", "--liteTopic")
    ],
    show_clients: Annotated[
        bool, Option("-s", "--showClientId", help="Show subscribers in the table.")
    ] = False,
) -> ResultRows:
    """Show the offsets of one lite topic on each broker, and its subscribers.

    The exit code is 5 if no broker has a message or a subscriber of the lite topic. (Brokers answer for any
    name.)

    Examples:
        # Its messages
        nsadmin getLiteTopicInfo chats room-1
        # With its subscribers, as GROUP@CLIENT
        nsadmin getLiteTopicInfo -p chats -l room-1 -s
    """
    brokers = _list_brokers(session, parent_topic)
    lite_topics = session.admin.lite_topics
    results = _ask_brokers(brokers, lambda addrs: lite_topics.get_lite_topic(addrs, parent_topic, lite_topic))
    if all(r.result is not None and not r.result.is_known for r in results):
        raise NotFound(f'no broker has a message or a subscriber of the lite topic "{lite_topic}"')
    return _answer_rows(_select_columns(LITE_TOPIC_COLUMNS, with_details=show_clients), brokers, results)


@command(columns=LITE_CLIENT_COLUMNS, examples=("broker", "simulated brokers have no lite topics"))
def get_lite_client_info(
    session: Session,
    parent_topic: ParentTopicArgument,
    group: LiteGroupArgument,
    client_id: Annotated[str, Argument(metavar="CLIENT", help="Id of a client."), Flags("-c", "--clientId")],
    show_detail: Annotated[
        bool, Option("-s", "--showDetail", help="Show its lite topics in the table.")
    ] = False,
) -> ResultRows:
    """Show the number of lite topics that a client subscribes to on each broker, and its last activity.

    The exit code is 5 if the client subscribes on no broker. Brokers list at most 1000 names.

    Examples:
        # On every broker of the topic
        nsadmin getLiteClientInfo chats readers client-1
        # With the names of its lite topics
        nsadmin getLiteClientInfo -p chats -g readers -c client-1 -s
    """
    brokers = _list_holding_brokers(session, parent_topic, group)
    lite_topics = session.admin.lite_topics
    results = _ask_brokers(
        brokers, lambda addrs: lite_topics.get_client(addrs, parent_topic, group, client_id)
    )
    rows = _answer_rows(_select_columns(LITE_CLIENT_COLUMNS, with_details=show_detail), brokers, results)
    return rows._replace(errors=forgive_not_found(rows.errors))


@command(columns=LITE_GROUP_COLUMNS, examples=("broker", "simulated brokers have no lite topics"))
def get_lite_group_info(
    session: Session,
    parent_topic: ParentTopicArgument,
    group: LiteGroupArgument,
    lite_topic: Annotated[
        str | None, Option("-l", "--liteTopic", metavar="LITE_TOPIC", help="Only this lite topic.")
    ] = None,
    max_topics: Annotated[
        int,
        Option(
            "-k",
            "--topK",
            metavar="N",
            help="Number of lite topics to show, starting with the largest lag.",
            min=1,
        ),
    ] = 20,
) -> ResultRows:
    """Show how far a group is behind on the lite topics of a parent topic.

    Each broker has a row with the total (liteTopic is null), and below it rows with the largest lags. A
    lite topic that the group never consumed has no lag and is not part of the total. The exit code is 5 if no
    broker has the group. nsadmin checks this first, because brokers create a missing group on request.

    Examples:
        # The total, and the largest lags
        nsadmin getLiteGroupInfo chats readers
        # One lite topic
        nsadmin getLiteGroupInfo -p chats -g readers -l room-1
    """
    brokers = _list_holding_brokers(session, parent_topic, group)
    lite_topics = session.admin.lite_topics
    if lite_topic is not None:
        offsets = _ask_brokers(brokers, lambda addrs: lite_topics.get_group_offsets(addrs, group, lite_topic))
        lags = [
            GroupLag(broker, r.error)
            if r.result is None
            else GroupLag(broker, None, lite_topic, r.result.lag, r.result.earliest_ms, r.result)
            for broker, r in zip(brokers, offsets, strict=True)
        ]
        return ResultRows.from_records(
            LITE_GROUP_COLUMNS, lags, forgive_not_found([r.error for r in offsets])
        )
    results = [
        r.then(lambda lite_group: _require_binding(lite_group, group, parent_topic))
        for r in _ask_brokers(brokers, lambda addrs: lite_topics.get_group(addrs, group, max_topics))
    ]
    lags = []
    for broker, result in zip(brokers, results, strict=True):
        if result.result is None:
            lags.append(GroupLag(broker, result.error))
        else:
            lags.append(GroupLag(broker, None, None, result.result.lag, result.result.earliest_ms))
            lags += [GroupLag(broker, None, *lag) for lag in result.result.furthest_behind]
    return ResultRows.from_records(LITE_GROUP_COLUMNS, lags, [r.error for r in results])


def _require_binding(lite_group: LiteGroup, group: str, parent_topic: str) -> LiteGroup:
    """Brokers look up only the group, so their answer may be about another parent topic: raise NotApplied."""
    if lite_group.parent_topic != parent_topic:
        raise NotApplied(
            f'the group "{group}" is bound to the parent topic "{lite_group.parent_topic}", not '
            f'"{parent_topic}"'
        )
    return lite_group


@command(columns=DISPATCH_COLUMNS, examples=("broker", "simulated brokers have no lite topics"))
def trigger_lite_dispatch(
    session: Session,
    parent_topic: ParentTopicArgument,
    group: LiteGroupArgument,
    client_id: Annotated[
        str | None, Option("-c", "--clientId", metavar="CLIENT", help="Only for this client.")
    ] = None,
    wanted_broker: Annotated[
        str | None,
        Option("-b", "--brokerName", metavar="BROKER", help="Only on this broker."),
    ] = None,
) -> ResultRows:
    """Make brokers check again which lite topics have messages for the clients of a group.

    Use this if clients receive no messages although there are some. No offset changes. Brokers check after
    they answer, and give the same answer for an unknown client.

    Examples:
        # Preview which brokers would do it
        nsadmin triggerLiteDispatch chats readers --dry-run
        # For one client
        nsadmin triggerLiteDispatch -p chats -g readers -c client-1 --yes
    """
    brokers = _list_holding_brokers(session, parent_topic, group)
    if wanted_broker is not None:
        brokers = [broker for broker in brokers if broker.broker_name == wanted_broker]
        if not brokers:
            raise NotFound(f'the broker "{wanted_broker}" has no queues of the topic "{parent_topic}"')
    broker_names = ", ".join(broker.broker_name for broker in brokers)
    session.confirm_change(
        f"Make {broker_names} check again for messages of {client_id or 'the clients'} of {group}?"
    )
    lite_topics = session.admin.lite_topics
    results: Sequence[ServerResult[Any]]
    if session.is_dry_run:
        results = _ask_brokers(brokers, lambda addrs: lite_topics.get_group(addrs, group, 1))
    else:
        results = _ask_brokers(brokers, lambda addrs: lite_topics.trigger_dispatch(addrs, group, client_id))
    done = "dry-run" if session.is_dry_run else "done"
    orders = [ServerChange(r.addr, None, None, r.error, done) for r in results]
    return ResultRows.from_records(
        DISPATCH_COLUMNS,
        zip(brokers, orders, strict=True),
        [order.error for order in orders],
        common={GROUP: group, CLIENT_ID: client_id},
    )


def _list_brokers(session: Session, parent_topic: str) -> list[RouteBroker]:
    """The brokers of the topic's route, each with its master's address, or a slave's if it has no master."""
    return [
        RouteBroker(
            queue.broker_name,
            queue.any_addr,
            None if queue.any_addr else NotFound("the broker is not registered now"),
        )
        for queue in session.admin.topics.get_route(parent_topic).queues
    ]


def _list_holding_brokers(session: Session, parent_topic: str, group: str) -> list[RouteBroker]:
    """The brokers of the route, with an error for each that lacks the group; NotFound if no broker has it.

    The commands check this first: brokers create a missing group on request (autoCreateSubscriptionGroup).
    """
    brokers = _list_brokers(session, parent_topic)
    holders = _ask_brokers(
        brokers, lambda addrs: session.admin.groups.find_holders(group, map(target_at_addr, addrs))
    )
    if all(isinstance(holder.error, NotFound) for holder in holders):
        raise NotFound(f'no broker of "{parent_topic}" has the consumer group "{group}"')
    return [broker._replace(error=holder.error) for broker, holder in zip(brokers, holders, strict=True)]


def _ask_brokers(
    brokers: Sequence[RouteBroker], ask_addrs: Callable[[list[str]], list[ServerResult[AnswerT]]]
) -> list[ServerResult[AnswerT]]:
    """One result for each broker: its answer, or the reason why it was not asked."""
    answers = iter(ask_addrs([b.broker_addr for b in brokers if b.broker_addr and not b.error]))
    return [
        ServerResult(b.broker_addr or "", None, b.error) if b.error or not b.broker_addr else next(answers)
        for b in brokers
    ]
