"""The ROCKETMQ header (type 1): fixed numbers, then remark and ext fields with their lengths.

A key or value of length zero is a null, so this form loses empty texts. Java's loses them too.
"""

from struct import Struct
from struct import error as StructError

from namesrv_core.errors import ProtocolError
from namesrv_core.protocol import java_utf8
from namesrv_core.protocol.codes import LANGUAGE_NAMES, HeaderType
from namesrv_core.protocol.command import RemotingCommand

# code, language, version, opaque, flag, remark length
_FIXED_HEAD = Struct(">hbhiii")
_INT_FIELD = Struct(">i")
_SHORT_FIELD = Struct(">h")


def decode(header_bytes: bytes, body_bytes: bytes) -> RemotingCommand:
    """Build the command of a header and a body. Raises ProtocolError where 5.5.0 closes the connection."""
    try:
        code, language_code, version, opaque, flag, remark_size = _FIXED_HEAD.unpack_from(header_bytes)
        remark, position = _read_text(header_bytes, _FIXED_HEAD.size, remark_size, remark_size)
        (ext_size,) = _INT_FIELD.unpack_from(header_bytes, position)
    except StructError:
        raise ProtocolError("truncated binary header") from None
    position += _INT_FIELD.size
    ext_fields = None
    if ext_size > 0:
        if position + ext_size > len(header_bytes):
            raise ProtocolError("ext fields are longer than their header")
        ext_fields = _read_ext_fields(header_bytes, position, position + ext_size)
    return RemotingCommand(
        code, ext_fields, body_bytes,
        opaque=opaque, flag=flag, remark=remark, version=version, header_type=HeaderType.ROCKETMQ,
        language=LANGUAGE_NAMES[language_code] if 0 <= language_code < len(LANGUAGE_NAMES) else "",
    )  # fmt: skip


def _read_text(header_bytes: bytes, position: int, text_size: int, max_size: int) -> tuple[str | None, int]:
    text_end = position + text_size
    if not 0 <= text_size <= max_size or text_end > len(header_bytes):
        raise ProtocolError("a text is longer than its header")
    text_bytes = header_bytes[position:text_end]
    return (text_bytes.decode("utf-8", java_utf8.REPLACE) if text_size else None), text_end


def _read_ext_fields(header_bytes: bytes, position: int, fields_end: int) -> dict[str, str | None]:
    ext_fields: dict[str, str | None] = {}
    # A text may end after the announced end of the ext fields, but may not be longer than all of them.
    max_size = fields_end - position
    try:
        while position < fields_end:
            (text_size,) = _SHORT_FIELD.unpack_from(header_bytes, position)
            name, position = _read_text(header_bytes, position + _SHORT_FIELD.size, text_size, max_size)
            (text_size,) = _INT_FIELD.unpack_from(header_bytes, position)
            value, position = _read_text(header_bytes, position + _INT_FIELD.size, text_size, max_size)
            if name is not None:
                ext_fields[name] = value
    except StructError:
        raise ProtocolError("truncated ext fields") from None
    return ext_fields


def encode(command: RemotingCommand) -> bytes:
    """Encode the header of a command, without the ext values that are null."""
    remark_bytes = (command.remark or "").encode("utf-8", "replace")
    try:
        code = LANGUAGE_NAMES.index(command.language)
    except ValueError:
        code = LANGUAGE_NAMES.index("OTHER")
    parts = [b""]
    for name, value in (command.ext or {}).items():
        if value is not None:
            name_bytes, value_bytes = name.encode("utf-8", "replace"), value.encode("utf-8", "replace")
            parts += (
                _SHORT_FIELD.pack(len(name_bytes)),
                name_bytes,
                _INT_FIELD.pack(len(value_bytes)),
                value_bytes,
            )
    ext_bytes = b"".join(parts)
    fixed_head = _FIXED_HEAD.pack(
        command.code, code, command.version, command.opaque, command.flag, len(remark_bytes)
    )
    return b"".join((fixed_head, remark_bytes, _INT_FIELD.pack(len(ext_bytes)), ext_bytes))
