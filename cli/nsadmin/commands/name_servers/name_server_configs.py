"""Owns getNamesrvConfig and updateNamesrvConfig, the commands for name server settings."""

from typing import Annotated

from typer import Argument

from nsadmin.client import NotFound, ServerResult
from nsadmin.client.results import error_text
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.changes import CHANGE_RESULT_COLUMNS, rows_per_name_server
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

NAMESRV_CONFIG_COLUMNS = ("namesrvAddr", "key", "value")
NAMESRV_CHANGE_COLUMNS = ("namesrvAddr", "key", *CHANGE_RESULT_COLUMNS)

NamesrvKeyArgument = Annotated[
    str,
    Argument(metavar="KEY", help="A setting that getNamesrvConfig shows."),
    Flags("-k", "--key"),
    Values("namesrv-keys"),
]
NamesrvValueArgument = Annotated[
    str, Argument(metavar="VALUE", help="The new value."), Flags("-v", "--value", may_be_empty=True)
]


@command(columns=NAMESRV_CONFIG_COLUMNS)
def get_namesrv_config(session: Session) -> ResultRows:
    """Show the settings of every name server.

    Examples:
        # All settings of all name servers
        nsadmin getNamesrvConfig
        # One setting on all name servers
        nsadmin getNamesrvConfig --filter key=orderMessageEnable
    """
    config_results = session.admin.name_servers.get_config_each()
    item_rows: list[ResultRow] = [
        {"namesrvAddr": namesrv_addr, "key": item_key, "value": item_value}
        for namesrv_addr, namesrv_config, _ in config_results
        for item_key, item_value in (namesrv_config or {}).items()
    ]
    failure_notes = [
        f"name server {namesrv_addr}: {error_text(error)}"
        for namesrv_addr, _, error in config_results
        if error is not None
    ]
    return ResultRows(
        NAMESRV_CONFIG_COLUMNS,
        item_rows,
        [config_result.error for config_result in config_results],
        failure_notes,
    )


@command(columns=NAMESRV_CHANGE_COLUMNS)
def update_namesrv_config(
    session: Session, key: NamesrvKeyArgument, value: NamesrvValueArgument
) -> ResultRows:
    """Change one setting on every name server, and read it back.

    Name servers accept unknown keys and invalid values without an error. nsadmin reports these as failed.
    Ports and thread pools change only after a restart. Paths cannot be changed.

    Examples:
        # Send order configurations to clients
        nsadmin updateNamesrvConfig orderMessageEnable true --yes
    """
    session.confirm_change(f'Set {key} = "{value}" on {", ".join(session.admin.addresses.addrs)}?')
    config_admin = session.admin.name_servers
    config_results = config_admin.get_config_each()
    results_before = [
        config_result.then(lambda config_items: config_items.get(key)) for config_result in config_results
    ]
    if session.is_dry_run:
        planned_results = [_plan_item(config_result, key, value) for config_result in config_results]
        return rows_per_name_server({"key": key}, results_before, planned_results, "dry-run")
    return rows_per_name_server({"key": key}, results_before, config_admin.update_item(key, value))


def _plan_item(
    config_result: ServerResult[dict[str, str]], item_key: str, item_value: str
) -> ServerResult[str]:
    def require_item(config_items: dict[str, str]) -> str:
        if item_key not in config_items:
            raise NotFound(f'this name server has no setting "{item_key}"')
        return item_value

    return config_result.then(require_item)
