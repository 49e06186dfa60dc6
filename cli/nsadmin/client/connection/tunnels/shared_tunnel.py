"""SharedTunnel, a tunnel of the program that started this command, such as the TUI or the MCP server."""

import json
import socket
from typing import Any

from namesrv_core.transport.exchange import CallError
from namesrv_core.transport.server_link import SocketAddress
from nsadmin.client.connection.addresses import NameServerList
from nsadmin.client.connection.tunnels.tunnel import LOGIN_SECONDS, OPEN_SECONDS, Tunnel
from nsadmin.client.connection.tunnels.tunnel_targets import KubeTarget, SshTarget, TunnelTarget


class SharedTunnel(Tunnel):
    """Asks the TunnelServer of another process for the local ends of ways. It starts no program."""

    def __init__(self, target: TunnelTarget, socket_path: str) -> None:
        super().__init__(str(target))
        self._target, self._socket_path = target, socket_path

    def find_addrs(self, server_addr: str) -> list[SocketAddress]:
        return [
            # JSON has no tuples.
            (socket.AddressFamily(family), tuple(sockaddr) if isinstance(sockaddr, list) else sockaddr)
            for family, sockaddr in self._ask_owner("find_addrs", server_addr)
        ]

    def find_failure_reason(self, server_addr: str, wait_seconds: float) -> str | None:
        reason: str | None = self._ask_owner("find_failure_reason", server_addr, wait_seconds)
        return reason

    def list_name_servers(self) -> NameServerList | None:
        fields = self._ask_owner("list_name_servers")
        return None if fields is None else NameServerList(tuple(fields[0]), *fields[1:])

    def list_proxies(self) -> tuple[str, ...]:
        return tuple(self._ask_owner("list_proxies"))

    def _end_programs(self) -> None:
        """The programs belong to the other process."""

    def _ask_owner(self, question_name: str, *arguments: Any) -> Any:
        """Ask the other process's tunnel, and return the answer."""
        question = json.dumps([question_name, encode_target(self._target), arguments])
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(LOGIN_SECONDS + OPEN_SECONDS)
                connection.connect(self._socket_path)
                connection.sendall(question.encode() + b"\n")
                with connection.makefile("rb") as answer_stream:
                    answer = json.loads(answer_stream.readline())
        except (OSError, ValueError):
            reason = f"{self.label}: the program that opened the tunnel has ended: run the command again"
            raise CallError(str(arguments[0]) if arguments else self.label, "unconnected", reason) from None
        if "error" in answer:
            raise CallError(*answer["error"])
        return answer["result"]


def encode_target(target: TunnelTarget) -> list[Any]:
    """Return a target as a value for JSON. `ssh` of the other process does not ask on this terminal."""
    if isinstance(target, SshTarget):
        return ["ssh", target.destination, target.port]
    return ["kube", *target]


def decode_target(fields: list[Any]) -> TunnelTarget:
    """Return the target that `encode_target` encoded."""
    kind, *target_fields = fields
    return SshTarget(*target_fields) if kind == "ssh" else KubeTarget(*target_fields)
