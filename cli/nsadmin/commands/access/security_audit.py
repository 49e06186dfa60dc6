"""Owns securityAudit, a read-only check of the exposure of name servers and brokers."""

from nsadmin.client.connection.access_options import Tls
from nsadmin.client.wall_clock import time
from nsadmin.command_line.declarations import command
from nsadmin.commands.checks.check_runner import (
    CheckOutcome,
    CriticalKindsOption,
    WarningKindsOption,
    parse_limits,
    run_probe,
)
from nsadmin.commands.columns.checks import CHECK_COLUMNS, CHECKS
from nsadmin.console.output import CheckVerdict
from nsadmin.console.session import Session

AUDIT_COLUMNS = (*CHECK_COLUMNS, CHECKS)


@command(columns=AUDIT_COLUMNS)
def security_audit(
    session: Session,
    warning: WarningKindsOption = None,
    critical: CriticalKindsOption = None,
) -> CheckVerdict:
    """Audit name servers, brokers and proxies, nsadmin's and Apache's, for exposure, with remedies.

    The audit only reads. It asks each server for its settings: once as this client, and once without
    credentials. It begins a TLS handshake, and it opens and closes a connection to the replication port. It
    judges known vulnerabilities by version and settings. A vendor may have fixed its release without a new
    version number.

    Proxies are those of `nsadmin proxy list`. The audit checks the remoting port and the gRPC port of each.

    Critical findings: known exploits, readable secrets, unprotected servers at public addresses, expired
    certificates. Warnings: no authentication, plain text, settings that every client can change, a
    replication port that is reachable from here. Findings with the state OK may be intended. If nothing is
    worse, servers that could not be checked make the state unknown.

    Examples:
        # Audit all servers; a lab accepts every client (exit code 1)
        nsadmin securityAudit
        # Show all servers and remedies, for a program (exit code 1)
        nsadmin securityAudit --format json
        # Alert only on critical findings, for Nagios
        nsadmin securityAudit --warning '~:' --format nagios
    """
    from nsadmin.operations.security import observer, rules

    scale = parse_limits("security", rules.AUDIT_MEASURES, warning, critical)
    access = session.options.access

    def probe_exposure() -> CheckOutcome:
        namesrv_addrs = session.admin.addresses.addrs
        anonymous_access = access._replace(credentials=None, tls=None, retries=0)
        with (
            session.open_other_client(namesrv_addrs, anonymous_access) as plain_client,
            session.open_other_client(
                namesrv_addrs, anonymous_access._replace(tls=Tls(verify=False))
            ) as tls_client,
        ):
            clients = observer.AuditClients(session.admin, plain_client, tls_client)
            return rules.judge_servers(scale, observer.observe_servers(clients, time()))

    return run_probe(session, "security", probe_exposure)
