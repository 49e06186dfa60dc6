"""startMonitoring: checks every consumer group periodically."""

from collections.abc import Iterator
from typing import Annotated

from typer import Option

from nsadmin.client.wall_clock import time
from nsadmin.command_line.declarations import command
from nsadmin.commands.checks.check_runner import (
    CheckOutcome,
    ClusterOption,
    critical_option,
    parse_limits,
    run_probe,
    warning_option,
)
from nsadmin.commands.columns.checks import CHECK_COLUMNS, CHECKS
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import CheckVerdict
from nsadmin.console.session import Session

MONITORING_COLUMNS = (*CHECK_COLUMNS, CHECKS)


@command(columns=MONITORING_COLUMNS)
def start_monitoring(
    session: Session,
    only_once: Annotated[bool, Option("--once", help="Check once, and exit with the state.")] = False,
    interval_seconds: Annotated[
        float, Option("-i", "--interval", metavar="SECONDS", help="Time between two checks.")
    ] = 60.0,
    cluster_name: ClusterOption = None,
    warning: Annotated[
        str | None, warning_option("Messages that a group may be behind. Default: 10000.")
    ] = None,
    critical: Annotated[
        str | None, critical_option("Messages that a group may be behind. Default: 100000.")
    ] = None,
) -> CheckVerdict | Iterator[CheckVerdict]:
    """Check every consumer group each minute, until Ctrl-C, and report unhealthy groups with the reason.

    A group is unhealthy if it is too far behind, or if it has messages but no connected clients. It is also
    unhealthy if its clients have different subscriptions, queues without an owner or with two, or messages
    that they do not consume. nsadmin finds groups on the brokers, also groups without a retry topic. It joins
    no group and moves no offset. With --once, the exit code is that of a check.

    Examples:
        # Show groups that are unhealthy now, for a program
        nsadmin startMonitoring --once --warning 1000000 --critical 10000000 --json
        # Write metrics for node_exporter
        nsadmin startMonitoring --once --warning '~:' --critical '~:' --format prometheus --out a.prom
    """
    from nsadmin.operations.checks import group_monitor, lag

    if interval_seconds <= 0:
        raise UsageError(f'invalid value "{interval_seconds:g}" for -i: expected a number of seconds above 0')
    limits = parse_limits("lag", lag.CHECK.measures, warning, critical)

    def probe_groups() -> CheckOutcome:
        return group_monitor.judge_groups(
            limits, *group_monitor.observe_groups(session.admin, int(time() * 1000), cluster_name)
        )

    def report_groups() -> CheckVerdict:
        return run_probe(session, "monitoring", probe_groups)

    return report_groups() if only_once else session.repeat_every(interval_seconds, report_groups)
