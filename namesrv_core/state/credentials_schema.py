"""The shape of the credentials file, and the access policy that a file defines.

docs/reference/credentials.schema.json publishes the meanings of the fields.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from ipaddress import ip_network
from typing import Any

from namesrv_core.errors import BadSettings
from namesrv_core.file_shapes import (
    INVALID,
    Choice,
    Field,
    FileStyle,
    InvalidValue,
    JsonSchema,
    Leaf,
    ListOf,
    Parsed,
    Path,
    Record,
    Shape,
    ShapeReader,
    read_shape,
)
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

_ROLE_NAMES = ("read", "observer", "broker", "admin")
_ROLE_MEANINGS = (
    "read: routes, clusters and topic lists. observer: also KV config and settings, no changes. "
    "broker: read, and the requests that brokers send about themselves. admin: everything."
)


class _CredentialsStyle(FileStyle):
    """No message quotes a secret: only names, subjects, networks and roles are shown."""

    after_place = ": "

    def invalid(self, value: Any, allowed: str, words: Iterable[str] = ()) -> str:
        return f"Invalid enum value {value!r}" if isinstance(value, str) else _not_a_text(value)

    def not_a_map(self, value: Any, known_keys: Iterable[str]) -> str:
        return f"Expected `object`, got `{_kind(value)}`"

    def not_a_list(self, value: Any, allowed: str) -> str:
        return f"Expected `array`, got `{_kind(value)}`"

    def unknown_key(self, path: Path, known_keys: Collection[str]) -> str:
        return self.at(path[:-1], f"Object contains unknown field `{path[-1]}`")

    def missing(self, field: Field) -> str:
        return f"Object missing required field `{field.key}`"


def _kind(value: Any) -> str:
    kinds = {dict: "object", list: "array", type(None): "null"}
    return kinds.get(type(value), type(value).__name__)


def _not_a_text(value: Any) -> str:
    return f"Expected `str`, got `{_kind(value)}`: put it in quotes"


def _text(parse: Callable[[str], Any] = str, *, min_length: int = 1) -> Parsed:
    def parse_text(value: Any) -> Any:
        if not isinstance(value, str):
            raise InvalidValue(_not_a_text(value))
        if len(value) < min_length:
            raise InvalidValue(f"Expected `str` of length >= {min_length}: put it in quotes")
        return parse(value)

    return Parsed(parse_text, {"type": "string", "minLength": min_length})


class _Texts(Shape):
    """A list of texts, or null, which becomes None."""

    def __init__(self, item: Leaf, min_items: int = 1) -> None:
        self._item = item
        self._min_items = min_items

    def read(self, value: Any, path: Path, reader: ShapeReader) -> Any:
        if value is None:
            return None
        if not isinstance(value, list):
            reader.refuse(path, f"Expected `array | null`, got `{_kind(value)}`")
        elif len(value) < self._min_items:
            reader.refuse(path, f"Expected `array` of length >= {self._min_items}")
        else:
            return ListOf(self._item).read(value, path, reader)
        return INVALID

    def schema(self) -> JsonSchema:
        texts = {"type": "array", "items": self._item.schema(), "minItems": self._min_items}
        return {"anyOf": [texts, {"type": "null"}]}


class _Networks(_Texts):
    """A list of networks; a message about one names the list."""

    def __init__(self) -> None:
        super().__init__(_text())

    def read(self, value: Any, path: Path, reader: ShapeReader) -> Any:
        texts = super().read(value, path, reader)
        try:
            return tuple(map(_parse_network, texts)) if isinstance(texts, tuple) else texts
        except InvalidValue as error:
            reader.refuse(path, str(error))
            return INVALID


def _parse_network(network_text: str) -> AddressNetwork:
    try:
        return ip_network(network_text)
    except ValueError as error:
        raise InvalidValue(str(error)) from None


def _parse_subject(subject_text: str) -> str:
    if "=" not in subject_text:
        raise InvalidValue(f'invalid subject "{subject_text}": write CN=ops,O=Example')
    if any(character < " " or "\x7f" <= character <= "\x9f" for character in subject_text):
        raise InvalidValue(f'control character in "{escape_unsafe(subject_text)}": write it as \\0A')
    return normalize_subject(subject_text)


def _build_grant(values: Mapping[str, Any]) -> AccessGrant:
    fence = RegistrationFence(
        _frozen(values.get("clusters")), values.get("addresses"), _frozen(values.get("staticTopics"))
    )
    if fence != NO_FENCE and values["role"] != "broker":
        raise InvalidValue(
            f'role "{values["role"]}" with clusters, addresses or staticTopics: use them only with the role '
            "broker"
        )
    networks = (values["network"],) if "network" in values else values.get("from")
    return AccessGrant(AccessRole[values["role"].upper()], networks, values.get("subject"), fence)


def _frozen(texts: Iterable[str] | None) -> frozenset[str] | None:
    return None if texts is None else frozenset(texts)


def _build_account(values: Mapping[str, Any]) -> tuple[str, SignerAccount]:
    return values["accessKey"], SignerAccount(values["secretKey"], _build_grant(values))


_ROLE_FIELD = Field("role", Choice(_ROLE_NAMES), _ROLE_MEANINGS, is_required=True)
_FROM_FIELD = Field("from", _Networks(), "Networks (CIDR) or addresses from which this entry may be used.")
_FENCE_FIELDS = (
    Field(
        "clusters", _Texts(_text()), "For the role broker: the only clusters that the broker may register in."
    ),
    Field(
        "addresses",
        _Networks(),
        "For the role broker: the only networks (CIDR) whose addresses the broker may register.",
    ),
    Field(
        "staticTopics",
        _Texts(_text(), min_items=0),
        "For the role broker: the only topics whose queues the broker may map. Without this list: every "
        "topic that no broker outside of clusters and addresses has.",
    ),
)
_ACCOUNT = Record(
    (
        Field("accessKey", _text(), "The name of the key.", is_required=True),
        Field("secretKey", _text(min_length=8), "The secret of the key.", is_required=True),
        _ROLE_FIELD,
        _FROM_FIELD,
        *_FENCE_FIELDS,
    ),
    _build_account,
)
_CERTIFICATE = Record(
    (
        Field(
            "subject",
            _text(_parse_subject),
            "The whole subject in the form of RFC 4514: CN=ops,O=Example.",
            is_required=True,
        ),
        _ROLE_FIELD,
        _FROM_FIELD,
        *_FENCE_FIELDS,
    ),
    _build_grant,
)
_NETWORK = Record(
    (
        Field("network", _text(_parse_network), "A network (CIDR) or an address.", is_required=True),
        _ROLE_FIELD,
        *_FENCE_FIELDS,
    ),
    _build_grant,
)
_CREDENTIALS = Record(
    (
        Field(
            "everybody",
            Choice(("none", *_ROLE_NAMES)),
            "The role of clients that no other rule covers.",
            "none",
        ),
        Field(
            "accounts",
            ListOf(_ACCOUNT),
            "Clients that sign requests with a key: brokers (innerClientAuthenticationCredentials) or tools.",
            [],
        ),
        Field(
            "certificates",
            ListOf(_CERTIFICATE),
            "Clients with a certificate that the server verifies against its trust store.",
            [],
        ),
        Field(
            "networks", ListOf(_NETWORK), "Clients in a network, whether they sign their requests or not.", []
        ),
    )
)


def build_policy(
    file_content: object, *, read_only: bool = False, no_remote_config: bool = False
) -> AccessPolicy:
    """Build the policy of a file's content. Raises BadSettings, which names the entry but no secret."""
    if file_content is None:
        raise BadSettings("empty file: add accounts, certificates, networks or everybody")
    values, mistakes = read_shape(file_content, _CREDENTIALS, _CredentialsStyle())
    if mistakes:
        raise BadSettings(mistakes[0].text)
    values = _CREDENTIALS.default_values | values
    grants = [AccessGrant(AccessRole[values["everybody"].upper()])]
    grants += [*values["certificates"], *values["networks"]]
    accounts_by_key: dict[str, SignerAccount] = {}
    for index, (access_key, account) in enumerate(values["accounts"]):
        if access_key in accounts_by_key:
            raise BadSettings(f'accounts[{index}].accessKey: duplicate key "{access_key}"')
        accounts_by_key[access_key] = account
    if not accounts_by_key and len(grants) == 1 and grants[0].role == AccessRole.NONE:
        raise BadSettings("no rule allows anything: add accounts, certificates, networks or everybody")
    return AccessPolicy(grants, accounts_by_key, read_only=read_only, no_remote_config=no_remote_config)


def build_credentials_schema() -> JsonSchema:
    """The JSON Schema of the file (draft 2020-12), for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Access rules of a name server",
        "description": "The access rules of a name server. It refuses every request that no rule allows.",
        **_CREDENTIALS.schema(),
        "type": "object",
    }


def credentials_schema_text() -> str:
    return json.dumps(build_credentials_schema(), indent=2) + "\n"
