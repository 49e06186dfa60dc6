"""Owns the keys of a context in the file, and how each is read and written."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nsadmin.client.connection.access_options import Credentials
from nsadmin.client.connection.addresses import DEFAULT_PROXY_PORT, BadAddress, parse_addrs
from nsadmin.console.contexts.context_records import Context, ContextTls

CONTEXT_COLORS = ("red", "green", "yellow", "blue", "magenta", "cyan")
MAX_TIMEOUT_SECONDS = 3600


class InvalidContextValue(ValueError):
    """A value is invalid. The text begins with the key and names valid values."""

    def __init__(self, problem_text: str, key_path: str = "") -> None:
        super().__init__(f"{key_path} {problem_text}" if key_path else problem_text)
        self._problem_text = problem_text
        self._key_path = key_path

    def within_key(self, outer_key: str) -> "InvalidContextValue":
        """The same error, for a value inside the map of this key."""
        return InvalidContextValue(
            self._problem_text, f"{outer_key}.{self._key_path}" if self._key_path else outer_key
        )


def _parse_text(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidContextValue("must be text: put it in quotes")
    if not value.strip():
        raise InvalidContextValue("is empty: remove it, or set a value")
    return value


def _parse_addrs(yaml_value: object) -> str:
    addr_list = yaml_value if isinstance(yaml_value, list) else [yaml_value]
    return ";".join(_parse_text(addr_item) for addr_item in addr_list)


def _parse_paths(yaml_value: object) -> tuple[str, ...]:
    return tuple(
        _parse_text(path_item) for path_item in (yaml_value if isinstance(yaml_value, list) else [yaml_value])
    )


def _parse_proxies(yaml_value: object) -> tuple[str, ...]:
    try:
        return parse_addrs(_parse_paths(yaml_value), DEFAULT_PROXY_PORT)
    except BadAddress as error:
        raise InvalidContextValue(f"is invalid: {error}") from None


def _parse_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidContextValue("must be true or false")
    return value


def _parse_seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= MAX_TIMEOUT_SECONDS:
        raise InvalidContextValue("must be a number of seconds above 0")
    return float(value)


def _count_parser(minimum: int) -> Callable[[object], int]:
    def parse_count(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
            raise InvalidContextValue(f"must be a whole number, {minimum} or more")
        return value

    return parse_count


def _parse_color(value: object) -> str:
    if value not in CONTEXT_COLORS:
        raise InvalidContextValue(f"must be one of {', '.join(CONTEXT_COLORS)}")
    return str(value)


def _parse_address_map(yaml_value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(yaml_value, dict):
        raise InvalidContextValue("must be a map, such as 10.0.0.0/8: gateway:10911")
    address_pairs = tuple(
        (_parse_text(source_addr), _parse_text(target_addr))
        for source_addr, target_addr in yaml_value.items()
    )
    # Imported late: few contexts have a map.
    from nsadmin.client.connection.address_map import AddressMap

    try:
        AddressMap(address_pairs)
    except BadAddress as error:
        raise InvalidContextValue(f"is invalid: {error}") from None
    return address_pairs


def _parse_kube(yaml_value: object) -> str:
    from nsadmin.client.connection.tunnels.tunnel_targets import parse_kube_target

    return _check_target(yaml_value, parse_kube_target)


def _parse_ssh(yaml_value: object) -> str:
    from nsadmin.client.connection.tunnels.tunnel_targets import parse_ssh_target

    return _check_target(yaml_value, parse_ssh_target)


def _check_target(yaml_value: object, parse_target: Callable[[str], object]) -> str:
    target_text = _parse_text(yaml_value)
    try:
        parse_target(target_text)
    except BadAddress as error:
        raise InvalidContextValue(f"is invalid: {error}") from None
    return target_text


class _ContextField(NamedTuple):
    file_key: str
    attribute_name: str
    parse_value: Callable[[object], Any]


_TLS_FIELDS = (
    _ContextField("caFile", "ca_file", _parse_text),
    _ContextField("certFile", "cert_file", _parse_text),
    _ContextField("keyFile", "key_file", _parse_text),
    _ContextField("keyPassword", "key_password", _parse_text),
    _ContextField("keyPasswordFrom", "key_password_from", _parse_text),
    _ContextField("serverName", "server_name", _parse_text),
    _ContextField("verify", "verify", _parse_flag),
)
_CREDENTIAL_FIELDS = (
    _ContextField("accessKey", "access_key", _parse_text),
    _ContextField("secretKey", "secret_key", _parse_text),
    _ContextField("securityToken", "security_token", _parse_text),
)


def _parse_tls(yaml_value: object) -> ContextTls:
    return ContextTls(**_parse_fields(_TLS_FIELDS, yaml_value))


_CONTEXT_FIELDS = (
    _ContextField("namesrvAddr", "namesrv_addr", _parse_addrs),
    _ContextField("configFile", "config_file", _parse_text),
    _ContextField("endpoint", "endpoint", _parse_text),
    _ContextField("bundle", "bundle", _parse_text),
    _ContextField("credentials", "credentials", _parse_text),
    _ContextField("tls", "tls", _parse_tls),
    _ContextField("timeout", "timeout", _parse_seconds),
    _ContextField("retries", "retries", _count_parser(0)),
    _ContextField("concurrency", "concurrency", _count_parser(1)),
    _ContextField("output", "output", _parse_text),
    _ContextField("addressMap", "address_map", _parse_address_map),
    _ContextField("proxies", "proxies", _parse_proxies),
    _ContextField("kube", "kube", _parse_kube),
    _ContextField("ssh", "ssh", _parse_ssh),
    _ContextField("journals", "journals", _parse_paths),
    _ContextField("readOnly", "read_only", _parse_flag),
    _ContextField("color", "color", _parse_color),
)
_SOURCE_FIELDS = _CONTEXT_FIELDS[:4]
_TOP_FIELDS = (*_CONTEXT_FIELDS, *_CREDENTIAL_FIELDS)
CONTEXT_KEYS = (
    *(context_field.file_key for context_field in _TOP_FIELDS),
    *(f"tls.{context_field.file_key}" for context_field in _TLS_FIELDS),
)
"""The keys that a context may have."""


def parse_context(yaml_value: object) -> Context:
    """Parse a context from its map; InvalidContextValue for an invalid value."""
    context_values = _parse_fields(_TOP_FIELDS, yaml_value)
    source_keys = [
        context_field.file_key
        for context_field in _SOURCE_FIELDS
        if context_field.attribute_name in context_values
    ]
    if len(source_keys) > 1:
        raise InvalidContextValue(f"{' and '.join(source_keys)} exclude each other: keep one")
    if "kube" in context_values and "ssh" in context_values:
        raise InvalidContextValue("kube and ssh exclude each other: keep one")
    own_credentials = {
        context_field.attribute_name: context_values.pop(context_field.attribute_name, None)
        for context_field in _CREDENTIAL_FIELDS
    }
    if any(credential_text is not None for credential_text in own_credentials.values()):
        if "credentials" in context_values:
            raise InvalidContextValue("credentials and accessKey exclude each other: keep one")
        if own_credentials["access_key"] is None or own_credentials["secret_key"] is None:
            raise InvalidContextValue("accessKey and secretKey belong together: add the missing one")
        context_values["credentials"] = Credentials(**own_credentials)
    return Context(**context_values)


def _parse_fields(known_fields: tuple[_ContextField, ...], yaml_value: object) -> dict[str, Any]:
    """Parse the values of a map, by attribute name; null counts as left out."""
    if not isinstance(yaml_value, dict):
        raise InvalidContextValue("must be a map")
    fields_by_key = {context_field.file_key: context_field for context_field in known_fields}
    field_values = {}
    for file_key, field_value in yaml_value.items():
        if file_key not in fields_by_key:
            raise InvalidContextValue(f"is unknown: use {', '.join(fields_by_key)}", str(file_key))
        if field_value is not None:
            try:
                field_values[fields_by_key[file_key].attribute_name] = fields_by_key[file_key].parse_value(
                    field_value
                )
            except InvalidContextValue as error:
                raise error.within_key(file_key) from None
    return field_values


def context_to_map(context: Context) -> dict[str, object]:
    """Convert a context to the map that `parse_context` accepts."""
    context_map: dict[str, object] = {}
    for context_field in _CONTEXT_FIELDS:
        field_value = getattr(context, context_field.attribute_name)
        if isinstance(field_value, Credentials):
            context_map.update(_record_to_map(_CREDENTIAL_FIELDS, field_value))
        elif isinstance(field_value, ContextTls):
            context_map["tls"] = _record_to_map(_TLS_FIELDS, field_value, verify=True)
        elif context_field.file_key == "addressMap":
            context_map.update({"addressMap": dict(field_value)} if field_value else {})
        elif isinstance(field_value, tuple):
            context_map.update({context_field.file_key: list(field_value)} if field_value else {})
        elif field_value is not None and field_value is not False:
            context_map[context_field.file_key] = field_value
    return context_map


def _record_to_map(
    written_fields: tuple[_ContextField, ...], record: Any, **default_values: object
) -> Mapping[str, object]:
    return {
        context_field.file_key: field_value
        for context_field in written_fields
        if (field_value := getattr(record, context_field.attribute_name)) is not None
        and field_value != default_values.get(context_field.attribute_name)
    }


def reset_context_key(context: Context, file_key: str) -> Context:
    """Reset one key of a context, such as timeout or tls.caFile; KeyError for an unknown key."""
    if file_key in ("credentials", "accessKey", "secretKey"):
        return context._replace(credentials=None)
    if file_key == "securityToken":
        own_credentials = context.credentials
        return context._replace(
            credentials=own_credentials._replace(security_token=None)
            if isinstance(own_credentials, Credentials)
            else own_credentials
        )
    outer_key, key_separator, inner_key = file_key.partition(".")
    if key_separator and outer_key == "tls":
        attribute_name = _attribute_of_key(_TLS_FIELDS, inner_key)
        if context.tls is None:
            return context
        return context._replace(
            tls=context.tls._replace(**{attribute_name: ContextTls._field_defaults[attribute_name]})
        )
    attribute_name = _attribute_of_key(_CONTEXT_FIELDS, file_key)
    return context._replace(**{attribute_name: Context._field_defaults[attribute_name]})


def _attribute_of_key(known_fields: tuple[_ContextField, ...], file_key: str) -> str:
    return {context_field.file_key: context_field.attribute_name for context_field in known_fields}[file_key]
