"""Finds the name servers that did not answer while a broker registered a change.

A broker answers a change of a topic only after all of its name servers answered its registration, or after
registerBrokerTimeoutMills (24 s). So one frozen name server makes a change that was made look failed.
"""

from collections.abc import Collection

from nsadmin.client import AdminClient, NotApplied, ServerResult
from nsadmin.client.brokers.registrations import parse_name_servers
from nsadmin.client.results import error_text


def find_awaited_name_servers(admin: AdminClient, broker_addrs: Collection[str]) -> list[ServerResult[None]]:
    """Return the name servers in the brokers' own lists that do not answer, each with its error.

    If a broker does not return its list, this asks the name servers of the client. Without brokers, it sends
    no request.
    """
    if not broker_addrs:
        return []
    brokers_by_server: dict[str, list[str]] = {}
    for broker_addr, broker_config, _ in admin.broker_configs.get_each(broker_addrs):
        for namesrv_addr in parse_name_servers(broker_config or {}) or admin.addresses.addrs:
            brokers_by_server.setdefault(namesrv_addr, []).append(broker_addr)
    return [
        ServerResult(
            addr,
            None,
            NotApplied(
                f"{error_text(error)}: {', '.join(brokers_by_server[addr])} made the change but "
                "cannot register it here yet"
            ),
        )
        for addr, error in admin.name_servers.find_silent(brokers_by_server).items()
    ]
