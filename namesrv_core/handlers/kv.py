"""The handlers for the KV config: put, get, delete and list."""

from namesrv_core.errors import OverLimit, QueryNotFound, RequestError
from namesrv_core.handlers.answer import Answer
from namesrv_core.protocol import bodies, headers
from namesrv_core.protocol.command import Command, reply
from namesrv_core.state.kv import entry_size
from namesrv_core.state.limits import effective
from namesrv_core.state.name_server import NameServerState


def put(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """PUT_KV_CONFIG."""
    header = headers.read(headers.PutKvConfig, request.ext)
    if header.namespace is None or header.key is None:
        raise RequestError("namespace or key is null")
    _check_room(state, header.namespace, header.key, header.value)
    return reply(request), (state.kv.put(header.namespace, header.key, header.value),)


def _check_room(state: NameServerState, namespace: str, key: str, value: str | None) -> None:
    """Raise OverLimit if the entry, or all entries together with it, would be too large."""
    size = entry_size(namespace, key, value)
    most, in_all = effective(state.settings.maxKvEntryBytes), effective(state.settings.maxKvBytes)
    if size > most:
        raise OverLimit("maxKvEntryBytes", f"a KV entry of {size} bytes")
    grown = size - state.kv.size_of(namespace, key)
    if grown > 0 and state.kv.size + grown > in_all:
        raise OverLimit("maxKvBytes", f"the KV config has {state.kv.size} bytes, {grown} more are too many")


def get(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """GET_KV_CONFIG."""
    header = headers.read(headers.KvKey, request.ext)
    value = None
    if header.namespace is not None and header.key is not None:
        value = state.kv.get(header.namespace, header.key)
    if value is None:
        namespace, key = _shown(header.namespace), _shown(header.key)
        raise QueryNotFound(f"No config item, Namespace: {namespace} Key: {key}")
    return reply(request, ext={"value": value}), ()


def delete(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """DELETE_KV_CONFIG. The answer is the same if the key does not exist."""
    header = headers.read(headers.KvKey, request.ext)
    if header.namespace is None or header.key is None:
        return reply(request), ()
    event = state.kv.delete(header.namespace, header.key)
    return reply(request), () if event is None else (event,)


def list_namespace(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """GET_KVLIST_BY_NAMESPACE."""
    namespace = headers.read(headers.KvNamespace, request.ext).namespace
    table = state.kv.tables.get(namespace) if namespace is not None else None
    if table is None:
        raise QueryNotFound(f"No config item, Namespace: {_shown(namespace)}")
    return reply(request, body=bodies.kv_table(table)), ()


def _shown(text: str | None) -> str:
    return "null" if text is None else text
