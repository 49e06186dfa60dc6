"""StreamListener, which accepts connections on one address.

It accepts all waiting connections at once. uvloop's server accepts one per iteration of the loop, so after a
restart the last of a thousand clients would wait for a thousand iterations of a busy server.
"""

import asyncio
import logging
import socket
from collections.abc import Callable

from namesrv_core.transport.command_stream import CommandStream, ResponseCache, StreamOwner
from namesrv_core.transport.protocol_detection import ProtocolDetector, TlsPolicy
from namesrv_core.transport.rate_limits import StreamQuotas

# The logger that asyncio itself uses.
asyncio_log = logging.getLogger("asyncio")

_MAX_ARRIVING = 24
"""The limit of connections in setup. With those being closed they must fit into a server's reserved files."""
_PAUSE_SECONDS = 1.0


class StreamListener:
    """Created by `await StreamListener.open(...)`. `bound_host` and `bound_port` are the actual address."""

    def __init__(self, sock: socket.socket, build_protocol: Callable[[], asyncio.Protocol]) -> None:
        self.bound_host, self.bound_port = sock.getsockname()[:2]
        self._socket = sock
        self._build_protocol = build_protocol
        self._loop = asyncio.get_running_loop()
        self._arriving_tasks: set[asyncio.Task[object]] = set()
        self._pause_timer: asyncio.TimerHandle | None = None
        self._loop.add_reader(sock, self._accept_waiting)

    @classmethod
    async def open(
        cls,
        stream_owner: StreamOwner,
        listen_host: str,
        listen_port: int,
        backlog: int = 1024,
        response_cache: ResponseCache | None = None,
        tls_policy: TlsPolicy | None = None,
        stream_quotas: StreamQuotas | None = None,
    ) -> "StreamListener":
        """Listen on an address; port 0 takes a free one. Raises OSError if the address cannot be bound.

        With `tls_policy` the port serves TLS as well, or only TLS.
        """

        quotas = stream_quotas or StreamQuotas()

        def build_protocol() -> CommandStream | ProtocolDetector:
            stream = CommandStream(stream_owner, response_cache, quotas)
            return stream if tls_policy is None else ProtocolDetector(stream, tls_policy)

        sock = bind_socket(listen_host, listen_port)
        sock.listen(backlog)
        sock.setblocking(False)
        return cls(sock, build_protocol)

    def _accept_waiting(self) -> None:
        for _ in range(_MAX_ARRIVING - len(self._arriving_tasks)):
            try:
                accepted, _ = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                asyncio_log.error("cannot accept connections for %g s: %s", _PAUSE_SECONDS, error)
                self._loop.remove_reader(self._socket)
                self._pause_timer = self._loop.call_later(_PAUSE_SECONDS, self._resume_accepting)
                return
            accepted.setblocking(False)
            task = self._loop.create_task(self._hand_over(accepted))
            # Keep a reference, because the event loop itself does not keep a task alive.
            self._arriving_tasks.add(task)
            task.add_done_callback(self._arriving_tasks.discard)

    async def _hand_over(self, accepted: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._build_protocol, accepted)
        except OSError:
            # The peer has already disconnected.
            accepted.close()

    def _resume_accepting(self) -> None:
        self._pause_timer = None
        self._loop.add_reader(self._socket, self._accept_waiting)

    def close(self) -> None:
        """Accept no more connections. Open connections stay open."""
        if self._socket.fileno() < 0:
            return
        if self._pause_timer is not None:
            self._pause_timer.cancel()
        else:
            self._loop.remove_reader(self._socket)
        self._socket.close()


def bind_socket(listen_host: str, listen_port: int) -> socket.socket:
    """Bind a socket, which does not listen yet. Raises OSError if the address cannot be bound."""
    family = socket.AF_INET6 if ":" in listen_host else socket.AF_INET
    # asyncio disables Nagle's algorithm only if the socket's protocol is given. Otherwise a second answer
    # would wait 40 ms for the acknowledgement of the first.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((listen_host, listen_port))
    except OverflowError as error:
        sock.close()
        raise OSError(str(error)) from None
    except BaseException:
        sock.close()
        raise
    return sock
