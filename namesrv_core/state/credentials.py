"""The schema of the credentials file, and the access policy that a file defines.

The docstrings of the Structs are published in docs/credentials.schema.json.
"""

import json
from collections.abc import Mapping, Sequence
from ipaddress import ip_network
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct, field

from namesrv_core.errors import BadSettings
from namesrv_core.state.policy import ANYWHERE, Account, Fence, Grant, Network, Policy, Role, subject_of

Text = Annotated[str, Meta(min_length=1)]
Texts = Annotated[list[Text], Meta(min_length=1)]
RoleName = Annotated[
    Literal["read", "observer", "broker", "admin"],
    Meta(
        description="read: routes, clusters, lists of topics. observer: that, KV config and settings, and no"
        " change. broker: read, and what brokers say of themselves. admin: everything."
    ),
]
From = Annotated[Texts, Meta(description="Networks (CIDR) or addresses that this may be used from.")]
Clusters = Annotated[Texts, Meta(description="For the role broker: the only clusters it may register in.")]
Addresses = Annotated[
    Texts, Meta(description="For the role broker: the only networks (CIDR) whose addresses it may register.")
]


class AccountEntry(Struct, forbid_unknown_fields=True):
    """Who signs with a key: a broker's innerClientAuthenticationCredentials, a client's keys, mqadmin's."""

    accessKey: Text
    secretKey: Annotated[str, Meta(min_length=8)]
    role: RoleName
    from_: From | None = field(default=None, name="from")
    clusters: Clusters | None = None
    addresses: Addresses | None = None


class CertificateEntry(Struct, forbid_unknown_fields=True):
    """Who shows a client certificate that the server's trust store vouches for."""

    subject: Annotated[Text, Meta(description="The whole subject, as RFC 4514 has it: CN=ops,O=Example.")]
    role: RoleName
    from_: From | None = field(default=None, name="from")
    clusters: Clusters | None = None
    addresses: Addresses | None = None


class NetworkEntry(Struct, forbid_unknown_fields=True):
    """Who asks from a network, signed or not."""

    network: Annotated[Text, Meta(description="A network (CIDR) or an address.")]
    role: RoleName
    clusters: Clusters | None = None
    addresses: Addresses | None = None


class CredentialsFile(Struct, forbid_unknown_fields=True):
    """Who may ask a name server what. What nothing here allows is refused."""

    everybody: Annotated[
        Literal["none", "read", "observer", "broker", "admin"],
        Meta(description="What those may whom nothing else names."),
    ] = "none"
    accounts: list[AccountEntry] = []
    certificates: list[CertificateEntry] = []
    networks: list[NetworkEntry] = []


def policy_of(value: object, *, read_only: bool = False, no_remote_config: bool = False) -> Policy:
    """Build the policy of a file's content. Raises BadSettings, which names the entry but no secret."""
    if value is None:
        raise BadSettings("there is nothing in it")
    try:
        entries = msgspec.convert(value, CredentialsFile)
    except msgspec.ValidationError as error:
        raise BadSettings(_in_words(str(error))) from None
    grants = [Grant(Role[entries.everybody.upper()])]
    for number, certificate in enumerate(entries.certificates):
        where = f"certificates[{number}]"
        networks = _networks(certificate.from_, f"{where}.from")
        grants.append(_grant(certificate, where, networks, _subject(certificate.subject, where)))
    for number, entry in enumerate(entries.networks):
        where = f"networks[{number}]"
        grants.append(_grant(entry, where, _networks([entry.network], f"{where}.network")))
    accounts = _accounts(entries.accounts)
    if not accounts and len(grants) == 1 and grants[0].role == Role.NONE:
        raise BadSettings("it allows nobody anything: name accounts, certificates, networks, or everybody")
    return Policy(grants, accounts, read_only=read_only, no_remote_config=no_remote_config)


def _accounts(entries: Sequence[AccountEntry]) -> Mapping[str, Account]:
    accounts: dict[str, Account] = {}
    for number, entry in enumerate(entries):
        where = f"accounts[{number}]"
        if entry.accessKey in accounts:
            raise BadSettings(f"{where}.accessKey: {entry.accessKey!r} is there twice")
        grant = _grant(entry, where, _networks(entry.from_, f"{where}.from"))
        accounts[entry.accessKey] = Account(entry.secretKey, grant)
    return accounts


def _grant(
    entry: AccountEntry | CertificateEntry | NetworkEntry,
    where: str,
    networks: tuple[Network, ...] | None,
    subject: str | None = None,
) -> Grant:
    role = Role[entry.role.upper()]
    fence = Fence(
        None if entry.clusters is None else frozenset(entry.clusters),
        _networks(entry.addresses, f"{where}.addresses"),
    )
    if fence != ANYWHERE and role != Role.BROKER:
        raise BadSettings(f"{where}: clusters and addresses are for the role broker, not for {entry.role}")
    return Grant(role, networks, subject, fence)


def _networks(texts: Sequence[str] | None, where: str) -> tuple[Network, ...] | None:
    if texts is None:
        return None
    try:
        return tuple(map(ip_network, texts))
    except ValueError as error:
        raise BadSettings(f"{where}: {error}") from None


def _subject(text: str, where: str) -> str:
    if "=" not in text:
        raise BadSettings(f"{where}.subject: {text!r} is no subject like CN=ops,O=Example")
    return subject_of(text)


def _in_words(error: str) -> str:
    """The message of msgspec with the entry in front: "accounts[0].role: ..."."""
    what, _, path = error.partition(" - at `$")
    hint = ": put it in quotes" if what.startswith("Expected `str`") else ""
    return f"{path.strip('.`')}: {what}{hint}" if path else what


def schema() -> dict[str, object]:
    """The JSON Schema of the file (draft 2020-12), for editors."""
    found: dict[str, object] = msgspec.json.schema(CredentialsFile)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Who may ask a name server",
        **found,
    }


def schema_text() -> str:
    return json.dumps(schema(), indent=2) + "\n"
