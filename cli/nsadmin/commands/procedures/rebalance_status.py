"""Owns `rebalance status`, which lists the runs of rebalance plans of this account."""

from collections.abc import Iterator
from typing import Annotated

from typer import Option

from namesrv_core.errors import RocketMQError
from nsadmin.command_line.declarations import command
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session
from nsadmin.operations.rebalance.run_state import PLAN_FILE, RunState, load_rebalances
from nsadmin.operations.run_folder import InvalidStateError, SavedRun
from nsadmin.operations.state_folder import find_state_home

STATUS_COLUMNS = (
    "clusterName", "planDigest", "phase", "started", "by", "pid", "movedTopics", "movingTopics", "topic",
    "brokerName", "stage", "step", "readQueueNums", "writeQueueNums", "since", "waitingFor", "planFile",
    "error",
)  # fmt: skip
STATUS_TABLE_COLUMNS = (
    "clusterName", "planDigest", "phase", "pid", "movedTopics", "topic", "brokerName", "stage", "step",
    "since", "waitingFor", "error",
)  # fmt: skip


@command(
    columns=STATUS_COLUMNS,
    examples=("elsewhere", "a run waits for consumers; interop tests run plans on real brokers"),
)
def rebalance_status(
    session: Session,
    cluster_name: Annotated[
        str | None,
        Option(
            "-c", "--clusterName", metavar="CLUSTER", help="Only runs in this cluster. Default: all clusters."
        ),
    ] = None,
) -> ResultRows:
    """List the runs of rebalance plans, also interrupted and finished ones, with each topic in motion.

    The command reads files of this account and asks no server. waitingFor has the missing conditions of the
    last check. pid is the process that runs the plan now.

    Examples:
        # All runs
        nsadmin rebalance status
    """
    rows: list[ResultRow] = []
    errors: list[RocketMQError | None] = [None]
    for saved_run in load_rebalances(find_state_home(), cluster_name):
        if isinstance(saved_run, InvalidStateError):
            rows.append({"error": str(saved_run)})
            errors.append(saved_run)
        else:
            rows += _list_rows(saved_run)
    return ResultRows(STATUS_COLUMNS, rows, errors, (), STATUS_TABLE_COLUMNS)


def _list_rows(saved_run: SavedRun[RunState]) -> Iterator[ResultRow]:
    """Yield a row for each broker of each topic in motion; one row for a run without any."""
    run_state = saved_run.state
    common_cells: ResultRow = {
        "clusterName": run_state.cluster,
        "planDigest": run_state.digest,
        "phase": run_state.phase,
        "started": format_utc(run_state.started),
        "by": run_state.by,
        "pid": saved_run.holder_pid,
        "movedTopics": len(run_state.returned if run_state.is_rollback else run_state.moved),
        "movingTopics": len(run_state.moving),
        "planFile": str(saved_run.folder.path / PLAN_FILE),
    }
    if not run_state.moving:
        group_waits = "; ".join(run_state.waiting.get("", ()))
        yield {**common_cells, "waitingFor": run_state.pause or group_waits or None}
    for topic, progress in sorted(run_state.moving.items()):
        waiting_text = run_state.pause or "; ".join(run_state.waiting.get(topic, ())) or None
        topic_cells: ResultRow = {**common_cells, "topic": topic, "waitingFor": waiting_text}
        if progress.stage is None:
            yield topic_cells
            continue
        for broker, queues in sorted(progress.stage.counts.items()):
            yield {
                **topic_cells,
                "brokerName": broker,
                "stage": progress.stage.kind,
                "step": f"{progress.position + 1}/{len(progress.stages)}",
                "readQueueNums": queues.read,
                "writeQueueNums": queues.write,
                "since": format_utc(progress.since),
            }
