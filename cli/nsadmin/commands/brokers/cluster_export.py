"""Owns exportConfigs, exportMetadata and exportMetrics: JSON about a cluster, with mqadmin's field names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client.brokers.clusters import BrokerAddrGroup, describe_shared_addr, find_shared_addrs
from nsadmin.client.results import error_text
from nsadmin.client.wall_clock import time
from nsadmin.command_line import exclusive_options
from nsadmin.command_line.broker_targets import (
    OptionalBrokerAddrOption,
    distinct_addrs,
    find_brokers,
    remark_missing,
)
from nsadmin.command_line.declarations import Flags, RequiredUnless, command
from nsadmin.commands.columns.files import FILE, SIZE
from nsadmin.console import stderr
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, OutputText, ResultRows
from nsadmin.console.session import Session
from nsadmin.operations.broker_identity import remark_twins
from nsadmin.operations.exports import configs, metadata, metrics, observer
from nsadmin.operations.exports.document_file import format_document, save_document
from nsadmin.operations.exports.observer import ExportedBroker

EXPORT_COLUMNS: Columns[tuple[str, int, int]] = (
    FILE,
    Column("brokers", "number of brokers in the file", lambda r: r[2]),
    SIZE,
)

ClusterArgument = Annotated[
    str, Argument(metavar="CLUSTER", help="Name of a cluster."), Flags("-c", "--clusterName")
]
ExportFolderOption = Annotated[
    str | None,
    Option("-f", "--filePath", metavar="DIR", help="Write a file to this folder instead of standard output."),
]


@command(columns=EXPORT_COLUMNS)
def export_configs(
    session: Session,
    cluster_name: ClusterArgument,
    folder_name: ExportFolderOption = None,
    all_settings: Annotated[
        bool, Option("--all", help="All settings, not only the 16 settings that mqadmin picks.")
    ] = False,
) -> ResultRows | OutputText:
    """Write the settings of the masters of a cluster, and its size, as JSON.

    With -f, nsadmin writes configs.json in that folder and replaces an existing file. nsadmin names each
    broker that does not answer on stderr and writes the others. Then the exit code is 3.

    Examples:
        # All settings of all masters as JSON: keep the file in git, and git diff shows each drift
        nsadmin exportConfigs cluster-a --all
        # The 16 settings that mqadmin picks, in a file
        nsadmin exportConfigs -c cluster-a -f exported
    """
    broker_groups = _list_processes(session, cluster_name)
    broker_settings, broker_errors = observer.read_configs(
        session.admin, observer.list_exported_masters(broker_groups)
    )
    namesrv_count = len(session.admin.addresses.addrs)
    export_document = configs.build_configs_document(
        broker_groups, broker_settings, namesrv_count, all_settings=all_settings
    )
    if not all_settings:
        session.write_remark("these are the 16 settings that mqadmin picks: pass --all for all settings")
    return _write_document(
        session, "configs.json", folder_name, export_document, broker_errors, len(broker_settings)
    )


@command(columns=EXPORT_COLUMNS)
def export_metadata(
    session: Session,
    cluster_name: Annotated[
        str | None,
        Argument(metavar="CLUSTER", help="Every master of this cluster."),
        Flags("-c", "--clusterName"),
        RequiredUnless("broker_text"),
    ],
    broker_text: OptionalBrokerAddrOption = None,
    folder_name: ExportFolderOption = None,
    only_topics: Annotated[bool, Option("-t", "--topic", help="Only topics.")] = False,
    only_groups: Annotated[bool, Option("-g", "--subscriptionGroup", help="Only consumer groups.")] = False,
    with_special: Annotated[
        bool, Option("-s", "--specialTopic", help="Also the topics of retries and dead letters.")
    ] = False,
    sum_queues: Annotated[
        bool,
        Option("--sum", help="Add up the queues of all brokers, like mqadmin. Use this only for counting."),
    ] = False,
) -> ResultRows | OutputText:
    """Write the topics and consumer groups that users created as JSON.

    updateTopicList and updateSubGroupList read this JSON. If brokers differ, the JSON shows the settings of
    the first broker, and under perBroker the settings of each broker. With -f, nsadmin writes a file to that
    folder: metadata.json, or topic.json with -t, or subscriptionGroup.json with -g. nsadmin names each broker
    that does not answer on stderr and writes the others. Then the exit code is 3.

    Examples:
        # Topics and groups of all masters
        nsadmin exportMetadata cluster-a
        # Topics and groups of all brokers, of all clusters
        nsadmin exportMetadata -b '*'
        # Write the topics of one broker to a file
        nsadmin exportMetadata -b 127.0.0.1:10911 -t -f exported
    """
    broker_places = _select_places(session, cluster_name, broker_text)
    broker_tables, broker_errors = observer.read_metadata(
        session.admin, broker_places, include_special=with_special
    )
    wanted_tables = {"topicConfigTable": only_topics, "subscriptionGroupTable": only_groups}
    table_names = [table_name for table_name, is_wanted in wanted_tables.items() if is_wanted] or list(
        wanted_tables
    )
    export_document = metadata.build_metadata_document(
        broker_tables, table_names, export_time=int(time() * 1000), sum_queues=sum_queues
    )
    differing_names = metadata.list_differing_names(export_document)
    if differing_names:
        session.write_remark(f"brokers have different settings, see perBroker: {', '.join(differing_names)}")
    file_name = {"topicConfigTable": "topic.json", "subscriptionGroupTable": "subscriptionGroup.json"}[
        table_names[0]
    ]
    if len(table_names) > 1:
        file_name = "metadata.json"
    return _write_document(
        session, file_name, folder_name, export_document, broker_errors, len(broker_tables)
    )


@command(columns=EXPORT_COLUMNS)
def export_metrics(
    session: Session, cluster_name: ClusterArgument, folder_name: ExportFolderOption = None
) -> ResultRows | OutputText:
    """Write load, versions and sizes of the masters of a cluster as JSON.

    rocketmqVersion is the version of the broker. (mqadmin writes its own version.) mqadmin's cpuNum has its
    real name here, clientCallbackExecutorThreads, because brokers do not report how many processors they
    have. A value that a broker does not report is null, and totalData does not include it. With -f, nsadmin
    writes metrics.json to that folder.

    Examples:
        # Messages per second and of yesterday, of each broker and in total, and the size of messages
        nsadmin exportMetrics cluster-a
        # Write them to a file
        nsadmin exportMetrics -c cluster-a -f exported
    """
    broker_groups = _list_processes(session, cluster_name)
    broker_metrics, broker_errors = observer.read_metrics(
        session.admin, observer.list_exported_masters(broker_groups)
    )
    return _write_document(
        session,
        "metrics.json",
        folder_name,
        metrics.build_metrics_document(broker_metrics),
        broker_errors,
        len(broker_metrics),
    )


def _list_processes(session: Session, cluster_name: str | None) -> tuple[BrokerAddrGroup, ...]:
    """The brokers of a cluster, each process once."""
    cluster_info = session.admin.clusters.get_info()
    for broker_addr, names in find_shared_addrs(cluster_info.groups_in_cluster(cluster_name)).items():
        session.write_remark(f"{describe_shared_addr(broker_addr, names)}: exported once, as {names[0]}")
    remark_twins(session)
    remark_missing(session, cluster_name, "the export lacks what only this broker has")
    return cluster_info.processes_in_cluster(cluster_name)


def _select_places(
    session: Session, cluster_name: str | None, broker_text: str | None
) -> list[ExportedBroker]:
    exclusive_options.require_one_of("CLUSTER", cluster_name, "-b ADDR", broker_text)
    if broker_text is not None:
        return [ExportedBroker(addr, addr) for addr in distinct_addrs(find_brokers(session, broker_text))]
    return observer.list_exported_masters(_list_processes(session, cluster_name))


def _write_document(
    session: Session,
    file_name: str,
    folder_name: str | None,
    export_document: Mapping[str, Any],
    errors_by_broker: Mapping[str, RocketMQError | None],
    answer_count: int,
) -> ResultRows | OutputText:
    """Return the document for stdout, or write it to a file; raise the first error if no broker answered."""
    errors = list(errors_by_broker.values())
    if not answer_count:
        raise next(filter(None, errors), UsageError(f"{file_name}: the cluster has no brokers"))
    notes = [
        f"broker {name}: {error_text(error)}" for name, error in errors_by_broker.items() if error is not None
    ]
    if folder_name is None:
        for note in notes:
            stderr.write_stderr_line(note)
        return OutputText(format_document(export_document), errors)
    file_path = Path(folder_name) / file_name
    try:
        written_bytes = save_document(file_path, export_document)
    except OSError as error:
        raise UsageError(f"{file_path}: {error.strerror}") from None
    file = (str(file_path), written_bytes, answer_count)
    return ResultRows.from_records(EXPORT_COLUMNS, [file], errors, notes)
