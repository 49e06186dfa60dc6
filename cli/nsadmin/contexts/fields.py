"""The keys of a context in the file, and how each is read and written."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nsadmin.client.connection.access_options import Credentials
from nsadmin.client.connection.addresses import BadAddress
from nsadmin.contexts.records import Context, ContextTls

COLORS = ("red", "green", "yellow", "blue", "magenta", "cyan")
LONGEST_TIMEOUT = 3600


class Wrong(ValueError):
    """A value that cannot be; the text begins with its key and says what it has to be."""

    def __init__(self, text: str, key: str = "") -> None:
        super().__init__(f"{key} {text}" if key else text)
        self._text = text
        self._key = key

    def within(self, key: str) -> "Wrong":
        """The same, of a value that has a key or lies in a map that has one."""
        return Wrong(self._text, f"{key}.{self._key}" if self._key else key)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Wrong("has to be a text: put it in quotes")
    if not value.strip():
        raise Wrong("is empty: leave it out, or say what it is")
    return value


def _addrs(value: object) -> str:
    items = value if isinstance(value, list) else [value]
    return ";".join(_text(item) for item in items)


def _paths(value: object) -> tuple[str, ...]:
    return tuple(_text(item) for item in (value if isinstance(value, list) else [value]))


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise Wrong("has to be true or false")
    return value


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= LONGEST_TIMEOUT:
        raise Wrong("has to be a number of seconds, more than 0")
    return float(value)


def _count(least: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise Wrong(f"has to be a whole number, {least} or more")
        return value

    return read


def _color(value: object) -> str:
    if value not in COLORS:
        raise Wrong(f"has to be one of {', '.join(COLORS)}")
    return str(value)


def _address_map(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise Wrong("has to be a map, such as 10.0.0.0/8: gateway:10911")
    pairs = tuple((_text(source), _text(target)) for source, target in value.items())
    # Imported late: few contexts have a map.
    from nsadmin.client.connection.address_map import AddressMap

    try:
        AddressMap(pairs)
    except BadAddress as error:
        raise Wrong(f"cannot be: {error}") from None
    return pairs


class _Field(NamedTuple):
    key: str
    name: str
    read: Callable[[object], Any]


_TLS = (
    _Field("caFile", "ca_file", _text),
    _Field("certFile", "cert_file", _text),
    _Field("keyFile", "key_file", _text),
    _Field("keyPassword", "key_password", _text),
    _Field("keyPasswordFrom", "key_password_from", _text),
    _Field("serverName", "server_name", _text),
    _Field("verify", "verify", _flag),
)
_CREDENTIALS = (
    _Field("accessKey", "access_key", _text),
    _Field("secretKey", "secret_key", _text),
    _Field("securityToken", "security_token", _text),
)


def _tls(value: object) -> ContextTls:
    return ContextTls(**_read(_TLS, value))


_FIELDS = (
    _Field("namesrvAddr", "namesrv_addr", _addrs),
    _Field("configFile", "config_file", _text),
    _Field("endpoint", "endpoint", _text),
    _Field("credentials", "credentials", _text),
    _Field("tls", "tls", _tls),
    _Field("timeout", "timeout", _seconds),
    _Field("retries", "retries", _count(0)),
    _Field("concurrency", "concurrency", _count(1)),
    _Field("output", "output", _text),
    _Field("addressMap", "address_map", _address_map),
    _Field("journals", "journals", _paths),
    _Field("readOnly", "read_only", _flag),
    _Field("color", "color", _color),
)
_WAYS = _FIELDS[:3]
_TOP = (*_FIELDS, *_CREDENTIALS)
KEYS = (*(field.key for field in _TOP), *(f"tls.{field.key}" for field in _TLS))
"""The keys that a context may have."""


def read(item: object) -> Context:
    """A context from its map; Wrong, whose text begins with the key, for what cannot be."""
    values = _read(_TOP, item)
    ways = [field.key for field in _WAYS if field.name in values]
    if len(ways) > 1:
        raise Wrong(f"{' and '.join(ways)} exclude each other: leave one")
    own = {field.name: values.pop(field.name, None) for field in _CREDENTIALS}
    if any(text is not None for text in own.values()):
        if "credentials" in values:
            raise Wrong("credentials and accessKey exclude each other: leave one")
        if own["access_key"] is None or own["secret_key"] is None:
            raise Wrong("accessKey and secretKey belong together: one is missing")
        values["credentials"] = Credentials(**own)
    return Context(**values)


def _read(fields: tuple[_Field, ...], item: object) -> dict[str, Any]:
    """The values of a map by their names; what is null counts as left out."""
    if not isinstance(item, dict):
        raise Wrong("has to be a map")
    by_key = {field.key: field for field in fields}
    values = {}
    for key, value in item.items():
        if key not in by_key:
            raise Wrong(f"is unknown; there are: {', '.join(by_key)}", str(key))
        if value is not None:
            try:
                values[by_key[key].name] = by_key[key].read(value)
            except Wrong as error:
                raise error.within(key) from None
    return values


def written(context: Context) -> dict[str, object]:
    """A context as the map that `read` makes it of."""
    found: dict[str, object] = {}
    for field in _FIELDS:
        value = getattr(context, field.name)
        if isinstance(value, Credentials):
            found.update(_written(_CREDENTIALS, value))
        elif isinstance(value, ContextTls):
            found["tls"] = _written(_TLS, value, verify=True)
        elif field.key == "addressMap":
            found.update({"addressMap": dict(value)} if value else {})
        elif field.key == "journals":
            found.update({"journals": list(value)} if value else {})
        elif value is not None and value is not False:
            found[field.key] = value
    return found


def _written(fields: tuple[_Field, ...], record: Any, **usual: object) -> Mapping[str, object]:
    return {
        field.key: value
        for field in fields
        if (value := getattr(record, field.name)) is not None and value != usual.get(field.name)
    }


def without(context: Context, key: str) -> Context:
    """A context with one key (such as timeout, or tls.caFile) back to what it is when left out.

    KeyError for what is no key.
    """
    if key in ("credentials", "accessKey", "secretKey"):
        return context._replace(credentials=None)
    if key == "securityToken":
        own = context.credentials
        return context._replace(
            credentials=own._replace(security_token=None) if isinstance(own, Credentials) else own
        )
    outer, dot, inner = key.partition(".")
    if dot and outer == "tls":
        name = _name(_TLS, inner)
        if context.tls is None:
            return context
        return context._replace(tls=context.tls._replace(**{name: ContextTls._field_defaults[name]}))
    name = _name(_FIELDS, key)
    return context._replace(**{name: Context._field_defaults[name]})


def _name(fields: tuple[_Field, ...], key: str) -> str:
    return {field.key: field.name for field in fields}[key]
