"""Owns getNamesrvConfig and updateNamesrvConfig, the commands for name server settings."""

from typing import Annotated

from nsadmin.client import NotFound, ServerResult
from nsadmin.client.results import error_text
from nsadmin.commands.changes import CHANGE, per_name_server
from nsadmin.commands.declared import Word, shows
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("namesrvAddr", "key", "value")
CHANGE_COLUMNS = ("namesrvAddr", "key", *CHANGE)

Key = Annotated[
    str, Word(("-k", "--key"), "KEY", "A setting that getNamesrvConfig shows.", values="namesrv-keys")
]
Value = Annotated[str, Word(("-v", "--value"), "VALUE", "Its new value.", may_be_empty=True)]


@shows(COLUMNS)
def get_namesrv_config(session: Session) -> Rows:
    """Show the settings in force on every name server.

    Examples:
        # All settings of all name servers
        nsadmin getNamesrvConfig
        # One setting, to be compared
        nsadmin getNamesrvConfig --filter key=orderMessageEnable
    """
    results = session.admin.name_servers.config_each()
    rows: list[Row] = [
        {"namesrvAddr": addr, "key": key, "value": value}
        for addr, config, _ in results
        for key, value in (config or {}).items()
    ]
    notes = [f"name server {addr}: {error_text(error)}" for addr, _, error in results if error is not None]
    return Rows(COLUMNS, rows, [result.error for result in results], notes)


@shows(CHANGE_COLUMNS)
def update_namesrv_config(session: Session, key: Key, value: Value) -> Rows:
    """Change one setting on every name server, and read it back.

    Name servers say yes to keys they do not know and to values they cannot read: these are reported as
    failed. Ports and pools change with the next start only. Paths cannot be changed.

    Examples:
        # Hand the order configuration to clients
        nsadmin updateNamesrvConfig orderMessageEnable true --yes
    """
    session.confirm(f"Set {key} = {value!r} on {', '.join(session.admin.addresses.addrs)}?")
    servers = session.admin.name_servers
    configs = servers.config_each()
    before = [config.then(lambda items: items.get(key)) for config in configs]
    if session.dry_run:
        done = [_planned(config, key, value) for config in configs]
        return per_name_server({"key": key}, before, done, "dry-run")
    return per_name_server({"key": key}, before, servers.update(key, value))


def _planned(config: ServerResult[dict[str, str]], key: str, value: str) -> ServerResult[str]:
    def check(items: dict[str, str]) -> str:
        if key not in items:
            raise NotFound(f"this name server has no item {key!r}")
        return value

    return config.then(check)
