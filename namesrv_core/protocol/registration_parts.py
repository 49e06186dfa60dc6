"""The reader of a compressed registration's parts: it inflates the body and splits it by length prefixes."""

import zlib
from collections.abc import Generator
from io import BytesIO
from typing import Any

from namesrv_core.errors import OverLimit
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.limits import Limits

_LARGEST = 1 << 31
_AT_ONCE = 1 << 12


def inflated(body: bytes, most: int) -> Generator[None, None, bytes]:
    """Inflate a body in steps. Raises OverLimit once it exceeds `max_bytes`, ValueError if it is cut."""
    inflater = zlib.decompressobj()
    text, room = BytesIO(), min(most, _LARGEST)
    for begin in range(0, len(body), _AT_ONCE):
        # Allow one byte more than the limit: a max_length of 0 would mean no limit.
        text.write(inflater.decompress(body[begin : begin + _AT_ONCE], room + 1 - text.tell()))
        if text.tell() > room:
            raise OverLimit("maxRegistrationBytes", f"a registration of more than {most} bytes when inflated")
        if inflater.eof:
            return text.getvalue()
        yield
    raise ValueError("cut")


class Parts:
    """Reads length-prefixed parts one after the other. Raises IndexError at the end."""

    def __init__(self, data: bytes, within: Limits) -> None:
        self._data = data
        self._position = 0
        self._within = within
        self._json_left = within.odd_bytes

    def _take(self, size: int) -> bytes:
        end = self._position + size
        if size < 0 or end > len(self._data):
            raise IndexError("a part is longer than what is there")
        taken = self._data[self._position : end]
        self._position = end
        return taken

    def count(self) -> int:
        return int.from_bytes(self._take(4), "big", signed=True)

    def text(self) -> bytes:
        data, begin = self._data, self._position + 4
        end = begin + int.from_bytes(data[begin - 4 : begin], "big", signed=True)
        if not begin <= end <= len(data):
            raise IndexError("a part is longer than what is there")
        self._position = end
        return data[begin:end]

    def json(self) -> Any:
        """Read a part as JSON. Raises OverLimit if all JSON parts together exceed the limit."""
        text = self.text()
        self._json_left -= len(text)
        if self._json_left < 0:
            more = f"more than {self._within.odd_bytes} bytes of JSON in a compressed registration"
            raise OverLimit("maxOddRegistrationBytes", more)
        return fastjson.loads(text, depth=self._within.json_depth)
