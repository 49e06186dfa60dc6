"""Owns the commands for lite topics (RocketMQ 5.5.0): their state on brokers, their clients, their lag."""

from functools import partial
from typing import Annotated, Any

from typer import Argument, Option

from nsadmin.client import NotFound, ServerResult
from nsadmin.client.results import NotApplied
from nsadmin.client.topics.lite_topics import (
    LITE_COUNTS,
    BrokerLiteInfo,
    LiteClient,
    LiteGroup,
    LiteOffsets,
    LiteTopic,
    ParentTopic,
)
from nsadmin.command_line.broker_targets import (
    IDENTITY_COLUMNS,
    BrokerAddrArgument,
    distinct_addrs,
    identity_cells,
    match_results,
    select_masters,
)
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.commands.topics.lite_topic_brokers import (
    ask_brokers,
    build_broker_rows,
    find_holding_brokers,
    find_route_brokers,
    forgive_not_found,
    result_cells,
)
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

PLACE = ("brokerName", "brokerAddr")
LITE_BROKER_COLUMNS = (*IDENTITY_COLUMNS, "storeType", *LITE_COUNTS, "topicMeta", "groupMeta", "error")
PARENT_TOPIC_COLUMNS = (*PLACE, "ttl", "liteTopicCount", "lmqNum", "groups", "error")
LITE_TOPIC_COLUMNS = (
    *PLACE, "minOffset", "maxOffset", "lastUpdated", "shardingToBroker", "subscriberCount", "subscribers",
    "error",
)  # fmt: skip
LITE_CLIENT_COLUMNS = (*PLACE, "liteTopicCount", "lastAccessTime", "lastConsumeTime", "liteTopics", "error")
LITE_GROUP_COLUMNS = (
    *PLACE, "liteTopic", "brokerOffset", "consumerOffset", "lagCount", "earliestUnconsumedTime", "lastTime",
    "error",
)  # fmt: skip
DISPATCH_COLUMNS = (*PLACE, "group", "clientId", "result", "error")

ParentTopicArgument = Annotated[
    str, Argument(metavar="TOPIC", help="Name of a parent topic."), Flags("-p", "--parentTopic")
]
LiteGroupArgument = Annotated[
    str, Argument(metavar="GROUP", help="A consumer group."), Flags("-g", "--group")
]


@command(columns=LITE_BROKER_COLUMNS, examples=("broker", "simulated brokers have no lite topics"))
def get_broker_lite_info(
    session: Session,
    broker_text: BrokerAddrArgument,
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
        # Every master of a cluster
        nsadmin getBrokerLiteInfo -c cluster-a
        # With parent topics, their time to live in minutes, and their groups
        nsadmin getBrokerLiteInfo -c cluster-a -d
    """
    master_targets = select_masters(session, broker_text, cluster_name)
    info_results = match_results(
        master_targets, session.admin.lite_topics.get_broker_info(distinct_addrs(master_targets))
    )
    broker_rows: list[ResultRow] = [
        {**identity_cells(master_target), **result_cells(info_result, _broker_cells)}
        for master_target, info_result in zip(master_targets, info_results, strict=True)
    ]
    table_columns = (
        LITE_BROKER_COLUMNS if show_detail else (*IDENTITY_COLUMNS, "storeType", *LITE_COUNTS, "error")
    )
    return ResultRows(
        LITE_BROKER_COLUMNS,
        broker_rows,
        [info_result.error for info_result in info_results],
        (),
        table_columns,
    )


def _broker_cells(lite_info: BrokerLiteInfo) -> ResultRow:
    groups_by_topic = {topic: list(group_names) for topic, group_names in lite_info.groups_by_topic.items()}
    return {
        "storeType": lite_info.store_type,
        **lite_info.counts,
        "topicMeta": dict(lite_info.ttl_by_topic),
        "groupMeta": groups_by_topic,
    }


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
    route_brokers = find_route_brokers(session, parent_topic)
    topic_results = ask_brokers(
        route_brokers,
        lambda broker_addrs: session.admin.lite_topics.get_parent_topic(broker_addrs, parent_topic),
    )
    return build_broker_rows(PARENT_TOPIC_COLUMNS, route_brokers, topic_results, _parent_topic_cells)


def _parent_topic_cells(parent_topic: ParentTopic) -> ResultRow:
    number_cells = {
        "ttl": parent_topic.ttl_minutes,
        "liteTopicCount": parent_topic.lite_topic_count,
        "lmqNum": parent_topic.lmq_num,
    }
    return {**number_cells, "groups": list(parent_topic.groups)}


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
    route_brokers = find_route_brokers(session, parent_topic)
    topic_results = ask_brokers(
        route_brokers,
        lambda broker_addrs: session.admin.lite_topics.get_lite_topic(broker_addrs, parent_topic, lite_topic),
    )
    table_columns = tuple(
        column_name for column_name in LITE_TOPIC_COLUMNS if show_clients or column_name != "subscribers"
    )
    broker_rows = build_broker_rows(
        LITE_TOPIC_COLUMNS, route_brokers, topic_results, _lite_topic_cells
    )._replace(table_columns=table_columns)
    if all(
        topic_result.result is not None and not topic_result.result.is_known for topic_result in topic_results
    ):
        raise NotFound(f'no broker has a message or a subscriber of the lite topic "{lite_topic}"')
    return broker_rows


def _lite_topic_cells(lite_topic: LiteTopic) -> ResultRow:
    return {
        "minOffset": lite_topic.min_offset,
        "maxOffset": lite_topic.max_offset,
        "lastUpdated": format_utc(lite_topic.last_update_ms),
        "shardingToBroker": lite_topic.is_here,
        "subscriberCount": len(lite_topic.subscribers),
        "subscribers": [f"{group}@{client_id}" for group, client_id in lite_topic.subscribers],
    }


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
    route_brokers = find_holding_brokers(session, parent_topic, group)
    client_results = ask_brokers(
        route_brokers,
        lambda broker_addrs: session.admin.lite_topics.get_client(
            broker_addrs, parent_topic, group, client_id
        ),
    )
    table_columns = tuple(
        column_name for column_name in LITE_CLIENT_COLUMNS if show_detail or column_name != "liteTopics"
    )
    broker_rows = build_broker_rows(
        LITE_CLIENT_COLUMNS, route_brokers, client_results, _client_cells
    )._replace(table_columns=table_columns)
    return forgive_not_found(broker_rows)


def _client_cells(lite_client: LiteClient) -> ResultRow:
    time_cells = {
        "lastAccessTime": format_utc(lite_client.last_access_ms),
        "lastConsumeTime": format_utc(lite_client.last_consume_ms),
    }
    return {
        "liteTopicCount": lite_client.lite_topic_count,
        **time_cells,
        "liteTopics": list(lite_client.lite_topics),
    }


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
            help="Number of lite topics to show, starting with the largest backlog.",
            min=1,
        ),
    ] = 20,
) -> ResultRows:
    """Show how far a group is behind on the lite topics of a parent topic.

    Each broker has a row with the total (liteTopic is null), and below it rows with the largest backlogs. A
    lite topic that the group never consumed has no lag and is not part of the total. The exit code is 5 if no
    broker has the group. nsadmin checks this first, because brokers create a missing group on request.

    Examples:
        # The total, and the largest backlogs
        nsadmin getLiteGroupInfo chats readers
        # One lite topic
        nsadmin getLiteGroupInfo -p chats -g readers -l room-1
    """
    route_brokers = find_holding_brokers(session, parent_topic, group)
    lite_admin = session.admin.lite_topics
    if lite_topic is not None:
        offset_results = ask_brokers(
            route_brokers, lambda broker_addrs: lite_admin.get_group_offsets(broker_addrs, group, lite_topic)
        )
        return forgive_not_found(
            build_broker_rows(
                LITE_GROUP_COLUMNS, route_brokers, offset_results, partial(_offset_cells, lite_topic)
            )
        )
    group_results = [
        group_result.then(lambda lite_group: _require_binding(lite_group, group, parent_topic))
        for group_result in ask_brokers(
            route_brokers, lambda broker_addrs: lite_admin.get_group(broker_addrs, group, max_topics)
        )
    ]
    lag_rows = list[ResultRow]()
    for route_broker, group_result in zip(route_brokers, group_results, strict=True):
        lag_rows.append(
            {
                **route_broker.identity_row(),
                **result_cells(
                    group_result,
                    lambda lite_group: _lag_cells(None, lite_group.lag_count, lite_group.earliest_ms),
                ),
            }
        )
        furthest_behind = group_result.result.furthest_behind if group_result.result is not None else ()
        lag_rows += [
            {**route_broker.identity_row(), **_lag_cells(*offset_results)}
            for offset_results in furthest_behind
        ]
    return ResultRows(LITE_GROUP_COLUMNS, lag_rows, [group_result.error for group_result in group_results])


def _require_binding(lite_group: LiteGroup, group: str, parent_topic: str) -> LiteGroup:
    """Brokers look up only the group, so their answer may be about another parent topic: raise NotApplied."""
    if lite_group.parent_topic != parent_topic:
        raise NotApplied(
            f'the group "{group}" is bound to the parent topic "{lite_group.parent_topic}", not '
            f'"{parent_topic}"'
        )
    return lite_group


def _offset_cells(lite_topic: str, lite_offsets: LiteOffsets) -> ResultRow:
    return {
        **_lag_cells(lite_topic, lite_offsets.lag_count, lite_offsets.earliest_ms),
        "brokerOffset": lite_offsets.broker_offset,
        "consumerOffset": lite_offsets.consumer_offset,
        "lastTime": format_utc(lite_offsets.last_stored_ms),
    }


def _lag_cells(lite_topic: str | None, lag_count: int | None, earliest_ms: int | None) -> ResultRow:
    return {"liteTopic": lite_topic, "lagCount": lag_count, "earliestUnconsumedTime": format_utc(earliest_ms)}


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
        Values("brokers"),
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
    route_brokers = find_holding_brokers(session, parent_topic, group)
    if wanted_broker is not None:
        route_brokers = [
            route_broker for route_broker in route_brokers if route_broker.broker_name == wanted_broker
        ]
        if not route_brokers:
            raise NotFound(f'the broker "{wanted_broker}" has no queues of the topic "{parent_topic}"')
    broker_names = ", ".join(route_broker.broker_name for route_broker in route_brokers)
    session.confirm_change(
        f"Make {broker_names} check again for messages of {client_id or 'the clients'} of {group}?"
    )
    lite_admin = session.admin.lite_topics
    dispatch_results: list[ServerResult[Any]]
    if session.is_dry_run:
        dispatch_results = ask_brokers(
            route_brokers, lambda broker_addrs: lite_admin.get_group(broker_addrs, group, 1)
        )
    else:
        dispatch_results = ask_brokers(
            route_brokers, lambda broker_addrs: lite_admin.trigger_dispatch(broker_addrs, group, client_id)
        )
    done_word = "dry-run" if session.is_dry_run else "done"
    dispatch_rows: list[ResultRow] = [
        {
            **route_broker.identity_row(),
            "group": group,
            "clientId": client_id,
            **outcome_cells(dispatch_result.error, done_word),
        }
        for route_broker, dispatch_result in zip(route_brokers, dispatch_results, strict=True)
    ]
    return ResultRows(
        DISPATCH_COLUMNS, dispatch_rows, [dispatch_result.error for dispatch_result in dispatch_results]
    )
