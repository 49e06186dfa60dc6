"""Owns check clients, which finds clients with an old release."""

from typing import Annotated

from typer import Option

from nsadmin.command_line.declarations import command
from nsadmin.commands.checks.check_runner import CHECK_COLUMNS, ClusterOption, parse_limits, run_check
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import CheckVerdict
from nsadmin.console.session import Session


@command(columns=CHECK_COLUMNS)
def check_clients(
    session: Session,
    min_version: Annotated[
        str | None,
        Option("--min-version", metavar="VERSION", help="The oldest accepted release. Default: 5.0.0."),
    ] = None,
    cluster_name: ClusterOption = None,
    warning_range: Annotated[
        str | None,
        Option("--warning", metavar="RANGE", help="Clients that may be older. Default: 0."),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option("--critical", metavar="RANGE", help="Clients that may be older. Default: 1000000."),
    ] = None,
) -> CheckVerdict:
    """Check whether connected clients are older than a release.

    The check counts clients of brokers and of proxies. The state is at least unknown if the release of a
    client is unknown, or if a broker or proxy does not answer.

    Examples:
        # Find clients older than 5.0.0
        nsadmin check clients
        # Accept 4.9.7, and clients up to ten that are older
        nsadmin check clients --min-version 4.9.7 --warning 10
    """
    from nsadmin.operations.checks import clients

    least_version = clients.DEFAULT_MIN_VERSION if min_version is None else min_version
    if clients.parse_min_version(least_version) is None:
        raise UsageError(f'invalid version "{least_version}" for --min-version: use a release such as 5.0.0')
    limits = parse_limits("clients", warning_range, critical_range)
    return run_check(
        session,
        "clients",
        lambda: clients.judge_clients(
            limits, clients.observe_clients(session.admin, cluster_name), least_version
        ),
    )
