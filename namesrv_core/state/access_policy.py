"""The access policy: roles by access key, client certificate and network, and fences for brokers.

The strongest grant of a peer decides. A grant never takes a permission away.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple, Protocol

from namesrv_core.protocol.codes import AccessRole as AccessRole

AddressNetwork = IPv4Network | IPv6Network

_CACHE_ENTRIES = 4096
_MAX_CACHED_SUBJECT = 512
_MAX_ADDRESS_LENGTH = 64
"""More than an IPv6 address with the name of an interface has."""


class RequestPeer(Protocol):
    """The sender of a request: its address, and the subject of its client certificate if that is valid."""

    @property
    def host(self) -> str: ...

    @property
    def subject(self) -> str | None: ...


class PeerIdentity(NamedTuple):
    """A peer as a record. Without a host it is in no network."""

    host: str = ""
    subject: str | None = None


ANONYMOUS_PEER = PeerIdentity()


class RegistrationFence(NamedTuple):
    """The clusters that a broker may register in, and the networks of the addresses that it may register.

    None means any. `static_topics` are the only topics whose queues the broker may map. None means every
    topic that no broker outside the fence has.
    """

    cluster_names: frozenset[str] | None = None
    broker_networks: tuple[AddressNetwork, ...] | None = None
    static_topics: frozenset[str] | None = None


NO_FENCE = RegistrationFence()


class AccessGrant(NamedTuple):
    """A role for peers in one of `peer_networks` (None: any) with the certificate `subject` (None: any)."""

    role: AccessRole
    peer_networks: tuple[AddressNetwork, ...] | None = None
    subject: str | None = None
    fence: RegistrationFence = NO_FENCE

    @property
    def is_for_everybody(self) -> bool:
        return self.peer_networks is None and self.subject is None

    def covers_peer(self, peer: RequestPeer) -> bool:
        return (self.peer_networks is None or is_in_networks(peer.host, self.peer_networks)) and (
            self.subject is None
            or (peer.subject is not None and self.subject == normalize_subject(peer.subject))
        )


class SignerAccount(NamedTuple):
    """The grant of a peer that signs with `secret_key`. The representation never shows the secret."""

    secret_key: str
    grant: AccessGrant

    def __repr__(self) -> str:
        return f"Account(..., {self.grant!r})"


class AccessPolicy:
    """The grants by access key and the grants that need no key.

    `read_only` and `no_remote_config` refuse requests of admins as well. With `lets_all_read` every peer may
    send requests that need only the role read.
    """

    def __init__(
        self,
        keyless: Iterable[AccessGrant] = (AccessGrant(AccessRole.ADMIN),),
        accounts: Mapping[str, SignerAccount] | None = None,
        *,
        read_only: bool = False,
        no_remote_config: bool = False,
    ) -> None:
        self.keyless_grants = tuple(sorted(keyless, key=lambda grant: grant.role, reverse=True))
        self.accounts_by_key = dict(accounts or {})
        self.read_only = read_only
        self.no_remote_config = no_remote_config
        self.lets_all_read = any(
            grant.role >= AccessRole.READ and grant.is_for_everybody for grant in self.keyless_grants
        )
        self._grants: dict[tuple[str, str | None], tuple[AccessGrant, ...]] = {}

    def grants_without_key(self, peer: RequestPeer) -> tuple[AccessGrant, ...]:
        """The grants of a peer that does not sign, strongest first."""
        peer_key = peer.host, peer.subject
        matching = self._grants.get(peer_key)
        if matching is None:
            if len(self._grants) >= _CACHE_ENTRIES:
                self._grants.clear()
            matching = tuple(grant for grant in self.keyless_grants if grant.covers_peer(peer))
            if len(peer.subject or "") <= _MAX_CACHED_SUBJECT:
                self._grants[peer_key] = matching
        return matching


def is_in_networks(host: str, networks: Iterable[AddressNetwork]) -> bool:
    # Peers write these texts. Only short ones are cached.
    address = None if len(host) > _MAX_ADDRESS_LENGTH else _parse_address(host)
    return address is not None and any(address in network for network in networks)


@lru_cache(_CACHE_ENTRIES)
def _parse_address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(host)
    except ValueError:
        return None
    # A dual-stack socket reports an IPv4 peer as an IPv4-mapped IPv6 address.
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def normalize_subject(subject: str) -> str:
    """Normalize a distinguished name (RFC 4514): remove blanks, write attribute types in upper case."""
    parts = (part.partition("=") for part in _split_subject(subject))
    return ",".join(f"{kind.strip(' ').upper()}={_strip_blanks(value)}" for kind, _, value in parts)


def _strip_blanks(value: str) -> str:
    """Remove the blanks around a value, and nothing else: any other character makes another subject."""
    stripped = value.strip(" ")
    trailing_backslashes = len(stripped) - len(stripped.rstrip("\\"))
    # An odd number of backslashes escapes the first blank after them, so that blank belongs to the value.
    return f"{stripped} " if trailing_backslashes % 2 else stripped


def _split_subject(subject: str) -> list[str]:
    """Split at commas that are not escaped."""
    parts, part_start, is_escaped = [], 0, False
    for index, letter in enumerate(subject):
        if letter == "," and not is_escaped:
            parts.append(subject[part_start:index])
            part_start = index + 1
        is_escaped = letter == "\\" and not is_escaped
    return [*parts, subject[part_start:]]
