"""Owns securityAudit, a read-only check of the exposure of name servers and brokers."""

from time import time
from typing import Annotated

from nsadmin.client.access import Tls
from nsadmin.commands.checking import COLUMNS, Found, checked, scale
from nsadmin.commands.declared import Option, shows
from nsadmin.output import Verdict
from nsadmin.session import Session

AUDIT_COLUMNS = (*COLUMNS, "checks")


@shows(AUDIT_COLUMNS)
def security_audit(
    session: Session,
    warning: Annotated[
        str | None,
        Option("--warning", metavar="RANGE", help="How many kinds of warnings may be there; 0 if left out."),
    ] = None,
    critical: Annotated[
        str | None,
        Option("--critical", metavar="RANGE", help="How many critical kinds may be there; 0 if left out."),
    ] = None,
) -> Verdict:
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
    from nsadmin.operations.security import judging, looking

    limits, access = scale("security", warning, critical), session.options.access

    def look() -> Found:
        addrs = session.admin.addresses.addrs
        unknown = access._replace(credentials=None, tls=None, retries=0)
        with (
            session.other(addrs, unknown) as plain,
            session.other(addrs, unknown._replace(tls=Tls(verify=False))) as veiled,
        ):
            return judging.judge(limits, looking.look(looking.Eyes(session.admin, plain, veiled), time()))

    return checked(session, "security", look)
