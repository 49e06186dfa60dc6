"""Owns the commands for controllers. Any controller of the list can name the leader."""

from collections.abc import Iterator
from typing import Annotated

from typer import Argument

from nsadmin.client import NotFound
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.results import error_text
from nsadmin.command_line import argument_values
from nsadmin.command_line.broker_targets import (
    IDENTITY_COLUMNS,
    distinct_addrs,
    identity_cells,
    match_results,
)
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.brokers.controller_arguments import (
    ControllersOption,
    OneBrokerOption,
    RepeatIntervalOption,
    ReplicaClusterOption,
    parse_controller_list,
    select_broker_names,
)
from nsadmin.commands.brokers.replica_rows import (
    list_controller_notes,
    replica_row,
)
from nsadmin.commands.columns.changes import CHANGE_RESULT_COLUMNS, CHANGE_RESULT_IN_TABLE, change_cells
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

CONTROLLER_COLUMNS = ("controllerAddr", "isLeader", "group", "leaderId", "leaderAddr", "peers")
REPLICA_COLUMNS = (
    *IDENTITY_COLUMNS, "isMaster", "inSync", "alive", "masterEpoch", "syncStateSetEpoch",
)  # fmt: skip
EPOCH_COLUMNS = (*IDENTITY_COLUMNS, "epoch", "startOffset", "endOffset", "maxOffset")
CONTROLLER_CONFIG_COLUMNS = ("controllerAddr", "key", "value")
CONTROLLER_CONFIG_CHANGE_COLUMNS = ("controllerAddr", "key", *CHANGE_RESULT_COLUMNS)


@command(
    columns=CONTROLLER_COLUMNS,
    agent_refusal="it connects to an address on the command line",
    examples=("controller", "the lab has no controller"),
)
def get_controller_meta_data(session: Session, controller_list: ControllersOption) -> ResultRows:
    """Show which controller leads, as each controller of the list reports it.

    A line on stderr reports controllers that name different leaders.

    Examples:
        # The leader
        nsadmin getControllerMetaData -a 127.0.0.1:9877
    """
    meta_results = session.admin.controllers.get_metadata(parse_controller_list(controller_list))
    controller_rows: list[ResultRow] = [
        {
            "controllerAddr": meta_result.addr,
            "isLeader": meta_result.result.is_leader,
            "group": meta_result.result.group,
            "leaderId": meta_result.result.leader_id,
            "leaderAddr": meta_result.result.leader_addr,
            "peers": meta_result.result.peers,
        }
        for meta_result in meta_results
        if meta_result.result
    ]
    return ResultRows(
        CONTROLLER_COLUMNS,
        controller_rows,
        [meta_result.error for meta_result in meta_results],
        list_controller_notes(meta_results),
    )


@command(
    columns=REPLICA_COLUMNS,
    agent_refusal="it connects to an address on the command line",
    examples=("controller", "the lab has no controller"),
)
def get_sync_state_set(
    session: Session,
    controller_list: ControllersOption,
    broker_name: OneBrokerOption = None,
    cluster_name: ReplicaClusterOption = None,
    interval_seconds: RepeatIntervalOption = None,
) -> ResultRows | Iterator[ResultRows]:
    """Show the replicas of a broker, or of every broker of a cluster, and which are in sync.

    Examples:
        # Replicas of one broker
        nsadmin getSyncStateSet -a 127.0.0.1:9877 -b broker-a
        # Replicas of every broker of a cluster
        nsadmin getSyncStateSet -a 127.0.0.1:9877 -c DefaultCluster
    """
    argument_values.validate_interval(interval_seconds)

    def list_replicas() -> ResultRows:
        return _replica_rows(session, controller_list, broker_name, cluster_name)

    return (
        list_replicas() if interval_seconds is None else session.repeat_every(interval_seconds, list_replicas)
    )


def _replica_rows(
    session: Session, controller_list: str, broker_name: str | None, cluster_name: str | None
) -> ResultRows:
    broker_names = select_broker_names(session, broker_name, cluster_name)
    controller_admin = session.admin.controllers
    leader_addr = controller_admin.find_leader(parse_controller_list(controller_list))
    replica_sets = controller_admin.get_replica_sets(leader_addr, broker_names)
    replica_rows = [
        replica_row(replica_set, broker_replica)
        for replica_set in replica_sets.values()
        for broker_replica in replica_set.replicas
    ]
    missing_errors = [
        NotFound(f'the controllers have no broker "{broker_name}"')
        for broker_name in broker_names
        if broker_name not in replica_sets
    ]
    missing_notes = [f"controller {leader_addr}: {error_text(error)}" for error in missing_errors]
    return ResultRows(
        REPLICA_COLUMNS, replica_rows, [*missing_errors, *(None for _ in replica_sets)], missing_notes
    )


@command(columns=EPOCH_COLUMNS, examples=("controller", "the lab has no controller"))
def get_broker_epoch(
    session: Session,
    broker_name: OneBrokerOption = None,
    cluster_name: ReplicaClusterOption = None,
    interval_seconds: RepeatIntervalOption = None,
) -> ResultRows | Iterator[ResultRows]:
    """Show the epochs of brokers under a controller: which master wrote which part of the commit log.

    Each row shows one epoch.

    Examples:
        # Epochs of one broker, master and slaves
        nsadmin getBrokerEpoch -b broker-a
        # Epochs of every broker of a cluster
        nsadmin getBrokerEpoch -c DefaultCluster
    """
    argument_values.validate_interval(interval_seconds)

    def list_epochs() -> ResultRows:
        return _epoch_rows(session, broker_name, cluster_name)

    return list_epochs() if interval_seconds is None else session.repeat_every(interval_seconds, list_epochs)


def _epoch_rows(session: Session, broker_name: str | None, cluster_name: str | None) -> ResultRows:
    broker_names = select_broker_names(session, broker_name, cluster_name)
    broker_groups = session.admin.clusters.get_info().groups_in_cluster(None)
    broker_targets = [
        BrokerTarget(broker_group.broker_name, broker_id, broker_addr)
        for broker_group in broker_groups
        if broker_group.broker_name in broker_names
        for broker_id, broker_addr in broker_group.broker_addrs.items()
    ]
    if not broker_targets:
        raise NotFound(f"no registered broker has the name {', '.join(broker_names)}")
    epoch_results = match_results(
        broker_targets, session.admin.controllers.get_epochs(distinct_addrs(broker_targets))
    )
    epoch_rows: list[ResultRow] = [
        {
            **identity_cells(broker_target),
            "epoch": master_epoch.epoch,
            "startOffset": master_epoch.start_offset,
            "endOffset": master_epoch.end_offset,
            "maxOffset": epoch_result.result.max_offset,
        }
        for broker_target, epoch_result in zip(broker_targets, epoch_results, strict=True)
        if epoch_result.result
        for master_epoch in epoch_result.result.epochs
    ]
    failure_notes = [
        f"broker {epoch_result.addr}: {error_text(epoch_result.error)}"
        for epoch_result in epoch_results
        if epoch_result.error
    ]
    return ResultRows(
        EPOCH_COLUMNS, epoch_rows, [epoch_result.error for epoch_result in epoch_results], failure_notes
    )


@command(
    columns=CONTROLLER_CONFIG_COLUMNS,
    agent_refusal="it connects to an address on the command line",
    examples=("controller", "the lab has no controller"),
)
def get_controller_config(session: Session, controller_list: ControllersOption) -> ResultRows:
    """Show the settings of each controller of the list, sorted by key.

    Examples:
        # One setting on every controller
        nsadmin getControllerConfig -a 127.0.0.1:9877 --filter key=scanNotActiveBrokerInterval
    """
    config_results = session.admin.controllers.configs.get_each(parse_controller_list(controller_list))
    item_rows: list[ResultRow] = [
        {"controllerAddr": config_result.addr, "key": item_key, "value": item_value}
        for config_result in config_results
        for item_key, item_value in (config_result.result or {}).items()
    ]
    failure_notes = [
        f"controller {config_result.addr}: {error_text(config_result.error)}"
        for config_result in config_results
        if config_result.error
    ]
    return ResultRows(
        CONTROLLER_CONFIG_COLUMNS,
        item_rows,
        [config_result.error for config_result in config_results],
        failure_notes,
    )


@command(
    columns=CONTROLLER_CONFIG_CHANGE_COLUMNS,
    agent_refusal="it connects to an address on the command line",
    examples=("controller", "the lab has no controller"),
)
def update_controller_config(
    session: Session,
    key: Annotated[
        str, Argument(metavar="KEY", help="A setting that getControllerConfig shows."), Flags("-k", "--key")
    ],
    value: Annotated[
        str, Argument(metavar="VALUE", help="The new value."), Flags("-v", "--value", may_be_empty=True)
    ],
    controller_list: ControllersOption,
) -> ResultRows:
    """Change one setting on each controller of the list, and read it back.

    Examples:
        # Preview the change
        nsadmin updateControllerConfig scanNotActiveBrokerInterval 6000 -a 127.0.0.1:9877 --dry-run
    """
    controller_addrs = parse_controller_list(controller_list)
    session.confirm_change(f'Set {key} = "{value}" on {", ".join(controller_addrs)}?')
    controller_configs = session.admin.controllers.configs
    change_results = (
        controller_configs.plan_update if session.is_dry_run else controller_configs.update_item
    )(controller_addrs, key, value)
    change_rows: list[ResultRow] = []
    for controller_addr, item_change, error in change_results:
        result_word = "dry-run" if session.is_dry_run else "done"
        if item_change is not None and not item_change.is_change:
            result_word = "unchanged"
        difference_cells = change_cells(item_change.before, item_change.after) if item_change else {}
        change_rows.append(
            {
                "controllerAddr": controller_addr,
                "key": key,
                **difference_cells,
                **outcome_cells(error, result_word),
            }
        )
    return ResultRows(
        CONTROLLER_CONFIG_CHANGE_COLUMNS,
        change_rows,
        [item_change.error for item_change in change_results],
        (),
        ("controllerAddr", "key", *CHANGE_RESULT_IN_TABLE),
    )
