"""startMonitoring: checks every consumer group periodically."""

from collections.abc import Iterator
from time import time
from typing import Annotated

from nsadmin.command_line.declarations import Option, declare_columns
from nsadmin.commands.checks.check_runner import (
    CHECK_COLUMNS,
    CheckOutcome,
    ClusterOption,
    parse_limits,
    run_check,
)
from nsadmin.exit_codes import UsageError
from nsadmin.output import CheckVerdict
from nsadmin.session import Session

MONITORING_COLUMNS = (*CHECK_COLUMNS, "checks")


@declare_columns(MONITORING_COLUMNS)
def start_monitoring(
    session: Session,
    only_once: Annotated[bool, Option("--once", help="Look once, and exit with what was found.")] = False,
    interval_seconds: Annotated[
        float, Option("-i", "--interval", metavar="SECONDS", help="From one look to the next.")
    ] = 60.0,
    cluster_name: ClusterOption = None,
    warning_range: Annotated[
        str | None,
        Option("--warning", metavar="RANGE", help="Messages a group may be behind; 10000 if left out."),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option("--critical", metavar="RANGE", help="Messages a group may be behind; 100000 if left out."),
    ] = None,
) -> CheckVerdict | Iterator[CheckVerdict]:
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
    if interval_seconds <= 0:
        raise UsageError(f"startMonitoring: -i {interval_seconds:g} cannot be: give seconds, more than 0")
    limits = parse_limits("lag", warning_range, critical_range)

    def probe_groups() -> CheckOutcome:
        from nsadmin.operations.checks import group_monitor

        return group_monitor.judge_groups(
            limits, *group_monitor.observe_groups(session.admin, int(time() * 1000), cluster_name)
        )

    def report_groups() -> CheckVerdict:
        return run_check(session, "monitoring", probe_groups)

    return report_groups() if only_once else session.repeat_every(interval_seconds, report_groups)
