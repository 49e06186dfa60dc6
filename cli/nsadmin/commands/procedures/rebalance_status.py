"""Owns `rebalance status`, which lists the runs of rebalance plans of this account."""

from collections.abc import Iterator
from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.brokers import BROKER_NAME, CLUSTER_NAME
from nsadmin.commands.columns.servers import ERROR
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.procedures.rebalance_run import load_plan_file
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session
from nsadmin.operations.rebalance.rebalance_plan import QueuePair
from nsadmin.operations.rebalance.run_state import (
    PLAN_FILE,
    RunState,
    TopicProgress,
    explain_open_run,
    load_rebalances,
)
from nsadmin.operations.run_folder import InvalidStateError, SavedRun
from nsadmin.operations.state_folder import find_state_home


class StatusRow(NamedTuple):
    """A run, or a broker of a topic in motion, or a run that cannot be read.

    `broker_name` and `queues` are those of the topic's current step.
    """

    run: RunState | None = None
    pid: int | None = None
    plan_file: str | None = None
    topic: str | None = None
    progress: TopicProgress | None = None
    broker_name: str | None = None
    queues: QueuePair | None = None
    waiting: str | None = None
    error: str | None = None


STATUS_COLUMNS: Columns[StatusRow] = (
    *of_part(
        lambda r: r.run,
        (
            CLUSTER_NAME.of(lambda s: s.cluster),
            Column("namesrvAddrs", "name servers of the cluster", lambda s: s.name_servers),
            Column("planDigest", "digest of the plan", lambda s: s.digest),
        ),
    ),
    Column(
        "phase",
        "running, paused, interrupted or done; rollingBack or rolledBack with --rollback",
        lambda r: r.run and r.run.describe_phase(r.pid),
    ),
    *of_part(
        lambda r: r.run,
        (
            Column("started", "start of the run (UTC)", lambda s: format_utc(s.started), wide=True),
            Column("by", "user who started the run", lambda s: s.by, wide=True),
        ),
    ),
    Column("pid", "process that runs the plan now; null for none", lambda r: r.pid),
    *of_part(
        lambda r: r.run,
        (
            Column(
                "movedTopics",
                "topics that are done; during a rollback, topics that are back",
                lambda s: len(s.returned if s.is_rollback else s.moved),
            ),
            Column("movingTopics", "topics in motion", lambda s: len(s.moving), wide=True),
        ),
    ),
    TOPIC.means("the topic in motion; null for a run without any"),
    BROKER_NAME,
    *of_part(
        lambda r: r.progress,
        (
            Column(
                "stage",
                "kind of the step: openReads, openWrites, closeWrites, closeReads, deleteTopic; of ordered "
                "topics also pinOrder, addQueues, switchOrder, readOn, unpinOrder",
                lambda p: p.stage and p.stage.kind,
            ),
            Column(
                "step",
                "number of the step, and of all steps of the topic",
                lambda p: p.stage and f"{p.position + 1}/{len(p.stages)}",
            ),
        ),
    ),
    *of_part(
        lambda r: r.queues,
        (
            Column(
                "readQueueNums", "read queues that the broker gets in this step", lambda q: q.read, wide=True
            ),
            Column(
                "writeQueueNums",
                "write queues that the broker gets in this step",
                lambda q: q.write,
                wide=True,
            ),
        ),
    ),
    *of_part(
        lambda r: r.progress,
        (Column("since", "start of the step (UTC)", lambda p: p.stage and format_utc(p.since)),),
    ),
    Column(
        "waitingFor", "missing conditions at the last check, or the reason of a pause", lambda r: r.waiting
    ),
    Column("planFile", "copy of the plan, to resume or roll back", lambda r: r.plan_file, wide=True),
    ERROR.of(lambda r: r.error),
)


@command(
    columns=STATUS_COLUMNS,
    examples=("elsewhere", "a run waits for consumers; interop tests run plans on real brokers"),
    nothing="no runs of rebalance plans",
)
def rebalance_status(
    session: Session,
    plan_file: Annotated[
        str | None,
        Argument(metavar="FILE", help="Only runs of this plan. Default: all plans."),
        Flags("--file"),
        Values("files"),
    ] = None,
    cluster_name: Annotated[
        str | None,
        Option(
            "-c", "--clusterName", metavar="CLUSTER", help="Only runs in this cluster. Default: all clusters."
        ),
    ] = None,
) -> ResultRows:
    """List the runs of rebalance plans, also interrupted and finished ones, with each topic in motion.

    The command reads files of this account and asks no server. So it lists the runs of all installations, and
    namesrvAddrs tells clusters of equal names apart. waitingFor has the missing conditions of the last check.
    pid is the process that runs the plan now.

    Examples:
        # Progress of all runs: which ones are finished
        nsadmin rebalance status
        # The runs of one plan
        nsadmin rebalance status plan.yaml
    """
    rows, errors, notes = list[StatusRow](), list[RocketMQError | None]([None]), list[str]()
    for saved_run in load_rebalances(find_state_home(), cluster_name):
        if isinstance(saved_run, InvalidStateError):
            rows.append(StatusRow(error=str(saved_run)))
            errors.append(saved_run)
        elif plan_file is None or saved_run.state.digest == load_plan_file(plan_file).digest:
            rows += _list_rows(saved_run)
            if saved_run.state.finished is None and saved_run.holder_pid is None:
                notes.append(explain_open_run(saved_run))
    return ResultRows.from_records(STATUS_COLUMNS, rows, errors, notes)


def _list_rows(saved_run: SavedRun[RunState]) -> Iterator[StatusRow]:
    """Yield a row for each broker of each topic in motion; one row for a run without any."""
    run_state = saved_run.state
    run_row = StatusRow(run_state, saved_run.holder_pid, str(saved_run.folder.path / PLAN_FILE))
    if not run_state.moving:
        group_waits = "; ".join(run_state.waiting.get("", ()))
        yield run_row._replace(waiting=run_state.pause or group_waits or None)
    for topic, progress in sorted(run_state.moving.items()):
        waiting = run_state.pause or "; ".join(run_state.waiting.get(topic, ())) or None
        topic_row = run_row._replace(topic=topic, progress=progress, waiting=waiting)
        if progress.stage is None:
            yield topic_row
            continue
        for broker_name, queues in sorted(progress.stage.counts.items()):
            yield topic_row._replace(broker_name=broker_name, queues=queues)
