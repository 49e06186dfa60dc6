"""The handlers that read and change the server's own configuration."""

import json
from collections.abc import Mapping

from namesrv_core.errors import RequestError
from namesrv_core.handlers.handler_types import HandlerAnswer
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.settings import encode_setting_line

_MAX_LISTED_NAMESPACES = 1000


def get_namesrv_config(state: NameServerState, request: RemotingCommand, *_: int) -> HandlerAnswer:
    """GET_NAMESRV_CONFIG. With a journal it shows its state ("journal=ok", "journal=failing: ...").

    No request of the protocol lists the namespaces of the KV config. A request with the field `kvNamespaces`
    gets them here, unless there are many. Without it the body has Java's keys.
    """
    namespaces = sorted(state.kv_config.tables_by_namespace)
    is_asked = "kvNamespaces" in (request.ext or {})
    listed = (
        {"kvNamespaces": json.dumps(namespaces)}
        if is_asked and len(namespaces) <= _MAX_LISTED_NAMESPACES
        else {}
    )
    body = state.settings.encode_body({**state.actual_settings, **listed})
    if state.journal_status is not None:
        body += encode_setting_line("journal", state.journal_status)
    return build_reply(request, body=body), ()


def update_namesrv_config(state: NameServerState, request: RemotingCommand, *_: int) -> HandlerAnswer:
    """UPDATE_NAMESRV_CONFIG: change all keys of the body, or none if one of them is protected."""
    if not request.body:
        return build_reply(request), ()
    return build_reply(request), (state.settings.apply_update(_parse_properties(request.body)),)


def _parse_properties(data: bytes) -> Mapping[str, str]:
    # Import javaproperties here, as storage/settings_file does: it takes 3 MiB, and few servers need it.
    from javaproperties import InvalidUEscapeError, loads

    try:
        return loads(data.decode("utf-8", "replace"))
    except InvalidUEscapeError:
        raise RequestError("string2Properties error") from None
