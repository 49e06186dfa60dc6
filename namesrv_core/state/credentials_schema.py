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


def build_policy(
    file_content: object, *, read_only: bool = False, no_remote_config: bool = False
) -> AccessPolicy:
    """Build the policy of a file's content. Raises BadSettings, which names the entry but no secret."""
    if file_content is None:
        raise BadSettings("empty file: add accounts, certificates, networks or everybody")
    try:
        file_entries = msgspec.convert(file_content, CredentialsFile)
    except msgspec.ValidationError as error:
        raise BadSettings(_describe_validation_error(str(error))) from None
    keyless_grants = [AccessGrant(AccessRole[file_entries.everybody.upper()])]
    for entry_index, certificate_entry in enumerate(file_entries.certificates):
        entry_path = f"certificates[{entry_index}]"
        peer_networks = _parse_networks(certificate_entry.from_, f"{entry_path}.from")
        keyless_grants.append(
            _build_grant(
                certificate_entry,
                entry_path,
                peer_networks,
                _parse_subject(certificate_entry.subject, entry_path),
            )
        )
    for entry_index, network_entry in enumerate(file_entries.networks):
        entry_path = f"networks[{entry_index}]"
        keyless_grants.append(
            _build_grant(
                network_entry, entry_path, _parse_networks([network_entry.network], f"{entry_path}.network")
            )
        )
    accounts_by_key = _build_accounts(file_entries.accounts)
    if not accounts_by_key and len(keyless_grants) == 1 and keyless_grants[0].role == AccessRole.NONE:
        raise BadSettings("no rule allows anything: add accounts, certificates, networks or everybody")
    return AccessPolicy(
        keyless_grants, accounts_by_key, read_only=read_only, no_remote_config=no_remote_config
    )


def _build_accounts(account_entries: Sequence[AccountEntry]) -> Mapping[str, SignerAccount]:
    accounts_by_key: dict[str, SignerAccount] = {}
    for entry_index, account_entry in enumerate(account_entries):
        entry_path = f"accounts[{entry_index}]"
        if account_entry.accessKey in accounts_by_key:
            raise BadSettings(f'{entry_path}.accessKey: duplicate key "{account_entry.accessKey}"')
        access_grant = _build_grant(
            account_entry, entry_path, _parse_networks(account_entry.from_, f"{entry_path}.from")
        )
        accounts_by_key[account_entry.accessKey] = SignerAccount(account_entry.secretKey, access_grant)
    return accounts_by_key


def _build_grant(
    grant_entry: AccountEntry | CertificateEntry | NetworkEntry,
    entry_path: str,
    peer_networks: tuple[AddressNetwork, ...] | None,
    subject: str | None = None,
) -> AccessGrant:
    access_role = AccessRole[grant_entry.role.upper()]
    registration_fence = RegistrationFence(
        None if grant_entry.clusters is None else frozenset(grant_entry.clusters),
        _parse_networks(grant_entry.addresses, f"{entry_path}.addresses"),
        None if grant_entry.staticTopics is None else frozenset(grant_entry.staticTopics),
    )
    if registration_fence != NO_FENCE and access_role != AccessRole.BROKER:
        raise BadSettings(
            f'{entry_path}: role "{grant_entry.role}" with clusters, addresses or staticTopics: '
            "use them only with the role broker"
        )
    return AccessGrant(access_role, peer_networks, subject, registration_fence)


def _parse_networks(
    network_texts: Sequence[str] | None, entry_path: str
) -> tuple[AddressNetwork, ...] | None:
    if network_texts is None:
        return None
    try:
        return tuple(map(ip_network, network_texts))
    except ValueError as error:
        raise BadSettings(f"{entry_path}: {error}") from None


def _parse_subject(subject_text: str, entry_path: str) -> str:
    if "=" not in subject_text:
        raise BadSettings(f'{entry_path}.subject: invalid subject "{subject_text}": write CN=ops,O=Example')
    if any(character < " " or "\x7f" <= character <= "\x9f" for character in subject_text):
        raise BadSettings(
            f'{entry_path}.subject: control character in "{escape_unsafe(subject_text)}": write it as \\0A'
        )
    return normalize_subject(subject_text)


def _describe_validation_error(error_text: str) -> str:
    """The message of msgspec with the entry in front: "accounts[0].role: ..."."""
    problem_text, _, entry_path = error_text.partition(" - at `$")
    quote_hint = ": put it in quotes" if problem_text.startswith("Expected `str`") else ""
    return f"{entry_path.strip('.`')}: {problem_text}{quote_hint}" if entry_path else problem_text


def build_credentials_schema() -> dict[str, object]:
    """The JSON Schema of the file (draft 2020-12), for editors."""
    file_schema: dict[str, object] = msgspec.json.schema(CredentialsFile)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Access rules of a name server",
        **file_schema,
    }


def credentials_schema_text() -> str:
    return json.dumps(build_credentials_schema(), indent=2) + "\n"
