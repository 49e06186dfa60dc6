"""Owns electMaster and cleanBrokerMetadata, which change the replicas that controllers know."""

from collections.abc import Sequence
from time import time
from typing import Annotated

from typer import Argument, Option

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.brokers.controllers import BrokerReplica, ReplicaSet
from nsadmin.client.results import ServerResult
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.brokers.controller_arguments import (
    ControllersOption,
    ReplicaBrokerArgument,
    parse_broker_id,
    parse_controller_list,
)
from nsadmin.commands.brokers.replica_rows import (
    REPLICA_CHANGE_COLUMNS,
    describe_master,
    describe_replicas,
    format_ids,
    replica_change_rows,
    require_replica,
)
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRows
from nsadmin.console.phrases import abbreviate_names
from nsadmin.console.session import Session
from nsadmin.operations.inventory.keeper import open_inventory
from nsadmin.operations.replicas.takeover import find_takeover_gaps


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
    controller_list: ControllersOption,
    cluster_name: Annotated[str, Option("-c", "--clusterName", metavar="CLUSTER", help="Broker's cluster.")],
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
    for takeover_gap in find_takeover_gaps(session.admin, broker_group, includes_lag=True):
        replica_name = f"replica {replica.broker_id} of {replica_set.broker_name}"
        if takeover_gap.item_names:
            raise NotApplied(
                f"{replica_name} lacks {abbreviate_names(takeover_gap.item_names, 5)}: "
                "wait until it has copied them"
            )
        raise NotApplied(
            f"{replica_name} could not be compared with its master ({takeover_gap.read_error}): "
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
    _require_valid_options(id_list, cluster_name, include_living)
    controller_admin = session.admin.controllers
    leader_addr = controller_admin.find_leader(parse_controller_list(controller_list))
    replicas_before = controller_admin.get_replica_set(leader_addr, broker_name)
    id_texts = [id_text for id_text in (id_list or "").split(";") if id_text.strip()]
    chosen_ids = [
        require_replica(replicas_before, parse_broker_id(id_text)).broker_id for id_text in id_texts
    ]
    forgotten_replicas = [
        broker_replica
        for broker_replica in replicas_before.replicas
        if not chosen_ids or broker_replica.broker_id in chosen_ids
    ]
    if not include_living:
        _refuse_living_replicas(broker_name, forgotten_replicas)
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
        leader_addr, cluster_name or "", broker_name, chosen_ids, include_living, int(time() * 1000)
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


def _require_valid_options(id_list: str | None, cluster_name: str | None, include_living: bool) -> None:
    if id_list is not None and include_living:
        raise UsageError("-l and -b exclude each other: with -l, controllers remove the whole broker")
    if cluster_name is None and not include_living:
        raise UsageError("no cluster: pass -c CLUSTER, or -l")


def _refuse_living_replicas(broker_name: str, forgotten_replicas: Sequence[BrokerReplica]) -> None:
    living_ids = [str(replica.broker_id) for replica in forgotten_replicas if replica.is_alive]
    if living_ids:
        raise UsageError(f"replica {', '.join(living_ids)} of {broker_name} is alive: stop it first")
