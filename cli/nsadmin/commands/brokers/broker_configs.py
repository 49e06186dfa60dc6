"""Owns getBrokerConfig and updateBrokerConfig, the commands for broker settings."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import ServerResult
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.broker_configs import ConfigItemChange
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.server_settings import require_setting
from nsadmin.command_line import argument_values
from nsadmin.command_line.broker_targets import (
    BrokerAddrOption,
    ClusterMembersOption,
    ReadBrokerArgument,
    describe_targets,
    distinct_addrs,
    list_members,
    match_results,
    select_masters,
    select_members,
)
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.awaited_servers import report_awaited_servers
from nsadmin.commands.columns.brokers import TARGET_COLUMNS
from nsadmin.commands.columns.changes import (
    ServerChange,
    broker_change_columns,
    broker_change_rows,
    read_change,
    undo_on_brokers,
)
from nsadmin.commands.columns.servers import result_notes
from nsadmin.commands.columns.settings import KEY, VALUE
from nsadmin.console.output import Columns, ResultRows
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.setting_effects import describe_break, describe_deletion, is_read_at_start

BROKER_CONFIG_COLUMNS: Columns[tuple[BrokerTarget, str, str]] = (*TARGET_COLUMNS, KEY, VALUE)
CONFIG_CHANGE_COLUMNS = broker_change_columns(KEY, before="the value before", after="the value afterwards")


@command(columns=BROKER_CONFIG_COLUMNS)
def get_broker_config(
    session: Session, broker_text: ReadBrokerArgument, cluster_name: ClusterMembersOption = None
) -> ResultRows:
    """Show the settings of brokers, sorted by key.

    Examples:
        # All settings of one broker
        nsadmin getBrokerConfig 127.0.0.1:10911
        # How long each broker keeps messages (retention), in hours
        nsadmin getBrokerConfig --filter key=fileReservedTime
        # Is a feature enabled (on), such as tracing or SQL filters: all switches of one broker
        nsadmin getBrokerConfig 127.0.0.1:10911 --filter key~nable
        # Which name servers each broker uses
        nsadmin getBrokerConfig --filter key=namesrvAddr
        # The maximum size of a message that each broker accepts, in bytes
        nsadmin getBrokerConfig --filter key=maxMessageSize
    """
    targets = list_members(session, broker_text, cluster_name)
    results = match_results(targets, session.admin.broker_configs.get_each(distinct_addrs(targets)))
    items = [
        (target, *item)
        for target, result in zip(targets, results, strict=True)
        for item in (result.result or {}).items()
    ]
    errors = [r.error for r in results]
    return ResultRows.from_records(BROKER_CONFIG_COLUMNS, items, errors, result_notes(results))


def _undo_config_change(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    return undo_on_brokers(
        rows, "brokerAddr", lambda row: ("updateBrokerConfig", "-k", row["key"], "-v", row["before"])
    )


@command(columns=CONFIG_CHANGE_COLUMNS, undo_lines=_undo_config_change)
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

    With -c, the slaves keep their value, as with mqadmin. Pass -a true to change it on slaves, too.
    Brokers accept unknown keys and invalid values without an error. nsadmin refuses a value of another type
    than the present one, also with --dry-run, and reports as failed what a broker ignored.
    nsadmin sends nothing to a broker that already has the value. A broker that changes the setting rewrites
    its configuration file with all settings. Many settings take effect only when the broker restarts. nsadmin
    says so for those that it knows, such as thread pools. Brokers refuse to change the settings in their
    configBlackList. A change that breaks a running broker needs --yes without a terminal: SYNC_FLUSH as
    flushDiskType, and any value of listenPort, brokerIP1, brokerName, brokerClusterName, brokerId or
    brokerRole. So does a lower fileReservedTime, because brokers then delete messages.

    Examples:
        # Change a setting of all brokers at run time, without a restart: preview it
        nsadmin updateBrokerConfig fileReservedTime 48 -c cluster-a --dry-run
        # Keep files for 48 hours on one broker
        nsadmin updateBrokerConfig fileReservedTime 48 -b 127.0.0.1:10911 --yes
        # A broker has a wrong IP address, such as that of a container: set the right one, then restart it
        nsadmin updateBrokerConfig brokerIP1 10.0.0.5 -b 127.0.0.1:10911 --dry-run
    """
    argument_values.validate_setting_key(key)
    with_slaves = argument_values.parse_boolean("-a", include_slaves)
    targets = (select_members if with_slaves else select_masters)(session, broker_text, cluster_name)
    configs = session.admin.broker_configs
    results = configs.plan_update(distinct_addrs(targets), key, value)
    require_setting(key, results, "getBrokerConfig", *distinct_addrs(targets)[:1])
    breakage = describe_break(key, value)
    changed_addrs = {r.addr for r in results if r.result and r.result.is_change}
    if slaves := _list_other_slaves(session, changed_addrs, distinct_addrs(targets)):
        stay = "stays as it is" if len(slaves) == 1 else "stay as they are"
        fact = f"{count_noun(len(slaves), 'slave')} {stay}"
        if cluster_name is not None:
            session.write_remark(f"{fact}: -a true includes slaves")
        # A name or an address of a master is wrong on its slaves.
        elif not breakage:
            advice = quote_command("updateBrokerConfig", key, value, "-b", ",".join(slaves))
            session.write_remark(f"{fact}: to include {'it' if len(slaves) == 1 else 'them'}, run {advice}")
    if breakage:
        session.require_yes("updateBrokerConfig", breakage)
        session.write_remark(f"{breakage}: better set it in broker.conf, and restart the broker")
    if deletion := describe_deletion(key, value, (r.result.before for r in results if r.result)):
        session.require_yes("updateBrokerConfig", deletion)
        session.write_remark(deletion)
    session.confirm_change(f'Set {key} = "{value}" on {describe_targets(targets)}?')
    if not session.is_dry_run:
        results = configs.apply_update(results, key, value)
    if is_read_at_start(key) and any(r.result and r.result.is_change for r in results):
        session.write_remark(f"{key} takes effect when the broker restarts")
    done = "dry-run" if session.is_dry_run else "done"
    changes = [describe_config_change(r, done) for r in match_results(targets, results)]
    rows = broker_change_rows(CONFIG_CHANGE_COLUMNS, targets, changes, {KEY: key})
    late_addrs = [r.addr for r in results if r.result and r.result.late_error]
    return report_awaited_servers(session.admin, rows, late_addrs)


def _list_other_slaves(session: Session, masters: Collection[str], chosen: Collection[str]) -> list[str]:
    """The addresses of slaves of these masters that are not chosen, as far as a name server tells."""
    if masters and session.namesrv_addrs:
        with suppress(RocketMQError):
            return [
                addr
                for group in session.admin.clusters.get_info().broker_groups
                if group.broker_addrs.get(MASTER_BROKER_ID) in masters
                for addr in group.broker_addrs.values()
                if addr not in chosen
            ]
    return []


def describe_config_change(result: ServerResult[ConfigItemChange], done: str) -> ServerChange:
    """The change of a setting; unchanged if the server takes both values for the same."""
    is_same = result.result is not None and not result.result.is_change
    return read_change(result, "unchanged" if is_same else done)
