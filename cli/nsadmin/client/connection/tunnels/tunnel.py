"""Tunnel, a way to servers through a program of the operator, and the errors that its programs report."""

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.exchange import CallError
from namesrv_core.transport.server_link import SocketAddress

if TYPE_CHECKING:
    from nsadmin.client.connection.addresses import NameServerList

OPEN_SECONDS = 30.0
"""The time limit for the login of ssh and for each start of kubectl."""
LOGIN_SECONDS = 120.0
"""The time limit for a login at which ssh may ask for a password."""
_PAUSE_AFTER_FAILURE_SECONDS = 3.0
_EXPLANATION_SECONDS = 0.2

T = TypeVar("T")

ForwardObserver = Callable[[str], None]
"""Takes a line about each program that is started, and each address that it forwards."""

_MAX_PARENT_BYTES = 64
"""A socket's path has at most 103 bytes on macOS, and nsadmin and ssh append up to 38."""


class TunnelError(RocketMQError):
    """A program of a tunnel does not do its work. The text is one line with the reason."""


class Tunnel:
    """The shared parts of tunnels. A subclass opens the way to one server.

    Threads share a tunnel. A forked process starts its own programs.
    """

    def __init__(self, label: str, observer: ForwardObserver | None = None) -> None:
        self.label = label
        self.observer = observer
        self._owner_pid = os.getpid()
        self._guard = RLock()
        self._last_failure: tuple[float, TunnelError] | None = None
        self._is_closed = False

    def find_addrs(self, server_addr: str) -> list[SocketAddress]:
        """Return the local end of the way to a server; open the way if necessary."""
        if self._owner_pid != os.getpid():
            self._owner_pid, self._guard = os.getpid(), RLock()
            self._forget_programs()
        try:
            return [self._open_way(server_addr)]
        except TunnelError as error:
            raise CallError(server_addr, "unconnected", f"{self.label}: {error}") from None

    def explain_failures(
        self, answers: Sequence[RemotingCommand | CallError]
    ) -> list[RemotingCommand | CallError]:
        """Replace errors of connections that were lost by errors with the reason that the program reports."""
        # The thread that reads the output of the program may be slower than the connections.
        deadline = monotonic() + _EXPLANATION_SECONDS
        return [self._explain(a, deadline) if isinstance(a, CallError) else a for a in answers]

    def find_failure_reason(self, server_addr: str, wait_seconds: float) -> str | None:
        """Note that a connection to a server was lost, and return the reason that the program reports."""
        raise NotImplementedError

    def _explain(self, error: CallError, deadline: float) -> CallError:
        if error.kind not in ("closed", "unconnected", "timeout") or error.reason.startswith(self.label):
            return error
        is_lost = error.kind != "timeout"
        reason = self.find_failure_reason(error.addr, max(0.0, deadline - monotonic()) if is_lost else 0.0)
        if reason is None or not is_lost:
            return error
        return CallError(error.addr, "unconnected", f"{self.label}: {reason}")

    def list_name_servers(self) -> "NameServerList | None":
        """Return the name servers that the tunnel finds on the far side; None if it cannot look for them."""
        return None

    def list_proxies(self) -> tuple[str, ...]:
        """Return the addresses of the proxies that the tunnel finds on the far side; () for none."""
        return ()

    def open(self) -> None:
        """Log in now, if a login may ask the operator. By default, the programs ask nothing."""

    def close(self) -> None:
        """End the programs. The tunnel cannot be used afterwards."""
        with self._guard:
            self._is_closed = True
        self._end_programs()

    def _end_programs(self) -> None:
        raise NotImplementedError

    def _require_open(self) -> None:
        """Raise TunnelError if the tunnel was closed while a program started, in another thread."""
        if self._is_closed:
            raise TunnelError("the tunnel is closed")

    def _open_way(self, server_addr: str) -> SocketAddress:
        raise NotImplementedError

    def _forget_programs(self) -> None:
        """In a forked process, leave the programs to the parent."""

    def _report(self, line: str) -> None:
        if self.observer is not None:
            self.observer(f"{self.label}: {line}")

    def _start_once(self, start_program: Callable[[], T]) -> T:
        """Start a program. For some seconds after a failure, raise the same error instead.

        Many threads need the same program, and would wait for one failing start each.
        """
        if self._last_failure is not None and monotonic() < self._last_failure[0]:
            raise self._last_failure[1]
        try:
            return start_program()
        except TunnelError as error:
            self._last_failure = (monotonic() + _PAUSE_AFTER_FAILURE_SECONDS, error)
            raise


def require_program(program_name: str) -> None:
    """Check that a program is installed."""
    if shutil.which(program_name) is None:
        raise TunnelError(f"{program_name} not found: install it, or add its folder to PATH")


def make_socket_folder() -> str:
    """Make such a folder: in /tmp if the path of the temporary folder is too long."""
    parent_folder = tempfile.gettempdir()
    if len(os.fsencode(parent_folder)) > _MAX_PARENT_BYTES:
        parent_folder = "/tmp"
    return tempfile.mkdtemp(prefix="nsadmin-", dir=parent_folder)
