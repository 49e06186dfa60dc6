"""Listener: accepts connections on one address and keeps the streams that are open."""

import asyncio
import socket

from namesrv_core.transport.stream import Owner, Stream


class Listener:
    """`await Listener.open(...)`; `address` and `port` are those really bound."""

    def __init__(self, server: asyncio.Server) -> None:
        self._server = server
        self.address, self.port = server.sockets[0].getsockname()[:2]

    @classmethod
    async def open(cls, owner: Owner, host: str, port: int, backlog: int = 1024) -> "Listener":
        """Listen on `host`:`port`; port 0 takes a free one. OSError where the address cannot be bound."""
        loop = asyncio.get_running_loop()
        listening = _bind(host, port)
        server = await loop.create_server(lambda: Stream(owner), sock=listening, backlog=backlog)
        return cls(server)

    def close(self) -> None:
        """No more connections; those that are open stay open."""
        self._server.close()


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OverflowError as error:
        listening.close()
        raise OSError(str(error)) from None
    except BaseException:
        listening.close()
        raise
    return listening
