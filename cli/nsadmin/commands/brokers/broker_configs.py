"""Owns getBrokerConfig and updateBrokerConfig, the commands for broker settings."""

from collections.abc import Sequence
from typing import Annotated

from typer import Argument, Option

from nsadmin.client import ServerResult
from nsadmin.client.brokers.broker_configs import ConfigItemChange
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.results import error_text
from nsadmin.command_line import argument_values
from nsadmin.command_line.broker_targets import (
    BrokerAddrArgument,
    BrokerAddrOption,
    ClusterMembersOption,
    describe_targets,
    distinct_addrs,
    identity_cells,
    match_results,
    select_masters,
    select_members,
)
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.awaited_servers import report_awaited_servers
from nsadmin.commands.columns.changes import CHANGE_RESULT_COLUMNS, CHANGE_RESULT_IN_TABLE, change_cells
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

BROKER_CONFIG_COLUMNS = ("brokerName", "brokerId", "brokerAddr", "key", "value")
CONFIG_CHANGE_COLUMNS = ("brokerName", "brokerId", "brokerAddr", "key", *CHANGE_RESULT_COLUMNS)
CONFIG_CHANGE_TABLE_COLUMNS = ("brokerName", "brokerId", "brokerAddr", "key", *CHANGE_RESULT_IN_TABLE)


@command(columns=BROKER_CONFIG_COLUMNS)
def get_broker_config(
    session: Session, broker_text: BrokerAddrArgument, cluster_name: ClusterMembersOption = None
) -> ResultRows:
    """Show the settings of a broker, or of every broker of a cluster, sorted by key.

    Examples:
        # All settings of one broker
        nsadmin getBrokerConfig 127.0.0.1:10911
        # One setting on every broker of a cluster
        nsadmin getBrokerConfig -c cluster-a --filter key=fileReservedTime
    """
    broker_targets = select_members(session, broker_text, cluster_name)
    config_results = match_results(
        broker_targets, session.admin.broker_configs.get_each(distinct_addrs(broker_targets))
    )
    item_rows: list[ResultRow] = [
        {**identity_cells(broker_target), "key": item_key, "value": item_value}
        for broker_target, config_result in zip(broker_targets, config_results, strict=True)
        for item_key, item_value in (config_result.result or {}).items()
    ]
    failure_notes = [
        f"broker {config_result.addr}: {error_text(config_result.error)}"
        for config_result in config_results
        if config_result.error
    ]
    return ResultRows(
        BROKER_CONFIG_COLUMNS,
        item_rows,
        [config_result.error for config_result in config_results],
        failure_notes,
    )


@command(columns=CONFIG_CHANGE_COLUMNS)
def update_broker_config(
    session: Session,
    key: Annotated[
        str,
        Argument(metavar="KEY", help="A setting that getBrokerConfig shows."),
        Flags("-k", "--key"),
        Values("broker-keys"),
    ],
    value: Annotated[
        str, Argument(metavar="VALUE", help="The new value."), Flags("-v", "--value", may_be_empty=True)
    ],
    broker_text: BrokerAddrOption = None,
    cluster_name: Annotated[
        str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Every master of this cluster.")
    ] = None,
    include_slaves: Annotated[
        str | None,
        Option("-a", "--updateAllBroker", metavar="true|false", help="With -c: also the slaves."),
    ] = None,
) -> ResultRows:
    """Change one setting on a broker, or on all masters of a cluster, and read it back.

    Brokers accept unknown keys and invalid values without an error, but nsadmin reports these as failed.
    nsadmin sends nothing to a broker that already has the value. A broker that changes the setting rewrites
    its configuration file with all settings. Many settings take effect only when the broker restarts. Brokers
    refuse to change the settings in their configBlackList.

    Examples:
        # Preview the change
        nsadmin updateBrokerConfig fileReservedTime 48 -c cluster-a --dry-run
        # Keep files for 48 hours on one broker
        nsadmin updateBrokerConfig fileReservedTime 48 -b 127.0.0.1:10911 --yes
    """
    with_slaves = argument_values.parse_boolean("-a", include_slaves)
    select_targets = select_members if with_slaves else select_masters
    broker_targets = select_targets(session, broker_text, cluster_name)
    session.confirm_change(f'Set {key} = "{value}" on {describe_targets(broker_targets)}?')
    broker_configs = session.admin.broker_configs
    change_item = broker_configs.plan_update if session.is_dry_run else broker_configs.update_item
    item_changes = change_item(distinct_addrs(broker_targets), key, value)
    change_rows = _config_change_rows(
        broker_targets, key, item_changes, "dry-run" if session.is_dry_run else "done"
    )
    late_addrs = [change.addr for change in item_changes if change.result and change.result.late_error]
    return report_awaited_servers(session.admin, change_rows, late_addrs)


def _config_change_rows(
    broker_targets: Sequence[BrokerTarget],
    item_key: str,
    item_changes: Sequence[ServerResult[ConfigItemChange]],
    done_word: str,
) -> ResultRows:
    change_results = match_results(broker_targets, item_changes)
    change_rows: list[ResultRow] = [
        {
            **identity_cells(broker_target),
            "key": item_key,
            **_config_change_cells(change_result.result),
            **outcome_cells(change_result.error, _result_word(change_result, done_word)),
        }
        for broker_target, change_result in zip(broker_targets, change_results, strict=True)
    ]
    return ResultRows(
        CONFIG_CHANGE_COLUMNS,
        change_rows,
        [change_result.error for change_result in change_results],
        (),
        CONFIG_CHANGE_TABLE_COLUMNS,
    )


def _config_change_cells(item_change: ConfigItemChange | None) -> dict[str, object]:
    return {} if item_change is None else change_cells(item_change.before, item_change.after)


def _result_word(change_result: ServerResult[ConfigItemChange], done_word: str) -> str:
    return (
        "unchanged" if change_result.result is not None and not change_result.result.is_change else done_word
    )
