"""Owns check reports, which verifies that the tables of report run are up to date."""

from pathlib import Path
from time import time
from typing import Annotated

from typer import Option

from nsadmin.command_line.declarations import command
from nsadmin.commands.checks.check_runner import CHECK_COLUMNS, parse_limits, run_check
from nsadmin.commands.reports.report_options import ReportFolderOption
from nsadmin.console.output import CheckVerdict
from nsadmin.console.session import Session


@command(
    columns=CHECK_COLUMNS,
    agent_refusal="it reads local files",
    examples=("elsewhere", "the lab has made no tables"),
)
def check_reports(
    session: Session,
    report_folder: ReportFolderOption = "reports",
    warning_range: Annotated[
        str | None,
        Option(
            "--warning", metavar="RANGE", help="Seconds since the last line was read. Default: 93600 (26 h)."
        ),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option(
            "--critical",
            metavar="RANGE",
            help="Seconds since the last line was read. Default: 180000 (50 h).",
        ),
    ] = None,
) -> CheckVerdict:
    """Check that `nsadmin report run` reads new lines, that it can read them, and that it completes.

    The check asks no server and starts no Spark. More than 1 % of unreadable lines in the last seven days are
    a warning, more than 10 % are critical. A folder without tables is critical. Days that a run did not
    complete are a warning from two hours on. `nsadmin report show data_quality` has the details by source.

    Examples:
        # The tables of a nightly job
        nsadmin check reports --dir reports
        # An hourly job, for Nagios
        nsadmin check reports --dir reports --warning 7200 --critical 14400 --format nagios
    """
    from nsadmin.operations.checks import reports

    limits = parse_limits("reports", warning_range, critical_range)
    folder = Path(report_folder).expanduser()
    return run_check(session, "reports", lambda: reports.judge_reports(limits, folder, int(time() * 1000)))
