"""Owns getNamesrvConfig and updateNamesrvConfig, the commands for name server settings."""

from typing import Annotated

from typer import Argument

from nsadmin.client.server_settings import require_setting
from nsadmin.command_line import argument_values
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.changes import (
    name_server_change_columns,
    name_server_change_rows,
    undo_on_name_servers,
)
from nsadmin.commands.columns.servers import NAMESRV_ADDR, result_notes
from nsadmin.commands.columns.settings import KEY, VALUE
from nsadmin.console.output import Columns, ResultRows
from nsadmin.console.session import Session
from nsadmin.operations.setting_effects import is_read_at_start

NAMESRV_CONFIG_COLUMNS: Columns[tuple[str, str, str]] = (NAMESRV_ADDR.of(lambda r: r[0]), KEY, VALUE)
NAMESRV_CHANGE_COLUMNS = name_server_change_columns(
    KEY, before="the value before", after="the value afterwards"
)
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
    results = session.admin.name_servers.get_config_each()
    items = [(r.addr, *item) for r in results for item in (r.result or {}).items()]
    return ResultRows.from_records(
        NAMESRV_CONFIG_COLUMNS, items, [r.error for r in results], result_notes(results, "name server")
    )


@command(
    columns=NAMESRV_CHANGE_COLUMNS,
    undo_lines=lambda rows: undo_on_name_servers(rows, "updateNamesrvConfig", "-k", rows[0]["key"]),
)
def update_namesrv_config(
    session: Session, key: NamesrvKeyArgument, value: NamesrvValueArgument
) -> ResultRows:
    """Change one setting on every name server, and read it back.

    Name servers accept unknown keys and invalid values without an error. nsadmin refuses a value of another
    type than the present one, also with --dry-run, and reports as failed what a name server ignored.
    Ports and thread pools change only after a restart. Paths cannot be changed.

    Examples:
        # Send order configurations to clients
        nsadmin updateNamesrvConfig orderMessageEnable true --yes
    """
    argument_values.validate_setting_key(key)
    configs = session.admin.name_servers
    require_setting(key, configs.plan_item(key, value), "getNamesrvConfig")
    session.confirm_change(f'Set {key} = "{value}" on {", ".join(session.admin.addresses.addrs)}?')
    before = [r.then(lambda items: items.get(key)) for r in configs.get_config_each()]
    done = "dry-run" if session.is_dry_run else "done"
    changes = (configs.plan_item if session.is_dry_run else configs.update_item)(key, value)
    former_values = {r.addr: r.result for r in before}
    if is_read_at_start(key) and any(r.error is None and r.result != former_values[r.addr] for r in changes):
        session.write_remark(f"{key} takes effect when the name server restarts")
    return name_server_change_rows(NAMESRV_CHANGE_COLUMNS, before, changes, done, {KEY: key})
