"""The handlers for the KV config: put, get, delete and list."""

from namesrv_core.errors import OverLimit, QueryNotFound, RequestError
from namesrv_core.handlers.handler_types import HandlerAnswer
from namesrv_core.protocol import headers, json_bodies
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.state.kv_config import entry_size, stored_size
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.server_limits import effective_limit


def put_kv_config(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """PUT_KV_CONFIG."""
    request_header = headers.read_header(headers.PutKvConfig, request.ext)
    if request_header.namespace is None or request_header.key is None:
        raise RequestError("namespace or key is null")
    _check_kv_limits(state, request_header.namespace, request_header.key, request_header.value)
    return build_reply(request), (
        state.kv_config.put_value(request_header.namespace, request_header.key, request_header.value),
    )


def _check_kv_limits(state: NameServerState, namespace: str, key: str, value: str | None) -> None:
    """Raise OverLimit if the entry, or all entries together with it, would be too large."""
    entry_bytes = entry_size(namespace, key, value)
    max_entry_bytes, max_total_bytes = (
        effective_limit(state.settings.maxKvEntryBytes),
        effective_limit(state.settings.maxKvBytes),
    )
    if entry_bytes > max_entry_bytes:
        raise OverLimit("maxKvEntryBytes", f"a KV entry of {entry_bytes} bytes")
    added_bytes = stored_size(namespace, key, value) - state.kv_config.stored_size_of(namespace, key)
    if added_bytes > 0 and state.kv_config.total_bytes + added_bytes > max_total_bytes:
        raise OverLimit(
            "maxKvBytes",
            f"a KV config of {state.kv_config.total_bytes + added_bytes} bytes",
        )


def get_kv_config(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """GET_KV_CONFIG."""
    request_header = headers.read_header(headers.KvKey, request.ext)
    value = None
    if request_header.namespace is not None and request_header.key is not None:
        value = state.kv_config.get_value(request_header.namespace, request_header.key)
    if value is None:
        namespace, key = _format_nullable(request_header.namespace), _format_nullable(request_header.key)
        raise QueryNotFound(f"No config item, Namespace: {namespace} Key: {key}")
    return build_reply(request, ext={"value": value}), ()


def delete_kv_config(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """DELETE_KV_CONFIG. The answer is the same if the key does not exist."""
    request_header = headers.read_header(headers.KvKey, request.ext)
    if request_header.namespace is None or request_header.key is None:
        return build_reply(request), ()
    delete_event = state.kv_config.delete_key(request_header.namespace, request_header.key)
    return build_reply(request), () if delete_event is None else (delete_event,)


def list_kv_namespace(
    state: NameServerState, request: RemotingCommand, channel_id: int, now_ms: int
) -> HandlerAnswer:
    """GET_KVLIST_BY_NAMESPACE."""
    namespace = headers.read_header(headers.KvNamespace, request.ext).namespace
    kv_table = state.kv_config.tables_by_namespace.get(namespace) if namespace is not None else None
    if kv_table is None:
        raise QueryNotFound(f"No config item, Namespace: {_format_nullable(namespace)}")
    return build_reply(request, body=json_bodies.encode_kv_table(kv_table)), ()


def _format_nullable(nullable_text: str | None) -> str:
    return "null" if nullable_text is None else nullable_text
