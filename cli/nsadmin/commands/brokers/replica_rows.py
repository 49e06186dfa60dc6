"""Rows about the replicas of a broker that controllers know."""

from collections.abc import Callable, Sequence

from nsadmin.client import NotFound
from nsadmin.client.brokers.controllers import BrokerReplica, ControllerMeta, ReplicaSet
from nsadmin.client.results import ServerResult, error_text
from nsadmin.commands.columns.changes import CHANGE_RESULT_COLUMNS, CHANGE_RESULT_IN_TABLE, change_cells
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

REPLICA_CHANGE_COLUMNS = ("brokerName", *CHANGE_RESULT_COLUMNS)

ReplicaSetDescriber = Callable[[ReplicaSet], dict[str, object]]


def replica_change_rows(
    session: Session,
    replicas_before: ReplicaSet,
    replicas_after: ReplicaSet,
    describe_replica_set: ReplicaSetDescriber,
    order_result: ServerResult[bool],
) -> ResultRows:
    cells_before, cells_after = describe_replica_set(replicas_before), describe_replica_set(replicas_after)
    result_word = "unchanged" if cells_before == cells_after else "dry-run" if session.is_dry_run else "done"
    difference_cells = (
        change_cells(cells_before, cells_after) if order_result.error is None else {"before": cells_before}
    )
    change_row: ResultRow = {
        "brokerName": replicas_before.broker_name,
        **difference_cells,
        **outcome_cells(order_result.error, result_word),
    }
    return ResultRows(
        REPLICA_CHANGE_COLUMNS,
        [change_row],
        [order_result.error],
        (),
        ("brokerName", *CHANGE_RESULT_IN_TABLE),
    )


def describe_master(replica_set: ReplicaSet) -> dict[str, object]:
    return {"masterBrokerId": replica_set.master_broker_id, "masterAddr": replica_set.master_addr}


def describe_replicas(replica_set: ReplicaSet) -> dict[str, object]:
    return {"replicas": format_ids(replica_set.replicas)}


def format_ids(replicas: Sequence[BrokerReplica]) -> str:
    return ", ".join(str(broker_replica.broker_id) for broker_replica in replicas) or "none"


def require_replica(replica_set: ReplicaSet, broker_id: int) -> BrokerReplica:
    broker_replica = replica_set.find_replica(broker_id)
    if broker_replica is None:
        raise NotFound(
            f"{replica_set.broker_name} has no replica {broker_id}, only {format_ids(replica_set.replicas)}"
        )
    return broker_replica


def replica_row(replica_set: ReplicaSet, broker_replica: BrokerReplica) -> ResultRow:
    return {
        "brokerName": replica_set.broker_name,
        "brokerId": broker_replica.broker_id,
        "brokerAddr": broker_replica.broker_addr,
        "isMaster": broker_replica.broker_id == replica_set.master_broker_id,
        "inSync": broker_replica.is_in_sync,
        "alive": broker_replica.is_alive,
        "masterEpoch": replica_set.master_epoch,
        "syncStateSetEpoch": replica_set.sync_state_set_epoch,
    }


def list_controller_notes(meta_results: Sequence[ServerResult[ControllerMeta]]) -> list[str]:
    """A note for each controller that did not answer, and one if the controllers name different leaders."""
    list_controller_notes = [
        f"controller {meta_result.addr}: {error_text(meta_result.error)}"
        for meta_result in meta_results
        if meta_result.error
    ]
    leader_addrs = {meta_result.result.leader_addr for meta_result in meta_results if meta_result.result}
    if len(leader_addrs) > 1:
        leaders_text = ", ".join(sorted(leader_addr or "nobody" for leader_addr in leader_addrs))
        list_controller_notes.append(f"the controllers name different leaders: {leaders_text}")
    return list_controller_notes
