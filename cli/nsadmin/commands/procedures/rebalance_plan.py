"""Owns `rebalance plan`, which proposes queue counts that level the load of brokers."""

from collections.abc import Collection, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from time import sleep
from typing import Annotated, Literal, NamedTuple, cast

from typer import Option

from nsadmin.client.advised_command import quote_command
from nsadmin.client.results import NotApplied, NotFound
from nsadmin.command_line.argument_values import parse_duration_seconds
from nsadmin.command_line.broker_targets import remark_missing
from nsadmin.command_line.declarations import command
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.history.journal_source import find_brokers_journal
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.library.cluster_rebalance import ClusterRebalance
from nsadmin.operations.inventory.keeper import open_inventory
from nsadmin.operations.rebalance.load_leveller import ACCEPTED_EXCESS
from nsadmin.operations.rebalance.plan_builder import ProposedPlan
from nsadmin.operations.rebalance.plan_fields import REBALANCE_GOALS
from nsadmin.operations.rebalance.rebalance_plan import (
    LoadShares,
    QueuePair,
    RebalanceMove,
    RebalancePlan,
    save_rebalance_plan,
)
from nsadmin.operations.rebalance.run_preparation import find_servers_without_order

_MAX_TOPICS_SHOWN = 5
_GOALS_IN_WORDS = {
    "load": "load (the mean of writes and reads)",
    "queues": "write queues",
    "disk": "new bytes",
}
_MAX_SAMPLE_SECONDS = 86_400


class ShareRow(NamedTuple):
    """The shares of one broker before and after the plan, and whether it is added, removed or stays."""

    broker_name: str
    role: str
    before: LoadShares
    after: LoadShares


def _share_columns(name: str, meaning: str) -> Columns[ShareRow]:
    read = attrgetter(name)
    return (
        Column(f"{name}Before", f"percent of {meaning}, before the plan", lambda r: read(r.before)),
        Column(f"{name}After", f"percent of {meaning}, after the plan", lambda r: read(r.after)),
    )


SHARE_COLUMNS: Columns[ShareRow] = (
    BROKER_NAME,
    Column("role", "added, removed, or stays", lambda r: r.role),
    *_share_columns("writes", "the messages that producers send"),
    *_share_columns("reads", "the messages that consumers receive"),
    *_share_columns("disk", "the bytes that producers send"),
    *_share_columns("queues", "the write queues"),
)


@command(columns=SHARE_COLUMNS)
def rebalance_plan(
    session: Session,
    cluster_name: Annotated[
        str | None,
        Option(
            "-c",
            "--clusterName",
            metavar="CLUSTER",
            help="The cluster. Default: that of the brokers, or the only one.",
        ),
    ] = None,
    added: Annotated[
        list[str] | None,
        Option("--add", metavar="BROKER", help="Bring this new broker into use. Repeatable, or a list: A,B."),
    ] = None,
    removed: Annotated[
        list[str] | None,
        Option(
            "--remove",
            metavar="BROKER",
            help="Take all queues, or those of --topics, from this broker. Repeatable, or a list: A,B.",
        ),
    ] = None,
    goal: Annotated[
        str,
        Option(
            "--goal",
            metavar="|".join(REBALANCE_GOALS),
            help="Level messages (load), numbers of queues, or bytes (disk).",
        ),
    ] = "load",
    topic_patterns: Annotated[
        list[str] | None,
        Option(
            "--topics",
            metavar="PATTERN",
            help="Move only topics that match this pattern, such as 'orders-*'. Repeatable, or a list: A,B.",
        ),
    ] = None,
    sample: Annotated[
        str | None,
        Option(
            "--sample",
            metavar="DURATION",
            help="Measure traffic for so long, such as 5m. Default: the brokers' statistics of up to 24 h.",
        ),
    ] = None,
    journal_folder: Annotated[
        str | None,
        Option("--journal", metavar="DIR", help="Read the traffic from this journal of `collect --lag`."),
    ] = None,
    queue_counts: Annotated[
        str,
        Option(
            "--queue-counts",
            metavar="N,N",
            help="Numbers of queues that a changed topic may have on a broker.",
        ),
    ] = "4,8,16",
    max_topics: Annotated[
        int | None,
        Option("--max-topics", metavar="N", help="Change at most N topics. Default: no limit.", min=1),
    ] = None,
    max_share: Annotated[
        int | None,
        Option(
            "--max-share",
            metavar="PCT",
            help="Move at most this percent of the load. Default: no limit.",
            min=1,
        ),
    ] = None,
    out_file: Annotated[
        str | None, Option("--out", metavar="FILE", help="Write the plan to FILE, for rebalance run.")
    ] = None,
) -> ResultRows:
    """Propose numbers of queues by topic and broker that level the load of a cluster. Changes nothing.

    RocketMQ gives a new broker no queues, and never moves queues. The plan says how many queues each topic
    should have on each broker. It is a YAML file: check it, edit it, then pass it to `nsadmin rebalance run`.

    The rows show the share of each broker before and after, in percent of the cluster. nsadmin assumes that
    producers spread the messages of a topic evenly over its write queues. disk is the share of new bytes: old
    messages stay on their broker until they expire.

    The plan lowers the largest share to at most 5 % above the lowest possible one, and changes few queues. A
    topic stays on two brokers if it was on two. System topics, static topics and lite topics do not move, nor
    do the topics of retries and dead letters. The lines below the rows show the largest topics that change,
    the number of messages that consumers must read before the run ends, and the risks.

    Examples:
        # Preview a plan that levels the load of the brokers
        nsadmin rebalance plan -c cluster-a
        # Bring a new broker or a new machine into use: give it topics of the others, with their groups
        nsadmin rebalance plan -c cluster-a --add broker-a-2 --out plan.yaml
        # Empty a broker: move all topics off it, to take it out of the cluster
        nsadmin rebalance plan -c cluster-a --remove broker-a-0 --out plan.yaml
        # Move one topic to other brokers: take its queues off a broker
        nsadmin rebalance plan -c cluster-a --remove broker-a-0 --topics orders --out plan.yaml
    """
    if goal not in REBALANCE_GOALS:
        raise UsageError(f'invalid value "{goal}" for --goal: use one of {", ".join(REBALANCE_GOALS)}')
    if sample is not None and journal_folder is not None:
        raise UsageError("--sample and --journal exclude each other: omit one of them")
    cluster_name = cluster_name or _find_cluster(session, [*(added or ()), *(removed or ())])
    proposed_plan = ClusterRebalance(session.admin, sleep, open_inventory(session)).propose_plan(
        cluster_name,
        added=added or (),
        removed=removed or (),
        goal=cast(Literal["load", "queues", "disk"], goal),
        topic_patterns=topic_patterns,
        sample_seconds=None
        if sample is None
        else parse_duration_seconds("--sample", sample, 1, _MAX_SAMPLE_SECONDS),
        journal=None if journal_folder is None else _find_journal(journal_folder),
        queue_counts=_parse_queue_counts(queue_counts),
        max_topics=max_topics,
        max_share=max_share,
    )
    remark_missing(session, cluster_name, "the plan leaves it out")
    notes = [*_describe_plan(proposed_plan)]
    if any(move.is_ordered for move in proposed_plan.plan.moves):
        notes += [f"risk: {text}" for text in find_servers_without_order(session.admin)]
    notes += _save_plan(proposed_plan.plan, out_file)
    return ResultRows.from_records(SHARE_COLUMNS, _list_shares(proposed_plan.plan), [None], notes)


def _find_cluster(session: Session, broker_names: Collection[str]) -> str:
    """The cluster of these brokers, or the only cluster."""
    cluster_info = session.admin.clusters.get_info()
    broker_clusters = {
        g.cluster_name for g in cluster_info.groups_in_cluster(None) if g.broker_name in broker_names
    }
    if broker_names and not broker_clusters:
        names = " or ".join(f'"{name}"' for name in broker_names)
        raise NotFound(f"no broker {names}: {quote_command('clusterList')} lists the brokers")
    cluster_names = sorted(broker_clusters or cluster_info.cluster_names)
    if len(cluster_names) != 1:
        raise UsageError(f"several clusters: choose one of {', '.join(cluster_names)} with -c CLUSTER")
    return str(cluster_names[0])


def _find_journal(journal_folder: str) -> Path:
    journal = find_brokers_journal(journal_folder)
    if journal is None:
        raise UsageError(
            f'"{journal_folder}" has no journal of brokers: use a folder of nsadmin collect --lag'
        )
    return journal


def _parse_queue_counts(counts_text: str) -> tuple[int, ...]:
    count_texts = [count_text.strip() for count_text in counts_text.split(",")]
    if not all(count_text.isdecimal() and 1 <= int(count_text) <= 65536 for count_text in count_texts):
        raise UsageError(f'invalid value "{counts_text}" for --queue-counts: use numbers such as 4,8,16')
    return tuple(int(count_text) for count_text in count_texts)


def _save_plan(plan: RebalancePlan, out_file: str | None) -> list[str]:
    if not plan.moves:
        if out_file is not None:
            raise NotApplied("no plan was written: no topic changes")
        return []
    if out_file is None:
        return ["pass --out FILE to write the plan"]
    try:
        save_rebalance_plan(plan, Path(out_file))
    except OSError as error:
        raise UsageError(f"cannot write {out_file}: {error.strerror}") from None
    ordered_words = ["--ordered"] if any(move.is_ordered for move in plan.moves) else []
    run_text = quote_command("rebalance", "run", out_file, *ordered_words)
    return [f"wrote {out_file}: check it, then run {run_text}"]


def _list_shares(plan: RebalancePlan) -> Iterator[ShareRow]:
    for broker_name, shares in plan.shares.items():
        role = "added" if broker_name in plan.added else "removed" if broker_name in plan.removed else "stays"
        yield ShareRow(broker_name, role, shares.before, shares.after)


def _describe_plan(proposed_plan: ProposedPlan) -> Iterator[str]:
    plan, level_result = proposed_plan
    queue_changes = sum(map(_count_changes, plan.moves))
    now, largest, best = (
        100 * share
        for share in (level_result.largest_before, level_result.largest_load, level_result.lower_bound)
    )
    load = _GOALS_IN_WORDS[plan.goal]
    busiest = "the busiest broker that stays has" if plan.removed else "the busiest broker has"
    limit = f"(lowest possible: {best:.1f} %)"
    source = "" if plan.goal == "queues" else f"; measured by {plan.source}"
    changes = f"{count_noun(len(plan.moves), 'topic')} and {count_noun(queue_changes, 'queue')} to change"
    if plan.moves:
        yield (
            f"{changes}: now the busiest broker has {now:.1f} % of the {load}; afterwards {busiest} "
            f"{largest:.1f} % {limit}{source}"
        )
    else:
        is_level = largest <= best * (1 + ACCEPTED_EXCESS) and not level_result.left_topics
        verdict = "already level" if is_level else "no topic can move"
        yield f"{verdict}: {busiest} {largest:.1f} % of the {load} {limit}{source}"
    for broker_name in plan.added:
        if queue_share := plan.shares[broker_name].before.queues:
            yield f"{broker_name} (--add) is in use already: it has {queue_share:.1f} % of the write queues"
    for move in plan.moves[:_MAX_TOPICS_SHOWN]:
        before, after = _describe_queues(move.before), _describe_queues(move.after)
        yield f"write queues of {move.topic}: {before} -> {after}"
    if len(plan.moves) > _MAX_TOPICS_SHOWN:
        yield f"... and {len(plan.moves) - _MAX_TOPICS_SHOWN} more topics"
    if plan.moves and plan.messages_to_consume:
        messages = count_noun(plan.messages_to_consume, "message")
        yield f"consumers must still read {messages} in removed queues: rebalance run waits for them"
    yield from (f"risk: {risk}" for risk in plan.risks)


def _count_changes(move: RebalanceMove) -> int:
    no_queues = QueuePair(0, 0)
    return sum(
        abs(move.after.get(broker_name, no_queues).write - move.before.get(broker_name, no_queues).write)
        for broker_name in move.changed_brokers
    )


def _describe_queues(queues: Mapping[str, QueuePair]) -> str:
    return ", ".join(f"{broker_name} {counts.write}" for broker_name, counts in sorted(queues.items()))
