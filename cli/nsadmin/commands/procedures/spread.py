"""Owns spread, which finds unbalanced topics: missing on some brokers, or with different queues."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

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
from nsadmin.command_line.declarations import Flags, RequiredUnless, Values, command
from nsadmin.commands.columns.brokers import CLUSTER_NAME
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.phrases import abbreviate_names, part_is
from nsadmin.console.session import Session
from nsadmin.operations.spread import TopicSpread, find_spreads, plan_even_spread

_PLAN_HEAD = (
    "Topics from nsadmin spread, evenly on every broker: remove topics that should be uneven.",
    "Never apply this file with --prune, which deletes all topics that it does not have.",
)


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


@command(columns=SPREAD_COLUMNS)
def spread(
    session: Session,
    topics_text: Annotated[
        str | None,
        Argument(metavar="TOPICS", help="Only these topics, separated by commas."),
        Flags("-t", "--topic"),
        Values("topics"),
        RequiredUnless("all_topics"),
    ],
    all_topics: Annotated[bool, Option("--all", help="All topics that are unbalanced.")] = False,
    cluster_name: Annotated[
        str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Only this cluster.")
    ] = None,
    plan_file: Annotated[
        str | None,
        Option("--plan", metavar="FILE", help="Write a plan that balances them, for plan and apply."),
    ] = None,
) -> ResultRows:
    """Show topics that are unbalanced: missing on some brokers of a cluster, or with different queues.

    nsadmin asks the brokers for their topics, independent of name servers. It skips RocketMQ's own topics,
    and topics of retries and dead letters.

    A plan puts each unbalanced topic on every broker, with the highest number of queues that a broker has. It
    changes nothing else. Check it with `nsadmin plan`, and run it with `nsadmin apply`. First remove topics
    that should be on some brokers only. Never use --prune with it. Order configurations do not change.

    The plan only adds queues, and knows no load. To level load, to fill a new broker or to empty an old one,
    use `nsadmin rebalance plan`.

    Examples:
        # The brokers of a topic, with read and write queues
        nsadmin spread refunds-settled
        # Topics that only one or some brokers have, or with unequal queues
        nsadmin spread --all -c cluster-a
        # Put all topics on all brokers, also on a new one: write a plan for `nsadmin apply`
        nsadmin spread --all -c cluster-a --plan even.yaml
    """
    exclusive_options.require_one_of("TOPICS", topics_text, "--all", all_topics)
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
    notes = [
        f"broker {broker} did not report its topics: {error_text(error)}"
        for broker, _, error in failed_results
        if error
    ]
    if plan_file is not None:
        _require_all_brokers(failed_results)
        notes += _write_plan(plan_file, spreads_by_cluster, registrants)
    all_spreads = [(cluster, spread) for cluster, spreads in spreads_by_cluster.items() for spread in spreads]
    shown = [(cluster, spread) for cluster, spread in all_spreads if not all_topics or not spread.is_even]
    if all_topics:
        notes.append(f"{part_is(len(shown), len(all_spreads), 'topic')} unbalanced")
    return ResultRows.from_records(SPREAD_COLUMNS, shown, [r.error for r in results], notes)


def _fetch_registrants(session: Session, cluster_name: str | None) -> list[ServerResult[BrokerRegistrant]]:
    """Ask the master of each broker, of one cluster or of all, for the topics it has."""
    cluster_info = session.admin.clusters.get_info()
    remark_missing(session, cluster_name, "its topics are unknown")
    for addr, names in find_shared_addrs(cluster_info.groups_in_cluster(cluster_name)).items():
        session.write_remark(f"{describe_shared_addr(addr, names)}: counted once")
    targets = [
        BrokerTarget(broker_group.broker_name, MASTER_BROKER_ID, broker_group.master_addr)
        for broker_group in cluster_info.processes_in_cluster(cluster_name)
    ]
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


def _require_all_brokers(failed_results: Sequence[ServerResult[BrokerRegistrant]]) -> None:
    if failed_results:
        broker_names = ", ".join(failed_result.addr for failed_result in failed_results)
        raise NotApplied(f"no plan was written, because the topics of {broker_names} are unknown")


def _write_plan(
    file_name: str,
    spreads_by_cluster: Mapping[str, Sequence[TopicSpread]],
    registrants: Sequence[BrokerRegistrant],
) -> list[str]:
    """Write the plan to a new file; return notes on how to use it."""
    from nsadmin.operations.plans.yaml_writer import format_cluster

    uneven_clusters = {
        cluster_key: topic_spreads
        for cluster_key, topic_spreads in spreads_by_cluster.items()
        if not all(topic_spread.is_even or topic_spread.is_static for topic_spread in topic_spreads)
    }
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
    plan_text = format_cluster(plan_even_spread(cluster_name, topic_spreads, broker_names), [*_PLAN_HEAD])
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
