"""The frame around header and body: length prefix in, whole frames out, and the size limit."""

from io import BytesIO
from struct import Struct

from namesrv_core.errors import FrameOverLimit, ProtocolError

MAX_FRAME = 16 * 1024 * 1024
"""Bytes of the largest frame, its length word included (`com.rocketmq.remoting.frameMaxLength`)."""

_PREFIX = Struct(">ii")
_LENGTH = Struct(">i")
_LARGE = 1 << 16
_BEGUN = 4
"""Room is made for a large frame when one in so many of its bytes is there: its length may be a lie."""


def head(header_type: int, header: bytes, body_size: int) -> bytes:
    """What stands before the body of a frame: length word, header type and header length, header."""
    size = len(header)
    return _PREFIX.pack(4 + size + body_size, header_type << 24 | size) + header


def build(header_type: int, header: bytes, body: bytes) -> bytes:
    """One frame."""
    return head(header_type, header, len(body)) + body


class Apart(bytes):
    """The payload of a large frame without its `body`, which stands beside it; as long as both."""

    body: bytes

    def __len__(self) -> int:
        return super().__len__() + len(self.body)


class FrameReader:
    """Bytes in any pieces go in, the payloads of whole frames come out.

    A payload is what follows the length word: header word, header, body. Bytes of an unfinished frame are
    kept, each copied once or twice, however many pieces a large frame comes in; the body of a large one is
    what they were gathered in, not a copy: copying megabytes takes as long as answering a thousand questions.
    """

    def __init__(self, limit: int = MAX_FRAME) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._wanted = 4
        # A bytes object that grows in place and is given away as it is (`BytesIO.getvalue` does not copy).
        self._large: BytesIO | None = None
        self._before = b""
        self._room = 0

    @property
    def kept(self) -> int:
        """Bytes of an unfinished frame, 0 between two frames."""
        return len(self._rest) if self._large is None else 4 + len(self._before) + self._large.tell()

    @property
    def held(self) -> int:
        """Bytes of memory for the unfinished frame, as many as are `kept` or up to four times as many."""
        return max(self.kept, self._room)

    @property
    def missing(self) -> int:
        """How many bytes of the unfinished frame have to come before there is more to know of it."""
        kept = self.kept
        return self._wanted - kept if kept else 0

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads that `data` completes.

        Raises ProtocolError where a length cannot be; what came before it in `data` is in `error.args[1]`.
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
        """A large frame is behind `begin`: its body is gathered alone, if its header is all there."""
        after = begin + 4 + int.from_bytes(data[begin + 1 : begin + 4], "big")
        self._before = data[begin:after] if after <= len(data) else b""
        self._large = BytesIO()
        self._large.write(memoryview(data)[begin + len(self._before) :])

    def _make_room(self, begun: bytes) -> BytesIO:
        """For all of the body: as it grew, it would be moved again and again, megabytes each time."""
        self._room = self._wanted
        # It writes into these bytes themselves, as nobody else has them.
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
        # Negative, or the beginning of some text: another protocol.
        return ProtocolError(text, payloads)
