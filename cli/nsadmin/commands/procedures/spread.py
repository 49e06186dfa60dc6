"""Owns spread, which finds unbalanced topics and groups: missing on some brokers, or with other settings."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import NotApplied, NotFound, ServerResult
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.clusters import describe_shared_addr, find_shared_addrs
from nsadmin.client.brokers.registrations import BrokerRegistrant
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.results import error_text
from nsadmin.command_line import exclusive_options
from nsadmin.command_line.argument_values import parse_name_list
from nsadmin.command_line.broker_targets import distinct_addrs, match_results, remark_missing
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.brokers import CLUSTER_NAME
from nsadmin.commands.columns.consumers import GROUP
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.phrases import abbreviate_names, part_is
from nsadmin.console.session import Session
from nsadmin.operations.plans.records import DesiredCluster
from nsadmin.operations.spread import (
    GroupSpread,
    TopicSpread,
    find_group_spreads,
    find_spreads,
    plan_even_groups,
    plan_even_spread,
)
from nsadmin.operations.topic_kinds import describe_moved_keys


def _describe_spread(spread: TopicSpread) -> str:
    if spread.is_static:
        return "static: updateStaticTopic balances it"
    if spread.is_even:
        return "even" if not spread.differing_settings else "balanced, with different settings"
    if not spread.missing_brokers:
        return "uneven"
    broker_count = len(spread.configs_by_broker)
    uneven_suffix = ", uneven" if spread.has_other_queues else ""
    return f"on {broker_count} of {broker_count + len(spread.missing_brokers)} brokers{uneven_suffix}"


def _describe_group_spread(spread: GroupSpread) -> str:
    broker_count = len(spread.configs_by_broker)
    if spread.missing_brokers:
        return f"on {broker_count} of {broker_count + len(spread.missing_brokers)} brokers"
    return "different settings"


SPREAD_COLUMNS: Columns[tuple[str, TopicSpread]] = (
    CLUSTER_NAME.of(lambda s: s[0]),
    *of_part(
        lambda s: s[1],
        (
            TOPIC,
            Column(
                "finding",
                "how many brokers have the topic, and whether they have equal queues",
                _describe_spread,
            ),
            Column(
                "missing",
                "brokers of the cluster that do not have the topic",
                lambda s: list(s.missing_brokers),
            ),
            Column(
                "queues",
                "read and write queues by broker, READ/WRITE",
                lambda s: {
                    broker: f"{config['readQueueNums']}/{config['writeQueueNums']}"
                    for broker, config in s.configs_by_broker.items()
                },
            ),
            Column(
                "differing",
                "settings that differ between brokers with the topic",
                lambda s: list(s.differing_settings),
            ),
        ),
    ),
)


GROUP_SPREAD_COLUMNS: Columns[tuple[str, GroupSpread]] = (
    CLUSTER_NAME.of(lambda s: s[0]),
    GROUP.of(lambda s: s[1].group),
    SPREAD_COLUMNS[2].of(lambda s: _describe_group_spread(s[1])),
    SPREAD_COLUMNS[3].of(lambda s: list(s[1].missing_brokers)),
    SPREAD_COLUMNS[5].of(lambda s: list(s[1].differing_settings)),
)


@command(columns=(*SPREAD_COLUMNS, GROUP))
def spread(
    session: Session,
    topics_text: Annotated[
        str | None,
        Argument(metavar="TOPICS", help="Topics, separated by commas. Default: all unbalanced ones."),
        Flags("-t", "--topic"),
        Values("topics"),
    ],
    cluster_name: Annotated[
        str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Only this cluster.")
    ] = None,
    plan_file: Annotated[
        str | None,
        Option("--plan", metavar="FILE", help="Write a plan that balances them, for plan and apply."),
    ] = None,
    of_groups: Annotated[
        bool,
        Option("--groups", help="Show consumer groups that some brokers lack, or with other settings."),
    ] = False,
) -> ResultRows:
    """Show topics that are unbalanced: missing on some brokers of a cluster, or with different queues.

    nsadmin asks the brokers for their topics, independent of name servers. It skips RocketMQ's own topics,
    and topics of retries and dead letters. With --groups, the rows are consumer groups that some brokers
    lack, or have with other settings.

    A plan puts each unbalanced topic on every broker, with the highest number of queues that a broker has. It
    changes nothing else. Check it with `nsadmin plan`, and run it with `nsadmin apply`. First remove topics
    that should be on some brokers only. Never use --prune with it. Order configurations do not change. A plan
    of groups creates each group where it is missing.

    The plan only adds queues, and knows no load. To level load, to fill a new broker or to empty an old one,
    use `nsadmin rebalance plan`.

    Examples:
        # A topic is missing on one broker: its brokers, and the command that makes it equal on all
        nsadmin spread refunds-settled
        # Topics that only one or some brokers have, or with unequal queues
        nsadmin spread -c cluster-a
        # Consumer groups that are not on every broker
        nsadmin spread --groups
        # Write a plan that balances the topics
        nsadmin spread -c cluster-a --plan even.yaml
    """
    if of_groups:
        exclusive_options.refuse_both("TOPICS", topics_text, "--groups", of_groups)
        return _list_group_spreads(session, cluster_name, plan_file)
    all_topics = topics_text is None
    topics = parse_name_list("TOPICS", topics_text)
    results = _fetch_registrants(session, cluster_name)
    registrants = [r.result for r in results if r.result is not None]
    failed_results = [r for r in results if r.error is not None]
    system_topics = session.admin.topics.list_system_names()
    spreads_by_cluster = {
        cluster: list(
            find_spreads(
                [r for r in registrants if r.cluster_name == cluster],
                system_topics,
                None if all_topics else _topics_of_cluster(topics, cluster, registrants),
            )
        )
        for cluster in sorted({r.cluster_name for r in registrants})
    }
    found_topics = {spread.topic for spreads in spreads_by_cluster.values() for spread in spreads}
    for topic in topics:
        if topic not in found_topics:
            _refuse_unknown_topic(topic, failed_results, cluster_name)
    notes = _list_silent_brokers(failed_results, "topics")
    if plan_file is not None:
        _require_all_brokers(failed_results, "topics")
        notes += _write_plan(plan_file, spreads_by_cluster, registrants)
    all_spreads = [(cluster, spread) for cluster, spreads in spreads_by_cluster.items() for spread in spreads]
    shown = [(cluster, spread) for cluster, spread in all_spreads if not all_topics or not spread.is_even]
    if all_topics:
        # A topic that is unbalanced in two clusters counts once.
        unbalanced = {s.topic for _, s in shown}
        notes.append(f"{part_is(len(unbalanced), len(found_topics), 'topic')} unbalanced")
    if plan_file is None:
        chosen = [] if topics_text is None else [topics_text]
        which = "them" if all_topics or len(topics) > 1 else "it"
        for cluster in _find_uneven(spreads_by_cluster):
            advised = quote_command("spread", *chosen, "-c", cluster, "--plan", f"even-{cluster}.yaml")
            notes.append(f"run {advised} to write a plan that puts {which} on all brokers of {cluster}")
    return ResultRows.from_records(SPREAD_COLUMNS, shown, [r.error for r in results], notes)


def _list_group_spreads(session: Session, cluster_name: str | None, plan_file: str | None) -> ResultRows:
    targets = _list_masters(session, cluster_name, "its groups are unknown")
    results = [
        result._replace(addr=target.broker_name or result.addr)
        for target, result in zip(
            targets,
            match_results(targets, session.admin.bulk.list_groups(distinct_addrs(targets))),
            strict=True,
        )
    ]
    failed_results = [r for r in results if r.error is not None]
    tables = {r.addr: r.result for r in results if r.result is not None}
    brokers_by_cluster: dict[str, list[str]] = {}
    for group in session.admin.clusters.get_info().groups_in_cluster(cluster_name):
        if group.broker_name in tables:
            brokers_by_cluster.setdefault(group.cluster_name, []).append(group.broker_name)
    spreads = [
        (cluster, spread)
        for cluster, names in sorted(brokers_by_cluster.items())
        for spread in find_group_spreads({name: tables[name] for name in names})
    ]
    shown = [(cluster, spread) for cluster, spread in spreads if not spread.is_even]
    notes = _list_silent_brokers(failed_results, "groups")
    if plan_file is not None:
        _require_all_brokers(failed_results, "groups")
        lacking = sorted({cluster for cluster, spread in shown if spread.missing_brokers})
        if len(lacking) != 1:
            reason = f"groups of {', '.join(lacking)} are missing on brokers: choose one cluster with -c"
            raise UsageError(f"no plan was written: {reason if lacking else 'no broker lacks a group'}")
        [name] = lacking
        in_cluster = [spread for cluster, spread in shown if cluster == name]
        notes += _write_plan_file(plan_file, plan_even_groups(name, in_cluster, brokers_by_cluster[name]))
    unbalanced, groups = ({s.group for _, s in found} for found in (shown, spreads))
    notes.append(f"{part_is(len(unbalanced), len(groups), 'group')} unbalanced")
    return ResultRows.from_records(GROUP_SPREAD_COLUMNS, shown, [r.error for r in results], notes)


def _list_masters(session: Session, cluster_name: str | None, unknown: str) -> list[BrokerTarget]:
    """The master of each broker, of one cluster or of all; `unknown` is what nobody knows of missing ones."""
    cluster_info = session.admin.clusters.get_info()
    remark_missing(session, cluster_name, unknown)
    for addr, names in find_shared_addrs(cluster_info.groups_in_cluster(cluster_name)).items():
        session.write_remark(f"{describe_shared_addr(addr, names)}: counted once")
    return [
        BrokerTarget(broker_group.broker_name, MASTER_BROKER_ID, broker_group.master_addr)
        for broker_group in cluster_info.processes_in_cluster(cluster_name)
    ]


def _fetch_registrants(session: Session, cluster_name: str | None) -> list[ServerResult[BrokerRegistrant]]:
    """Ask the master of each broker, of one cluster or of all, for the topics it has."""
    targets = _list_masters(session, cluster_name, "its topics are unknown")
    results = match_results(targets, session.admin.registrations.get_each(distinct_addrs(targets)))
    return [
        result._replace(addr=target.broker_name or result.addr)
        for target, result in zip(targets, results, strict=True)
    ]


def _topics_of_cluster(
    topics: Iterable[str], cluster_name: str, registrants: Iterable[BrokerRegistrant]
) -> list[str]:
    known_topics = {topic for r in registrants if r.cluster_name == cluster_name for topic in r.topics}
    return [topic for topic in topics if topic in known_topics]


def _refuse_unknown_topic(
    topic: str, failed_results: Sequence[ServerResult[BrokerRegistrant]], cluster_name: str | None
) -> None:
    for failed_result in failed_results:
        assert failed_result.error is not None
        raise failed_result.error
    place = "" if cluster_name is None else f" of cluster {cluster_name}"
    raise NotFound(f'no broker{place} has the topic "{topic}"')


def _list_silent_brokers(failed_results: Sequence[ServerResult[Any]], items: str) -> list[str]:
    return [
        f"broker {broker} did not report its {items}: {error_text(error)}"
        for broker, _, error in failed_results
        if error
    ]


def _require_all_brokers(failed_results: Sequence[ServerResult[Any]], items: str) -> None:
    if failed_results:
        broker_names = ", ".join(failed_result.addr for failed_result in failed_results)
        raise NotApplied(f"no plan was written, because the {items} of {broker_names} are unknown")


def _find_uneven(
    spreads_by_cluster: Mapping[str, Sequence[TopicSpread]],
) -> dict[str, Sequence[TopicSpread]]:
    """The clusters with a topic that a plan can balance."""
    return {
        cluster_key: topic_spreads
        for cluster_key, topic_spreads in spreads_by_cluster.items()
        if not all(topic_spread.is_even or topic_spread.is_static for topic_spread in topic_spreads)
    }


def _write_plan(
    file_name: str,
    spreads_by_cluster: Mapping[str, Sequence[TopicSpread]],
    registrants: Sequence[BrokerRegistrant],
) -> list[str]:
    """Write the plan to a new file; return notes on how to use it."""

    uneven_clusters = _find_uneven(spreads_by_cluster)
    if len(uneven_clusters) != 1:
        differing = [
            f"{s.topic} ({', '.join(s.differing_settings)})"
            for spreads in spreads_by_cluster.values()
            for s in spreads
            if s.differing_settings
        ]
        reason = "the topics are balanced"
        if uneven_clusters:
            reason = f"topics of {', '.join(uneven_clusters)} are unbalanced: choose one cluster with -c"
        elif any(s.is_static and not s.is_even for spreads in spreads_by_cluster.values() for s in spreads):
            reason = "only static topics are unbalanced, and updateStaticTopic balances them"
        elif differing:
            reason += (
                f", and a plan changes no other settings; brokers differ in {abbreviate_names(differing, 3)}"
            )
        raise UsageError(f"no plan was written: {reason}")
    [(cluster_name, topic_spreads)] = uneven_clusters.items()
    broker_names = [
        registrant.broker_name for registrant in registrants if registrant.cluster_name == cluster_name
    ]
    desired = plan_even_spread(cluster_name, topic_spreads, broker_names)
    notes = _write_plan_file(file_name, desired)
    changed = [s for s in topic_spreads if s.topic in (desired.topic_specs or ())]
    for kind, place in (("ordered", ""), ("FIFO", f" in {cluster_name}")):
        if topics := [s.topic for s in changed if s.order_kind == kind]:
            notes.append(describe_moved_keys(topics, f"{kind}{place}"))
    return notes


def _write_plan_file(file_name: str, desired: DesiredCluster) -> list[str]:
    from nsadmin.operations.plans.yaml_writer import format_cluster

    kind = "Topics" if desired.group_specs is None else "Groups"
    plan_text = format_cluster(
        desired,
        [
            f"{kind} from nsadmin spread, on every broker: remove those that should be on some brokers only.",
            f"Never apply this file with --prune, which deletes all {kind.lower()} that it does not have.",
        ],
    )
    try:
        with Path(file_name).open("x", encoding="utf-8") as output_file:
            output_file.write(plan_text)
    except FileExistsError:
        # The operator may have edited the plan of an earlier run.
        raise UsageError(f"{file_name} exists: pass another name with --plan, or remove it first") from None
    except OSError as error:
        raise UsageError(f"cannot write {file_name}: {error.strerror}") from None
    check_text = f"run {quote_command('plan', file_name)} to check it"
    return [f"wrote {file_name}: {check_text}, then {quote_command('apply', file_name)}"]
