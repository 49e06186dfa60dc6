"""Finds brokers that are not what name servers list: one process of several names, and the reverse."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from nsadmin.client import AdminClient
from nsadmin.client.brokers.broker_configs import BrokerConfig
from nsadmin.client.brokers.clusters import BrokerAddrGroup, describe_shared_addr, find_shared_addrs
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.operations.inventory.keeper import InventoryKeeper, open_inventory

if TYPE_CHECKING:
    from nsadmin.console.session import Session


def list_identity_lines(
    groups: Sequence[BrokerAddrGroup], config_results: Iterable[ServerResult[BrokerConfig]]
) -> list[str]:
    """The addresses with several names, and the brokers whose own name or cluster is another one."""
    configs = {addr: config for addr, config, _ in config_results if config is not None}
    shared_addrs = find_shared_addrs(groups)
    lines = [
        describe_shared_addr(addr, names)
        + (f", whose own name is {own_name}" if (own_name := _own(configs, addr, "brokerName")) else "")
        + ": stopping it stops all of them, and sums count it once. Restart the name servers one by one to "
        "remove former names"
        for addr, names in shared_addrs.items()
    ]
    for group in groups:
        for broker_id, addr in group.broker_addrs.items():
            label = f"{group.broker_name} {broker_id} at {addr}"
            own_name = _own(configs, addr, "brokerName")
            if own_name not in (None, group.broker_name) and addr not in shared_addrs:
                lines.append(f"{label} has the name {own_name} in its own settings: it was renamed")
            own_cluster = _own(configs, addr, "brokerClusterName")
            if own_cluster not in (None, group.cluster_name):
                lines.append(
                    f"{label} is listed in the cluster {group.cluster_name}, and is in {own_cluster} by its "
                    "own settings: restart the name servers one by one to remove the former cluster"
                )
    return lines


def observe_twins(
    admin: AdminClient, inventory: InventoryKeeper, broker_names: Collection[str] | None = None
) -> list[str]:
    """Find twins of these names among the brokers that name servers list, or listed before."""
    groups = [
        group
        for _, info, _ in admin.clusters.get_info_each()
        for group in (info.broker_groups if info else ())
        if broker_names is None or group.broker_name in broker_names
    ]
    return find_twins(admin, groups, inventory.find_former_addrs())


def remark_twins(session: "Session") -> None:
    """Warn of brokers of which a command sees one process only."""
    for line in observe_twins(session.admin, open_inventory(session)):
        session.write_remark(line)


def find_twins(
    admin: AdminClient, groups: Iterable[BrokerAddrGroup], former_addrs: Mapping[str, str]
) -> list[str]:
    """Describe the brokers with another process of the same name and id, at another address.

    Name servers list the one that registered last: the other is on another name server, or was there before
    (`former_addrs`, by present address). One process that answers at both addresses has one start time.
    """
    # The inventory may be older than the list, so that its present address is the former one now.
    other_addrs = {former: present for present, former in former_addrs.items()} | dict(former_addrs)
    addrs_by_broker: dict[tuple[str, int], dict[str, None]] = {}
    for group in groups:
        for broker_id, addr in group.broker_addrs.items():
            known = addrs_by_broker.setdefault((group.broker_name, broker_id), {})
            known |= dict.fromkeys([addr, other_addrs.get(addr, addr)])
    suspects = {broker: [*addrs] for broker, addrs in addrs_by_broker.items() if len(addrs) > 1}
    asked_addrs = list(dict.fromkeys(addr for addrs in suspects.values() for addr in addrs))
    if not asked_addrs:
        return []
    configs = {
        addr: config for addr, config, _ in admin.broker_configs.get_each(asked_addrs) if config is not None
    }
    # Nobody may be at a former address any more: wait for it once.
    boots = {
        addr: info.get_integer("bootTimestamp")
        for addr, info, _ in admin.brokers.get_runtime_info(list(configs))
        if info is not None
    }
    lines = []
    for (name, broker_id), addrs in suspects.items():
        processes = {
            boots[addr]: addr
            for addr in reversed(addrs)
            if boots.get(addr)
            and _own(configs, addr, "brokerName") == name
            and _own(configs, addr, "brokerId") == str(broker_id)
        }
        if len(processes) > 1:
            lines.append(
                f"{name} {broker_id} is two processes, at {' and '.join(reversed(processes.values()))}: "
                "name servers list the one that registered last, and clients cannot read the other's "
                "messages. Give one of them another brokerName"
            )
    return lines


def refuse_twins(admin: AdminClient, inventory: InventoryKeeper, broker_names: Collection[str]) -> None:
    """Refuse a procedure that would change one of two processes, and take it for both."""
    for line in observe_twins(admin, inventory, broker_names):
        raise NotApplied(line)


def _own(configs: Mapping[str, BrokerConfig], addr: str, key: str) -> str | None:
    return configs[addr].get(key) if addr in configs else None
