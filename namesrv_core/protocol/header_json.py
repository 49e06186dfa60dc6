"""The JSON header (type 0): reads it as leniently as 5.5.0 does, and writes it as Java does.

Decoded headers are cached by the bytes around their opaque. A client repeats a request, and only the opaque
changes.
"""

from collections.abc import Sequence

from namesrv_core.errors import FrameOverLimit, ProtocolError
from namesrv_core.protocol import java_utf8
from namesrv_core.protocol.bounded_cache import BoundedCache
from namesrv_core.protocol.codes import LANGUAGE_NAMES, HeaderType
from namesrv_core.protocol.command import ExtFields, RemotingCommand
from namesrv_core.protocol.fastjson import DecimalNumber, encode_json, json_decoder, to_int, to_text
from namesrv_core.protocol.size_limits import UNLIMITED, is_nested_deeper

_HEADER_TYPES = tuple(HeaderType.__members__)
_MAX_CACHED_HEADER_BYTES = 1024
_MAX_CACHE_BYTES = 8 * 1024 * 1024
"""The bytes of all cached headers together: about 4,000 headers of clients."""
_ENTRY_BYTES, _EXT_FIELD_BYTES = 700, 200
_ZERO_DIGIT = ord("0")
_decoded_headers: BoundedCache[
    tuple[bytes, bytes], tuple[int, ExtFields | None, int, str | None, str, int]
] = BoundedCache(_MAX_CACHE_BYTES)


def decode(header_bytes: bytes, body_bytes: bytes, max_depth: int = UNLIMITED) -> RemotingCommand:
    """Build the command of a header and a body. Raises ProtocolError where 5.5.0 closes the connection."""
    before, _, rest = header_bytes.partition(b'"opaque":')
    digits, _, after = rest.partition(b",")
    # An opaque that is missing is also 0, and a number with leading zeros such as 007 is no JSON.
    is_plain_opaque = digits.isdigit() and digits[0] != _ZERO_DIGIT
    if is_plain_opaque and len(digits) < 10:
        known = _decoded_headers.get((before, after))
        if known is not None:
            code, ext_fields, flag, remark, language, version = known
            return RemotingCommand(code, ext_fields, body_bytes, int(digits), flag, remark, language, version)
    if is_nested_deeper(header_bytes, max_depth):
        raise FrameOverLimit("maxJsonDepth", f"a header nested more than {max_depth} levels deep")
    command = _parse_header(header_bytes, body_bytes)
    if (
        is_plain_opaque
        and len(header_bytes) <= _MAX_CACHED_HEADER_BYTES
        # Cache only if this is the header's one opaque: no escapes, and no opaque within another member.
        and header_bytes.count(b"opaque") == 1
        and b"\\" not in header_bytes
        and command.opaque == int(digits)
    ):
        known = (
            command.code, command.ext, command.flag, command.remark, command.language, command.version,
        )  # fmt: skip
        size = 2 * len(header_bytes) + _EXT_FIELD_BYTES * len(command.ext or ()) + _ENTRY_BYTES
        _decoded_headers.put((before, after), known, size)
    return command


def _parse_header(header_bytes: bytes, body_bytes: bytes) -> RemotingCommand:
    try:
        fields = json_decoder.decode(header_bytes.decode("utf-8", java_utf8.REPLACE_IN_JSON))
        if not isinstance(fields, dict):
            raise ValueError("it is not an object")
        if fields.get("body") is not None:
            raise ValueError("it has a member body")
        _parse_enum_name(fields.get("serializeTypeCurrentRPC"), _HEADER_TYPES)
        return RemotingCommand(
            _parse_number(fields.get("code")),
            _parse_ext_fields(fields.get("extFields")),
            body_bytes,
            opaque=_parse_number(fields.get("opaque")),
            flag=_parse_number(fields.get("flag")),
            remark=_parse_ext_value(fields.get("remark")),
            language=_parse_enum_name(fields.get("language"), LANGUAGE_NAMES),
            version=_parse_number(fields.get("version")),
            header_type=HeaderType.JSON,
        )
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"invalid JSON header: {error}") from None


def _parse_number(value: object) -> int:
    return to_int(value, 32)


def _parse_enum_name(value: object, enum_names: Sequence[str]) -> str:
    """Read an enum. Accept any text, known or not, except for too large a number. A number is an index."""
    if isinstance(value, str) and value.isdigit():
        _parse_number(value)
    if isinstance(value, DecimalNumber):
        value = _parse_number(value)
    if isinstance(value, (bool, dict, list)):
        raise ValueError(f"{value!r} is not a name")
    if isinstance(value, int):
        if not 0 <= value < len(enum_names):
            raise ValueError(f"unknown number {value}")
        return enum_names[value]
    return str(value) if value else ""


def _parse_ext_fields(value: object) -> ExtFields | None:
    if value is None or value == "":
        return None
    if not isinstance(value, dict):
        raise ValueError("extFields is not an object")
    return {name: _parse_ext_value(value) for name, value in value.items()}


def _parse_ext_value(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return (to_text(value) or "").encode("utf-8", "replace").decode()


def encode(command: RemotingCommand) -> bytes:
    """Encode the header of a command: compact, members sorted, null members left out."""
    ext_text = "" if command.ext is None else f'"extFields":{encode_json(command.ext).decode()},'
    remark_text = "" if command.remark is None else f'"remark":{encode_json(command.remark).decode()},'
    return (
        f'{{"code":{int(command.code)},{ext_text}"flag":{command.flag},"language":"{command.language}",'
        f'"opaque":{command.opaque},{remark_text}"serializeTypeCurrentRPC":"JSON","version":{command.version}}}'
    ).encode()
