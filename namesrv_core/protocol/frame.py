"""The frame around header and body: length prefix in, whole frames out, and the size limit."""

from struct import Struct

from namesrv_core.errors import ProtocolError

MAX_FRAME = 16 * 1024 * 1024
"""Bytes of the largest frame, its length word included (`com.rocketmq.remoting.frameMaxLength`)."""

_PREFIX = Struct(">ii")


def head(header_type: int, header: bytes, body_size: int) -> bytes:
    """What stands before the body of a frame: length word, header type and header length, header."""
    size = len(header)
    return _PREFIX.pack(4 + size + body_size, header_type << 24 | size) + header


def build(header_type: int, header: bytes, body: bytes) -> bytes:
    """One frame."""
    return head(header_type, header, len(body)) + body


class FrameReader:
    """Bytes in any pieces go in, the payloads of whole frames come out.

    A payload is what follows the length word: header word, header, body. Bytes of an unfinished frame are
    kept, each copied once, however many pieces a large frame comes in.
    """

    def __init__(self, limit: int = MAX_FRAME) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._wanted = 4

    @property
    def is_mid_frame(self) -> bool:
        return bool(self._rest)

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads that `data` completes.

        Raises ProtocolError where a length cannot be; what came before it in `data` is in `error.args[1]`.
        """
        if self._rest:
            self._rest += data
            if len(self._rest) < self._wanted:
                return []
            data = bytes(self._rest)
            self._rest = bytearray()
        payloads: list[bytes] = []
        position, end = 0, len(data)
        while end - position >= 4:
            length = int.from_bytes(data[position : position + 4], "big", signed=True)
            if length < 4 or length + 4 > self._limit:
                raise ProtocolError(f"a frame cannot have a length of {length}", payloads)
            after = position + 4 + length
            if after > end:
                break
            payloads.append(data[position + 4 : after])
            position = after
        if position < end:
            self._rest += data[position:] if position else data
            missing = 4 if end - position < 4 else 4 + int.from_bytes(data[position : position + 4], "big")
            self._wanted = missing
        return payloads
