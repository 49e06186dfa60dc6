"""Checks that name servers answer and are ready to serve routes."""

from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.name_servers.name_server_configs import NameServerPulse
from nsadmin.client.results import error_text
from nsadmin.operations.checks.findings import CheckFinding
from nsadmin.operations.checks.thresholds import CheckScale


class NameServerObservation(NamedTuple):
    """The response of a name server. `error` says why `pulse` is missing."""

    addr: str
    pulse: NameServerPulse | None
    is_ready: bool
    error: RocketMQError | None

    @property
    def is_serving(self) -> bool:
        return self.pulse is not None and self.is_ready


def observe_name_servers(admin: AdminClient) -> list[NameServerObservation]:
    """Ask each name server of the client's list."""
    ready_by_server = {addr: bool(is_ready) for addr, is_ready, _ in admin.name_servers.check_ready_each()}
    pulse_results = admin.name_server_tables.mark_duplicate_servers(admin.name_servers.get_pulse_each())
    return [
        NameServerObservation(addr, pulse, ready_by_server[addr], error)
        for addr, pulse, error in pulse_results
    ]


def judge_name_servers(scale: CheckScale, observations: list[NameServerObservation]) -> CheckFinding:
    """A name server that is not ready counts as failing, because clients use another one."""
    serving_count = sum(server.is_serving for server in observations)
    samples = [
        scale.make_sample("failing", len(observations) - serving_count),
        scale.make_sample("serving", serving_count),
        *(
            scale.make_sample("latency", server.pulse.latency_ms / 1000, server.addr)
            for server in observations
            if server.pulse
        ),
    ]
    detail_lines = [
        _format_server(server) for server in sorted(observations, key=lambda server: server.is_serving)
    ]
    return scale.make_finding(
        f"{serving_count} of {len(observations)} name servers answer", samples, detail_lines
    )


def _format_server(server: NameServerObservation) -> str:
    if server.pulse is None:
        return f"{server.addr}: {error_text(server.error) if server.error else 'no answer'}"
    ready_text = "" if server.is_ready else "; it is starting and does not return routes yet"
    return f"{server.addr}: {server.pulse.version}, {server.pulse.latency_ms:.1f} ms{ready_text}"
