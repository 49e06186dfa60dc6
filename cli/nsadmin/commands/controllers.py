"""Owns the commands for controllers; any controller of the list can be asked to find the leader."""

from collections.abc import Callable, Iterator, Sequence
from time import time
from typing import Annotated

from nsadmin.client import NotApplied, NotFound
from nsadmin.client.addresses import parse_addr
from nsadmin.client.controllers import ControllerMeta, Replica, ReplicaSet
from nsadmin.client.results import ServerResult, error_text
from nsadmin.client.targets import Target
from nsadmin.commands import values
from nsadmin.commands.changes import CHANGE, CHANGE_IN_TABLE, change
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.results import outcome
from nsadmin.commands.targets import IDENTITY, addrs, identity, matched, members_at
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

META_COLUMNS = ("controllerAddr", "isLeader", "group", "leaderId", "leaderAddr", "peers")
REPLICA_COLUMNS = (
    *IDENTITY, "isMaster", "inSync", "alive", "masterEpoch", "syncStateSetEpoch",
)  # fmt: skip
EPOCH_COLUMNS = (*IDENTITY, "epoch", "startOffset", "endOffset", "maxOffset")
CONFIG_COLUMNS = ("controllerAddr", "key", "value")
CONFIG_CHANGE = ("controllerAddr", "key", *CHANGE)
ORDER_COLUMNS = ("brokerName", *CHANGE)

Addresses = Annotated[
    str,
    Option("-a", "--controllerAddress", metavar="LIST", help="Controllers, as HOST:PORT;HOST:PORT."),
]
BrokerName = Annotated[str, Word(("-bn", "--brokerName"), "BROKER", "Name of the broker.")]
OneName = Annotated[str | None, Option("-b", "--brokerName", metavar="BROKER", help="Name of one broker.")]
Cluster = Annotated[str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Every broker of it.")]

Interval = Annotated[
    float | None, Option("-i", "--interval", metavar="SECONDS", help="Again and again, until Ctrl-C.")
]
Telling = Callable[[ReplicaSet], dict[str, object]]


@shows(META_COLUMNS)
def get_controller_meta_data(session: Session, controllers: Addresses) -> Rows:
    """Show which controller leads, as each of the list says; where they disagree is said.

    Examples:
        # Who leads
        nsadmin getControllerMetaData -a 127.0.0.1:9877
    """
    found = session.admin.controllers.meta(_list("getControllerMetaData", controllers))
    rows: list[Row] = [
        {
            "controllerAddr": item.addr,
            "isLeader": item.result.is_leader,
            "group": item.result.group,
            "leaderId": item.result.leader_id,
            "leaderAddr": item.result.leader_addr,
            "peers": item.result.peers,
        }
        for item in found
        if item.result
    ]
    return Rows(META_COLUMNS, rows, [item.error for item in found], _notes(found))


@shows(REPLICA_COLUMNS)
def get_sync_state_set(
    session: Session,
    controllers: Addresses,
    broker_name: OneName = None,
    cluster: Cluster = None,
    interval: Interval = None,
) -> Rows | Iterator[Rows]:
    """Show the replicas of a broker, or of every broker of a cluster, and which are in sync.

    Examples:
        # Replicas of one broker
        nsadmin getSyncStateSet -a 127.0.0.1:9877 -b broker-a
        # Of every broker of a cluster
        nsadmin getSyncStateSet -a 127.0.0.1:9877 -c DefaultCluster
    """
    values.seconds("getSyncStateSet", interval)

    def once() -> Rows:
        return _replicas(session, controllers, broker_name, cluster)

    return once() if interval is None else session.repeat(interval, once)


def _replicas(session: Session, controllers: str, broker_name: str | None, cluster: str | None) -> Rows:
    names = _names(session, "getSyncStateSet", broker_name, cluster)
    there = session.admin.controllers
    leader = there.leader(_list("getSyncStateSet", controllers))
    found = there.replica_sets(leader, names)
    rows = [_row(item, replica) for item in found.values() for replica in item.replicas]
    missing = [NotFound(f"the controllers know no broker {name!r}") for name in names if name not in found]
    notes = [f"controller {leader}: {error_text(error)}" for error in missing]
    return Rows(REPLICA_COLUMNS, rows, [*missing, *(None for _ in found)], notes)


@shows(EPOCH_COLUMNS)
def get_broker_epoch(
    session: Session, broker_name: OneName = None, cluster: Cluster = None, interval: Interval = None
) -> Rows | Iterator[Rows]:
    """Show what brokers under a controller remember of their masters: a row for each epoch.

    Examples:
        # Of one broker, master and slaves
        nsadmin getBrokerEpoch -b broker-a
        # Of every broker of a cluster
        nsadmin getBrokerEpoch -c DefaultCluster
    """
    values.seconds("getBrokerEpoch", interval)

    def once() -> Rows:
        return _epochs(session, broker_name, cluster)

    return once() if interval is None else session.repeat(interval, once)


def _epochs(session: Session, broker_name: str | None, cluster: str | None) -> Rows:
    names = _names(session, "getBrokerEpoch", broker_name, cluster)
    groups = session.admin.clusters.info().in_cluster(None)
    targets = [
        Target(group.broker_name, broker_id, addr)
        for group in groups
        if group.broker_name in names
        for broker_id, addr in group.broker_addrs.items()
    ]
    if not targets:
        raise NotFound(f"no broker is registered as {', '.join(names)}")
    results = matched(targets, session.admin.controllers.epochs(addrs(targets)))
    rows: list[Row] = [
        {
            **identity(target),
            "epoch": epoch.epoch,
            "startOffset": epoch.start_offset,
            "endOffset": epoch.end_offset,
            "maxOffset": found.result.max_offset,
        }
        for target, found in zip(targets, results, strict=True)
        if found.result
        for epoch in found.result.epochs
    ]
    notes = [f"broker {found.addr}: {error_text(found.error)}" for found in results if found.error]
    return Rows(EPOCH_COLUMNS, rows, [found.error for found in results], notes)


@shows(CONFIG_COLUMNS)
def get_controller_config(session: Session, controllers: Addresses) -> Rows:
    """Show the settings of each controller of the list, in the order of keys.

    Examples:
        # One setting on every controller
        nsadmin getControllerConfig -a 127.0.0.1:9877 --filter key=scanNotActiveBrokerInterval
    """
    found = session.admin.controllers.configs.each(_list("getControllerConfig", controllers))
    rows: list[Row] = [
        {"controllerAddr": item.addr, "key": key, "value": value}
        for item in found
        for key, value in (item.result or {}).items()
    ]
    notes = [f"controller {item.addr}: {error_text(item.error)}" for item in found if item.error]
    return Rows(CONFIG_COLUMNS, rows, [item.error for item in found], notes)


@shows(CONFIG_CHANGE)
def update_controller_config(
    session: Session,
    key: Annotated[str, Word(("-k", "--key"), "KEY", "A setting that getControllerConfig shows.")],
    value: Annotated[str, Word(("-v", "--value"), "VALUE", "Its new value.", may_be_empty=True)],
    controllers: Addresses,
) -> Rows:
    """Change one setting on each controller of the list, and read it back.

    Examples:
        # What would change
        nsadmin updateControllerConfig scanNotActiveBrokerInterval 6000 -a 127.0.0.1:9877 --dry-run
    """
    listed = _list("updateControllerConfig", controllers)
    session.confirm(f"Set {key} = {value!r} on {', '.join(listed)}?")
    configs = session.admin.controllers.configs
    done = (configs.plan if session.dry_run else configs.update)(listed, key, value)
    rows: list[Row] = []
    for addr, item, error in done:
        word = "dry-run" if session.dry_run else "done"
        if item is not None and not item.is_change:
            word = "unchanged"
        shown = change(item.before, item.after) if item else {}
        rows.append({"controllerAddr": addr, "key": key, **shown, **outcome(error, word)})
    return Rows(
        CONFIG_CHANGE, rows, [item.error for item in done], (), ("controllerAddr", "key", *CHANGE_IN_TABLE)
    )


@shows(ORDER_COLUMNS)
def elect_master(
    session: Session,
    broker_name: BrokerName,
    broker_id: Annotated[
        str, Word(("-b", "--brokerId"), "ID", "Id of the replica, as getSyncStateSet shows.")
    ],
    controllers: Addresses,
    cluster: Annotated[str, Option("-c", "--clusterName", metavar="CLUSTER", help="Cluster of the broker.")],
) -> Rows:
    """Make a replica the master of its broker.

    One that is not in sync may lack messages, which are lost then; controllers refuse it unless unclean
    elections are allowed.

    Examples:
        # What would change
        nsadmin electMaster broker-a 1 -a 127.0.0.1:9877 -c DefaultCluster --dry-run
    """
    there = session.admin.controllers
    leader = there.leader(_list("electMaster", controllers))
    before = there.replica_set(leader, broker_name)
    wanted = _replica(before, _id("electMaster", broker_id))
    if not wanted.alive:
        raise NotFound(f"replica {wanted.broker_id} of {broker_name} does not live")
    risk = "" if wanted.in_sync else ", which is not in sync: messages may be lost"
    session.confirm(
        f"Make replica {wanted.broker_id} ({wanted.broker_addr}) of {broker_name} the master{risk}?"
    )
    after = before._replace(master_broker_id=wanted.broker_id, master_addr=wanted.broker_addr)
    if session.dry_run or before.master_broker_id == wanted.broker_id:
        return _ordered(session, before, after, _master, ServerResult(leader, True, None))
    done = there.elect(leader, cluster, broker_name, wanted.broker_id, int(time() * 1000))
    if done.error is None:
        after = there.replica_set(leader, broker_name)
        if after.master_broker_id != wanted.broker_id:
            done = ServerResult(leader, None, NotApplied(f"the master is {after.master_broker_id}"))
    return _ordered(session, before, after, _master, done)


@shows(ORDER_COLUMNS)
def clean_broker_metadata(
    session: Session,
    broker_name: BrokerName,
    controllers: Addresses,
    ids: Annotated[
        str | None,
        Option("-b", "--brokerControllerIdsToClean", metavar="IDS", help="Only these, as 1;2; else all."),
    ] = None,
    cluster: Annotated[
        str | None,
        Option("-c", "--clusterName", metavar="CLUSTER", help="Its cluster; may be left out with -l."),
    ] = None,
    living: Annotated[
        bool, Option("-l", "--cleanLivingBroker", help="The whole broker, also where it lives.")
    ] = False,
) -> Rows:
    """Have the controllers forget replicas of a broker, such as those that will never come back.

    Examples:
        # What would be forgotten
        nsadmin cleanBrokerMetadata broker-a -a 127.0.0.1:9877 -c DefaultCluster -l --dry-run
    """
    if ids is not None and living:
        raise UsageError(
            "cleanBrokerMetadata: with -l controllers forget the whole broker, whatever -b says: give one"
        )
    if cluster is None and not living:
        raise UsageError("cleanBrokerMetadata: give the broker's cluster with -c, or -l")
    there = session.admin.controllers
    leader = there.leader(_list("cleanBrokerMetadata", controllers))
    before = there.replica_set(leader, broker_name)
    texts = [text for text in (ids or "").split(";") if text.strip()]
    wanted = [_replica(before, _id("cleanBrokerMetadata", text)).broker_id for text in texts]
    gone = [item for item in before.replicas if not wanted or item.broker_id in wanted]
    alive = [str(item.broker_id) for item in gone if item.alive]
    if alive and not living:
        raise UsageError(
            f"cleanBrokerMetadata: of {broker_name} replica {', '.join(alive)} lives: stop it first"
        )
    session.confirm(f"Have the controllers forget replica {_ids(gone)} of {broker_name}?")
    after = before._replace(replicas=tuple(item for item in before.replicas if item not in gone))
    if session.dry_run:
        return _ordered(session, before, after, _members, ServerResult(leader, True, None))
    done = there.clean(leader, cluster or "", broker_name, wanted, living, int(time() * 1000))
    if done.error is None:
        # Controllers forget a broker that has no replicas left.
        found = there.replica_sets(leader, [broker_name]).get(broker_name)
        after = found or before._replace(replicas=())
        left = [item for item in gone if after.replica(item.broker_id)]
        if left:
            done = ServerResult(leader, None, NotApplied(f"they still know replica {_ids(left)}"))
    return _ordered(session, before, after, _members, done)


def _ordered(
    session: Session,
    before: ReplicaSet,
    after: ReplicaSet,
    told: Telling,
    done: ServerResult[bool],
) -> Rows:
    was, now = told(before), told(after)
    word = "unchanged" if was == now else "dry-run" if session.dry_run else "done"
    shown = change(was, now) if done.error is None else {"before": was}
    row: Row = {"brokerName": before.broker_name, **shown, **outcome(done.error, word)}
    return Rows(ORDER_COLUMNS, [row], [done.error], (), ("brokerName", *CHANGE_IN_TABLE))


def _master(found: ReplicaSet) -> dict[str, object]:
    return {"masterBrokerId": found.master_broker_id, "masterAddr": found.master_addr}


def _members(found: ReplicaSet) -> dict[str, object]:
    return {"replicas": _ids(found.replicas)}


def _ids(replicas: Sequence[Replica]) -> str:
    return ", ".join(str(item.broker_id) for item in replicas) or "none"


def _replica(found: ReplicaSet, broker_id: int) -> Replica:
    replica = found.replica(broker_id)
    if replica is None:
        raise NotFound(f"{found.broker_name} has no replica {broker_id}, only {_ids(found.replicas)}")
    return replica


def _row(item: ReplicaSet, replica: Replica) -> Row:
    return {
        "brokerName": item.broker_name,
        "brokerId": replica.broker_id,
        "brokerAddr": replica.broker_addr,
        "isMaster": replica.broker_id == item.master_broker_id,
        "inSync": replica.in_sync,
        "alive": replica.alive,
        "masterEpoch": item.master_epoch,
        "syncStateSetEpoch": item.sync_state_set_epoch,
    }


def _notes(found: Sequence[ServerResult[ControllerMeta]]) -> list[str]:
    """A note for each controller that did not answer, and one if the controllers name different leaders."""
    notes = [f"controller {item.addr}: {error_text(item.error)}" for item in found if item.error]
    leaders = {item.result.leader_addr for item in found if item.result}
    if len(leaders) > 1:
        named = ", ".join(sorted(leader or "nobody" for leader in leaders))
        notes.append(f"the controllers disagree on who leads: {named}")
    return notes


def _names(session: Session, command: str, broker_name: str | None, cluster: str | None) -> list[str]:
    if (broker_name is None) == (cluster is None):
        raise UsageError(f"{command}: type either -b BROKER or -c CLUSTER")
    if broker_name is not None:
        return [broker_name]
    targets = members_at(session, command, None, cluster)
    return list(dict.fromkeys(target.broker_name for target in targets if target.broker_name))


def _list(command: str, text: str) -> list[str]:
    parts = [part.strip() for part in text.replace(",", ";").split(";") if part.strip()]
    if not parts or any(":" not in part for part in parts):
        raise UsageError(f"{command}: -a {text!r} cannot be: give HOST:PORT;HOST:PORT")
    return list(dict.fromkeys(parse_addr(part, 0) for part in parts))


def _id(command: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{command}: {text!r} is no id: give a number that getSyncStateSet shows") from None
