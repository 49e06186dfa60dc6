"""Owns electMaster and cleanBrokerMetadata, which change the replicas that controllers know."""

from collections.abc import Callable, Sequence
from time import time
from typing import Annotated

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.brokers.controllers import BrokerReplica, ReplicaSet
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.brokers.controllers import ControllersOption, find_controllers
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.changes import CHANGE_COLUMNS, ServerChange
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Columns, ResultRows
from nsadmin.console.phrases import abbreviate_names
from nsadmin.console.session import Session
from nsadmin.operations.inventory.keeper import open_inventory
from nsadmin.operations.release_faults import describe_broker_faults
from nsadmin.operations.replicas.takeover import find_takeover_gaps

REPLICA_CHANGE_COLUMNS: Columns[ServerChange] = (BROKER_NAME, *CHANGE_COLUMNS)

ReplicaBrokerArgument = Annotated[
    str, Argument(metavar="BROKER", help="Name of a broker."), Flags("-bn", "--brokerName")
]


@command(
    columns=REPLICA_CHANGE_COLUMNS,
    agent_refusal="it connects to an address on the command line",
    examples=("controller", "the lab has no controller"),
)
def elect_master(
    session: Session,
    broker_name: ReplicaBrokerArgument,
    id_text: Annotated[
        str,
        Argument(metavar="ID", help="Id of the replica, from getSyncStateSet."),
        Flags("-b", "--brokerId"),
    ],
    cluster_name: Annotated[str, Option("-c", "--clusterName", metavar="CLUSTER", help="Broker's cluster.")],
    controller_list: ControllersOption = None,
    force: Annotated[
        bool,
        Option(
            "--force",
            help="Elect the replica even if it lacks topics or groups of its master, or does not answer.",
        ),
    ] = False,
) -> ResultRows:
    """Make a replica the master of its broker.

    nsadmin refuses a replica that does not answer, or that lacks topics, groups, consume modes, users or ACLs
    of the current master (see `nsadmin replicaDiff`). It cannot compare them if the master does not answer.

    A replica that is not in sync can lack messages. These are lost if it becomes the master. Controllers
    refuse it unless unclean elections are enabled.

    Examples:
        # Preview the promotion of a slave
        nsadmin electMaster broker-a 1 -c DefaultCluster --dry-run
    """
    controllers = session.admin.controllers
    leader_addr = controllers.find_leader(find_controllers(session, controller_list, cluster_name))
    replicas_before = controllers.get_replica_set(leader_addr, broker_name)
    replica = _require_replica(replicas_before, id_text)
    if not replica.is_alive:
        raise NotFound(f"replica {replica.broker_id} of {broker_name} is not alive")
    if not force:
        _refuse_takeover_gaps(session, replicas_before, replica)
    # The present master becomes a slave.
    _warn_of_release_faults(session, replicas_before)
    risk_text = "" if replica.is_in_sync else ", which is not in sync (messages may be lost)"
    session.confirm_change(
        f"Make replica {replica.broker_id} ({replica.broker_addr}) of {broker_name} the master{risk_text}?"
    )
    replicas_after = replicas_before._replace(
        master_broker_id=replica.broker_id, master_addr=replica.broker_addr
    )
    if session.is_dry_run or replicas_before.master_broker_id == replica.broker_id:
        return _change_rows(session, replicas_before, replicas_after, _describe_master)
    now_ms = int(time() * 1000)
    error = controllers.elect_master(leader_addr, cluster_name, broker_name, replica.broker_id, now_ms).error
    if error is None:
        replicas_after = controllers.get_replica_set(leader_addr, broker_name)
        if replicas_after.master_broker_id != replica.broker_id:
            error = NotApplied(
                f"the master is {replicas_after.master_broker_id} now, not {replica.broker_id}"
            )
    return _change_rows(session, replicas_before, replicas_after, _describe_master, error)


def _warn_of_release_faults(session: Session, replica_set: ReplicaSet) -> None:
    label_by_addr = {
        r.broker_addr: f"replica {r.broker_id} of {replica_set.broker_name}"
        for r in replica_set.replicas
        if r.broker_addr
    }
    for addr, info, _ in session.admin.brokers.get_runtime_info(list(label_by_addr)):
        for line in describe_broker_faults(
            label_by_addr[addr], info.version if info else None, is_slave=True
        ):
            session.write_remark(line)


def _refuse_takeover_gaps(session: Session, replica_set: ReplicaSet, replica: BrokerReplica) -> None:
    master_addr, replica_addr = replica_set.master_addr, replica.broker_addr
    if not master_addr or not replica_addr or master_addr == replica_addr:
        return
    # The ids of a controller are not those of name servers: there, the master has id 0.
    addrs = {MASTER_BROKER_ID: master_addr, replica.broker_id: replica_addr}
    group = BrokerAddrGroup("", replica_set.broker_name, addrs)
    for gap in find_takeover_gaps(session.admin, group, includes_lag=True):
        name = f"replica {replica.broker_id} of {replica_set.broker_name}"
        if gap.item_names:
            raise NotApplied(
                f"{name} lacks {abbreviate_names(gap.item_names, 5)}: wait until it has copied them"
            )
        raise NotApplied(
            f"{name} could not be compared with its master ({gap.read_error}): "
            "run the command again when both answer"
        )


@command(
    columns=REPLICA_CHANGE_COLUMNS,
    agent_refusal="it connects to an address on the command line",
    examples=("controller", "the lab has no controller"),
)
def clean_broker_metadata(
    session: Session,
    broker_name: ReplicaBrokerArgument,
    controller_list: ControllersOption = None,
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
        nsadmin cleanBrokerMetadata broker-a -c DefaultCluster -l --dry-run
    """
    _require_valid_options(id_list, cluster_name, include_living)
    controllers = session.admin.controllers
    leader_addr = controllers.find_leader(find_controllers(session, controller_list, cluster_name))
    replicas_before = controllers.get_replica_set(leader_addr, broker_name)
    id_texts = [id_text for id_text in (id_list or "").split(";") if id_text.strip()]
    chosen_ids = [_require_replica(replicas_before, id_text).broker_id for id_text in id_texts]
    forgotten = [r for r in replicas_before.replicas if not chosen_ids or r.broker_id in chosen_ids]
    if not include_living:
        _refuse_living_replicas(broker_name, forgotten)
    session.confirm_change(
        f"Remove replica {_format_ids(forgotten)} of {broker_name} from the controllers' metadata?"
    )
    replicas_after = replicas_before._replace(
        replicas=tuple(r for r in replicas_before.replicas if r not in forgotten)
    )
    if session.is_dry_run:
        return _change_rows(session, replicas_before, replicas_after, _describe_replicas)
    now_ms = int(time() * 1000)
    error = controllers.forget_replicas(
        leader_addr, cluster_name or "", broker_name, chosen_ids, include_living, now_ms
    ).error
    if error is None:
        # Controllers remove a broker that has no replicas left.
        replicas_left = controllers.get_replica_sets(leader_addr, [broker_name]).get(broker_name)
        replicas_after = replicas_left or replicas_before._replace(replicas=())
        remaining = [r for r in forgotten if replicas_after.find_replica(r.broker_id)]
        open_inventory(session).drop_addrs(r.broker_addr for r in forgotten if r not in remaining)
        if remaining:
            error = NotApplied(f"the controllers still have replica {_format_ids(remaining)}")
    return _change_rows(session, replicas_before, replicas_after, _describe_replicas, error)


def _require_valid_options(id_list: str | None, cluster_name: str | None, include_living: bool) -> None:
    if id_list is not None and include_living:
        raise UsageError("-l and -b exclude each other: with -l, controllers remove the whole broker")
    if cluster_name is None and not include_living:
        raise UsageError("no cluster: pass -c CLUSTER, or -l")


def _refuse_living_replicas(broker_name: str, forgotten: Sequence[BrokerReplica]) -> None:
    living_ids = [str(replica.broker_id) for replica in forgotten if replica.is_alive]
    if living_ids:
        raise UsageError(f"replica {', '.join(living_ids)} of {broker_name} is alive: stop it first")


def _change_rows(
    session: Session,
    before: ReplicaSet,
    after: ReplicaSet,
    describe: Callable[[ReplicaSet], dict[str, object]],
    error: RocketMQError | None = None,
) -> ResultRows:
    described, described_after = describe(before), describe(after)
    done = "unchanged" if described == described_after else "dry-run" if session.is_dry_run else "done"
    change = ServerChange(None, described, None if error else described_after, error, done)
    return ResultRows.from_records(
        REPLICA_CHANGE_COLUMNS, [change], [error], common={BROKER_NAME: before.broker_name}
    )


def _describe_master(replica_set: ReplicaSet) -> dict[str, object]:
    return {"masterBrokerId": replica_set.master_broker_id, "masterAddr": replica_set.master_addr}


def _describe_replicas(replica_set: ReplicaSet) -> dict[str, object]:
    return {"replicas": _format_ids(replica_set.replicas)}


def _format_ids(replicas: Sequence[BrokerReplica]) -> str:
    return ", ".join(str(replica.broker_id) for replica in replicas) or "none"


def _require_replica(replica_set: ReplicaSet, id_text: str) -> BrokerReplica:
    try:
        broker_id = int(id_text)
    except ValueError:
        raise UsageError(f'invalid replica id "{id_text}": use an id that getSyncStateSet shows') from None
    replica = replica_set.find_replica(broker_id)
    if replica is None:
        raise NotFound(
            f"{replica_set.broker_name} has no replica {broker_id}, only {_format_ids(replica_set.replicas)}"
        )
    return replica
