"""The address map: where brokers are reached whose own address leads nowhere from here (NAT, Kubernetes).

Brokers keep their own address in all that is said about them; only connections go elsewhere.
"""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import NamedTuple

from namesrv_core.transport.address import join_addr, split_addr
from nsadmin.client.addresses import BadAddress, parse_addr

Network = IPv4Network | IPv6Network


class _Way(NamedTuple):
    """Where to go: without a port, the broker's own is kept."""

    host: str
    port: int | None


class AddressMap:
    """Pairs of texts: "10.1.2.3:10911", "10.1.2.3", "broker-a" or "10.0.0.0/8", and "HOST:PORT" or "HOST".

    The most specific pair counts: an address with its port, then a host, then the smallest network. Names
    are compared as they are written, nothing is looked up. BadAddress for a pair that cannot be.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._exact: dict[str, _Way] = {}
        self._hosts: dict[str, _Way] = {}
        self._networks: list[tuple[Network, _Way]] = []
        for source, target in pairs:
            self._add(source.strip(), _way(target.strip()))
        self._networks.sort(key=lambda item: -item[0].prefixlen)

    def __call__(self, addr: str) -> str:
        """Where to connect to for the broker at an address: elsewhere, or there."""
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
    """One pair written as FROM=TO, checked; BadAddress for what is none."""
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
