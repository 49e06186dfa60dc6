"""The commands of checks without options of their own, built from their declarations."""

from collections.abc import Callable
from typing import Annotated, Any

from nsadmin.command_line.declarations import command
from nsadmin.commands.checks.check_runner import ClusterOption, critical_option, run_check, warning_option
from nsadmin.commands.columns.checks import CHECK_COLUMNS
from nsadmin.console.output import CheckVerdict
from nsadmin.console.session import Session
from nsadmin.operations.checks.check import Check, CheckScope
from nsadmin.operations.checks.check_table import CHECK_TABLE


def __getattr__(function_name: str) -> Callable[..., CheckVerdict]:
    """Build the command of a check without options of its own, which declares its help in its `Check`."""
    for entry in CHECK_TABLE:
        if function_name == f"check_{entry.module_name}":
            return _build_command(entry.load())
    raise AttributeError(f"module {__name__!r} has no attribute {function_name!r}")


def _build_command(check: Check[Any]) -> Callable[..., CheckVerdict]:
    @command(columns=CHECK_COLUMNS)
    def run(
        session: Session,
        warning: Annotated[str | None, warning_option(check.warning_help)] = None,
        critical: Annotated[str | None, critical_option(check.critical_help)] = None,
    ) -> CheckVerdict:
        return run_check(session, check.name, warning, critical)

    @command(columns=CHECK_COLUMNS)
    def run_in_cluster(
        session: Session,
        cluster_name: ClusterOption = None,
        warning: Annotated[str | None, warning_option(check.warning_help)] = None,
        critical: Annotated[str | None, critical_option(check.critical_help)] = None,
    ) -> CheckVerdict:
        # Imported late: the other checks can be health probes, which have to be quick.
        from nsadmin.operations.inventory.keeper import open_inventory

        scope = CheckScope(cluster_name=cluster_name, inventory=open_inventory(session))
        return run_check(session, check.name, warning, critical, scope)

    function = run_in_cluster if check.takes_cluster else run
    function.__doc__ = check.help
    return function
