"""spread: finds topics that are missing on some brokers of a cluster, or have other queues there."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from namesrv_core.protocol.codes import MASTER_ID
from nsadmin.client import NotApplied, NotFound, ServerResult
from nsadmin.client.registrations import Registrant
from nsadmin.client.results import error_text
from nsadmin.client.targets import Target
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.targets import addrs, matched
from nsadmin.diagnostics import UsageError
from nsadmin.operations.spread import Spread, plan, spreads
from nsadmin.output import Row, Rows
from nsadmin.session import Session

_HEAD = (
    "Topics that nsadmin spread found, evenly on every broker: take out what is meant to be uneven.",
    "Never apply it with --prune, which deletes the topics that are not in it.",
)
COLUMNS = ("clusterName", "topic", "finding", "missing", "queues", "differing")


@shows(COLUMNS)
def spread(
    session: Session,
    topic: Annotated[str | None, Word(("-t", "--topic"), "TOPIC", "Only this topic.", required=False)],
    all_: Annotated[
        bool, Option("--all", help="All topics that are not on every broker, or not evenly.")
    ] = False,
    cluster: Annotated[
        str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Only this cluster.")
    ] = None,
    plan_file: Annotated[
        str | None, Option("--plan", metavar="FILE", help="Write what makes them even, for plan and apply.")
    ] = None,
) -> Rows:
    """Show on which brokers of its cluster a topic is missing, or has other queues than elsewhere.

    Brokers are asked for their own topics, so what name servers know or not does not count. Topics of
    RocketMQ's own, of retries and of dead letters are left out.

    A plan has each of these topics on every broker, with as many queues as where it has most, and touches
    nothing else: plan shows what it does, apply does it. A topic that is meant to be on some brokers only is
    to be taken out of it first. Never use --prune with it. Order configurations stay as they are.

    Examples:
        # On which brokers a topic is, with how many queues to read and to write
        nsadmin spread refunds-settled
        # All topics of a cluster that are not spread evenly
        nsadmin spread --all -c cluster-a
        # What would spread them, as a file
        nsadmin spread --all -c cluster-a --plan even.yaml
    """
    if (topic is None) == (not all_):
        raise UsageError("spread: type either a TOPIC or --all")
    found = _registrants(session, cluster)
    brokers = [result.result for result in found if result.result is not None]
    silent = [result for result in found if result.error is not None]
    own = session.admin.topics.system_names()
    by_cluster = {
        name: list(
            spreads(
                [broker for broker in brokers if broker.cluster_name == name],
                own,
                _wanted(topic, name, brokers),
            )
        )
        for name in sorted({broker.cluster_name for broker in brokers})
    }
    if topic is not None and not any(by_cluster.values()):
        _refuse_unknown(topic, silent)
    notes = [
        f"broker {addr} did not tell its topics: {error_text(error)}" for addr, _, error in silent if error
    ]
    if plan_file is not None:
        _require_all(silent)
        notes += _write(plan_file, by_cluster, brokers)
    rows = [
        _row(name, item)
        for name, items in by_cluster.items()
        for item in items
        if topic is not None or not item.is_even
    ]
    if all_:
        notes.append(f"{len(rows)} of {sum(map(len, by_cluster.values()))} topics are not spread evenly")
    return Rows(COLUMNS, rows, [result.error for result in found], notes)


def _registrants(session: Session, cluster: str | None) -> list[ServerResult[Registrant]]:
    """Ask the master of each broker, of one cluster or of all, for the topics it has."""
    groups = session.admin.clusters.info().in_cluster(cluster)
    targets = [Target(group.broker_name, MASTER_ID, group.master) for group in groups]
    results = matched(targets, session.admin.registrations.each(addrs(targets)))
    return [
        result._replace(addr=target.broker_name or result.addr)
        for target, result in zip(targets, results, strict=True)
    ]


def _wanted(topic: str | None, cluster: str, brokers: Iterable[Registrant]) -> list[str] | None:
    """The topics to compare in a cluster: the named one if the cluster has it; None for all."""
    if topic is None:
        return None
    return (
        [topic] if any(topic in broker.topics for broker in brokers if broker.cluster_name == cluster) else []
    )


def _refuse_unknown(topic: str, silent: Sequence[ServerResult[Registrant]]) -> None:
    for result in silent:
        assert result.error is not None
        raise result.error
    raise NotFound(f"no broker has a topic {topic!r}")


def _require_all(silent: Sequence[ServerResult[Registrant]]) -> None:
    if silent:
        names = ", ".join(result.addr for result in silent)
        raise NotApplied(f"no plan was written: what {names} has is unknown")


def _write(file: str, by_cluster: Mapping[str, Sequence[Spread]], brokers: Sequence[Registrant]) -> list[str]:
    """Write the plan to a new file; return notes on how to use it."""
    from nsadmin.operations.plans.writing import text_of

    uneven = {name: items for name, items in by_cluster.items() if not all(item.is_even for item in items)}
    if len(uneven) != 1:
        which = (
            f"there is something to do in {', '.join(uneven)}: choose with -c" if uneven else "all is even"
        )
        raise UsageError(f"spread: no plan was written: {which}")
    [(cluster, items)] = uneven.items()
    names = [broker.broker_name for broker in brokers if broker.cluster_name == cluster]
    text = text_of(plan(cluster, items, names), [*_HEAD])
    try:
        with Path(file).open("x", encoding="utf-8") as sink:
            sink.write(text)
    except OSError as error:
        raise UsageError(f"spread: {file}: {error.strerror}") from None
    return [f"wrote {file}: nsadmin plan {file} shows what it does, nsadmin apply {file} does it"]


def _row(cluster: str, item: Spread) -> Row:
    queues = {
        name: f"{config['readQueueNums']}/{config['writeQueueNums']}" for name, config in item.held.items()
    }
    return {
        "clusterName": cluster,
        "topic": item.topic,
        "finding": _finding(item),
        "missing": list(item.missing),
        "queues": queues,
        "differing": list(item.differing),
    }


def _finding(item: Spread) -> str:
    if item.is_static:
        return "static: updateStaticTopic spreads it"
    if item.is_even:
        return "even" if not item.differing else "even, with other settings"
    if not item.missing:
        return "uneven"
    there = len(item.held)
    uneven = ", uneven" if item.has_other_queues else ""
    return f"on {there} of {there + len(item.missing)} brokers{uneven}"
