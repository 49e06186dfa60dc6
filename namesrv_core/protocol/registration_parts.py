"""The reader of a compressed registration's parts: it inflates the body and splits it by length prefixes."""

import zlib
from collections.abc import Generator
from io import BytesIO
from typing import Any

from namesrv_core.errors import OverLimit
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.size_limits import UNLIMITED, DecodeLimits

_MAX_INFLATED_BYTES = 1 << 31
_COMPRESSED_PIECE_BYTES = 1 << 12
_BYTES_PER_STEP = 1 << 16


def inflate_in_steps(compressed_body: bytes, max_bytes: int) -> Generator[int, None, bytes]:
    """Inflate a body in steps. Each yields how many bytes there will be at most after the next step.

    Raises OverLimit once the body exceeds `max_bytes`, ValueError if it is cut.
    """
    zlib_inflater = zlib.decompressobj()
    inflated_buffer, max_inflated = BytesIO(), min(max_bytes, _MAX_INFLATED_BYTES)
    for piece_start in range(0, len(compressed_body), _COMPRESSED_PIECE_BYTES):
        compressed_piece = compressed_body[piece_start : piece_start + _COMPRESSED_PIECE_BYTES]
        is_full_step = True
        # After a full step, zlib may have more even if it has read the whole piece.
        while compressed_piece or is_full_step:
            # Allow one byte more than the limit: a max_length of 0 would mean no limit.
            step_bytes = min(_BYTES_PER_STEP, max_inflated + 1 - inflated_buffer.tell())
            yield inflated_buffer.tell() + step_bytes
            is_full_step = (
                inflated_buffer.write(zlib_inflater.decompress(compressed_piece, step_bytes)) == step_bytes
            )
            if inflated_buffer.tell() > max_inflated:
                raise OverLimit(
                    "maxRegistrationBytes", f"a registration of more than {max_bytes} bytes when inflated"
                )
            if zlib_inflater.eof:
                return inflated_buffer.getvalue()
            compressed_piece = zlib_inflater.unconsumed_tail
    raise ValueError("cut")


class RegistrationPartReader:
    """Reads length-prefixed parts one after the other. Raises IndexError at the end."""

    def __init__(self, inflated_bytes: bytes, decode_limits: DecodeLimits) -> None:
        self._inflated_bytes = inflated_bytes
        self._position = 0
        self._decode_limits = decode_limits
        self._json_bytes_left = decode_limits.lenient_registration_bytes

    @property
    def held_bytes(self) -> int:
        """Bytes of the inflated body, and of copies of the parts that have been read."""
        return len(self._inflated_bytes) + self._position

    def _take_bytes(self, byte_count: int) -> bytes:
        part_end = self._position + byte_count
        if byte_count < 0 or part_end > len(self._inflated_bytes):
            raise IndexError("a part is longer than the rest of the body")
        part_bytes = self._inflated_bytes[self._position : part_end]
        self._position = part_end
        return part_bytes

    def read_count(self) -> int:
        return int.from_bytes(self._take_bytes(4), "big", signed=True)

    def read_text(self, max_bytes: int = UNLIMITED) -> bytes:
        """Read a part. Raises OverLimit if it is longer than `max_bytes`."""
        inflated_bytes, part_start = self._inflated_bytes, self._position + 4
        part_end = part_start + int.from_bytes(
            inflated_bytes[part_start - 4 : part_start], "big", signed=True
        )
        if not part_start <= part_end <= len(inflated_bytes):
            raise IndexError("a part is longer than the rest of the body")
        if part_end - part_start > max_bytes:
            raise OverLimit("maxOddRegistrationBytes", f"a topic of {part_end - part_start} bytes")
        self._position = part_end
        return inflated_bytes[part_start:part_end]

    def read_json_text(self) -> bytes:
        """Read a part that is JSON. Raises OverLimit if all JSON parts together exceed the limit."""
        json_bytes = self.read_text()
        self._json_bytes_left -= len(json_bytes)
        if self._json_bytes_left < 0:
            limit_remark = (
                f"more than {self._decode_limits.lenient_registration_bytes} bytes of "
                f"JSON in a compressed registration"
            )
            raise OverLimit("maxOddRegistrationBytes", limit_remark)
        return json_bytes

    def read_json(self, errors: str = "strict") -> Any:
        """Decode a part that is JSON; an empty one is null. `errors` says how to treat bad UTF-8."""
        json_bytes = self.read_json_text()
        if not json_bytes:
            return None
        return fastjson.decode_json(json_bytes, errors=errors, max_depth=self._decode_limits.json_depth)
