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


def inflate_in_steps(body: bytes, max_bytes: int) -> Generator[int, None, bytes]:
    """Inflate a body in steps. Each yields how many bytes there will be at most after the next step.

    Raises OverLimit once the body exceeds `max_bytes`, ValueError if it is cut.
    """
    inflater = zlib.decompressobj()
    buffer, max_inflated = BytesIO(), min(max_bytes, _MAX_INFLATED_BYTES)
    for piece_start in range(0, len(body), _COMPRESSED_PIECE_BYTES):
        piece = body[piece_start : piece_start + _COMPRESSED_PIECE_BYTES]
        is_full_step = True
        # After a full step, zlib may have more even if it has read the whole piece.
        while piece or is_full_step:
            # Allow one byte more than the limit: a max_length of 0 would mean no limit.
            step_bytes = min(_BYTES_PER_STEP, max_inflated + 1 - buffer.tell())
            yield buffer.tell() + step_bytes
            is_full_step = buffer.write(inflater.decompress(piece, step_bytes)) == step_bytes
            if buffer.tell() > max_inflated:
                raise OverLimit(
                    "maxRegistrationBytes", f"a registration of more than {max_bytes} bytes when inflated"
                )
            if inflater.eof:
                return buffer.getvalue()
            piece = inflater.unconsumed_tail
    raise ValueError("cut")


class RegistrationPartReader:
    """Reads length-prefixed parts one after the other. Raises IndexError at the end."""

    def __init__(self, inflated: bytes, limits: DecodeLimits) -> None:
        self._inflated = inflated
        self._position = 0
        self._decode_limits = limits
        self._json_bytes_left = limits.lenient_registration_bytes

    @property
    def held_bytes(self) -> int:
        """Bytes of the inflated body, and of copies of the parts that have been read."""
        return len(self._inflated) + self._position

    def _take_bytes(self, count: int) -> bytes:
        part_end = self._position + count
        if count < 0 or part_end > len(self._inflated):
            raise IndexError("a part is longer than the rest of the body")
        part = self._inflated[self._position : part_end]
        self._position = part_end
        return part

    def read_count(self) -> int:
        return int.from_bytes(self._take_bytes(4), "big", signed=True)

    def read_text(self, max_bytes: int = UNLIMITED) -> bytes:
        """Read a part. Raises OverLimit if it is longer than `max_bytes`."""
        data, part_start = self._inflated, self._position + 4
        part_end = part_start + int.from_bytes(data[part_start - 4 : part_start], "big", signed=True)
        if not part_start <= part_end <= len(data):
            raise IndexError("a part is longer than the rest of the body")
        if part_end - part_start > max_bytes:
            raise OverLimit("maxOddRegistrationBytes", f"a topic of {part_end - part_start} bytes")
        self._position = part_end
        return data[part_start:part_end]

    def read_json_text(self) -> bytes:
        """Read a part that is JSON. Raises OverLimit if all JSON parts together exceed the limit."""
        data = self.read_text()
        self._json_bytes_left -= len(data)
        if self._json_bytes_left < 0:
            remark = (
                f"more than {self._decode_limits.lenient_registration_bytes} bytes of "
                f"JSON in a compressed registration"
            )
            raise OverLimit("maxOddRegistrationBytes", remark)
        return data

    def read_json(self, errors: str = "strict") -> Any:
        """Decode a part that is JSON; an empty one is null. `errors` says how to treat bad UTF-8."""
        data = self.read_json_text()
        if not data:
            return None
        return fastjson.decode_json(data, errors=errors, max_depth=self._decode_limits.json_depth)
