"""The JSON header (type 0): reads it as leniently as 5.5.0 does, and writes it as Java does.

Decoded headers are cached by the bytes around their opaque. A client repeats a request, and only the opaque
changes.
"""

import json
from collections.abc import Sequence

from namesrv_core.errors import FrameOverLimit, ProtocolError
from namesrv_core.protocol.codes import LANGUAGES, HeaderType
from namesrv_core.protocol.command import Command, ExtFields
from namesrv_core.protocol.fastjson import dumps, java_double, no_constant, to_int
from namesrv_core.protocol.limits import UNLIMITED, is_deeper

_HEADER_TYPES = tuple(HeaderType.__members__)
_MEMO_ENTRIES = 4096
_MEMO_BYTES = 1024
_ZERO = ord("0")
_memo: dict[tuple[bytes, bytes], tuple[int, ExtFields | None, int, str | None, str, int]] = {}


class _Decimal(str):
    """The text of a number with a fraction or an exponent."""

    __slots__ = ()


_decode = json.JSONDecoder(strict=False, parse_float=_Decimal, parse_constant=no_constant).decode


def decode(header: bytes, body: bytes, depth: int = UNLIMITED) -> Command:
    """Build the command of a header and a body. Raises ProtocolError where 5.5.0 closes the connection."""
    before, _, rest = header.partition(b'"opaque":')
    digits, _, after = rest.partition(b",")
    # An opaque that is missing is also 0, and a number with leading zeros such as 007 is no JSON.
    is_plain = digits.isdigit() and digits[0] != _ZERO
    if is_plain and len(digits) < 10:
        known = _memo.get((before, after))
        if known is not None:
            code, ext, flag, remark, language, version = known
            return Command(code, ext, body, int(digits), flag, remark, language, version)
    if is_deeper(header, depth):
        raise FrameOverLimit("maxJsonDepth", f"a header nested more than {depth} levels deep")
    command = _parse(header, body)
    if (
        is_plain
        and len(header) <= _MEMO_BYTES
        # Cache only if this is the header's one opaque: no escapes, and no opaque within another member.
        and header.count(b"opaque") == 1
        and b"\\" not in header
        and command.opaque == int(digits)
    ):
        if len(_memo) >= _MEMO_ENTRIES:
            _memo.clear()
        _memo[before, after] = (
            command.code, command.ext, command.flag, command.remark, command.language, command.version,
        )  # fmt: skip
    return command


def _parse(header: bytes, body: bytes) -> Command:
    try:
        fields = _decode(header.decode("utf-8", "replace"))
        if not isinstance(fields, dict):
            raise ValueError("it is no object")
        if fields.get("body") is not None:
            raise ValueError("it has a member body")
        _name(fields.get("serializeTypeCurrentRPC"), _HEADER_TYPES)
        return Command(
            _number(fields.get("code")),
            _ext_fields(fields.get("extFields")),
            body,
            opaque=_number(fields.get("opaque")),
            flag=_number(fields.get("flag")),
            remark=_ext_value(fields.get("remark")),
            language=_name(fields.get("language"), LANGUAGES),
            version=_number(fields.get("version")),
            header_type=HeaderType.JSON,
        )
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"unreadable JSON header: {error}") from None


def _number(value: object) -> int:
    return to_int(value, 32)


def _name(value: object, names: Sequence[str]) -> str:
    """Read an enum. Accept any text, known or not, except for too large a number. A number is an index."""
    if isinstance(value, str) and value.isdigit():
        _number(value)
    if isinstance(value, (bool, dict, list)):
        raise ValueError(f"{value!r} is no name")
    if isinstance(value, int):
        if not 0 <= value < len(names):
            raise ValueError(f"nothing has the number {value}")
        return names[value]
    return str(value) if value else ""


def _ext_fields(value: object) -> ExtFields | None:
    if value is None or value == "":
        return None
    if not isinstance(value, dict):
        raise ValueError("extFields is no object")
    return {key: _ext_value(item) for key, item in value.items()}


def _ext_value(value: object) -> str | None:
    if isinstance(value, _Decimal):
        # Plain decimals keep their digits. Numbers with an exponent become doubles.
        return java_double(float(value)) if "e" in value.lower() else str(value)
    if value is None or isinstance(value, str):
        return value
    return dumps(value).decode("utf-8", "replace")


def encode(command: Command) -> bytes:
    """Encode the header of a command: compact, members sorted, null members left out."""
    ext = "" if command.ext is None else f'"extFields":{dumps(command.ext).decode()},'
    remark = "" if command.remark is None else f'"remark":{dumps(command.remark).decode()},'
    return (
        f'{{"code":{int(command.code)},{ext}"flag":{command.flag},"language":"{command.language}",'
        f'"opaque":{command.opaque},{remark}"serializeTypeCurrentRPC":"JSON","version":{command.version}}}'
    ).encode()
