"""TunnelServer, through which the commands that this process starts use its tunnels.

A command asks for the local end of the way to a server, and connects to it directly. No data passes here.
"""

import atexit
import json
import shutil
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import RLock, Thread
from typing import Any

from namesrv_core.transport.exchange import CallError
from nsadmin.client.connection.tunnels.shared_tunnel import decode_target
from nsadmin.client.connection.tunnels.tunnel import Tunnel, make_socket_folder
from nsadmin.client.connection.tunnels.tunnel_leases import (
    SOCKET_VARIABLE,
    has_tunnels,
    lease_tunnel,
    return_lease,
)
from nsadmin.client.connection.tunnels.tunnel_targets import TunnelTarget

_QUESTION_SECONDS = 10.0
"""The time limit for a command to write its question."""

_ANSWERS: Mapping[str, Callable[..., Any]] = {
    "find_addrs": lambda tunnel, server_addr: tunnel.find_addrs(server_addr),
    "find_failure_reason": lambda tunnel, *arguments: tunnel.find_failure_reason(*arguments),
    "list_name_servers": lambda tunnel: tunnel.list_name_servers(),
    "list_proxies": lambda tunnel: tunnel.list_proxies(),
}
"""The questions that a command may ask, each with the method of the tunnel that answers it."""

_guard = RLock()
_running_server: "TunnelServer | None" = None


def share_tunnels() -> Mapping[str, str]:
    """Return the variables with which a command uses the tunnels of this process; {} if it has no tunnel.

    Only commands that end before this process should get them.
    """
    global _running_server
    with _guard:
        if _running_server is None:
            if not has_tunnels():
                return {}
            _running_server = TunnelServer()
            atexit.register(end_sharing)
        return {SOCKET_VARIABLE: _running_server.socket_path}


def end_sharing() -> None:
    """End the server of `share_tunnels`, if it runs."""
    global _running_server
    with _guard:
        ended_server, _running_server = _running_server, None
    if ended_server is not None:
        ended_server.close()


class TunnelServer:
    """Answers questions of commands on a Unix socket in a private folder.

    It leases each tunnel that a command asks for, and keeps it open for later commands.
    """

    def __init__(self) -> None:
        self._folder = make_socket_folder()
        self.socket_path = f"{self._folder}/tunnels"
        self._guard = RLock()
        self._leased_tunnels: dict[TunnelTarget, Tunnel] = {}
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.socket_path)
        self._listener.listen()
        Thread(target=self._accept_commands, name="tunnel-server", daemon=True).start()

    def close(self) -> None:
        """Answer no more questions, delete the socket, and return the leases."""
        # Only shutdown() wakes the thread that accepts.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        with self._guard:
            leased_targets = list(self._leased_tunnels)
            self._leased_tunnels.clear()
        for target in leased_targets:
            return_lease(target)

    def _accept_commands(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            # A way may take seconds to open, and commands need several at once.
            Thread(target=self._answer_command, args=(connection,), daemon=True).start()

    def _answer_command(self, connection: socket.socket) -> None:
        with suppress(OSError, ValueError), connection, connection.makefile("rwb") as stream:
            connection.settimeout(_QUESTION_SECONDS)
            question_name, target_fields, arguments = json.loads(stream.readline())
            connection.settimeout(None)
            tunnel = self._require_tunnel(decode_target(target_fields))
            try:
                answer = {"result": _ANSWERS[question_name](tunnel, *arguments)}
            except CallError as error:
                answer = {"error": [error.addr, error.kind, error.reason]}
            stream.write(json.dumps(answer).encode() + b"\n")

    def _require_tunnel(self, target: TunnelTarget) -> Tunnel:
        with self._guard:
            if target not in self._leased_tunnels:
                self._leased_tunnels[target] = lease_tunnel(target)
            return self._leased_tunnels[target]
