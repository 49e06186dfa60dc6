"""Owns the keys of a context in the file, and how each is read and written."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from namesrv_core.file_shapes import (
    Choice,
    Field,
    FileStyle,
    Flag,
    InvalidValue,
    Parsed,
    Record,
    Shape,
    WholeNumber,
    read_shape,
)
from nsadmin.client.connection.access_options import Credentials
from nsadmin.client.connection.addresses import DEFAULT_PROXY_PORT, BadAddress, parse_addrs
from nsadmin.console.contexts.context_records import Context, ContextTls

Value = TypeVar("Value")

CONTEXT_COLORS = ("red", "green", "yellow", "blue", "magenta", "cyan")
MAX_TIMEOUT_SECONDS = 3600


class InvalidContextValue(ValueError):
    """A value is invalid. The text begins with the key and names valid values."""


class _ContextStyle(FileStyle):
    is_null_absent = True


def _parse_text(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidValue("must be text: put it in quotes")
    if not value.strip():
        raise InvalidValue("is empty: remove it, or set a value")
    return value


def _parse_addrs(yaml_value: object) -> str:
    return ";".join(_parse_paths(yaml_value))


def _parse_paths(yaml_value: object) -> tuple[str, ...]:
    return tuple(map(_parse_text, yaml_value if isinstance(yaml_value, list) else [yaml_value]))


def _parse_seconds(value: object) -> float:
    if type(value) not in (int, float) or not 0 < value <= MAX_TIMEOUT_SECONDS:  # type: ignore[operator]
        raise InvalidValue(f"must be a number of seconds above 0, at most {MAX_TIMEOUT_SECONDS}")
    return float(value)  # type: ignore[arg-type]


def _parse_proxies(yaml_value: object) -> tuple[str, ...]:
    try:
        return parse_addrs(_parse_paths(yaml_value), DEFAULT_PROXY_PORT)
    except BadAddress as error:
        raise InvalidValue(f"is invalid: {error}") from None


def _parse_address_map(yaml_value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(yaml_value, dict):
        raise InvalidValue("must be a map, such as 10.0.0.0/8: gateway:10911")
    # Imported late: few contexts have a map.
    from nsadmin.client.connection.address_map import AddressMap

    pairs = tuple((_parse_text(source), _parse_text(target)) for source, target in yaml_value.items())
    return _require_valid(pairs, AddressMap)


def _parse_kube(yaml_value: object) -> str:
    from nsadmin.client.connection.tunnels.tunnel_targets import parse_kube_target

    return _require_valid(_parse_text(yaml_value), parse_kube_target)


def _parse_ssh(yaml_value: object) -> str:
    from nsadmin.client.connection.tunnels.tunnel_targets import parse_ssh_target

    return _require_valid(_parse_text(yaml_value), parse_ssh_target)


def _require_valid(value: Value, parse: Callable[[Value], object]) -> Value:
    try:
        parse(value)
    except BadAddress as error:
        raise InvalidValue(f"is invalid: {error}") from None
    return value


def _field(key: str, shape: Shape) -> Field:
    """The field of a context or its TLS settings: caFile in the file is the attribute ca_file."""
    return Field(key, shape, attribute=re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", key))


_TEXT = Parsed(_parse_text)
_PATHS = Parsed(_parse_paths)
_TLS_FIELDS = (
    _field("caFile", _TEXT),
    _field("certFile", _TEXT),
    _field("keyFile", _TEXT),
    _field("keyPassword", _TEXT),
    _field("keyPasswordFrom", _TEXT),
    _field("serverName", _TEXT),
    _field("verify", Flag()),
)
_CREDENTIAL_FIELDS = (_field("accessKey", _TEXT), _field("secretKey", _TEXT), _field("securityToken", _TEXT))
_SOURCE_FIELDS = (
    _field("namesrvAddr", Parsed(_parse_addrs)),
    _field("configFile", _TEXT),
    _field("endpoint", _TEXT),
    _field("bundle", _TEXT),
)
_CONTEXT_FIELDS = (
    *_SOURCE_FIELDS,
    _field("credentials", _TEXT),
    _field("tls", Record(_TLS_FIELDS, lambda values: ContextTls(**values))),
    _field("timeout", Parsed(_parse_seconds)),
    _field("retries", WholeNumber(0, allowed="a whole number, 0 or more")),
    _field("concurrency", WholeNumber(1, allowed="a whole number, 1 or more")),
    _field("output", _TEXT),
    _field("addressMap", Parsed(_parse_address_map)),
    _field("proxies", Parsed(_parse_proxies)),
    _field("kube", Parsed(_parse_kube)),
    _field("ssh", Parsed(_parse_ssh)),
    _field("journals", _PATHS),
    _field("readOnly", Flag()),
    _field("color", Choice(CONTEXT_COLORS)),
)
_TOP_FIELDS = (*_CONTEXT_FIELDS, *_CREDENTIAL_FIELDS)
CONTEXT_KEYS = (*(field.key for field in _TOP_FIELDS), *(f"tls.{field.key}" for field in _TLS_FIELDS))
"""The keys that a context may have."""


def parse_context(yaml_value: object) -> Context:
    """Parse a context from its map; InvalidContextValue for an invalid value."""
    context, mistakes = read_shape(yaml_value, _CONTEXT, _ContextStyle())
    if mistakes:
        raise InvalidContextValue(mistakes[0].text)
    return cast(Context, context)


def _build_context(values: dict[str, Any]) -> Context:
    source_keys = [field.key for field in _SOURCE_FIELDS if field.attribute in values]
    if len(source_keys) > 1:
        raise InvalidValue(f"{' and '.join(source_keys)} exclude each other: keep one")
    if "kube" in values and "ssh" in values:
        raise InvalidValue("kube and ssh exclude each other: keep one")
    own_credentials = {field.attribute: values.pop(field.attribute, None) for field in _CREDENTIAL_FIELDS}
    if any(text is not None for text in own_credentials.values()):
        if "credentials" in values:
            raise InvalidValue("credentials and accessKey exclude each other: keep one")
        if own_credentials["access_key"] is None or own_credentials["secret_key"] is None:
            raise InvalidValue("accessKey and secretKey belong together: add the missing one")
        values["credentials"] = Credentials(**own_credentials)
    return Context(**values)


_CONTEXT = Record(_TOP_FIELDS, _build_context)


def context_to_map(context: Context) -> dict[str, object]:
    """Convert a context to the map that `parse_context` accepts."""
    context_map: dict[str, object] = {}
    for field in _CONTEXT_FIELDS:
        value = getattr(context, field.attribute)
        if isinstance(value, Credentials):
            context_map.update(_record_to_map(_CREDENTIAL_FIELDS, value))
        elif isinstance(value, ContextTls):
            context_map["tls"] = _record_to_map(_TLS_FIELDS, value, verify=True)
        elif field.key == "addressMap":
            context_map.update({"addressMap": dict(value)} if value else {})
        elif isinstance(value, tuple):
            context_map.update({field.key: list(value)} if value else {})
        elif value is not None and value is not False:
            context_map[field.key] = value
    return context_map


def _record_to_map(fields: Sequence[Field], record: Any, **defaults: object) -> Mapping[str, object]:
    return {
        field.key: value
        for field in fields
        if (value := getattr(record, field.attribute)) is not None and value != defaults.get(field.attribute)
    }


def reset_context_key(context: Context, key: str) -> Context:
    """Reset one key of a context, such as timeout or tls.caFile; KeyError for an unknown key."""
    if key in ("credentials", "accessKey", "secretKey"):
        return context._replace(credentials=None)
    if key == "securityToken":
        if isinstance(context.credentials, Credentials):
            return context._replace(credentials=context.credentials._replace(security_token=None))
        return context
    if key.startswith("tls."):
        attribute = _attribute_of_key(_TLS_FIELDS, key.removeprefix("tls."))
        tls = context.tls and context.tls._replace(**{attribute: ContextTls._field_defaults[attribute]})
        return context._replace(tls=tls)
    attribute = _attribute_of_key(_CONTEXT_FIELDS, key)
    return context._replace(**{attribute: Context._field_defaults[attribute]})


def _attribute_of_key(fields: Sequence[Field], key: str) -> str:
    return {field.key: field.attribute for field in fields}[key]
