"""Owns check backup, which verifies the last backup."""

from pathlib import Path
from time import time
from typing import Annotated

from typer import Argument, Option

from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.checks.check_runner import CHECK_COLUMNS, parse_limits, run_check
from nsadmin.console.output import CheckVerdict
from nsadmin.console.session import Session


@command(columns=CHECK_COLUMNS)
def check_backup(
    session: Session,
    backup_path: Annotated[
        str,
        Argument(metavar="PATH", help="A backup, or a folder of `nsadmin backup create --dir`."),
        Flags("--path"),
    ],
    cluster_name: Annotated[
        str | None,
        Option("--clusterName", metavar="CLUSTER", help="Only the backups of this cluster in the folder."),
    ] = None,
    warning_range: Annotated[
        str | None,
        Option(
            "--warning", metavar="RANGE", help="Age of the last backup in seconds. Default: 93600 (26 h)."
        ),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option(
            "--critical", metavar="RANGE", help="Age of the last backup in seconds. Default: 180000 (50 h)."
        ),
    ] = None,
) -> CheckVerdict:
    """Check that the last backup is young, that it lacks no server, and that it is not damaged.

    The check asks no server. A damaged backup is critical, and so is an empty folder.

    Examples:
        # The last backup of a folder
        nsadmin check backup backups
        # Backups that are made every hour
        nsadmin check backup backups --clusterName cluster-a --warning 7200 --critical 14400
    """
    from nsadmin.operations.checks import backups

    limits = parse_limits("backup", warning_range, critical_range)
    path = Path(backup_path).expanduser()
    return run_check(
        session,
        "backup",
        lambda: backups.judge_last_backup(limits, path, int(time() * 1000), cluster_name),
    )
