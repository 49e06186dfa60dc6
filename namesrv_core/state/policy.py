"""Policy: who may ask what. Roles by key, by client certificate and by network; fences around brokers.

What somebody may is what the strongest of his grants allows; a grant never takes anything away.
"""

from collections.abc import Iterable, Mapping
from enum import IntEnum
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple, Protocol

Network = IPv4Network | IPv6Network

_REMEMBERED = 4096


class Role(IntEnum):
    """Each may all that those before it may; an observer also reads what else only an admin does."""

    NONE = 0
    READ = 1
    OBSERVER = 2
    BROKER = 3
    ADMIN = 4


class Peer(Protocol):
    """Whoever asks: his address, and the subject of his client certificate if he has shown a good one."""

    @property
    def host(self) -> str: ...

    @property
    def subject(self) -> str | None: ...


class Somebody(NamedTuple):
    """A peer as a record; without a host he is in no network."""

    host: str = ""
    subject: str | None = None


NOBODY = Somebody()


class Fence(NamedTuple):
    """The clusters that a broker may register in, and the networks of the addresses it may register.

    None is any.
    """

    clusters: frozenset[str] | None = None
    networks: tuple[Network, ...] | None = None


ANYWHERE = Fence()


class Grant(NamedTuple):
    """A role for who asks from one of `networks` (None: from anywhere), with this certificate (None: any)."""

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
    """Who signs with `secret_key` has the grant. A representation never shows a secret."""

    secret_key: str
    grant: Grant

    def __repr__(self) -> str:
        return f"Account(..., {self.grant!r})"


class Policy:
    """`accounts` are by access key, `grants` need no key. What a switch refuses, it refuses an admin too.

    `lets_all_read`: what needs no more than the role read is refused to nobody.
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
        """What a peer may without signing, the strongest first."""
        who = peer.host, peer.subject
        found = self._known.get(who)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[who] = tuple(grant for grant in self.grants if grant.covers(peer))
        return found


def is_inside(host: str, networks: Iterable[Network]) -> bool:
    """Whether that is an address, and in one of the networks."""
    address = _address(host)
    return address is not None and any(address in network for network in networks)


@lru_cache(_REMEMBERED)
def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(host)
    except ValueError:
        return None
    # A socket that takes both kinds shows an IPv4 peer like that.
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


@lru_cache(_REMEMBERED)
def subject_of(text: str) -> str:
    """A distinguished name (RFC 4514) without what says nothing: blanks, and the case of types."""
    return ",".join(_part(part) for part in _parts(text))


def _part(part: str) -> str:
    kind, _, value = part.strip().partition("=")
    return f"{kind.strip().upper()}={value.strip()}"


def _parts(text: str) -> list[str]:
    """At commas that are not escaped."""
    parts, begun, is_escaped = [], 0, False
    for at, letter in enumerate(text):
        if letter == "," and not is_escaped:
            parts.append(text[begun:at])
            begun = at + 1
        is_escaped = letter == "\\" and not is_escaped
    return [*parts, text[begun:]]
