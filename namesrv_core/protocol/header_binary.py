"""The ROCKETMQ header (type 1): fixed numbers, then remark and ext fields with their lengths.

A key or value of length zero is a null, so this form loses empty texts. Java's loses them too.
"""

from struct import Struct
from struct import error as StructError

from namesrv_core.errors import ProtocolError
from namesrv_core.protocol.codes import LANGUAGES, HeaderType
from namesrv_core.protocol.command import Command

# code, language, version, opaque, flag, remark length
_HEAD = Struct(">hbhiii")
_INT = Struct(">i")
_SHORT = Struct(">h")


def decode(header: bytes, body: bytes) -> Command:
    """Build the command of a header and a body. Raises ProtocolError where 5.5.0 closes the connection."""
    try:
        code, language, version, opaque, flag, size = _HEAD.unpack_from(header)
        remark, position = _text(header, _HEAD.size, size, size)
        (ext_size,) = _INT.unpack_from(header, position)
    except StructError:
        raise ProtocolError("truncated binary header") from None
    position += _INT.size
    ext = None
    if ext_size > 0:
        if position + ext_size > len(header):
            raise ProtocolError("ext fields are longer than their header")
        ext = _ext_fields(header, position, position + ext_size)
    return Command(
        code, ext, body,
        opaque=opaque, flag=flag, remark=remark, version=version, header_type=HeaderType.ROCKETMQ,
        language=LANGUAGES[language] if 0 <= language < len(LANGUAGES) else "",
    )  # fmt: skip


def _text(header: bytes, position: int, size: int, room: int) -> tuple[str | None, int]:
    end = position + size
    if not 0 <= size <= room or end > len(header):
        raise ProtocolError("a text is longer than its header")
    return (header[position:end].decode("utf-8", "replace") if size else None), end


def _ext_fields(header: bytes, position: int, end: int) -> dict[str, str | None]:
    fields: dict[str, str | None] = {}
    # A text may end after the announced end of the ext fields, but may not be longer than all of them.
    room = end - position
    try:
        while position < end:
            (size,) = _SHORT.unpack_from(header, position)
            key, position = _text(header, position + _SHORT.size, size, room)
            (size,) = _INT.unpack_from(header, position)
            value, position = _text(header, position + _INT.size, size, room)
            if key is not None:
                fields[key] = value
    except StructError:
        raise ProtocolError("truncated ext fields") from None
    return fields


def encode(command: Command) -> bytes:
    """Encode the header of a command, without the ext values that are null."""
    remark = (command.remark or "").encode("utf-8", "replace")
    try:
        language = LANGUAGES.index(command.language)
    except ValueError:
        language = LANGUAGES.index("OTHER")
    parts = [b""]
    for key, value in (command.ext or {}).items():
        if value is not None:
            name, text = key.encode("utf-8", "replace"), value.encode("utf-8", "replace")
            parts += (_SHORT.pack(len(name)), name, _INT.pack(len(text)), text)
    ext = b"".join(parts)
    head = _HEAD.pack(command.code, language, command.version, command.opaque, command.flag, len(remark))
    return b"".join((head, remark, _INT.pack(len(ext)), ext))
