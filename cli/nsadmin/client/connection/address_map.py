"""AddressMap, which replaces broker addresses that are not reachable from here (NAT, Kubernetes).

The map changes only where connections go. Results and messages still show the broker's own address.
"""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from namesrv_core.transport.address import join_addr, split_addr, split_server_addr
from nsadmin.client.connection.addresses import BadAddress, parse_addr

IpNetwork = IPv4Network | IPv6Network


_Target = tuple[str, int | None]
"""The host and the port to connect to. Without a port, the broker's own port stays."""


class AddressMap:
    """A map from broker addresses to the addresses to connect to.

    The most specific entry wins: an address with a port, then a host, then the smallest network. Host names
    are compared as text, without a DNS lookup.
    """

    def __init__(self, addr_pairs: Iterable[tuple[str, str]]) -> None:
        self._targets_by_addr: dict[str, _Target] = {}
        self._targets_by_host: dict[str, _Target] = {}
        self._targets_by_network: list[tuple[IpNetwork, _Target]] = []
        for source, target in addr_pairs:
            self._add_pair(source.strip(), _parse_target(target.strip()))
        self._targets_by_network.sort(key=lambda entry: -entry[0].prefixlen)

    def __call__(self, broker_addr: str) -> str:
        """Return the address to connect to; the same address if no entry applies."""
        host_and_port = split_server_addr(broker_addr)
        if host_and_port is None:
            return broker_addr
        host, port = host_and_port
        target = (
            self._targets_by_addr.get(broker_addr)
            or self._targets_by_host.get(host)
            or self._find_by_network(host)
        )
        return broker_addr if target is None else join_addr(target[0], target[1] or port)

    def _add_pair(self, source: str, target: _Target) -> None:
        if "/" in source:
            self._targets_by_network.append((_parse_network(source), target))
        elif _has_port(source):
            self._targets_by_addr[parse_addr(source)] = target
        else:
            self._targets_by_host[split_addr(parse_addr(source))[0]] = target

    def _find_by_network(self, host: str) -> _Target | None:
        if not self._targets_by_network:
            return None
        try:
            ip_addr = ip_address(host)
        except ValueError:
            return None
        return next((target for network, target in self._targets_by_network if ip_addr in network), None)


def parse_pair(pair_text: str) -> tuple[str, str]:
    """Parse a pair "FROM=TO" of an address map."""
    source, equals_sign, target = (pair_part.strip() for pair_part in pair_text.partition("="))
    if not (source and equals_sign and target) or "=" in target:
        raise BadAddress(f'invalid mapping "{pair_text}": use FROM=TO, such as 10.0.0.0/8=gateway:10911')
    AddressMap([(source, target)])
    return source, target


def _parse_network(network_text: str) -> IpNetwork:
    try:
        return ip_network(network_text)
    except ValueError as error:
        raise BadAddress(f'invalid network "{network_text}": {error}') from None


def _parse_target(target_text: str) -> _Target:
    host, port = split_addr(parse_addr(target_text))
    return host, port if _has_port(target_text) else None


def _has_port(addr_text: str) -> bool:
    if addr_text.startswith("["):
        return not addr_text.endswith("]")
    return addr_text.count(":") == 1
