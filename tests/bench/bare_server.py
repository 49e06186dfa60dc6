"""A bare server (`python -m tests.bench.bare_server BYTES`): it sends the same answer to every request.

It shows the cost of uvloop and CPython alone.
"""

import asyncio
import struct
import sys
from typing import cast

import uvloop

_HEAD, _TAIL = (
    b'{"code":0,"flag":1,"language":"JAVA","opaque":',
    b',"serializeTypeCurrentRPC":"JSON","version":511}',
)
_BODY = b"x" * (int(sys.argv[1]) - len(_HEAD + _TAIL) - 8)


class Bare(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # What uvloop hands over is none of asyncio's classes.
        self._transport = cast(asyncio.Transport, transport)
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        data = self._rest + data
        frames, at = [], 0
        while len(data) - at >= 4 and len(data) >= (end := at + 4 + int.from_bytes(data[at : at + 4], "big")):
            opaque = data[at:end].partition(b'"opaque":')[2].partition(b",")[0]
            header = _HEAD + opaque + _TAIL
            frames.append(struct.pack(">ii", 4 + len(header) + len(_BODY), len(header)) + header + _BODY)
            at = end
        self._rest = data[at:]
        self._transport.write(b"".join(frames))


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Bare, "127.0.0.1", 0)
    print(f"port {server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve())
