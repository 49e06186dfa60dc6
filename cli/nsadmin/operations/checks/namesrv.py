"""Checks that name servers answer and are ready to serve routes."""

from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.name_servers import Pulse
from nsadmin.client.results import error_text
from nsadmin.operations.checks.finding import Finding
from nsadmin.operations.checks.thresholds import Scale


class Seen(NamedTuple):
    """The response of a name server. `error` says why `pulse` is missing."""

    addr: str
    pulse: Pulse | None
    is_ready: bool
    error: RocketMQError | None

    @property
    def serves(self) -> bool:
        return self.pulse is not None and self.is_ready


def look(admin: AdminClient) -> list[Seen]:
    """Ask each name server of the client's list."""
    ready = {addr: bool(is_ready) for addr, is_ready, _ in admin.name_servers.ready_each()}
    pulses = admin.tables.witnesses(admin.name_servers.pulse_each())
    return [Seen(addr, pulse, ready[addr], error) for addr, pulse, error in pulses]


def judge(scale: Scale, seen: list[Seen]) -> Finding:
    """A name server that is not ready counts as failing, because clients use another one."""
    serving = sum(one.serves for one in seen)
    samples = [
        scale.sample("failing", len(seen) - serving),
        scale.sample("serving", serving),
        *(scale.sample("latency", one.pulse.latency_millis / 1000, one.addr) for one in seen if one.pulse),
    ]
    details = [_line(one) for one in sorted(seen, key=lambda one: one.serves)]
    return scale.finding(f"{serving} of {len(seen)} name servers answer", samples, details)


def _line(one: Seen) -> str:
    if one.pulse is None:
        return f"{one.addr}: {error_text(one.error) if one.error else 'no answer'}"
    ready = "" if one.is_ready else "; it is not ready to tell routes yet"
    return f"{one.addr}: {one.pulse.version}, {one.pulse.latency_millis:.1f} ms{ready}"
