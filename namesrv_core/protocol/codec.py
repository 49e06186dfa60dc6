"""The codec between commands and frames. The first byte of the header word gives the header's form."""

from namesrv_core.errors import FrameOverLimit, ProtocolError
from namesrv_core.protocol import frame, header_binary, header_json, limits
from namesrv_core.protocol.codes import HeaderType
from namesrv_core.protocol.command import Command


def encode(command: Command) -> bytes:
    """The frame of a command. `command.header_type` gives the form of its header."""
    return b"".join(parts(command))


def parts(command: Command) -> tuple[bytes, bytes]:
    """The frame's head and the command's body. Callers join many frames, so the body is not copied."""
    form = header_binary if command.header_type == HeaderType.ROCKETMQ else header_json
    return frame.head(command.header_type, form.encode(command), len(command.body)), command.body


def decode(payload: bytes, within: limits.Limits = limits.NONE) -> Command:
    """Decode the payload of one frame (from `FrameReader`). Raises ProtocolError if it is no command."""
    kind = payload[0]
    end = 4 + int.from_bytes(payload[1:4], "big")
    if end > len(payload):
        raise ProtocolError("the header is longer than its frame")
    if end - 4 > within.header_bytes:
        raise FrameOverLimit("maxHeaderBytes", f"a header of {end - 4} bytes")
    header = payload[4:end]
    body = payload.body if isinstance(payload, frame.Apart) else payload[end:]
    if kind == HeaderType.JSON:
        command = header_json.decode(header, body, within.json_depth)
    elif kind == HeaderType.ROCKETMQ:
        command = header_binary.decode(header, body)
    else:
        raise ProtocolError(f"no header has the type {kind}")
    if command.ext is not None and len(command.ext) > within.ext_fields:
        raise FrameOverLimit("maxExtFields", f"a header with {len(command.ext)} ext fields")
    return command
