"""Owns topicList, topicRoute, topicClusterList and deleteTopic."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import Perm
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.change_rows import (
    CHANGE_RESULT_COLUMNS,
    CHANGE_RESULT_IN_TABLE,
    change_cells,
    describe_removal,
)
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.commands.procedures.drain_warnings import warn_of_drains
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

if TYPE_CHECKING:
    from nsadmin.client.topic_routes import TopicRoute
    from nsadmin.client.topics.topic_deletion import DeletionStep
    from nsadmin.client.topics.topic_usage import TopicUsage

TOPIC_ROUTE_COLUMNS = (
    "topic",
    "brokerName",
    "clusterName",
    "brokerAddrs",
    "perm",
    "readQueueNums",
    "writeQueueNums",
    "topicSysFlag",
    "logicalQueues",
)
TOPIC_USAGE_COLUMNS = ("clusterName", "topic", "consumerGroups")
TOPIC_DELETION_COLUMNS = ("target", "role", "topic", *CHANGE_RESULT_COLUMNS)
TOPIC_DELETION_TABLE_COLUMNS = ("target", "role", "topic", *CHANGE_RESULT_IN_TABLE)

TopicArgument = Annotated[str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topic")]


@command(columns=("topic", *TOPIC_USAGE_COLUMNS))
def topic_list(
    session: Session,
    with_groups: Annotated[
        bool, Option("-c", "--clusterModel", help="Also show the clusters and consumer groups of each topic.")
    ] = False,
    include_system: Annotated[
        bool, Option("--system/--no-system", help="Whether to show RocketMQ's own topics.")
    ] = True,
    cluster_name: Annotated[
        str | None, Option("--cluster", metavar="CLUSTER", help="Only topics of this cluster.")
    ] = None,
) -> ResultRows:
    """List the topics.

    --no-system hides the topics that name servers and brokers report as system topics. It still shows retry
    and dead-letter topics (%RETRY%..., %DLQ%...), because these belong to consumer groups.

    Examples:
        # All topics except RocketMQ's own
        nsadmin topicList --no-system
        # Consumer groups of topics in a cluster
        nsadmin topicList -c --cluster cluster-a --filter 'topic~^pay'
    """
    topic_admin = session.admin.topics
    topic_names = (
        topic_admin.list_names(cluster_name) if include_system else topic_admin.list_user_names(cluster_name)
    )
    if not with_groups:
        return ResultRows(("topic",), [{"topic": topic_name} for topic_name in topic_names])
    topic_usages = [
        topic_usage
        for topic_usage in topic_admin.list_usage(topic_names)
        if cluster_name in (None, topic_usage.cluster_name)
    ]
    usage_rows: list[ResultRow] = [
        {
            "clusterName": topic_usage.cluster_name,
            "topic": topic_usage.topic,
            "consumerGroups": topic_usage.consumer_groups,
        }
        for topic_usage in topic_usages
    ]
    # None stands for the name server, which answered: not everything failed, even if all brokers did.
    return ResultRows(
        TOPIC_USAGE_COLUMNS,
        usage_rows,
        [None, *(topic_usage.error for topic_usage in topic_usages)],
        _usage_notes(topic_usages),
    )


def _usage_notes(topic_usages: "Sequence[TopicUsage]") -> list[str]:
    """A line for each different error: one dead broker can affect thousands of topics."""
    topics_by_error: dict[str, list[str]] = {}
    for topic_usage in topic_usages:
        if topic_usage.error is not None:
            topics_by_error.setdefault(str(topic_usage.error).split("\n", 1)[0], []).append(topic_usage.topic)
    return [
        f"topic {topics[0]}{f' and {len(topics) - 1} more' if len(topics) > 1 else ''}: {error_line}"
        for error_line, topics in topics_by_error.items()
    ]


@command(columns=TOPIC_ROUTE_COLUMNS)
def topic_route(
    session: Session,
    topic: TopicArgument,
    raw_json: Annotated[bool, Option("--raw", help="Print the JSON of the name server.")] = False,
    show_rows: Annotated[
        bool, Option("-l", "--list", help="Accepted for mqadmin. nsadmin prints rows by default.")
    ] = False,
) -> ResultRows | str:
    """Show the brokers of a topic, with queues and permission (r read, w write, i inherit).

    For a static topic, logicalQueues shows the logical queues that each broker writes, and the number of each
    queue on the broker.

    Examples:
        # Brokers and queues of a topic
        nsadmin topicRoute orders
        # Brokers where the topic is not writable
        nsadmin topicRoute orders-history --filter 'perm!~w' --columns brokerName,perm
        # An unknown topic (exit code 5)
        nsadmin topicRoute no-such-topic
    """
    if raw_json or (session.options.style.output_format == "mqadmin" and not show_rows):
        return session.admin.topics.get_raw_route(topic)
    return route_rows(topic, session.admin.topics.get_route(topic))


def route_rows(topic: str, topic_route: "TopicRoute") -> ResultRows:
    """A row for each broker of a route."""
    broker_rows: list[ResultRow] = [
        {
            "topic": topic,
            "brokerName": queue_route.broker_name,
            "clusterName": queue_route.cluster_name,
            "brokerAddrs": queue_route.broker_addrs,
            "perm": None if queue_route.perm is None else Perm(queue_route.perm),
            "readQueueNums": queue_route.read_queue_nums,
            "writeQueueNums": queue_route.write_queue_nums,
            "topicSysFlag": queue_route.topic_sys_flag,
            "logicalQueues": queue_route.logical_queues,
        }
        for queue_route in topic_route.queues
    ]
    is_static = any(queue_route.logical_queues is not None for queue_route in topic_route.queues)
    return ResultRows(
        TOPIC_ROUTE_COLUMNS, broker_rows, table_columns=None if is_static else TOPIC_ROUTE_COLUMNS[:-1]
    )


@command(columns=("clusterName",))
def topic_cluster_list(session: Session, topic: TopicArgument) -> ResultRows:
    """Show the clusters of a topic, from all brokers of its route.

    Examples:
        # One cluster per line
        nsadmin topicClusterList orders --output value
    """
    return ResultRows(
        ("clusterName",),
        [{"clusterName": cluster_name} for cluster_name in session.admin.topics.list_clusters(topic)],
    )


@command(columns=TOPIC_DELETION_COLUMNS)
def delete_topic(
    session: Session,
    topic: TopicArgument,
    cluster_name: Annotated[
        str, Argument(metavar="CLUSTER", help="The cluster to delete it from."), Flags("-c", "--clusterName")
    ],
) -> ResultRows:
    """Delete a topic with all its messages from every master of a cluster, then from every name server.

    If a master fails, nsadmin does not delete the topic from the name servers, because the master would
    register the topic again. Run the command again when the master answers. Slaves delete the topic within a
    minute. If brokers create topics automatically, a topic in use can come back immediately.

    At the end, nsadmin removes these brokers from the topic's order configuration. If no other broker is left
    there, nsadmin deletes the order configuration.

    Examples:
        # Preview the deletion
        nsadmin deleteTopic refunds cluster-a --dry-run
        # Delete it without a question
        nsadmin deleteTopic refunds cluster-a --yes
    """
    topic_deletion = session.admin.topics.plan_deletion(topic, cluster_name)
    master_count, namesrv_count = len(topic_deletion.masters), len(topic_deletion.namesrv_addrs)
    places_text = f"{master_count} master(s) of {cluster_name} and {namesrv_count} name server(s)"
    warn_of_drains(session, topic_deletion.broker_names)
    session.confirm_change(f"Delete {topic} and all its messages on {places_text}?")
    deletion_steps = (
        topic_deletion.list_planned_steps() if session.is_dry_run else topic_deletion.run_deletion()
    )
    step_rows: list[ResultRow] = [
        {**deletion_row(deletion_step), "topic": topic} for deletion_step in deletion_steps
    ]
    step_errors = [
        deletion_step.error for deletion_step in deletion_steps if deletion_step.result != "skipped"
    ]
    if not any(step_errors):
        conf_rows, conf_errors = _remove_order_confs(session, topic, topic_deletion.broker_names)
        step_rows, step_errors = step_rows + conf_rows, step_errors + conf_errors
    return ResultRows(TOPIC_DELETION_COLUMNS, step_rows, step_errors, (), TOPIC_DELETION_TABLE_COLUMNS)


def _remove_order_confs(
    session: Session, topic: str, broker_names: Collection[str]
) -> tuple[list[ResultRow], list[RocketMQError | None]]:
    """Remove the brokers from the order configuration: it would make a new topic of this name ordered."""
    conf_admin = session.admin.order_confs
    planned_changes = conf_admin.plan_removal(topic, broker_names)
    errors: list[RocketMQError | None] = [None for _ in planned_changes]
    if not session.is_dry_run:
        errors = [conf_result.error for conf_result in conf_admin.apply_removal(planned_changes)]
    conf_rows: list[ResultRow] = [
        {
            "target": planned_change.addr,
            "role": "nameserver",
            "topic": topic,
            **change_cells(
                {"orderConf": planned_change.before},
                None if planned_change.after is None else {"orderConf": planned_change.after},
            ),
            **outcome_cells(error, "dry-run" if session.is_dry_run else "done"),
        }
        for planned_change, error in zip(planned_changes, errors, strict=True)
    ]
    return conf_rows, errors


def _describe_deletion_step(deletion_step: "DeletionStep") -> str | None:
    if deletion_step.before is None or deletion_step.result not in ("done", "dry-run"):
        return None
    if deletion_step.role == "nameserver":
        return f"removed: queues on {', '.join(sorted(deletion_step.before))}"
    return describe_removal(deletion_step.before, ("readQueueNums", "writeQueueNums", "perm"))


def deletion_row(deletion_step: "DeletionStep") -> ResultRow:
    """The row of one server in a deletion, or in its dry run, without the topic's name."""
    deletion_cells = {
        "changes": _describe_deletion_step(deletion_step),
        "before": deletion_step.before,
        "after": None,
    }
    return {
        "target": deletion_step.target,
        "role": deletion_step.role,
        **deletion_cells,
        **outcome_cells(deletion_step.error, deletion_step.result),
    }
