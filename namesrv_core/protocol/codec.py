"""The codec between commands and frames. The first byte of the header word gives the header's form."""

from namesrv_core.errors import FrameOverLimit, ProtocolError
from namesrv_core.protocol import frame, header_binary, header_json, size_limits
from namesrv_core.protocol.codes import HeaderType
from namesrv_core.protocol.command import RemotingCommand


def encode_command(command: RemotingCommand) -> bytes:
    """The frame of a command. `command.header_type` gives the form of its header."""
    return b"".join(encode_command_parts(command))


def encode_command_parts(command: RemotingCommand) -> tuple[bytes, bytes]:
    """The frame's head and the command's body. Callers join many frames, so the body is not copied."""
    codec = header_binary if command.header_type == HeaderType.ROCKETMQ else header_json
    return frame.encode_frame_head(
        command.header_type, codec.encode(command), len(command.body)
    ), command.body


def decode_command(
    payload: bytes, limits: size_limits.DecodeLimits = size_limits.NO_LIMITS
) -> RemotingCommand:
    """Decode the payload of one frame (from `FrameReader`). Raises ProtocolError if it is no command."""
    header_type_code = payload[0]
    header_end = 4 + int.from_bytes(payload[1:4], "big")
    if header_end > len(payload):
        raise ProtocolError("the header is longer than its frame")
    if header_end - 4 > limits.header_bytes:
        raise FrameOverLimit("maxHeaderBytes", f"a header of {header_end - 4} bytes")
    header_bytes = payload[4:header_end]
    body = payload.body if isinstance(payload, frame.SplitPayload) else payload[header_end:]
    if header_type_code == HeaderType.JSON:
        command = header_json.decode(header_bytes, body, limits.json_depth)
    elif header_type_code == HeaderType.ROCKETMQ:
        command = header_binary.decode(header_bytes, body)
    else:
        raise ProtocolError(f"unknown header type {header_type_code}")
    if command.ext is not None and len(command.ext) > limits.ext_fields:
        raise FrameOverLimit("maxExtFields", f"a header with {len(command.ext)} ext fields")
    return command
