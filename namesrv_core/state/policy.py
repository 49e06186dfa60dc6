"""The access policy: roles by access key, client certificate and network, and fences for brokers.

The strongest grant of a peer decides. A grant never takes a permission away.
"""

from collections.abc import Iterable, Mapping
from enum import IntEnum
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple, Protocol

Network = IPv4Network | IPv6Network

_REMEMBERED = 4096


class Role(IntEnum):
    """Each role includes the permissions of the roles before it.

    There is one exception: a broker does not have an observer's permission to read what only an admin reads.
    """

    NONE = 0
    READ = 1
    OBSERVER = 2
    BROKER = 3
    ADMIN = 4


class Peer(Protocol):
    """The sender of a request: its address, and the subject of its client certificate if that is valid."""

    @property
    def host(self) -> str: ...

    @property
    def subject(self) -> str | None: ...


class Somebody(NamedTuple):
    """A peer as a record. Without a host it is in no network."""

    host: str = ""
    subject: str | None = None


NOBODY = Somebody()


class Fence(NamedTuple):
    """The clusters that a broker may register in, and the networks of the addresses that it may register.

    None means any.
    """

    clusters: frozenset[str] | None = None
    networks: tuple[Network, ...] | None = None


ANYWHERE = Fence()


class Grant(NamedTuple):
    """A role for peers in one of `peer_networks` (None: any) with the certificate `subject` (None: any)."""

    role: Role
    networks: tuple[Network, ...] | None = None
    subject: str | None = None
    fence: Fence = ANYWHERE

    @property
    def is_for_all(self) -> bool:
        return self.networks is None and self.subject is None

    def covers(self, peer: Peer) -> bool:
        return (self.networks is None or is_inside(peer.host, self.networks)) and (
            self.subject is None or (peer.subject is not None and self.subject == subject_of(peer.subject))
        )


class Account(NamedTuple):
    """The grant of a peer that signs with `secret_key`. The representation never shows the secret."""

    secret_key: str
    grant: Grant

    def __repr__(self) -> str:
        return f"Account(..., {self.grant!r})"


class Policy:
    """The grants by access key and the grants that need no key.

    `read_only` and `no_remote_config` refuse requests of admins as well. With `lets_all_read` every peer may
    send requests that need only the role read.
    """

    def __init__(
        self,
        grants: Iterable[Grant] = (Grant(Role.ADMIN),),
        accounts: Mapping[str, Account] | None = None,
        *,
        read_only: bool = False,
        no_remote_config: bool = False,
    ) -> None:
        self.grants = tuple(sorted(grants, key=lambda grant: grant.role, reverse=True))
        self.accounts = dict(accounts or {})
        self.read_only = read_only
        self.no_remote_config = no_remote_config
        self.lets_all_read = any(grant.role >= Role.READ and grant.is_for_all for grant in self.grants)
        self._known: dict[tuple[str, str | None], tuple[Grant, ...]] = {}

    def without_key(self, peer: Peer) -> tuple[Grant, ...]:
        """The grants of a peer that does not sign, strongest first."""
        who = peer.host, peer.subject
        found = self._known.get(who)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[who] = tuple(grant for grant in self.grants if grant.covers(peer))
        return found


def is_inside(host: str, networks: Iterable[Network]) -> bool:
    """Whether the text is an IP address in one of the networks."""
    address = _address(host)
    return address is not None and any(address in network for network in networks)


@lru_cache(_REMEMBERED)
def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(host)
    except ValueError:
        return None
    # A dual-stack socket reports an IPv4 peer as an IPv4-mapped IPv6 address.
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


@lru_cache(_REMEMBERED)
def subject_of(text: str) -> str:
    """Normalize a distinguished name (RFC 4514): remove blanks, write attribute types in upper case."""
    return ",".join(_part(part) for part in _parts(text))


def _part(part: str) -> str:
    kind, _, value = part.strip().partition("=")
    return f"{kind.strip().upper()}={value.strip()}"


def _parts(text: str) -> list[str]:
    """Split at commas that are not escaped."""
    parts, begun, is_escaped = [], 0, False
    for at, letter in enumerate(text):
        if letter == "," and not is_escaped:
            parts.append(text[begun:at])
            begun = at + 1
        is_escaped = letter == "\\" and not is_escaped
    return [*parts, text[begun:]]
