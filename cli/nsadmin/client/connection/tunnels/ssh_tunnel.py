"""SshTunnel: one `ssh` for all servers, with a Unix socket in a private folder for each server.

A SOCKS port (`ssh -D`) would be open to every user of this machine: OpenSSH documents no Unix socket for it.
"""

import re
import socket
from itertools import count
from pathlib import Path

from namesrv_core.transport.address import explain_invalid_addr, join_addr, split_addr
from namesrv_core.transport.exchange import CallError
from namesrv_core.transport.server_link import SocketAddress
from nsadmin.client.connection.tunnels.child_process import ChildProcess, last_line_of, run_guarded
from nsadmin.client.connection.tunnels.tunnel import (
    LOGIN_SECONDS,
    OPEN_SECONDS,
    ForwardObserver,
    Tunnel,
    TunnelError,
    make_socket_folder,
    require_program,
)
from nsadmin.client.connection.tunnels.tunnel_targets import SshTarget

_FORWARD_SECONDS = 10.0
# The options replace settings of the operator's configuration that would disturb: other forwards, a command,
# a shared connection, logs of another level. All of them exist since OpenSSH 7.6. With LogLevel=DEBUG1, ssh
# reports which channel leads to which server.
_MASTER_OPTIONS = (
    "ControlMaster=yes", "ControlPersist=no", "ClearAllForwardings=yes", "RemoteCommand=none",
    "PermitLocalCommand=no", "ConnectTimeout=10", "ServerAliveInterval=15", "ServerAliveCountMax=3",
    "LogLevel=DEBUG1",
)  # fmt: skip
# Host names and addresses, and nothing that ssh expands.
_FAR_HOST_PATTERN = re.compile(r"[\w.:-]{1,255}")
_NOISE_PATTERN = re.compile(r"debug\d: |OpenSSH_|Transferred: |Bytes per second: |Authenticated to ")


class SshTunnel(Tunnel):
    """The way to servers through an SSH server, which resolves their names and connects to them."""

    def __init__(self, target: SshTarget, observer: ForwardObserver | None = None) -> None:
        super().__init__(str(target), observer)
        self._target = target
        self._may_ask = target.may_ask
        self._master: _SshMaster | None = None

    def _end_programs(self) -> None:
        with self._guard:
            master, self._master = self._master, None
        if master is not None:
            master.process.close()

    def _forget_programs(self) -> None:
        self._master = None

    def _open_way(self, server_addr: str) -> SocketAddress:
        try:
            host, port = split_addr(server_addr)
        except ValueError:
            raise TunnelError(explain_invalid_addr(server_addr)) from None
        if not _FAR_HOST_PATTERN.fullmatch(host):
            raise TunnelError(f'invalid host name "{host}"')
        master = self._require_master()
        far_addr = join_addr(host, port)
        socket_path = master.paths_by_addr.get(far_addr)
        if socket_path is None:
            socket_path = self._forward_server(master, far_addr)
            self._report(f"forwards {far_addr}")
        return socket.AF_UNIX, socket_path

    def open(self) -> None:
        """Log in now, so that ssh can ask on the terminal."""
        try:
            self._require_master()
        except TunnelError as error:
            raise CallError(self._target.destination, "unconnected", str(error)) from None

    def _require_master(self) -> "_SshMaster":
        with self._guard:
            self._require_open()
            if self._master is None or not self._master.process.is_running:
                if self._master is not None:
                    self._master.process.close()
                self._master = self._start_once(self._start_master)
            return self._master

    def _start_master(self) -> "_SshMaster":
        require_program("ssh")
        folder = make_socket_folder()
        may_ask, self._may_ask = self._may_ask, False
        channel_log = _ChannelLog()
        options = (*_MASTER_OPTIONS, f"BatchMode={'no' if may_ask else 'yes'}")
        port_words = [] if self._target.port is None else ["-p", str(self._target.port)]
        command = ["ssh", "-N", "-T", "-S", f"{folder}/ssh", *(f"-o{option}" for option in options)]
        self._report("starts " + " ".join(["ssh", "-N", *port_words, self._target.destination]))
        process = ChildProcess(
            [*command, *port_words, "--", self._target.destination],
            channel_log.take_line,
            has_terminal=may_ask,
            folder=folder,
        )
        time_limit = LOGIN_SECONDS if may_ask else OPEN_SECONDS
        if not process.wait_until(Path(folder, "ssh").exists, time_limit):
            reason = channel_log.last_message or f"no login within {time_limit:g} s"
            process.close()
            raise TunnelError(last_line_of([reason]).removeprefix("ssh: "))
        return _SshMaster(process, folder, channel_log)

    def _forward_server(self, master: "_SshMaster", far_addr: str) -> str:
        # Two threads may do this for one server. Both sockets work.
        socket_path = f"{master.folder}/{next(master.numbers)}"
        # Without the operator's configuration (-F): ssh would also add the forwards that it lists.
        command = ["ssh", "-F", "none", "-S", f"{master.folder}/ssh", "-O", "forward"]
        command += ["-L", f"{socket_path}:{far_addr}", "--", self._target.destination]
        finished_process = run_guarded(command, _FORWARD_SECONDS)
        if finished_process.exit_code != 0:
            raise TunnelError(finished_process.last_line or f"no answer of ssh within {_FORWARD_SECONDS:g} s")
        return master.paths_by_addr.setdefault(far_addr, socket_path)

    def find_failure_reason(self, server_addr: str, wait_seconds: float) -> str | None:
        master = self._master
        if master is None:
            return None
        far_addr = join_addr(*split_addr(server_addr))
        log = master.channel_log
        master.process.wait_until(lambda: far_addr in log.reasons_by_addr, wait_seconds)
        if not master.process.is_running:
            return f"the connection ended ({log.last_message or 'no reason given'})"
        return log.reasons_by_addr.pop(far_addr, None)


class _SshMaster:
    """A running `ssh`: its private folder, and the path of the socket of each server."""

    def __init__(self, process: ChildProcess, folder: str, channel_log: "_ChannelLog") -> None:
        self.process = process
        self.folder = folder
        self.channel_log = channel_log
        self.paths_by_addr: dict[str, str] = {}
        self.numbers = count(1)


class _ChannelLog:
    """What ssh reports: its last message, and for each server why the last channel to it did not open."""

    _REQUESTED = re.compile(
        r"debug1: Connection to port -?\d+ forwarding to (\S{1,255}) port (\d{1,5}) requested"
    )
    _OPENED = re.compile(r"debug1: channel (\d{1,9}): new \[?direct-tcpip")
    _FAILED = re.compile(r"channel (\d{1,9}): open failed: (.{1,200})")

    def __init__(self) -> None:
        self.last_message = ""
        self.reasons_by_addr: dict[str, str] = {}
        self._requested_addr: str | None = None
        self._addrs_by_channel: dict[str, str] = {}

    def take_line(self, line: str) -> None:
        if requested := self._REQUESTED.match(line):
            self._requested_addr = join_addr(requested[1], int(requested[2]))
        elif opened_match := self._OPENED.match(line):
            self._addrs_by_channel[opened_match[1]] = self._requested_addr or ""
        elif failed_match := self._FAILED.match(line):
            far_addr = self._addrs_by_channel.get(failed_match[1], "")
            self.reasons_by_addr[far_addr] = failed_match[2].removeprefix("connect failed: ").lower()
        elif line and not _NOISE_PATTERN.match(line) and not line.startswith("connect_to "):
            self.last_message = line
