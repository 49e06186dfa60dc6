"""The commands of checks that read files of this machine: journals, tables of reports, backups."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from nsadmin.command_line import time_arguments
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.checks.check_runner import critical_option, run_check, warning_option
from nsadmin.commands.columns.checks import CHECK_COLUMNS
from nsadmin.commands.history.journal_source import JournalOption
from nsadmin.commands.reports.report_options import ReportFolderOption
from nsadmin.console.output import CheckVerdict
from nsadmin.console.session import Session
from nsadmin.operations.checks.check import CheckScope


@command(columns=CHECK_COLUMNS)
def check_journal(
    session: Session,
    journal_folders: JournalOption = None,
    since_text: Annotated[
        str,
        Option(
            "--since",
            metavar="TIME",
            help=f"Count losses since this time. Default: -24h. {time_arguments.TIME_HELP}",
        ),
    ] = "-24h",
    verify_records: Annotated[
        bool, Option("--verify", help="Verify every record of each journal, which takes longer.")
    ] = False,
    warning: Annotated[
        str | None, warning_option("Age of the last record, in seconds. Default: 120.")
    ] = None,
    critical: Annotated[
        str | None, critical_option("Age of the last record, in seconds. Default: 600.")
    ] = None,
) -> CheckVerdict:
    """Check whether journals are written, complete and undamaged.

    nsadmin's name servers report whether they can write their journals. nsadmin reads the journals in the
    context's folders. With --journal, it reads only that folder and asks no name server. A running name
    server or collector writes a record every minute. Lost events and failed polls of a collector are a
    warning. A journal that is damaged, or that cannot be written or read, is critical.

    Examples:
        # Ask the name servers; a test lab has no journals (exit code 3)
        nsadmin check journal
        # Check a journal that ended long ago (exit code 2)
        nsadmin check journal --journal namesrv/journal
        # Verify the same journal, of any age
        nsadmin check journal --journal namesrv/journal --verify --warning '~:' --critical '~:'
    """
    time_arguments.parse_time_option("--from", since_text, 0)
    scope = CheckScope(
        journal_folders=[
            Path(folder).expanduser()
            for folder in dict.fromkeys(journal_folders or session.options.journal_folders)
        ],
        journal_since=lambda now_ms: time_arguments.parse_time_option("--from", since_text, 0, now_ms),
        asks_journal_status=not journal_folders,
        verifies_records=verify_records,
    )
    return run_check(session, "journal", warning, critical, scope)


@command(
    columns=CHECK_COLUMNS,
    agent_refusal="it reads local files",
    examples=("elsewhere", "the lab has made no tables"),
)
def check_reports(
    session: Session,
    report_folder: ReportFolderOption = "reports",
    warning: Annotated[
        str | None, warning_option("Seconds since the last line was read. Default: 93600 (26 h).")
    ] = None,
    critical: Annotated[
        str | None, critical_option("Seconds since the last line was read. Default: 180000 (50 h).")
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
    scope = CheckScope(report_folder=Path(report_folder).expanduser())
    return run_check(session, "reports", warning, critical, scope)


@command(columns=CHECK_COLUMNS)
def check_backup(
    session: Session,
    backup_path: Annotated[
        str,
        Argument(metavar="PATH", help="A backup, or a folder of `nsadmin backup create CLUSTER --dir DIR`."),
        Flags("--path"),
    ],
    cluster_name: Annotated[
        str | None,
        Option("--clusterName", metavar="CLUSTER", help="Only the backups of this cluster in the folder."),
    ] = None,
    warning: Annotated[
        str | None, warning_option("Age of the last backup in seconds. Default: 93600 (26 h).")
    ] = None,
    critical: Annotated[
        str | None, critical_option("Age of the last backup in seconds. Default: 180000 (50 h).")
    ] = None,
) -> CheckVerdict:
    """Check that the last backup is young, that it lacks no server, and that it is not damaged.

    The check asks no server. A damaged backup is critical, and so is an empty folder.

    Examples:
        # The last backup of a folder
        nsadmin check backup backups
        # Backups that are made every hour
        nsadmin check backup backups --cluster cluster-a --warning 7200 --critical 14400
    """
    scope = CheckScope(backup_path=Path(backup_path).expanduser(), cluster_name=cluster_name)
    return run_check(session, "backup", warning, critical, scope)
