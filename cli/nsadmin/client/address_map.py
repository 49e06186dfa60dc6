"""AddressMap, which replaces broker addresses that are not reachable from here (NAT, Kubernetes).

The map changes only where connections go. Results and messages still show the broker's own address.
"""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import NamedTuple

from namesrv_core.transport.address import join_addr, split_addr
from nsadmin.client.addresses import BadAddress, parse_addr

Network = IPv4Network | IPv6Network


class _Way(NamedTuple):
    """The address to connect to. Without a port, the broker's own port stays."""

    host: str
    port: int | None


class AddressMap:
    """A map from broker addresses to the addresses to connect to.

    The most specific entry wins: an address with a port, then a host, then the smallest network. Host names
    are compared as text, without a DNS lookup.

    Args:
        addr_pairs: Pairs of (source, target). A source is "10.1.2.3:10911", "10.1.2.3", "broker-a" or
            "10.0.0.0/8"; a target is "HOST:PORT" or "HOST".

    Raises:
        BadAddress: A pair is invalid.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._exact: dict[str, _Way] = {}
        self._hosts: dict[str, _Way] = {}
        self._networks: list[tuple[Network, _Way]] = []
        for source, target in pairs:
            self._add(source.strip(), _way(target.strip()))
        self._networks.sort(key=lambda item: -item[0].prefixlen)

    def __call__(self, addr: str) -> str:
        """Return the address to connect to; the same address if no entry applies."""
        host, port = split_addr(addr)
        way = self._exact.get(addr) or self._hosts.get(host) or self._through_network(host)
        return addr if way is None else join_addr(way.host, way.port or port)

    def _add(self, source: str, way: _Way) -> None:
        if "/" in source:
            self._networks.append((_network(source), way))
        elif _has_port(source):
            self._exact[parse_addr(source)] = way
        else:
            self._hosts[split_addr(parse_addr(source))[0]] = way

    def _through_network(self, host: str) -> _Way | None:
        if not self._networks:
            return None
        try:
            address = ip_address(host)
        except ValueError:
            return None
        return next((way for network, way in self._networks if address in network), None)


def pair(text: str) -> tuple[str, str]:
    """Parse a pair "FROM=TO" of an address map.

    Returns:
        The source and the target.

    Raises:
        BadAddress: The text is not a valid pair.
    """
    source, equals, target = (part.strip() for part in text.partition("="))
    if not (source and equals and target) or "=" in target:
        raise BadAddress(f"{text!r} maps nothing: write FROM=TO, such as 10.0.0.0/8=gateway:10911")
    AddressMap([(source, target)])
    return source, target


def _network(text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise BadAddress(f"{text!r} is no network: {error}") from None


def _way(target: str) -> _Way:
    host, port = split_addr(parse_addr(target))
    return _Way(host, port if _has_port(target) else None)


def _has_port(addr: str) -> bool:
    if addr.startswith("["):
        return not addr.endswith("]")
    return addr.count(":") == 1
