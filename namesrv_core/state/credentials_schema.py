"""The schema of the credentials file, and the access policy that a file defines.

The docstrings of the Structs are published in docs/reference/credentials.schema.json.
"""

import json
from collections.abc import Mapping, Sequence
from ipaddress import ip_network
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct, field

from namesrv_core.errors import BadSettings
from namesrv_core.printable_text import escape_unsafe
from namesrv_core.state.access_policy import (
    NO_FENCE,
    AccessGrant,
    AccessPolicy,
    AccessRole,
    AddressNetwork,
    RegistrationFence,
    SignerAccount,
    normalize_subject,
)

NonEmptyText = Annotated[str, Meta(min_length=1)]
NonEmptyTexts = Annotated[list[NonEmptyText], Meta(min_length=1)]
RoleName = Annotated[
    Literal["read", "observer", "broker", "admin"],
    Meta(
        description="read: routes, clusters and topic lists. observer: also KV config and settings, no"
        " changes. broker: read, and the requests that brokers send about themselves. admin: everything."
    ),
]
SourceNetworks = Annotated[
    NonEmptyTexts, Meta(description="Networks (CIDR) or addresses from which this entry may be used.")
]
BrokerClusters = Annotated[
    NonEmptyTexts, Meta(description="For the role broker: the only clusters that the broker may register in.")
]
BrokerNetworks = Annotated[
    NonEmptyTexts,
    Meta(
        description="For the role broker: the only networks (CIDR) whose addresses the broker may register."
    ),
]

StaticTopics = Annotated[
    list[NonEmptyText],
    Meta(
        description="For the role broker: the only topics whose queues the broker may map. Without this list:"
        " every topic that no broker outside of clusters and addresses has."
    ),
]


class AccountEntry(Struct, forbid_unknown_fields=True):
    """A client that signs requests with a key: a broker (innerClientAuthenticationCredentials) or a tool."""

    accessKey: NonEmptyText
    secretKey: Annotated[str, Meta(min_length=8)]
    role: RoleName
    from_: SourceNetworks | None = field(default=None, name="from")
    clusters: BrokerClusters | None = None
    addresses: BrokerNetworks | None = None
    staticTopics: StaticTopics | None = None


class CertificateEntry(Struct, forbid_unknown_fields=True):
    """A client with a certificate that the server verifies against its trust store."""

    subject: Annotated[
        NonEmptyText, Meta(description="The whole subject in the form of RFC 4514: CN=ops,O=Example.")
    ]
    role: RoleName
    from_: SourceNetworks | None = field(default=None, name="from")
    clusters: BrokerClusters | None = None
    addresses: BrokerNetworks | None = None
    staticTopics: StaticTopics | None = None


class NetworkEntry(Struct, forbid_unknown_fields=True):
    """Clients in a network, whether they sign their requests or not."""

    network: Annotated[NonEmptyText, Meta(description="A network (CIDR) or an address.")]
    role: RoleName
    clusters: BrokerClusters | None = None
    addresses: BrokerNetworks | None = None
    staticTopics: StaticTopics | None = None


class CredentialsFile(Struct, forbid_unknown_fields=True):
    """The access rules of a name server. It refuses every request that no rule allows."""

    everybody: Annotated[
        Literal["none", "read", "observer", "broker", "admin"],
        Meta(description="The role of clients that no other rule covers."),
    ] = "none"
    accounts: list[AccountEntry] = []
    certificates: list[CertificateEntry] = []
    networks: list[NetworkEntry] = []


def build_policy(content: object, *, read_only: bool = False, no_remote_config: bool = False) -> AccessPolicy:
    """Build the policy of a file's content. Raises BadSettings, which names the entry but no secret."""
    if content is None:
        raise BadSettings("empty file: add accounts, certificates, networks or everybody")
    try:
        entries = msgspec.convert(content, CredentialsFile)
    except msgspec.ValidationError as error:
        raise BadSettings(_describe_validation_error(str(error))) from None
    keyless = [AccessGrant(AccessRole[entries.everybody.upper()])]
    for index, entry in enumerate(entries.certificates):
        path = f"certificates[{index}]"
        networks = _parse_networks(entry.from_, f"{path}.from")
        keyless.append(_build_grant(entry, path, networks, _parse_subject(entry.subject, path)))
    for index, network_entry in enumerate(entries.networks):
        path = f"networks[{index}]"
        keyless.append(
            _build_grant(network_entry, path, _parse_networks([network_entry.network], f"{path}.network"))
        )
    accounts = _build_accounts(entries.accounts)
    if not accounts and len(keyless) == 1 and keyless[0].role == AccessRole.NONE:
        raise BadSettings("no rule allows anything: add accounts, certificates, networks or everybody")
    return AccessPolicy(keyless, accounts, read_only=read_only, no_remote_config=no_remote_config)


def _build_accounts(entries: Sequence[AccountEntry]) -> Mapping[str, SignerAccount]:
    accounts: dict[str, SignerAccount] = {}
    for index, entry in enumerate(entries):
        path = f"accounts[{index}]"
        if entry.accessKey in accounts:
            raise BadSettings(f'{path}.accessKey: duplicate key "{entry.accessKey}"')
        grant = _build_grant(entry, path, _parse_networks(entry.from_, f"{path}.from"))
        accounts[entry.accessKey] = SignerAccount(entry.secretKey, grant)
    return accounts


def _build_grant(
    entry: AccountEntry | CertificateEntry | NetworkEntry,
    path: str,
    networks: tuple[AddressNetwork, ...] | None,
    subject: str | None = None,
) -> AccessGrant:
    role = AccessRole[entry.role.upper()]
    fence = RegistrationFence(
        None if entry.clusters is None else frozenset(entry.clusters),
        _parse_networks(entry.addresses, f"{path}.addresses"),
        None if entry.staticTopics is None else frozenset(entry.staticTopics),
    )
    if fence != NO_FENCE and role != AccessRole.BROKER:
        raise BadSettings(
            f'{path}: role "{entry.role}" with clusters, addresses or staticTopics: '
            "use them only with the role broker"
        )
    return AccessGrant(role, networks, subject, fence)


def _parse_networks(texts: Sequence[str] | None, path: str) -> tuple[AddressNetwork, ...] | None:
    if texts is None:
        return None
    try:
        return tuple(map(ip_network, texts))
    except ValueError as error:
        raise BadSettings(f"{path}: {error}") from None


def _parse_subject(subject: str, path: str) -> str:
    if "=" not in subject:
        raise BadSettings(f'{path}.subject: invalid subject "{subject}": write CN=ops,O=Example')
    if any(character < " " or "\x7f" <= character <= "\x9f" for character in subject):
        raise BadSettings(
            f'{path}.subject: control character in "{escape_unsafe(subject)}": write it as \\0A'
        )
    return normalize_subject(subject)


def _describe_validation_error(error_text: str) -> str:
    """The message of msgspec with the entry in front: "accounts[0].role: ..."."""
    problem, _, path = error_text.partition(" - at `$")
    hint = ": put it in quotes" if problem.startswith("Expected `str`") else ""
    return f"{path.strip('.`')}: {problem}{hint}" if path else problem


def build_credentials_schema() -> dict[str, object]:
    """The JSON Schema of the file (draft 2020-12), for editors."""
    schema: dict[str, object] = msgspec.json.schema(CredentialsFile)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Access rules of a name server",
        **schema,
    }


def credentials_schema_text() -> str:
    return json.dumps(build_credentials_schema(), indent=2) + "\n"
