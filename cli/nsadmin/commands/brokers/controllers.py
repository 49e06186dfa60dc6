"""Owns the commands for controllers. Each controller can name the leader."""

import shlex
from collections.abc import Iterator
from typing import Annotated

from typer import Argument, Option

from nsadmin.client import NotFound
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.controllers import (
    BrokerEpochs,
    BrokerReplica,
    ControllerMeta,
    MasterEpoch,
    ReplicaSet,
)
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.connection.addresses import parse_addr
from nsadmin.client.results import error_text
from nsadmin.client.server_settings import require_setting
from nsadmin.command_line import argument_values, exclusive_options
from nsadmin.command_line.broker_targets import (
    ClusterMembersOption,
    distinct_addrs,
    list_replicas,
    match_results,
    select_members,
)
from nsadmin.command_line.declarations import Flags, RequiredUnless, command, means_several
from nsadmin.commands.brokers.broker_configs import describe_config_change
from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_ID, BROKER_NAME, TARGET_COLUMNS
from nsadmin.commands.columns.changes import CHANGE_COLUMNS, ServerChange
from nsadmin.commands.columns.servers import result_notes
from nsadmin.commands.columns.settings import KEY, VALUE
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import AnyColumn, Column, Columns, ResultRows
from nsadmin.console.phrases import part_is
from nsadmin.console.session import Session

ControllersOption = Annotated[
    str | None,
    Option(
        "-a",
        "--controllerAddress",
        metavar="ADDRS",
        help="Controllers, as HOST:PORT;HOST:PORT. Default: those that brokers name (controllerAddr).",
    ),
]
OneBrokerOption = Annotated[
    str | None,
    Option("-b", "--brokerName", metavar="BROKER", help="Only this broker."),
    RequiredUnless("cluster_name"),
]
ReplicaClusterOption = Annotated[
    str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Every broker of this cluster.")
]
ReplicaAddrOption = Annotated[
    str | None,
    Option(
        "-b",
        "--brokerName",
        metavar="ADDR",
        help="A broker: NAME with its slaves, NAME:ID or HOST:PORT; a,b for several. Default: all brokers.",
    ),
]
RepeatIntervalOption = Annotated[
    float | None, Option("-i", "--interval", metavar="SECONDS", help="Repeat after this time, until Ctrl-C.")
]

CONTROLLER_ADDR: AnyColumn = Column("controllerAddr", "address of the controller, HOST:PORT", lambda r: r[0])
CONTROLLER_COLUMNS: Columns[tuple[str, ControllerMeta]] = (
    CONTROLLER_ADDR,
    Column("isLeader", "whether this controller reports that it leads", lambda r: r[1].is_leader),
    Column("group", "name of the controllers' group", lambda r: r[1].group),
    Column("leaderId", "the leader that this controller reports; null for none", lambda r: r[1].leader_id),
    Column("leaderAddr", "address of the leader, HOST:PORT", lambda r: r[1].leader_addr),
    Column("peers", "all controllers by id, as this controller reports them", lambda r: r[1].peers),
)
REPLICA_COLUMNS: Columns[tuple[ReplicaSet, BrokerReplica]] = (
    BROKER_NAME.of(lambda r: r[0].broker_name),
    BROKER_ID.means("id that the controllers assigned").of(lambda r: r[1].broker_id),
    BROKER_ADDR.of(lambda r: r[1].broker_addr),
    Column("isMaster", "whether it is the master", lambda r: r[1].broker_id == r[0].master_broker_id),
    Column("inSync", "whether it has all messages of the master", lambda r: r[1].is_in_sync),
    Column("alive", "whether the controllers receive its heartbeats", lambda r: r[1].is_alive),
    Column("masterEpoch", "number of masters so far, including this one", lambda r: r[0].master_epoch),
    Column(
        "syncStateSetEpoch",
        "how often the set of replicas in sync changed",
        lambda r: r[0].sync_state_set_epoch,
    ),
)
EPOCH_COLUMNS: Columns[tuple[BrokerTarget, BrokerEpochs, MasterEpoch]] = (
    TARGET_COLUMNS[0],
    TARGET_COLUMNS[1].means("0 for a master; for a slave, the id that the controllers assigned"),
    TARGET_COLUMNS[2],
    Column("epoch", "number of the master, from 1", lambda r: r[2].epoch),
    Column("startOffset", "start of its messages in the commit log, in bytes", lambda r: r[2].start_offset),
    Column(
        "endOffset",
        "end of its messages in the commit log, in bytes; null for the current epoch",
        lambda r: r[2].end_offset,
    ),
    Column("maxOffset", "end of the commit log, in bytes", lambda r: r[1].max_offset),
)
CONTROLLER_CONFIG_COLUMNS: Columns[tuple[str, str, str]] = (CONTROLLER_ADDR, KEY, VALUE)
CONTROLLER_CONFIG_CHANGE_COLUMNS: Columns[ServerChange] = (
    CONTROLLER_ADDR.of(lambda c: c.server),
    KEY,
    *CHANGE_COLUMNS,
)


@command(
    columns=CONTROLLER_COLUMNS,
    agent_refusal="it connects to an address on the command line",
    examples=("controller", "the lab has no controller"),
)
def get_controller_meta_data(session: Session, controller_list: ControllersOption = None) -> ResultRows:
    """Show which controller leads, as each controller of the list reports it.

    A line on stderr reports controllers that name different leaders.

    Examples:
        # The leader
        nsadmin getControllerMetaData
    """
    results = session.admin.controllers.get_metadata(find_controllers(session, controller_list))
    notes = result_notes(results, "controller")
    leader_addrs = {r.result.leader_addr for r in results if r.result}
    if len(leader_addrs) > 1:
        leaders = ", ".join(sorted(addr or "nobody" for addr in leader_addrs))
        notes.append(f"the controllers name different leaders: {leaders}")
    controllers = [(r.addr, r.result) for r in results if r.result]
    return ResultRows.from_records(CONTROLLER_COLUMNS, controllers, [r.error for r in results], notes)


@command(
    columns=REPLICA_COLUMNS,
    agent_refusal="it connects to an address on the command line",
    examples=("controller", "the lab has no controller"),
)
def get_sync_state_set(
    session: Session,
    controller_list: ControllersOption = None,
    broker_name: OneBrokerOption = None,
    cluster_name: ReplicaClusterOption = None,
    interval_seconds: RepeatIntervalOption = None,
) -> ResultRows | Iterator[ResultRows]:
    """Show the replicas of a broker, or of every broker of a cluster, and which are in sync.

    Examples:
        # Replicas of one broker
        nsadmin getSyncStateSet -b broker-a
        # Replicas of every broker of a cluster
        nsadmin getSyncStateSet -c DefaultCluster
    """
    argument_values.validate_interval(interval_seconds)

    def list_replicas() -> ResultRows:
        return _replica_rows(session, controller_list, broker_name, cluster_name)

    return (
        list_replicas() if interval_seconds is None else session.repeat_every(interval_seconds, list_replicas)
    )


def _replica_rows(
    session: Session, controller_list: str | None, broker_name: str | None, cluster_name: str | None
) -> ResultRows:
    broker_names = select_broker_names(session, broker_name, cluster_name)
    controllers = session.admin.controllers
    leader_addr = controllers.find_leader(find_controllers(session, controller_list, cluster_name))
    replica_sets = controllers.get_replica_sets(leader_addr, broker_names)
    replicas = [(replica_set, r) for replica_set in replica_sets.values() for r in replica_set.replicas]
    missing_errors = [
        NotFound(f'the controllers have no broker "{name}"')
        for name in broker_names
        if name not in replica_sets
    ]
    notes = [f"controller {leader_addr}: {error_text(error)}" for error in missing_errors]
    errors = [*missing_errors, *(None for _ in replica_sets)]
    return ResultRows.from_records(REPLICA_COLUMNS, replicas, errors, notes)


@command(columns=EPOCH_COLUMNS, examples=("controller", "the lab has no controller"))
def get_broker_epoch(
    session: Session,
    broker_text: ReplicaAddrOption = None,
    cluster_name: ClusterMembersOption = None,
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
        return _epoch_rows(session, broker_text, cluster_name)

    return list_epochs() if interval_seconds is None else session.repeat_every(interval_seconds, list_epochs)


def _epoch_rows(session: Session, broker_text: str | None, cluster_name: str | None) -> ResultRows:
    targets = list_replicas(session, broker_text, cluster_name)
    results = match_results(targets, session.admin.controllers.get_epochs(distinct_addrs(targets)))
    epochs = [
        (target, result.result, epoch)
        for target, result in zip(targets, results, strict=True)
        if result.result
        for epoch in result.result.epochs
    ]
    errors = [r.error for r in results]
    return ResultRows.from_records(EPOCH_COLUMNS, epochs, errors, result_notes(results))


def select_broker_names(session: Session, broker_name: str | None, cluster_name: str | None) -> list[str]:
    exclusive_options.require_one_of("-b BROKER", broker_name, "-c CLUSTER", cluster_name)
    if broker_name is not None:
        return [broker_name]
    targets = select_members(session, None, cluster_name)
    return list(dict.fromkeys(target.broker_name for target in targets if target.broker_name))


@command(
    columns=CONTROLLER_CONFIG_COLUMNS,
    agent_refusal="it connects to an address on the command line",
    examples=("controller", "the lab has no controller"),
)
def get_controller_config(session: Session, controller_list: ControllersOption = None) -> ResultRows:
    """Show the settings of each controller of the list, sorted by key.

    Examples:
        # One setting on every controller
        nsadmin getControllerConfig --filter key=scanNotActiveBrokerInterval
    """
    results = session.admin.controllers.configs.get_each(find_controllers(session, controller_list))
    items = [(r.addr, *item) for r in results for item in (r.result or {}).items()]
    return ResultRows.from_records(
        CONTROLLER_CONFIG_COLUMNS, items, [r.error for r in results], result_notes(results, "controller")
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
    controller_list: ControllersOption = None,
) -> ResultRows:
    """Change one setting on each controller of the list, and read it back.

    Examples:
        # Preview the change
        nsadmin updateControllerConfig scanNotActiveBrokerInterval 6000 --dry-run
    """
    argument_values.validate_setting_key(key)
    controller_addrs = find_controllers(session, controller_list)
    session.confirm_change(f'Set {key} = "{value}" on {", ".join(controller_addrs)}?')
    configs = session.admin.controllers.configs
    results = (configs.plan_update if session.is_dry_run else configs.update_item)(
        controller_addrs, key, value
    )
    require_setting(key, results, "getControllerConfig", "-a", ";".join(controller_addrs))
    done = "dry-run" if session.is_dry_run else "done"
    changes = [describe_config_change(r, done) for r in results]
    errors = [r.error for r in results]
    return ResultRows.from_records(CONTROLLER_CONFIG_CHANGE_COLUMNS, changes, errors, common={KEY: key})


def find_controllers(
    session: Session, controller_list: str | None, cluster_name: str | None = None
) -> list[str]:
    """Return the addresses of the list, or without one of the controllers that the cluster's brokers name."""
    if controller_list is not None:
        return _parse_controllers(controller_list)
    groups = session.admin.clusters.get_info().groups_in_cluster(
        None if means_several(cluster_name) else cluster_name
    )
    addrs = dict.fromkeys(addr for group in groups for addr in group.broker_addrs.values())
    results = session.admin.broker_configs.get_each(addrs)
    named = {named_list for r in results if r.result and (named_list := r.result.get("controllerAddr"))}
    if not named:
        silence = ""
        if silent := [f"{r.addr}: {error_text(r.error)}" for r in results if r.error is not None]:
            silence = f"; {part_is(len(silent), len(results), 'broker')} silent: {silent[0]}"
        raise UsageError(
            f"no broker names a controller (controllerAddr{silence}): pass -a ADDRS. Without controllers, "
            f"nobody elects a master: {quote_command('guide', 'when-a-master-dies')}"
        )
    if len({frozenset(_parse_controllers(named_list)) for named_list in named}) > 1:
        choices = " or ".join(f"-a {shlex.quote(named_list)}" for named_list in sorted(named))
        raise UsageError(f"brokers name different controllers: pass {choices}")
    return _parse_controllers(named.pop())


def _parse_controllers(controller_list: str) -> list[str]:
    addr_texts = [
        addr_text.strip() for addr_text in controller_list.replace(",", ";").split(";") if addr_text.strip()
    ]
    if not addr_texts or any(":" not in addr_text for addr_text in addr_texts):
        raise UsageError(f'invalid address list "{controller_list}" for -a: write HOST:PORT;HOST:PORT')
    return list(dict.fromkeys(parse_addr(addr_text, 0) for addr_text in addr_texts))
