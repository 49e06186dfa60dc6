"""Owns the commands for controllers. Any controller of the list can name the leader."""

from collections.abc import Iterator
from time import time
from typing import Annotated

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.brokers.controllers import BrokerReplica, ReplicaSet
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.results import ServerResult, error_text
from nsadmin.command_line import argument_values
from nsadmin.command_line.broker_targets import (
    IDENTITY_COLUMNS,
    distinct_addrs,
    identity_cells,
    match_results,
)
from nsadmin.command_line.declarations import Argument, Option, declare_columns
from nsadmin.commands.brokers.controller_arguments import (
    ControllersOption,
    OneBrokerOption,
    RepeatIntervalOption,
    ReplicaBrokerArgument,
    ReplicaClusterOption,
    parse_broker_id,
    parse_controller_list,
    select_broker_names,
)
from nsadmin.commands.brokers.replica_rows import (
    REPLICA_CHANGE_COLUMNS,
    describe_master,
    describe_replicas,
    format_ids,
    list_controller_notes,
    replica_change_rows,
    replica_row,
    require_replica,
)
from nsadmin.commands.columns.change_rows import CHANGE_RESULT_COLUMNS, CHANGE_RESULT_IN_TABLE, change_cells
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.exit_codes import UsageError
from nsadmin.operations.inventory.keeper import open_inventory
from nsadmin.operations.replicas.takeover import find_takeover_gaps
from nsadmin.output import ResultRow, ResultRows
from nsadmin.phrases import abbreviate_names
from nsadmin.session import Session

CONTROLLER_COLUMNS = ("controllerAddr", "isLeader", "group", "leaderId", "leaderAddr", "peers")
REPLICA_COLUMNS = (
    *IDENTITY_COLUMNS, "isMaster", "inSync", "alive", "masterEpoch", "syncStateSetEpoch",
)  # fmt: skip
EPOCH_COLUMNS = (*IDENTITY_COLUMNS, "epoch", "startOffset", "endOffset", "maxOffset")
CONTROLLER_CONFIG_COLUMNS = ("controllerAddr", "key", "value")
CONTROLLER_CONFIG_CHANGE_COLUMNS = ("controllerAddr", "key", *CHANGE_RESULT_COLUMNS)


@declare_columns(CONTROLLER_COLUMNS)
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


@declare_columns(REPLICA_COLUMNS)
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


@declare_columns(EPOCH_COLUMNS)
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


@declare_columns(CONTROLLER_CONFIG_COLUMNS)
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


@declare_columns(CONTROLLER_CONFIG_CHANGE_COLUMNS)
def update_controller_config(
    session: Session,
    key: Annotated[str, Argument(("-k", "--key"), "KEY", "A setting that getControllerConfig shows.")],
    value: Annotated[str, Argument(("-v", "--value"), "VALUE", "The new value.", may_be_empty=True)],
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


@declare_columns(REPLICA_CHANGE_COLUMNS)
def elect_master(
    session: Session,
    broker_name: ReplicaBrokerArgument,
    id_text: Annotated[str, Argument(("-b", "--brokerId"), "ID", "Id of the replica, from getSyncStateSet.")],
    controller_list: ControllersOption,
    cluster_name: Annotated[str, Option("-c", "--clusterName", metavar="CLUSTER", help="Broker's cluster.")],
    force: Annotated[
        bool, Option("--force", help="Elect the replica even if it lacks topics or groups of its master.")
    ] = False,
) -> ResultRows:
    """Make a replica the master of its broker.

    nsadmin refuses a replica that lacks topics, groups, consume modes, users or ACLs of the current master
    (see `nsadmin replicaDiff`). It cannot compare them if the master does not answer.

    A replica that is not in sync can lack messages. These are lost if it becomes the master. Controllers
    refuse it unless unclean elections are enabled.

    Examples:
        # Preview the change
        nsadmin electMaster broker-a 1 -a 127.0.0.1:9877 -c DefaultCluster --dry-run
    """
    controller_admin = session.admin.controllers
    leader_addr = controller_admin.find_leader(parse_controller_list(controller_list))
    replicas_before = controller_admin.get_replica_set(leader_addr, broker_name)
    replica = require_replica(replicas_before, parse_broker_id(id_text))
    if not replica.is_alive:
        raise NotFound(f"replica {replica.broker_id} of {broker_name} is not alive")
    if not force:
        _refuse_takeover_gaps(session, replicas_before, replica)
    risk_text = "" if replica.is_in_sync else ", which is not in sync (messages may be lost)"
    session.confirm_change(
        f"Make replica {replica.broker_id} ({replica.broker_addr}) of {broker_name} the master{risk_text}?"
    )
    replicas_after = replicas_before._replace(
        master_broker_id=replica.broker_id, master_addr=replica.broker_addr
    )
    if session.is_dry_run or replicas_before.master_broker_id == replica.broker_id:
        return replica_change_rows(
            session, replicas_before, replicas_after, describe_master, ServerResult(leader_addr, True, None)
        )
    order_result = controller_admin.elect_master(
        leader_addr, cluster_name, broker_name, replica.broker_id, int(time() * 1000)
    )
    if order_result.error is None:
        replicas_after = controller_admin.get_replica_set(leader_addr, broker_name)
        if replicas_after.master_broker_id != replica.broker_id:
            order_result = ServerResult(
                leader_addr, None, NotApplied(f"the master is {replicas_after.master_broker_id}")
            )
    return replica_change_rows(session, replicas_before, replicas_after, describe_master, order_result)


def _refuse_takeover_gaps(session: Session, replica_set: ReplicaSet, replica: BrokerReplica) -> None:
    master_addr, replica_addr = replica_set.master_addr, replica.broker_addr
    if not master_addr or not replica_addr or master_addr == replica_addr:
        return
    # The ids of a controller are not those of name servers: there, the master has id 0.
    replica_addrs = {MASTER_BROKER_ID: master_addr, replica.broker_id: replica_addr}
    broker_group = BrokerAddrGroup("", replica_set.broker_name, replica_addrs)
    for takeover_gap in find_takeover_gaps(session.admin, broker_group):
        raise NotApplied(
            f"replica {replica.broker_id} of {replica_set.broker_name} lacks "
            f"{abbreviate_names(takeover_gap.item_names, 5)}: wait until it has copied them, or pass --force"
        )


@declare_columns(REPLICA_CHANGE_COLUMNS)
def clean_broker_metadata(
    session: Session,
    broker_name: ReplicaBrokerArgument,
    controller_list: ControllersOption,
    id_list: Annotated[
        str | None,
        Option(
            "-b",
            "--brokerControllerIdsToClean",
            metavar="IDS",
            help="Only these replicas, as 1;2. Default: all.",
        ),
    ] = None,
    cluster_name: Annotated[
        str | None,
        Option("-c", "--clusterName", metavar="CLUSTER", help="Cluster of the broker. Optional with -l."),
    ] = None,
    include_living: Annotated[
        bool, Option("-l", "--cleanLivingBroker", help="Remove the whole broker, even if it is alive.")
    ] = False,
) -> ResultRows:
    """Remove replicas of a broker from the controllers' metadata.

    Use this for replicas that will not come back.

    Examples:
        # Preview the removal
        nsadmin cleanBrokerMetadata broker-a -a 127.0.0.1:9877 -c DefaultCluster -l --dry-run
    """
    if id_list is not None and include_living:
        raise UsageError("-l and -b exclude each other: with -l, controllers remove the whole broker")
    if cluster_name is None and not include_living:
        raise UsageError("no cluster: pass -c CLUSTER, or -l")
    controller_admin = session.admin.controllers
    leader_addr = controller_admin.find_leader(parse_controller_list(controller_list))
    replicas_before = controller_admin.get_replica_set(leader_addr, broker_name)
    id_texts = [id_text for id_text in (id_list or "").split(";") if id_text.strip()]
    wanted_ids = [
        require_replica(replicas_before, parse_broker_id(id_text)).broker_id for id_text in id_texts
    ]
    forgotten_replicas = [
        broker_replica
        for broker_replica in replicas_before.replicas
        if not wanted_ids or broker_replica.broker_id in wanted_ids
    ]
    living_ids = [
        str(broker_replica.broker_id) for broker_replica in forgotten_replicas if broker_replica.is_alive
    ]
    if living_ids and not include_living:
        raise UsageError(f"replica {', '.join(living_ids)} of {broker_name} is alive: stop it first")
    session.confirm_change(
        f"Remove replica {format_ids(forgotten_replicas)} of {broker_name} from the controllers' metadata?"
    )
    replicas_after = replicas_before._replace(
        replicas=tuple(
            broker_replica
            for broker_replica in replicas_before.replicas
            if broker_replica not in forgotten_replicas
        )
    )
    if session.is_dry_run:
        return replica_change_rows(
            session,
            replicas_before,
            replicas_after,
            describe_replicas,
            ServerResult(leader_addr, True, None),
        )
    order_result = controller_admin.forget_replicas(
        leader_addr, cluster_name or "", broker_name, wanted_ids, include_living, int(time() * 1000)
    )
    if order_result.error is None:
        # Controllers remove a broker that has no replicas left.
        replicas_left = controller_admin.get_replica_sets(leader_addr, [broker_name]).get(broker_name)
        replicas_after = replicas_left or replicas_before._replace(replicas=())
        remaining_replicas = [
            broker_replica
            for broker_replica in forgotten_replicas
            if replicas_after.find_replica(broker_replica.broker_id)
        ]
        open_inventory(session).drop_addrs(
            replica.broker_addr for replica in forgotten_replicas if replica not in remaining_replicas
        )
        if remaining_replicas:
            order_result = ServerResult(
                leader_addr,
                None,
                NotApplied(f"the controllers still have replica {format_ids(remaining_replicas)}"),
            )
    return replica_change_rows(session, replicas_before, replicas_after, describe_replicas, order_result)
