"""The frame around header and body: its length prefix, the reader of whole frames, and the size limit."""

from io import BytesIO
from struct import Struct

from namesrv_core.errors import FrameOverLimit, ProtocolError

MAX_FRAME = 16 * 1024 * 1024
"""The largest frame, including its length word (upstream: `com.rocketmq.remoting.frameMaxLength`)."""

_PREFIX = Struct(">ii")
_LENGTH = Struct(">i")
_LARGE = 1 << 16
_BEGUN = 4
"""Allocate memory for a whole large frame only once 1/4 of it has arrived: its length word may be false."""


def head(header_type: int, header: bytes, body_size: int) -> bytes:
    """The bytes before the body of a frame: length word, header type, header length and header."""
    size = len(header)
    return _PREFIX.pack(4 + size + body_size, header_type << 24 | size) + header


def build(header_type: int, header: bytes, body: bytes) -> bytes:
    """The bytes of one frame."""
    return head(header_type, header, len(body)) + body


class Apart(bytes):
    """The payload of a large frame: its bytes end before the `body`. Its length includes the body."""

    body: bytes

    def __len__(self) -> int:
        return super().__len__() + len(self.body)


class FrameReader:
    """Takes bytes in any pieces and returns the payloads of whole frames.

    A payload is the frame without its length word: header word, header and body. The reader copies each byte
    of an unfinished frame once or twice, even if the frame arrives in many pieces. It returns the body of a
    large frame without another copy: copying megabytes takes as long as answering a thousand requests.
    """

    def __init__(self, limit: int = MAX_FRAME) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._wanted = 4
        # BytesIO grows in place, and its `getvalue` returns the buffer without a copy.
        self._large: BytesIO | None = None
        self._before = b""
        self._room = 0

    @property
    def kept(self) -> int:
        """The received bytes of the unfinished frame; 0 between two frames."""
        return len(self._rest) if self._large is None else 4 + len(self._before) + self._large.tell()

    @property
    def held(self) -> int:
        """Bytes of memory for the unfinished frame: one to four times the `buffered_bytes`."""
        return max(self.kept, self._room)

    @property
    def missing(self) -> int:
        """The number of bytes that complete the unfinished frame, or its length word."""
        kept = self.kept
        return self._wanted - kept if kept else 0

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads that these bytes complete.

        Raises ProtocolError for an impossible length. The payloads before it are in `error.args[1]`.
        """
        payloads: list[bytes] = []
        position = 0
        if self._rest:
            self._rest += data
            if len(self._rest) < self._wanted:
                return []
            data = bytes(self._rest)
            self._rest = bytearray()
        elif self._large is not None:
            position = self.missing
            if not self._room and self.kept > self._wanted // _BEGUN:
                self._large = self._make_room(self._large.getvalue())
            self._large.write(data if len(data) <= position else memoryview(data)[:position])
            if len(data) < position:
                return []
            payloads.append(self._gathered(self._large.getvalue()))
            self._large, self._room = None, 0
        end = len(data)
        while end - position >= 4:
            (length,) = _LENGTH.unpack_from(data, position)
            if length < 4 or length + 4 > self._limit:
                raise self._refused(length, payloads)
            after = position + 4 + length
            if after > end:
                break
            payloads.append(data[position + 4 : after])
            position = after
        if position < end:
            is_begun = end - position >= 4
            self._wanted = 4 + int.from_bytes(data[position : position + 4], "big") if is_begun else 4
            if self._wanted > _LARGE:
                self._begin_large(data, position + 4)
            else:
                self._rest += data[position:] if position else data
        return payloads

    def _begin_large(self, data: bytes, begin: int) -> None:
        """Begin to collect a large frame. If its header is complete, collect its body separately."""
        after = begin + 4 + int.from_bytes(data[begin + 1 : begin + 4], "big")
        self._before = data[begin:after] if after <= len(data) else b""
        self._large = BytesIO()
        self._large.write(memoryview(data)[begin + len(self._before) :])

    def _make_room(self, begun: bytes) -> BytesIO:
        """Allocate memory for the whole body. A growing buffer would move megabytes again and again."""
        self._room = self._wanted
        # BytesIO writes into these bytes without a copy, because there is no other reference to them.
        large = BytesIO(bytes(self._wanted - 4 - len(self._before)))
        large.write(begun)
        return large

    def _gathered(self, large: bytes) -> bytes:
        if not self._before:
            return large
        payload = Apart(self._before)
        payload.body, self._before = large, b""
        return payload

    @staticmethod
    def _refused(length: int, payloads: list[bytes]) -> ProtocolError:
        text = f"a frame cannot have a length of {length}"
        if 4 <= length < 1 << 28:
            return FrameOverLimit("maxFrameBytes", text, payloads)
        # A negative length, or the beginning of a text: the peer speaks another protocol.
        return ProtocolError(text, payloads)
