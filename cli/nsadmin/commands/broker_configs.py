"""Owns getBrokerConfig and updateBrokerConfig, the commands for broker settings."""

from collections.abc import Sequence
from typing import Annotated

from nsadmin.client import ServerResult
from nsadmin.client.broker_configs import ItemChange
from nsadmin.client.results import error_text
from nsadmin.client.targets import Target
from nsadmin.commands import values
from nsadmin.commands.changes import CHANGE, CHANGE_IN_TABLE, change
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.results import outcome
from nsadmin.commands.targets import (
    AddrOption,
    AddrWord,
    MembersOption,
    addrs,
    identity,
    masters_at,
    matched,
    members_at,
    places,
)
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("brokerName", "brokerId", "brokerAddr", "key", "value")
CHANGE_COLUMNS = ("brokerName", "brokerId", "brokerAddr", "key", *CHANGE)
IN_TABLE = ("brokerName", "brokerId", "brokerAddr", "key", *CHANGE_IN_TABLE)


@shows(COLUMNS)
def get_broker_config(session: Session, broker: AddrWord, cluster: MembersOption = None) -> Rows:
    """Show the settings in force on one broker, or on every broker of a cluster, in the order of keys.

    Examples:
        # All settings of one broker
        nsadmin getBrokerConfig 127.0.0.1:10911
        # One setting on every broker of a cluster
        nsadmin getBrokerConfig -c cluster-a --filter key=fileReservedTime
    """
    targets = members_at(session, "getBrokerConfig", broker, cluster)
    results = matched(targets, session.admin.broker_configs.each(addrs(targets)))
    rows: list[Row] = [
        {**identity(target), "key": key, "value": value}
        for target, found in zip(targets, results, strict=True)
        for key, value in (found.result or {}).items()
    ]
    notes = [f"broker {found.addr}: {error_text(found.error)}" for found in results if found.error]
    return Rows(COLUMNS, rows, [found.error for found in results], notes)


@shows(CHANGE_COLUMNS)
def update_broker_config(
    session: Session,
    key: Annotated[
        str, Word(("-k", "--key"), "KEY", "A setting that getBrokerConfig shows.", values="broker-keys")
    ],
    value: Annotated[str, Word(("-v", "--value"), "VALUE", "Its new value.", may_be_empty=True)],
    broker: AddrOption = None,
    cluster: Annotated[
        str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Every master of it.")
    ] = None,
    all_brokers: Annotated[
        str | None,
        Option("-a", "--updateAllBroker", metavar="true|false", help="With -c: its slaves too."),
    ] = None,
) -> Rows:
    """Change one setting on a broker, or on all masters of a cluster, and read it back.

    Brokers say yes to keys they do not know and to values they cannot read: these are reported as failed.
    A broker that has the value already is left alone. The others rewrite their configuration file, with all
    their settings. Many settings count from the next start of the broker only; some are locked.

    Examples:
        # What would change, before and after
        nsadmin updateBrokerConfig fileReservedTime 48 -c cluster-a --dry-run
        # Keep files of one broker for 48 hours
        nsadmin updateBrokerConfig fileReservedTime 48 -b 127.0.0.1:10911 --yes
    """
    slaves = values.flag("updateBrokerConfig", "-a", all_brokers)
    choose = members_at if slaves else masters_at
    targets = choose(session, "updateBrokerConfig", broker, cluster)
    session.confirm(f"Set {key} = {value!r} on {places(targets)}?")
    configs = session.admin.broker_configs
    act = configs.plan if session.dry_run else configs.update
    return _rows(targets, key, act(addrs(targets), key, value), "dry-run" if session.dry_run else "done")


def _rows(
    targets: Sequence[Target], key: str, changes: Sequence[ServerResult[ItemChange]], done: str
) -> Rows:
    results = matched(targets, changes)
    rows: list[Row] = [
        {**identity(target), "key": key, **_change(found.result), **outcome(found.error, _word(found, done))}
        for target, found in zip(targets, results, strict=True)
    ]
    return Rows(CHANGE_COLUMNS, rows, [found.error for found in results], (), IN_TABLE)


def _change(item: ItemChange | None) -> dict[str, object]:
    return {} if item is None else change(item.before, item.after)


def _word(found: ServerResult[ItemChange], done: str) -> str:
    return "unchanged" if found.result is not None and not found.result.is_change else done
