"""The handlers that read and change the server's own configuration."""

from collections.abc import Mapping

from namesrv_core.errors import RequestError
from namesrv_core.handlers.answer import Answer
from namesrv_core.protocol.command import Command, reply
from namesrv_core.state.name_server import NameServerState


def get(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """GET_NAMESRV_CONFIG. With a journal it shows its state ("journal=ok", "journal=failing: ...")."""
    body = state.settings.body(state.shown)
    if state.journal_status is not None:
        body += f"journal={state.journal_status}\n".encode()
    return reply(request, body=body), ()


def update(state: NameServerState, request: Command, channel: int, now: int) -> Answer:
    """UPDATE_NAMESRV_CONFIG: change all keys of the body, or none if one of them is protected."""
    if not request.body:
        return reply(request), ()
    return reply(request), (state.settings.update(_properties(request.body)),)


def _properties(body: bytes) -> Mapping[str, str]:
    # Import javaproperties here, as storage/settings_file does: it takes 3 MiB, and few servers need it.
    from javaproperties import InvalidUEscapeError, loads

    try:
        return loads(body.decode("utf-8", "replace"))
    except InvalidUEscapeError:
        raise RequestError("string2Properties error") from None
