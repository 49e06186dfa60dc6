"""Checks that name servers answer and are ready to serve routes."""

from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.advised_command import quote_command
from nsadmin.client.name_servers.name_server_configs import NameServerPulse
from nsadmin.client.results import error_text
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope, Figures
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure


class NameServerObservation(NamedTuple):
    """The response of a name server. `error` says why `pulse` is missing."""

    addr: str
    pulse: NameServerPulse | None
    is_ready: bool
    error: RocketMQError | None

    @property
    def is_serving(self) -> bool:
        return self.pulse is not None and self.is_ready


def observe(admin: AdminClient, scope: CheckScope) -> list[NameServerObservation]:
    """Ask each name server of the client's list."""
    ready_by_addr = {addr: bool(ready) for addr, ready, _ in admin.name_servers.check_ready_each()}
    pulses = admin.name_server_tables.mark_duplicate_servers(admin.name_servers.get_pulse_each())
    return [NameServerObservation(addr, pulse, ready_by_addr[addr], error) for addr, pulse, error in pulses]


def judge(scale: CheckScale, servers: list[NameServerObservation]) -> CheckFinding:
    """A name server that is not ready counts as failing, because clients use another one."""
    serving_count = sum(server.is_serving for server in servers)
    figures: Figures = {
        "failing": len(servers) - serving_count,
        "serving": serving_count,
        "latency": {s.addr: s.pulse.latency_ms / 1000 for s in servers if s.pulse},
    }
    details = [_format_server(server) for server in sorted(servers, key=lambda server: server.is_serving)]
    if silent_addrs := [server.addr for server in servers if server.pulse is None]:
        command = quote_command("whatIf", "--down-namesrv", ",".join(silent_addrs))
        details += [
            f"to see which brokers and consumers know no other name server: {command}",
            "what to do: nsadmin guide run-the-name-server",
        ]
    return scale.make_finding(
        f"{serving_count} of {len(servers)} name servers answer",
        figures,
        details,
        affected=[server.addr for server in servers if not server.is_serving],
    )


def _format_server(server: NameServerObservation) -> str:
    if server.pulse is None:
        return f"{server.addr}: {error_text(server.error) if server.error else 'no answer'}"
    ready_text = "" if server.is_ready else "; it is starting and does not return routes yet"
    return f"{server.addr}: {server.pulse.version}, {server.pulse.latency_ms:.1f} ms{ready_text}"


CHECK = Check(
    "namesrv",
    (
        CheckMeasure("failing", "name servers that do not answer, or are not ready", warning="0"),
        CheckMeasure("serving", "name servers that return routes", critical="1:"),
        CheckMeasure(
            "latency", "duration of one small request on an open connection", "s", label_name="namesrv"
        ),
    ),
    observe,
    judge,
    warning_when="a name server does not answer, or is not ready",
    critical_when="no name server is ready",
    remedy="nsadmin where",
    warning_help="Name servers that may be down. Default: 0.",
    critical_help="Name servers that must serve. Default: 1: (at least one).",
    help="""Check whether every name server answers and is ready to serve routes.

    With -n and a single name server, this is a health probe for that server's container: OK or critical.

    A RANGE describes the accepted values. 3 accepts 0 to 3, 3: accepts 3 or more, and 3:5 accepts 3 to 5.
    @3:5 accepts all values outside of 3 to 5, and ~: accepts every value.

    Examples:
        # Is a name server down? Each of them must answer
        nsadmin check namesrv
        # Require at least two name servers (exit code 2)
        nsadmin check namesrv --critical 2: --format nagios
        # Wait for the name servers after a restart
        nsadmin check namesrv --wait-until-ok 5m
    """,
)
