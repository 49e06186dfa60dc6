"""Owns securityAudit, a read-only check of the exposure of name servers and brokers."""

from time import time
from typing import Annotated

from nsadmin.client.connection.access_options import Tls
from nsadmin.command_line.declarations import Option, declare_columns
from nsadmin.commands.checks.check_runner import CHECK_COLUMNS, CheckOutcome, parse_limits, run_check
from nsadmin.output import CheckVerdict
from nsadmin.session import Session

AUDIT_COLUMNS = (*CHECK_COLUMNS, "checks")


@declare_columns(AUDIT_COLUMNS)
def security_audit(
    session: Session,
    warning_range: Annotated[
        str | None,
        Option("--warning", metavar="RANGE", help="How many kinds of warnings may be there; 0 if left out."),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option("--critical", metavar="RANGE", help="How many critical kinds may be there; 0 if left out."),
    ] = None,
) -> CheckVerdict:
    """Look at what stands open on name servers and brokers, ours and Apache's, and say what to do about it.

    It only looks: each server is asked for its settings, once as this client and once as somebody unknown, a
    TLS handshake is begun, and a connection to the port of replication is made and closed. Nothing is changed
    or tried out. Known vulnerabilities are judged by version and settings; a vendor may have mended its own
    release without a new number.

    Critical: known ways in, secrets told to whoever asks, doors open at public addresses, a certificate that
    has expired. Warning: no authentication, plain text, settings that anybody may change, a port of
    replication that can be reached from here. What is OK in the list is worth knowing, and may be meant so.
    What could not be seen makes the state unknown, if nothing is worse.

    Examples:
        # A lab is open to everybody (exit code 1)
        nsadmin securityAudit
        # With all servers and remedies, for a program (exit code 1)
        nsadmin securityAudit --format json
        # Only what is critical, every night, for Nagios
        nsadmin securityAudit --warning '~:' --format nagios
    """
    from nsadmin.operations.security import observer, rules

    check_limits, access_options = (
        parse_limits("security", warning_range, critical_range),
        session.options.access,
    )

    def probe_exposure() -> CheckOutcome:
        namesrv_addrs = session.admin.addresses.addrs
        anonymous_access = access_options._replace(credentials=None, tls=None, retries=0)
        with (
            session.open_other_client(namesrv_addrs, anonymous_access) as plain_client,
            session.open_other_client(
                namesrv_addrs, anonymous_access._replace(tls=Tls(verify=False))
            ) as tls_client,
        ):
            return rules.judge_servers(
                check_limits,
                observer.observe_servers(
                    observer.AuditClients(session.admin, plain_client, tls_client), time()
                ),
            )

    return run_check(session, "security", probe_exposure)
