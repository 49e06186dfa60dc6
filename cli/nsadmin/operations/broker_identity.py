"""Finds brokers that are not what name servers list: one process of several names, and the reverse."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from nsadmin.client import AdminClient
from nsadmin.client.brokers.broker_configs import BrokerConfig
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.clusters import (
    BrokerAddrGroup,
    BrokerStatus,
    describe_shared_addr,
    find_shared_addrs,
)
from nsadmin.client.results import ServerResult

OtherAddrs = Mapping[str, Collection[str]]
"""By listed address: other addresses of the same broker name and id, on other name servers or before."""


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


def find_twins(admin: AdminClient, statuses: Iterable[BrokerStatus], other_addrs: OtherAddrs) -> list[str]:
    """Describe the brokers with another process of the same name and id, at another address.

    One process that answers at both addresses has one start time.
    """
    suspects = [
        (s, addr)
        for s in statuses
        if s.runtime_info is not None
        for addr in other_addrs.get(s.broker_addr, ())
        if addr != s.broker_addr
    ]
    if not suspects:
        return []
    addrs = list(dict.fromkeys(addr for _, addr in suspects))
    configs = {addr: config for addr, config, _ in admin.broker_configs.get_each(addrs) if config is not None}
    infos = {addr: info for addr, info, _ in admin.brokers.get_runtime_info(addrs)}
    return [
        f"{s.broker_name} {s.broker_id} is two processes, at {s.broker_addr} and {addr}: name servers "
        "list the one that registered last, and clients cannot read the other's messages. Give one of them "
        "another brokerName"
        for s, addr in suspects
        if _own(configs, addr, "brokerName") == s.broker_name
        and _own(configs, addr, "brokerId") == str(s.broker_id)
        and _boot_ms(infos.get(addr)) not in (None, _boot_ms(s.runtime_info))
    ]


def _boot_ms(info: RuntimeInfo | None) -> int | None:
    return None if info is None else info.get_integer("bootTimestamp")


def _own(configs: Mapping[str, BrokerConfig], addr: str, key: str) -> str | None:
    return configs[addr].get(key) if addr in configs else None
