"""Owns group explain, which explains why a consumer group does not consume."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client.results import error_text
from nsadmin.command_line.argument_values import parse_name_list
from nsadmin.command_line.declarations import Each, Flags, command, means_several
from nsadmin.command_line.each_name import expand_names
from nsadmin.commands.columns.consumers import GROUP
from nsadmin.commands.columns.explanations import FINDING_COLUMNS, NEXT, RESULT, SEEN, STEP
from nsadmin.commands.consumers.consumer_progress import AskedClusterOption
from nsadmin.console.output import Columns, ResultRows, of_part
from nsadmin.console.session import Session
from nsadmin.operations.explain.findings import (
    CauseExplanation,
    describe_verdict,
    list_cause_ids,
    reach_verdict,
    verdict_errors,
)
from nsadmin.operations.explain.group_observer import explain_groups
from nsadmin.operations.inventory.keeper import open_inventory


class GroupStep(NamedTuple):
    """A step of the explanation of a group."""

    group: str
    explanation: CauseExplanation


EXPLAIN_COLUMNS: Columns[GroupStep] = (
    GROUP,
    *of_part(lambda s: s.explanation, (STEP, RESULT, *FINDING_COLUMNS)),
)


@command(columns=EXPLAIN_COLUMNS)
def group_explain(
    session: Session,
    group: Annotated[
        str | None,
        Argument(metavar="GROUP", help="A consumer group. Default: all groups, or those of the topic."),
        Flags("-g", "--groupName"),
        Each("consumer group", is_joined=True),
    ] = None,
    topic: Annotated[
        str | None,
        Option("-t", "--topic", metavar="TOPIC", help="Explain only the consumption of this topic."),
    ] = None,
    cluster_name: AskedClusterOption = None,
) -> ResultRows:
    """Explain why a consumer group does not consume, or not all messages.

    nsadmin asks all brokers, the proxies, and the clients of the group. Each row shows a possible cause, its
    result (`ok`, `warning`, `cause`, `unknown` or `skipped`), the finding and the next step. Causes come
    first, the most likely one before others. A warning is a problem that does not stop the group. If a cause
    could not be examined, its result is `unknown`.

    If a queue stands still, the finding has the message and the stack of the thread that consumes it. If
    members subscribe differently, it has the subscription of each, and the tags that are skipped.

    An expected broker that no name server lists is a cause, too (see `nsadmin inventory list`).

    The exit code is 0 without a cause, and 1 if nsadmin found one. It is 3 if it found none but could not
    examine everything.

    Examples:
        # Why a consumer gets no messages, consumers receive, consume nothing; in this group, each step is ok
        nsadmin group explain warehouse
        # Messages vanish, half are lost: do clients (pods) of a group subscribe to different tags?
        nsadmin group explain warehouse --filter step=subscriptions
        # How the queues are shared: the queues of each client, and clients that are idle without a queue
        nsadmin group explain warehouse --filter step=owners
        # Lag per client: is one pod slow, or are all, and since when does the oldest message wait?
        nsadmin group explain warehouse --filter step=lag
        # All groups of a topic, without the steps that do not apply
        nsadmin group explain --topic payments --filter result!=skipped
    """
    if group is None and topic is not None:
        names, errors = session.admin.topics.find_consumer_groups(topic)
    else:
        words = parse_name_list("GROUP", group or "*")
        names, errors = expand_names(session, "consumer group", words, cluster_name), list[RocketMQError]()
    groups = explain_groups(session.admin, open_inventory(session), names, topic, cluster_name)
    is_single = group is not None and not means_several(group)
    verdict = reach_verdict(e for g in groups for e in g.explanations)
    notes = [
        line if is_single else f"{g.group}: {line}"
        for g in groups
        for line in describe_verdict(g.explanations, _describe_consuming(g.explanations))
    ]
    return ResultRows.from_records(
        EXPLAIN_COLUMNS,
        [GroupStep(g.group, explanation) for g in groups for explanation in g.explanations],
        verdict_errors("unknown" if errors and verdict == "fine" else verdict),
        [*(f"groups may be missing: {error_text(error)}" for error in errors), *notes],
        common={GROUP: group} if is_single else {},
        table=(*(() if is_single else (GROUP,)), RESULT, STEP, SEEN, NEXT),
    )


def _describe_consuming(explanations: Sequence[CauseExplanation]) -> str:
    behind = ", but is behind" if "lag" in list_cause_ids(explanations, "warning") else ""
    return f"the group consumes its topics{behind}"
