"""The handlers for the KV config: put, get, delete and list."""

from namesrv_core.errors import OverLimit, QueryNotFound, RequestError
from namesrv_core.handlers.handler_types import HandlerAnswer
from namesrv_core.protocol import headers, json_bodies
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.protocol.size_limits import effective_limit
from namesrv_core.state.kv_config import entry_size, stored_size
from namesrv_core.state.name_server_state import NameServerState


def put_kv_config(state: NameServerState, request: RemotingCommand, *_: int) -> HandlerAnswer:
    header = headers.read_header(headers.PutKvConfig, request.ext)
    if header.namespace is None or header.key is None:
        raise RequestError("namespace or key is null")
    _check_kv_limits(state, header.namespace, header.key, header.value)
    return build_reply(request), (state.kv_config.put_value(header.namespace, header.key, header.value),)


def _check_kv_limits(state: NameServerState, namespace: str, key: str, value: str | None) -> None:
    """Raise OverLimit if the entry, or all entries together with it, would be too large."""
    size = entry_size(namespace, key, value)
    max_entry_bytes, max_total_bytes = (
        effective_limit(state.settings.maxKvEntryBytes),
        effective_limit(state.settings.maxKvBytes),
    )
    if size > max_entry_bytes:
        raise OverLimit("maxKvEntryBytes", f"a KV entry of {size} bytes")
    added = stored_size(namespace, key, value) - state.kv_config.stored_size_of(namespace, key)
    if added > 0 and state.kv_config.total_bytes + added > max_total_bytes:
        raise OverLimit("maxKvBytes", f"a KV config of {state.kv_config.total_bytes + added} bytes")


def get_kv_config(state: NameServerState, request: RemotingCommand, *_: int) -> HandlerAnswer:
    header = headers.read_header(headers.KvKey, request.ext)
    value = None
    if header.namespace is not None and header.key is not None:
        value = state.kv_config.get_value(header.namespace, header.key)
    if value is None:
        namespace, key = _format_nullable(header.namespace), _format_nullable(header.key)
        raise QueryNotFound(f"No config item, Namespace: {namespace} Key: {key}")
    return build_reply(request, ext={"value": value}), ()


def delete_kv_config(state: NameServerState, request: RemotingCommand, *_: int) -> HandlerAnswer:
    """DELETE_KV_CONFIG. The answer is the same if the key does not exist."""
    header = headers.read_header(headers.KvKey, request.ext)
    if header.namespace is None or header.key is None:
        return build_reply(request), ()
    event = state.kv_config.delete_key(header.namespace, header.key)
    return build_reply(request), () if event is None else (event,)


def list_kv_namespace(state: NameServerState, request: RemotingCommand, *_: int) -> HandlerAnswer:
    namespace = headers.read_header(headers.KvNamespace, request.ext).namespace
    table = state.kv_config.tables_by_namespace.get(namespace) if namespace is not None else None
    if table is None:
        raise QueryNotFound(f"No config item, Namespace: {_format_nullable(namespace)}")
    return build_reply(request, body=json_bodies.encode_kv_table(table)), ()


def _format_nullable(nullable_text: str | None) -> str:
    return "null" if nullable_text is None else nullable_text
