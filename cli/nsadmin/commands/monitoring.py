"""startMonitoring: checks every consumer group periodically."""

from collections.abc import Iterator
from time import time
from typing import Annotated

from nsadmin.commands.checking import COLUMNS, ClusterOption, Found, checked, scale
from nsadmin.commands.declared import Option, shows
from nsadmin.diagnostics import UsageError
from nsadmin.output import Verdict
from nsadmin.session import Session

MONITORING_COLUMNS = (*COLUMNS, "checks")


@shows(MONITORING_COLUMNS)
def start_monitoring(
    session: Session,
    once: Annotated[bool, Option("--once", help="Look once, and exit with what was found.")] = False,
    interval: Annotated[
        float, Option("-i", "--interval", metavar="SECONDS", help="From one look to the next.")
    ] = 60.0,
    cluster: ClusterOption = None,
    warning: Annotated[
        str | None,
        Option("--warning", metavar="RANGE", help="Messages a group may be behind; 10000 if left out."),
    ] = None,
    critical: Annotated[
        str | None,
        Option("--critical", metavar="RANGE", help="Messages a group may be behind; 100000 if left out."),
    ] = None,
) -> Verdict | Iterator[Verdict]:
    """Look at every consumer group each minute, until Ctrl-C, and say which are not well, and why.

    A group is not well that is too far behind, that has messages and nobody connected, or whose clients tell
    what consumerStatus would complain of: different subscriptions, queues that nobody or two have, messages
    that lie in a client. Groups are found on brokers, also those without a retry topic; none is joined, and
    no offset is moved. With --once the exit code is that of a check.

    Examples:
        # Which groups are not well now, for a program
        nsadmin startMonitoring --once --warning 1000000 --critical 10000000 --json
        # For node_exporter
        nsadmin startMonitoring --once --warning '~:' --critical '~:' --format prometheus --output-file a.prom
    """
    if interval <= 0:
        raise UsageError(f"startMonitoring: -i {interval:g} cannot be: give seconds, more than 0")
    limits = scale("lag", warning, critical)

    def look() -> Found:
        from nsadmin.operations.checks import monitoring

        return monitoring.judge(limits, *monitoring.look(session.admin, int(time() * 1000), cluster))

    def told() -> Verdict:
        return checked(session, "monitoring", look)

    return told() if once else session.repeat(interval, told)
