"""InspectedServer, the part of a name server that the HTTP pages, the metrics and the debug page read.

`NameServer` has all of it. Because the pages import only this module, there is no import cycle.
"""

from collections.abc import Collection
from typing import Protocol

from namesrv_core.server.access_control import AccessControl
from namesrv_core.server.counters import ServerCounters
from namesrv_core.server.journal_recorder import JournalFigures
from namesrv_core.server.tls_certificates import TlsCertificates
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.transport.command_stream import CommandStream


class InspectedServer(Protocol):
    """A running name server, read and never changed."""

    @property
    def state(self) -> NameServerState:
        """The tables, the KV config and the settings."""

    @property
    def counters(self) -> ServerCounters:
        """What the server has counted since its start."""

    @property
    def access_control(self) -> AccessControl:
        """The credentials in use, and how often they were reloaded."""

    @property
    def tls_certificates(self) -> TlsCertificates:
        """The certificates in use, and how often they were reloaded."""

    @property
    def open_streams(self) -> Collection[CommandStream]:
        """The open connections."""

    @property
    def namesrv_addr(self) -> str:
        """The listening address in the form "host:port"."""

    @property
    def bound_host_port(self) -> tuple[str, int]:
        """The host and port that the server actually listens on."""

    def now_ms(self) -> int:
        """Milliseconds since 1970."""

    def unready_reason(self) -> str | None:
        """The reason why route lookups are not answered; None if they are."""

    def read_journal_figures(self) -> JournalFigures | None:
        """The state of the journal; None if there is none."""
