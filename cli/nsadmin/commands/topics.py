"""Owns topicList, topicRoute, topicClusterList and deleteTopic."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from namesrv_core.protocol.codes import Perm
from nsadmin.commands.changes import CHANGE, CHANGE_IN_TABLE, gone
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.results import outcome
from nsadmin.output import Row, Rows
from nsadmin.session import Session

if TYPE_CHECKING:
    from nsadmin.client.deletion import DeletionStep
    from nsadmin.client.routes import TopicRoute
    from nsadmin.client.usage import TopicUsage

ROUTE_COLUMNS = (
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
USAGE_COLUMNS = ("clusterName", "topic", "consumerGroups")
DELETION_COLUMNS = ("target", "role", "topic", *CHANGE)
DELETION_IN_TABLE = ("target", "role", "topic", *CHANGE_IN_TABLE)

Topic = Annotated[str, Word(("-t", "--topic"), "TOPIC", "Name of a topic.")]


@shows(("topic",), USAGE_COLUMNS)
def topic_list(
    session: Session,
    with_groups: Annotated[
        bool, Option("-c", "--clusterModel", help="With the clusters of each topic and its consumer groups.")
    ] = False,
    system: Annotated[
        bool, Option("--system/--no-system", help="Show or hide the topics that RocketMQ has for itself.")
    ] = True,
    cluster: Annotated[str | None, Option("--cluster", metavar="CLUSTER", help="Only its topics.")] = None,
) -> Rows:
    """List the topics.

    --no-system hides what name servers and brokers call system topics. Retry and dead-letter topics
    (%RETRY%..., %DLQ%...) belong to consumer groups and are shown.

    Examples:
        # The names of all topics that are not RocketMQ's own
        nsadmin topicList --no-system
        # Who consumes the topics of a cluster
        nsadmin topicList -c --cluster cluster-a --filter 'topic~^pay'
    """
    topics = session.admin.topics
    names = topics.names(cluster) if system else topics.user_names(cluster)
    if not with_groups:
        return Rows(("topic",), [{"topic": name} for name in names])
    usages = [usage for usage in topics.usage(names) if cluster in (None, usage.cluster_name)]
    rows: list[Row] = [
        {"clusterName": usage.cluster_name, "topic": usage.topic, "consumerGroups": usage.consumer_groups}
        for usage in usages
    ]
    # None stands for the name server, which answered: not everything failed, even if all brokers did.
    return Rows(USAGE_COLUMNS, rows, [None, *(usage.error for usage in usages)], _notes(usages))


def _notes(usages: "Sequence[TopicUsage]") -> list[str]:
    """A line for each different error: one dead broker can affect thousands of topics."""
    spoiled: dict[str, list[str]] = {}
    for usage in usages:
        if usage.error is not None:
            spoiled.setdefault(str(usage.error).split("\n", 1)[0], []).append(usage.topic)
    return [
        f"topic {topics[0]}{f' and {len(topics) - 1} more' if len(topics) > 1 else ''}: {text}"
        for text, topics in spoiled.items()
    ]


@shows(ROUTE_COLUMNS)
def topic_route(
    session: Session,
    topic: Topic,
    raw: Annotated[bool, Option("--raw", help="The JSON as the name server sent it.")] = False,
    as_list: Annotated[
        bool, Option("-l", "--list", help="Accepted from mqadmin: rows are the rule.")
    ] = False,
) -> Rows | str:
    """Show which brokers have a topic, with their queues and permission (r read, w write, i inherit).

    Of a static topic logicalQueues says which of its queues are written on which broker, and what number
    each of them has there.

    Examples:
        # Brokers and queues of a topic
        nsadmin topicRoute orders
        # Where it cannot be written to
        nsadmin topicRoute orders-history --filter 'perm!~w' --columns brokerName,perm
        # A topic that is nowhere (exit code 5)
        nsadmin topicRoute no-such-topic
    """
    if raw or (session.options.style.format == "mqadmin" and not as_list):
        return session.admin.topics.raw_route(topic)
    return route_table(topic, session.admin.topics.route(topic))


def route_table(topic: str, route: "TopicRoute") -> Rows:
    """A row for each broker of a route."""
    rows: list[Row] = [
        {
            "topic": topic,
            "brokerName": queue.broker_name,
            "clusterName": queue.cluster_name,
            "brokerAddrs": queue.broker_addrs,
            "perm": None if queue.perm is None else Perm(queue.perm),
            "readQueueNums": queue.read_queue_nums,
            "writeQueueNums": queue.write_queue_nums,
            "topicSysFlag": queue.topic_sys_flag,
            "logicalQueues": queue.logical_queues,
        }
        for queue in route.queues
    ]
    is_static = any(queue.logical_queues is not None for queue in route.queues)
    return Rows(ROUTE_COLUMNS, rows, in_table=None if is_static else ROUTE_COLUMNS[:-1])


@shows(("clusterName",))
def topic_cluster_list(session: Session, topic: Topic) -> Rows:
    """Show the clusters that have a topic, by all brokers of its route.

    Examples:
        # The clusters that have a topic, one a line
        nsadmin topicClusterList orders --output value
    """
    return Rows(("clusterName",), [{"clusterName": name} for name in session.admin.topics.clusters(topic)])


@shows(DELETION_COLUMNS)
def delete_topic(
    session: Session,
    topic: Topic,
    cluster: Annotated[str, Word(("-c", "--clusterName"), "CLUSTER", "The cluster to delete it from.")],
) -> Rows:
    """Delete a topic with all its messages from every master of a cluster, then from every name server.

    If a master fails, the name servers are skipped: they go on showing where the topic is, and the master
    would only register it again. Delete it again once the master is back. Slaves follow their masters
    within a minute. A topic that clients still use may come back at once where brokers create topics by
    themselves.

    Examples:
        # What would be deleted, and where
        nsadmin deleteTopic refunds cluster-a --dry-run
        # Delete it without being asked
        nsadmin deleteTopic refunds cluster-a --yes
    """
    deletion = session.admin.topics.deletion(topic, cluster)
    masters, name_servers = len(deletion.masters), len(deletion.name_servers)
    places = f"{masters} master(s) of {cluster} and {name_servers} name server(s)"
    session.confirm(f"Delete {topic} and all its messages on {places}?")
    steps = deletion.planned() if session.dry_run else deletion.run()
    rows: list[Row] = [{**deletion_row(step), "topic": topic} for step in steps]
    errors = [step.error for step in steps if step.result != "skipped"]
    return Rows(DELETION_COLUMNS, rows, errors, (), DELETION_IN_TABLE)


def _going(step: "DeletionStep") -> str | None:
    if step.before is None or step.result not in ("done", "dry-run"):
        return None
    if step.role == "nameserver":
        return f"gone: queues on {', '.join(sorted(step.before))}"
    return gone(step.before, ("readQueueNums", "writeQueueNums", "perm"))


def deletion_row(step: "DeletionStep") -> Row:
    """The row of one server in a deletion, or in its dry run, without the topic's name."""
    exact = {"changes": _going(step), "before": step.before, "after": None}
    return {"target": step.target, "role": step.role, **exact, **outcome(step.error, step.result)}
