"""Owns topicList, topicRoute, topicClusterList and deleteTopic."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import Perm
from namesrv_core.protocol.resource_names import GROUP_TOPIC_PREFIXES
from nsadmin.client.advised_command import quote_command
from nsadmin.client.results import NotApplied, NotFound, ServerResult, is_not_found
from nsadmin.client.wall_clock import time
from nsadmin.command_line.argument_values import parse_duration_seconds, parse_name_list
from nsadmin.command_line.broker_targets import list_clusters, remark_missing, remark_other_clusters
from nsadmin.command_line.declarations import Each, Flags, command
from nsadmin.command_line.exclusive_options import refuse_both
from nsadmin.commands.columns.brokers import BROKER_NAME, CLUSTER_NAME
from nsadmin.commands.columns.changes import (
    TOPIC_MAIN_SETTINGS,
    ServerChange,
    change_columns,
    describe_removal,
)
from nsadmin.commands.columns.servers import ERROR, ROLE, SERVER, result_notes
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.procedures.drain_warnings import warn_of_drains
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import abbreviate_names, count_noun, failed_on, format_duration
from nsadmin.console.session import Session
from nsadmin.operations.name_patterns import expand_patterns

if TYPE_CHECKING:
    from nsadmin.client.topic_routes import QueueRoute
    from nsadmin.client.topics.topic_deletion import DeletionStep, TopicDeletion
    from nsadmin.client.topics.topic_usage import TopicUsage

_IN_USE_MS = 120_000
"""A topic with a message that is younger is in use."""


class TopicAge(NamedTuple):
    """When the newest message of a topic arrived, in ms since 1970 (0: none is left), and the first error."""

    topic: str
    last_update_ms: int
    error: RocketMQError | None

    def is_idle_since(self, newest_ms: int | None) -> bool:
        """Whether no newer message is known; always, if there is no limit."""
        return newest_ms is None or self.last_update_ms < newest_ms


class UsedTopic(NamedTuple):
    """A topic in one cluster: who reads it, and how old it is there."""

    usage: "TopicUsage"
    age: TopicAge

    @property
    def error(self) -> RocketMQError | None:
        return self.usage.error or self.age.error


class TopicType(NamedTuple):
    """The message type of a topic, and whether it is ordered; None if no broker told it."""

    topic: str
    message_type: str | None
    is_ordered: bool | None


NAME_COLUMNS: Columns[str] = (TOPIC.of(lambda name: name),)
CLUSTER_COLUMNS: Columns[str] = (CLUSTER_NAME.of(lambda name: name),)
AGE_COLUMNS: Columns[TopicAge] = (
    TOPIC,
    Column(
        "lastUpdated",
        "when the newest message of the topic arrived (UTC); null if no message is left",
        lambda a: format_utc(a.last_update_ms),
    ),
    ERROR,
)
TYPE_COLUMNS: Columns[TopicType] = (
    TOPIC,
    Column(
        "messageType",
        "type of its messages, such as NORMAL, FIFO, DELAY or TRANSACTION; null on brokers before 5.0",
        lambda t: t.message_type,
    ),
    Column(
        "order",
        "whether a broker has the topic as ordered (updateTopic -o true)",
        lambda t: t.is_ordered,
    ),
)
USAGE_COLUMNS: "Columns[TopicUsage]" = (
    CLUSTER_NAME,
    TOPIC,
    Column("groups", "the groups that read the topic", lambda u: u.consumer_groups),
)
USED_COLUMNS: Columns[UsedTopic] = (
    *of_part(itemgetter(0), USAGE_COLUMNS),
    *of_part(itemgetter(1), AGE_COLUMNS[1:-1]),
    ERROR,
)
LOGICAL_QUEUES: "Column[QueueRoute]" = Column(
    "logicalQueues",
    "of a static topic: its queues that this broker writes, with their numbers there",
    lambda q: q.logical_queues,
)
ROUTE_COLUMNS: "Columns[QueueRoute]" = (
    TOPIC,
    BROKER_NAME,
    CLUSTER_NAME,
    Column("brokerAddrs", "addresses by broker id; 0 is the master", lambda q: q.broker_addrs),
    Column(
        "perm",
        "permission: r read, w write, i inherit; a number in JSON",
        lambda q: None if q.perm is None else Perm(q.perm),
    ),
    Column("readQueueNums", "number of read queues", lambda q: q.read_queue_nums),
    Column("writeQueueNums", "number of write queues", lambda q: q.write_queue_nums),
    Column("topicSysFlag", "flags of the topic, as a number", lambda q: q.topic_sys_flag),
    LOGICAL_QUEUES,
)
DELETION_COLUMNS: Columns[ServerChange] = (
    SERVER,
    ROLE,
    TOPIC,
    *change_columns(result="done, dry-run, failed, not found, or skipped after a failure"),
)

_MAX_IDLE_SECONDS = 10 * 365 * 86400

TopicArgument = Annotated[str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topic")]
TopicsArgument = Annotated[
    str,
    Argument(metavar="TOPIC", help="A topic, several as a,b or a pattern such as 'test-*'."),
    Flags("-t", "--topic"),
]
IncludeSystem = Annotated[bool, Option("--system/--no-system", help="Whether to show RocketMQ's own topics.")]
NewTopicArgument = Annotated[
    str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topic", may_be_new=True)
]


@command(columns=(*NAME_COLUMNS, *USED_COLUMNS, *TYPE_COLUMNS), nothing="no topics on {servers}")
def topic_list(
    session: Session,
    topic: Annotated[
        str | None,
        Argument(metavar="TOPIC", help="Only these topics. Default: all."),
        Flags("-t", "--topicName"),
        Each("topic", is_joined=True),
    ] = None,
    with_groups: Annotated[
        bool, Option("-c", "--clusterModel", help="Also show the clusters and consumer groups of each topic.")
    ] = False,
    with_times: Annotated[
        bool, Option("--times", help="Show when the newest message of each topic arrived.")
    ] = False,
    with_types: Annotated[
        bool,
        Option(
            "--types", help="Show the message type of each topic, such as FIFO, and whether it is ordered."
        ),
    ] = False,
    idle_text: Annotated[
        str | None,
        Option(
            "--idle",
            metavar="DURATION",
            help="Only topics whose newest message is older than this, such as 30d, and topics that have no"
            " message left. Implies --times.",
        ),
    ] = None,
    include_system: IncludeSystem = True,
    cluster_name: Annotated[
        str | None, Option("--cluster", metavar="CLUSTER", help="Only topics of this cluster.")
    ] = None,
) -> ResultRows:
    """List the topics.

    --no-system hides the topics that name servers and brokers report as system topics, and those that brokers
    create for the retries and dead letters of groups (%RETRY%..., %DLQ%...).

    groups has the groups that are connected or have offsets of the topic. Brokers do not know which producers
    send to a topic: `nsadmin producer --topic TOPIC` finds them in its newest messages.

    Examples:
        # Topics of a team, whose names begin, start with a prefix; search topics by name
        nsadmin topicList 'pay*'
        # Topics without consumers, that nobody reads: no group
        nsadmin topicList -c --no-system --filter groups=
        # Message types of topics: NORMAL, FIFO, DELAY ...; which topics are ordered (in sequence)
        nsadmin topicList --types --no-system
        # Idle, unused topics that nobody uses any more, to clean up: no message for 30 days, or none yet
        nsadmin topicList -c --idle 30d --no-system
        # Who uses which topic: all topics with their consumer groups, and when they got the last message
        nsadmin topicList -c --times --no-system
        # Who consumes, who reads a topic: its consumer groups
        nsadmin topicList payments -c
    """
    topics = session.admin.topics
    names = topics.list_names(cluster_name) if include_system else topics.list_user_names(cluster_name)
    if not include_system:
        names = tuple(n for n in names if not n.startswith(GROUP_TOPIC_PREFIXES))
    if topic:
        known = set(names)
        names = tuple(expand_patterns("topic", topic.split(","), lambda: known))
        if missing := [name for name in names if name not in known]:
            unknown = f'no topic "{missing[0]}"'
            if with_groups:
                raise UsageError(f"{unknown}: -c takes no value, use --cluster for a cluster")
            raise NotFound(unknown)
    if with_types:
        for flag, is_given in (
            ("-c", with_groups),
            ("--times", with_times),
            ("--idle", idle_text is not None),
        ):
            refuse_both("--types", with_types, flag, is_given)
        return _list_types(session, names, cluster_name)
    newest_ms = None
    if idle_text is not None:
        idle_seconds = parse_duration_seconds("--idle", idle_text, 1, _MAX_IDLE_SECONDS)
        newest_ms = int((time() - idle_seconds) * 1000)
    if not with_groups and not with_times and newest_ms is None:
        return ResultRows.from_records(NAME_COLUMNS, names)
    # None stands for the name server, which answered: not everything failed, even if all brokers did.
    if not with_groups:
        ages = [a for a in _read_ages(session, names, cluster_name) if a.is_idle_since(newest_ms)]
        _remark_empty(session, ages if newest_ms else (), cluster_name)
        return ResultRows.from_records(AGE_COLUMNS, ages, [None, *(a.error for a in ages)])
    usages = [u for u in topics.list_usage(names) if cluster_name in (None, u.cluster_name)]
    if with_times or newest_ms is not None:
        used = [u for u in _add_ages(session, usages) if u.age.is_idle_since(newest_ms)]
        _remark_empty(session, [u.age for u in used] if newest_ms else (), cluster_name)
        errors = [None, *(u.error for u in used)]
        return ResultRows.from_records(USED_COLUMNS, used, errors, _usage_notes([u.usage for u in used]))
    errors = [None, *(u.error for u in usages)]
    return ResultRows.from_records(USAGE_COLUMNS, usages, errors, _usage_notes(usages))


def _list_types(session: Session, names: Sequence[str], cluster_name: str | None) -> ResultRows:
    """Read the attributes of all topics with one request to each broker."""
    addrs = [target.broker_addr or "" for target in session.admin.groups.list_targets(cluster_name)]
    results = session.admin.bulk.list_topics(list(dict.fromkeys(addrs)))
    types: dict[str, set[str]] = {}
    orders: dict[str, bool] = {}
    for result in results:
        for topic, config in result.result.configs_by_topic.items() if result.result else ():
            orders[topic] = bool(config.get("order")) or orders.get(topic, False)
            if (attributes := config.get("attributes")) is not None:
                types.setdefault(topic, set()).add(attributes.get("message.type", "NORMAL"))
    rows = [
        TopicType(name, ",".join(sorted(types.get(name, ()))) or None, orders.get(name)) for name in names
    ]
    # None stands for the name server, which answered.
    return ResultRows.from_records(
        TYPE_COLUMNS, rows, [None, *(r.error for r in results)], result_notes(results)
    )


def _remark_empty(session: Session, ages: Iterable[TopicAge], cluster_name: str | None) -> None:
    names = dict.fromkeys(age.topic for age in ages if not age.last_update_ms and not age.error)
    if names:
        shown = abbreviate_names([*names], 3)
        addrs = [t.broker_addr for t in session.admin.groups.list_targets(cluster_name) if t.broker_addr]
        hours = {
            r.result.get("fileReservedTime") for r in session.admin.broker_configs.get_each(addrs) if r.result
        }
        kept = f" (brokers keep messages {hours.pop()} h)" if len(hours) == 1 and None not in hours else ""
        session.write_remark(
            f"without a message, so new, or idle since their messages expired{kept}: {shown}"
        )


def _add_ages(session: Session, usages: "Sequence[TopicUsage]") -> list[UsedTopic]:
    names_by_cluster: dict[str | None, list[str]] = {}
    for usage in usages:
        names_by_cluster.setdefault(usage.cluster_name, []).append(usage.topic)
    ages = {
        (cluster_name, age.topic): age
        for cluster_name, names in names_by_cluster.items()
        for age in _read_ages(session, names, cluster_name)
    }
    return [UsedTopic(usage, ages[usage.cluster_name, usage.topic]) for usage in usages]


def _read_ages(session: Session, names: Sequence[str], cluster_name: str | None) -> list[TopicAge]:
    """The ages of topics, in all clusters or in this one."""
    topics, routes = session.admin.topics, session.admin.topics.get_routes(names)
    places = {
        name: [
            (queue.master_addr, name)
            for queue in route.result.queues
            if queue.master_addr and cluster_name in (None, queue.cluster_name)
        ]
        if route.result
        else []
        for name, route in routes.items()
    }
    stats_results = iter(topics.get_stats_at([place for of_topic in places.values() for place in of_topic]))
    ages = []
    for name, of_topic in places.items():
        results = [next(stats_results) for _ in of_topic]
        times = [queue.last_update_timestamp for r in results if r.result for queue in r.result.queues]
        errors = [error for error in (routes[name].error, *(r.error for r in results)) if error]
        ages.append(TopicAge(name, max(times, default=0), next(iter(errors), None)))
    return ages


def _usage_notes(usages: "Sequence[TopicUsage]") -> list[str]:
    """A line for each different error: one dead broker can affect thousands of topics."""
    topics_by_error: dict[str, list[str]] = {}
    for usage in usages:
        if usage.error is not None:
            topics_by_error.setdefault(str(usage.error).split("\n", 1)[0], []).append(usage.topic)
    return [
        f"topic {topics[0]}{f' and {len(topics) - 1} more' if len(topics) > 1 else ''}: {error}"
        for error, topics in topics_by_error.items()
    ]


@command(columns=ROUTE_COLUMNS)
def topic_route(
    session: Session,
    topic: TopicsArgument,
    raw_json: Annotated[bool, Option("--raw", help="Print the JSON of the name server.")] = False,
    show_rows: Annotated[
        bool, Option("-l", "--list", help="Accepted for mqadmin. nsadmin prints rows by default.")
    ] = False,
    include_system: Annotated[
        bool,
        Option("--system/--no-system", help="Whether a pattern matches RocketMQ's own topics. Default: no."),
    ] = False,
    cluster_name: Annotated[
        str | None,
        Option("-c", "--cluster", metavar="CLUSTER", help="Only the brokers of this cluster."),
    ] = None,
) -> ResultRows | str:
    """Show the brokers of a topic, with queues and permission (r read, w write, i inherit).

    For a static topic, logicalQueues shows the logical queues that each broker writes, and the number of each
    queue on the broker. A pattern matches system topics only with --system, and topics of retries and dead
    letters only with a % at its start.

    Examples:
        # Brokers and queues of a topic
        nsadmin topicRoute orders
        # Queues and permission of all topics, as a spreadsheet
        nsadmin topicRoute '*' --output spreadsheet
        # Read-only topics: which topics cannot be written, and on which brokers
        nsadmin topicRoute '*' --filter 'perm!~w' --columns topic,brokerName,perm
        # Topics with few queues: fewer than 8 write queues on a broker; <2 finds those with only one queue
        nsadmin topicRoute '*' --filter 'writeQueueNums<8' --columns topic,brokerName,writeQueueNums
        # An unknown topic (exit code 5)
        nsadmin topicRoute no-such-topic
    """
    if raw_json or (session.options.style.output_format == "mqadmin" and not show_rows):
        refuse_both("--raw", True, "--cluster", cluster_name)
        return session.admin.topics.get_raw_route(topic)
    topics = session.admin.topics
    list_names = topics.list_names if include_system else topics.list_user_names
    names = expand_patterns("topic", parse_name_list("TOPIC", topic), list_names)
    if len(names) == 1:
        results = {names[0]: ServerResult("", topics.get_route(names[0]), None)}
    else:
        results = topics.get_routes(names)
    queues = [(name, queue) for name, r in results.items() if r.result for queue in r.result.queues]
    if cluster_name is not None:
        session.admin.clusters.get_info().groups_in_cluster(cluster_name)
        clusters = sorted({queue.cluster_name or "" for _, queue in queues})
        queues = [(name, queue) for name, queue in queues if queue.cluster_name == cluster_name]
        if not queues:
            raise NotFound(f"{topic} has no queues in {cluster_name}: it is in {', '.join(clusters)}")
    is_static = any(queue.logical_queues is not None for _, queue in queues)
    logical_queues = LOGICAL_QUEUES if is_static else LOGICAL_QUEUES.in_wide()
    columns = (
        TOPIC.of(itemgetter(0)),
        *of_part(itemgetter(1), (*ROUTE_COLUMNS[1:-1], logical_queues)),
    )
    errors = [r.error for r in results.values()]
    return ResultRows.from_records(columns, queues, errors, [str(error) for error in errors if error])


@command(columns=(TOPIC, *CLUSTER_COLUMNS))
def topic_cluster_list(session: Session, topic: Annotated[TopicArgument, Each("topic")]) -> ResultRows:
    """Show the clusters of a topic, from all brokers of its route.

    Examples:
        # Which cluster has a topic
        nsadmin topicClusterList orders --output value
    """
    return ResultRows.from_records(CLUSTER_COLUMNS, session.admin.topics.list_clusters(topic))


@command(columns=DELETION_COLUMNS)
def delete_topic(
    session: Session,
    topic: TopicsArgument,
    cluster_name: Annotated[
        str,
        Argument(metavar="CLUSTER", help="The cluster to delete it from; a,b for several, '*' for all."),
        Flags("-c", "--clusterName"),
    ],
    requires_unused: Annotated[
        bool, Option("--if-unused", help="Delete nothing if a topic is in use or has a group (exit code 1).")
    ] = False,
) -> ResultRows:
    """Delete topics with all their messages from every master of a cluster, then from every name server.

    If a master fails, nsadmin does not delete the topic from the name servers, because the master would
    register the topic again. Run the command again when the master answers. Slaves delete the topic within a
    minute. If brokers create topics automatically, a topic in use can come back immediately.

    nsadmin shows the number of messages, the age of the last one, and the groups that consume the topic.
    A topic with a message of the last two minutes is in use. A group consumes the topic if it subscribes to
    it or has offsets of it. Offsets of a group that no broker has any more disappear with the topic.

    At the end, nsadmin removes these brokers from the topic's order configuration. If no other broker is left
    there, nsadmin deletes the order configuration.

    A pattern matches no system topics, and only with a % at its start topics of retries and dead letters.
    Brokers since 5.5.1 delete a list of topics with one request.

    Examples:
        # Preview the deletion in all clusters: does a group still read the topic, what is lost
        nsadmin deleteTopic refunds '*' --dry-run
        # Preview the deletion of several topics
        nsadmin deleteTopic 'orders*,refunds' cluster-a --dry-run
        # Delete a topic only if nobody uses it, and no group is left; this one is in use (exit code 1)
        nsadmin deleteTopic refunds cluster-a --if-unused --yes
        # Delete a topic with all its messages; brokers cannot delete the messages alone
        nsadmin deleteTopic refunds cluster-a --yes
    """
    deletions_by_cluster = _plan_deletions(
        session, parse_name_list("TOPIC", topic), list_clusters(session, cluster_name)
    )
    deletions = [deletion for of_cluster in deletions_by_cluster.values() for deletion in of_cluster]
    topics = list(dict.fromkeys(deletion.topic for deletion in deletions))
    firsts = [of_cluster[0] for of_cluster in deletions_by_cluster.values()]
    master_count = sum(len(first.masters) for first in firsts)
    masters = f"{count_noun(master_count, 'master')} of {', '.join(deletions_by_cluster)}"
    name_servers = count_noun(len(firsts[0].namesrv_addrs), "name server")
    named = topics[0] if len(topics) == 1 else f"{len(topics)} topics ({abbreviate_names(topics, 10)})"
    warn_of_drains(session, (name for first in firsts for name in first.broker_names))
    for name in deletions_by_cluster:
        remark_missing(
            session,
            name,
            "when it is back, it registers the topics that it has; run the command again then",
            topics,
        )
    _remark_on_other_clusters(session, topics, deletions_by_cluster)
    possessive = "its" if len(topics) == 1 else "their"
    losses, uses, groups_left = _describe_losses(session, deletions, names_cluster=len(firsts) > 1)
    for line in losses:
        session.write_remark(line)
    if requires_unused and uses:
        raise NotApplied(f"nothing is deleted: {'; '.join(uses)}")
    if groups_left:
        places_left = (",".join(groups_left), "-c", ",".join(deletions_by_cluster))
        preview = quote_command("deleteSubGroup", *places_left, "-r", "true", "--dry-run")
        session.write_remark(f"the consumer groups stay: if nobody needs them any more, run {preview}")
    session.confirm_change(f"Delete {named} and all {possessive} messages on {masters} and {name_servers}?")
    step_lists = (
        [d.list_planned_steps() for d in deletions]
        if session.is_dry_run
        else [
            steps
            for of_cluster in deletions_by_cluster.values()
            for steps in session.admin.topics.run_deletions(of_cluster)
        ]
    )
    changes = []
    for deletion, steps in zip(deletions, step_lists, strict=True):
        topic_changes = [describe_deletion(step, deletion.topic) for step in steps]
        if not any(change.error for change in topic_changes):
            topic_changes += _remove_order_confs(session, deletion.topic, deletion.broker_names)
        changes += topic_changes
    errors = [change.error for change in changes if change.done != "skipped"]
    return ResultRows.from_records(DELETION_COLUMNS, changes, errors, failed_on(errors, "step"))


def _plan_deletions(
    session: Session, words: list[str], clusters: list[str]
) -> "dict[str, list[TopicDeletion]]":
    """The deletions by cluster. One of several clusters may lack a topic."""
    admin = session.admin.topics
    deletions: dict[str, dict[str, TopicDeletion]] = {}
    for word in words:
        errors = []
        for cluster in clusters:
            try:
                for name in expand_patterns("topic", [word], partial(admin.list_user_names, cluster)):
                    deletions.setdefault(cluster, {})[name] = admin.plan_deletion(name, cluster)
            except NotFound as error:
                errors.append(error)
        if len(errors) == len(clusters):
            raise errors[0]
    return {cluster: list(by_topic.values()) for cluster, by_topic in deletions.items()}


def _remark_on_other_clusters(session: Session, topics: Sequence[str], clusters: Collection[str]) -> None:
    topics_by_others: dict[tuple[str, ...], list[str]] = {}
    for topic, route in session.admin.topics.get_routes(topics).items():
        others = {q.cluster_name for q in route.result.queues if q.cluster_name} if route.result else set()
        topics_by_others.setdefault(tuple(sorted(others.difference(clusters))), []).append(topic)
    for other_clusters, kept in topics_by_others.items():
        fact = f"{kept[0]} stays" if len(kept) == 1 else f"{abbreviate_names(kept, 3)} stay"
        remark_other_clusters(session, fact, other_clusters)


def _describe_losses(
    session: Session, deletions: "Sequence[TopicDeletion]", *, names_cluster: bool
) -> tuple[list[str], list[str], list[str]]:
    """Return lines about the losses, what says that topics are or may be in use, and the groups in order.

    A line for each topic has its messages, and its groups (subscribed, or with offsets). Another line has the
    age of its last message, and warns if the topic is in use.
    """
    lines: list[str] = []
    uses: list[str] = []
    places = [(addr, d.topic) for d in deletions for addr in d.masters]
    stats_results = iter(session.admin.topics.get_stats_at(places))
    usages = session.admin.topics.list_usage(tuple(deletion.topic for deletion in deletions))
    usages_by_place = {(u.topic, u.cluster_name): u for u in usages}
    clusters = {deletion.cluster_name for deletion in deletions}
    offset_holders = {g for u in usages if u.cluster_name in clusters for g in u.consumer_groups or ()}
    clients_by_group = _read_clients(session, offset_holders, {addr for addr, _ in places})
    for deletion in deletions:
        results = [next(stats_results) for _ in deletion.masters]
        is_known = all(result.error is None or is_not_found(result.error) for result in results)
        queues = [queue for r in results if r.result for queue in r.result.queues]
        count = sum(queue.message_count for queue in queues)
        messages = count_noun(count, "message") if is_known else "an unknown number of messages"
        usage = usages_by_place.get((deletion.topic, deletion.cluster_name))
        if usage is None or usage.error is not None:
            groups = "unknown"
        else:
            groups = abbreviate_names([g for g in usage.consumer_groups or () if g in clients_by_group], 10)
        place = f" in {deletion.cluster_name}" if names_cluster else ""
        gone = [g for g in usage.consumer_groups or () if g not in clients_by_group] if usage else []
        offsets = f"; offsets of deleted groups: {abbreviate_names(gone, 10)}" if gone else ""
        lines.append(f"{deletion.topic} has {messages}{place}; consumer groups: {groups or 'none'}{offsets}")
        if groups == "unknown":
            uses.append(f"the consumer groups of {deletion.topic}{place} are unknown")
        elif usage is not None:
            uses += _describe_group_uses(usage, place, clients_by_group)
        if not is_known:
            uses.append(f"{deletion.topic} has {messages}{place}")
        newest_ms = max((queue.last_update_timestamp for queue in queues), default=0)
        if newest_ms:
            age_ms = max(round(time() * 1000) - newest_ms, 0)
            last_message = (
                f"last {'' if is_known else 'known '}message{place} arrived {format_duration(age_ms)} ago"
            )
            if age_ms > _IN_USE_MS:
                lines.append(f"{deletion.topic}: the {last_message}")
            else:
                producers = quote_command("producer", "--topic", deletion.topic)
                use = f"{deletion.topic} is still in use: its {last_message}"
                uses.append(use)
                lines.append(f"{use}. To see who sends to it, run {producers}")
    return lines, uses, sorted(clients_by_group)


def _read_clients(
    session: Session, groups: Collection[str], broker_addrs: Collection[str]
) -> dict[str, bool | None]:
    """Whether each group has connected clients; None if it is unknown. Deleted groups are left out."""
    if not groups:
        return {}
    tables = session.admin.groups.get_tables(session.admin.groups.list_targets())
    has_all_tables = all(table.error is None for table in tables)
    known_groups = {name for table in tables for name in table.result or ()}
    clients: dict[str, bool | None] = {}
    connections = session.admin.consumers.get_group_connections(sorted(groups), sorted(broker_addrs))
    for group, of_group in connections.items():
        errors = [*of_group.errors.values(), *of_group.proxy_errors.values()]
        has_clients = bool(of_group.clients) or (None if any(errors) else False)
        if has_clients is not False or group in known_groups or not has_all_tables:
            clients[group] = has_clients
    return clients


def _describe_group_uses(
    usage: "TopicUsage", place: str, clients_by_group: Mapping[str, bool | None]
) -> Iterator[str]:
    """Say what to do about the consumer groups of a topic before it is deleted."""
    for has_clients, whose in (
        (True, "with connected clients"),
        (None, "whose clients are unknown"),
        (False, "without connected clients"),
    ):
        groups = [g for g in usage.consumer_groups or () if clients_by_group.get(g, ...) is has_clients]
        if groups:
            advice = ": stop these clients first" if has_clients else ""
            if has_clients is False:
                where = ("-c", usage.cluster_name or "*", "-r", "true", "--if-unused", "--yes")
                deletion = quote_command("deleteSubGroup", ",".join(groups), *where)
                pronoun = "it" if len(groups) == 1 else "them"
                advice = f": if nobody needs {pronoun} any more, run {deletion} first"
            noun = count_noun(len(groups), "consumer group")
            yield f"{usage.topic} has {noun} {whose}{place} ({abbreviate_names(groups, 10)}){advice}"


def _remove_order_confs(session: Session, topic: str, broker_names: Collection[str]) -> list[ServerChange]:
    """Remove the brokers from the order configuration: it would make a new topic of this name ordered."""
    conf_admin = session.admin.order_confs
    plan = conf_admin.plan_removal(topic, broker_names)
    done = "dry-run" if session.is_dry_run else "done"
    errors = [None for _ in plan] if session.is_dry_run else [r.error for r in conf_admin.apply_removal(plan)]
    return [
        ServerChange(
            conf.addr,
            {"orderConf": conf.before},
            None if conf.after is None else {"orderConf": conf.after},
            error,
            done,
            "namesrv",
            topic,
        )
        for conf, error in zip(plan, errors, strict=True)
    ]


def describe_deletion(step: "DeletionStep", topic: str) -> ServerChange:
    """The part of one server in a deletion, or in its dry run."""
    words = None
    if step.before is not None:
        words = (
            f"removed: queues on {', '.join(sorted(step.before))}"
            if step.role == "namesrv"
            else describe_removal(step.before, TOPIC_MAIN_SETTINGS)
        )
    return ServerChange(step.server, step.before, None, step.error, step.result, step.role, topic, words)
