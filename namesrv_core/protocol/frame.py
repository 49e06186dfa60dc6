"""The frame around header and body: its length prefix, the reader of whole frames, and the size limit."""

from io import BytesIO
from struct import Struct

from namesrv_core.errors import FrameOverLimit, ProtocolError

MAX_FRAME_BYTES = 16 * 1024 * 1024
"""The largest frame, including its length word (upstream: `com.rocketmq.remoting.frameMaxLength`)."""

_FRAME_PREFIX = Struct(">ii")
_LENGTH_WORD = Struct(">i")
_LARGE_FRAME_BYTES = 1 << 16
_PREALLOCATION_SHARE = 4
"""Allocate memory for a whole large frame only once 1/4 of it has arrived: its length word may be false."""


def encode_frame_head(header_type: int, header_bytes: bytes, body_size: int) -> bytes:
    """The bytes before the body of a frame: length word, header type, header length and header."""
    size = len(header_bytes)
    return _FRAME_PREFIX.pack(4 + size + body_size, header_type << 24 | size) + header_bytes


def build_frame(header_type: int, header_bytes: bytes, body_bytes: bytes) -> bytes:
    return encode_frame_head(header_type, header_bytes, len(body_bytes)) + body_bytes


class SplitPayload(bytes):
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

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self.max_frame_bytes = max_frame_bytes
        self._partial_frame = bytearray()
        self._wanted_bytes = 4
        # BytesIO grows in place, and its `getvalue` returns the buffer without a copy.
        self._large_body: BytesIO | None = None
        self._large_header = b""
        self._preallocated_bytes = 0

    @property
    def buffered_bytes(self) -> int:
        """The received bytes of the unfinished frame; 0 between two frames."""
        return (
            len(self._partial_frame)
            if self._large_body is None
            else 4 + len(self._large_header) + self._large_body.tell()
        )

    @property
    def memory_bytes(self) -> int:
        """Bytes of memory for the unfinished frame: one to four times the `buffered_bytes`."""
        return max(self.buffered_bytes, self._preallocated_bytes)

    @property
    def missing_bytes(self) -> int:
        """The number of bytes that complete the unfinished frame, or its length word."""
        buffered = self.buffered_bytes
        return self._wanted_bytes - buffered if buffered else 0

    def feed_bytes(self, received: bytes) -> list[bytes]:
        """The payloads that these bytes complete.

        Raises ProtocolError for an impossible length. The payloads before it are in `error.args[1]`.
        """
        payloads: list[bytes] = []
        position = 0
        if self._partial_frame:
            self._partial_frame += received
            if len(self._partial_frame) < self._wanted_bytes:
                return []
            received = bytes(self._partial_frame)
            self._partial_frame = bytearray()
        elif self._large_body is not None:
            if self._wanted_bytes > self.max_frame_bytes:
                # The limit was lowered after this frame began.
                raise self._build_length_error(self._wanted_bytes - 4, payloads)
            position = self.missing_bytes
            if (
                not self._preallocated_bytes
                and self.buffered_bytes > self._wanted_bytes // _PREALLOCATION_SHARE
            ):
                self._large_body = self._preallocate_body(self._large_body.getvalue())
            self._large_body.write(received if len(received) <= position else memoryview(received)[:position])
            if len(received) < position:
                return []
            payloads.append(self._take_large_payload(self._large_body.getvalue()))
            self._large_body, self._preallocated_bytes = None, 0
        data_end = len(received)
        while data_end - position >= 4:
            (length,) = _LENGTH_WORD.unpack_from(received, position)
            if length < 4 or length + 4 > self.max_frame_bytes:
                raise self._build_length_error(length, payloads)
            frame_end = position + 4 + length
            if frame_end > data_end:
                break
            payloads.append(received[position + 4 : frame_end])
            position = frame_end
        if position < data_end:
            has_length = data_end - position >= 4
            self._wanted_bytes = (
                4 + int.from_bytes(received[position : position + 4], "big") if has_length else 4
            )
            if self._wanted_bytes > _LARGE_FRAME_BYTES:
                self._begin_large_frame(received, position + 4)
            else:
                self._partial_frame += received[position:] if position else received
        return payloads

    def _begin_large_frame(self, received: bytes, start: int) -> None:
        """Begin to collect a large frame. If its header is complete, collect its body separately."""
        header_end = start + 4 + int.from_bytes(received[start + 1 : start + 4], "big")
        self._large_header = received[start:header_end] if header_end <= len(received) else b""
        self._large_body = BytesIO()
        self._large_body.write(memoryview(received)[start + len(self._large_header) :])

    def _preallocate_body(self, received_body: bytes) -> BytesIO:
        """Allocate memory for the whole body. A growing buffer would move megabytes again and again."""
        self._preallocated_bytes = self._wanted_bytes
        # BytesIO writes into these bytes without a copy, because there is no other reference to them.
        large = BytesIO(bytes(self._wanted_bytes - 4 - len(self._large_header)))
        large.write(received_body)
        return large

    def _take_large_payload(self, large: bytes) -> bytes:
        if not self._large_header:
            return large
        split_payload = SplitPayload(self._large_header)
        split_payload.body, self._large_header = large, b""
        return split_payload

    def _build_length_error(self, length: int, payloads: list[bytes]) -> ProtocolError:
        if 4 <= length < 1 << 28:
            remark = f"a frame of {length + 4} bytes, more than {self.max_frame_bytes}"
            return FrameOverLimit("maxFrameBytes", remark, payloads)
        # A negative length, or the beginning of a text: the peer speaks another protocol.
        return ProtocolError(f"invalid frame length {length}", payloads)
