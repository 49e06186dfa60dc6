"""Owns exportConfigs, exportMetadata and exportMetrics: JSON about a cluster, with mqadmin's field names."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import time
from typing import Annotated, Any

from namesrv_core.errors import RocketMQError
from nsadmin import stderr
from nsadmin.client.results import error_text
from nsadmin.command_line.broker_targets import OptionalBrokerAddrOption, find_broker_addr
from nsadmin.command_line.declarations import Argument, Option, declare_columns
from nsadmin.exit_codes import UsageError
from nsadmin.operations.exports import configs, metadata, metrics, observer
from nsadmin.operations.exports.document_file import format_document, save_document
from nsadmin.operations.exports.observer import ExportedBroker
from nsadmin.output import OutputText, ResultRows
from nsadmin.output.quantities import to_bytes
from nsadmin.session import Session

EXPORT_COLUMNS = ("file", "brokers", "size")

ClusterArgument = Annotated[str, Argument(("-c", "--clusterName"), "CLUSTER", "The cluster.")]
ExportFolderOption = Annotated[
    str | None,
    Option("-f", "--filePath", metavar="DIR", help="Write a file in this folder instead of standard output."),
]


@declare_columns(EXPORT_COLUMNS)
def export_configs(
    session: Session,
    cluster_name: ClusterArgument,
    folder_name: ExportFolderOption = None,
    all_settings: Annotated[
        bool, Option("--all", help="All settings, not the 16 that mqadmin picks.")
    ] = False,
) -> ResultRows | OutputText:
    """Write settings of the masters of a cluster, and how large it is, as JSON.

    With -f it is the file configs.json in that folder, which is made, and replaced if it is there. A broker
    that does not tell is named, and the others are written all the same; then the exit code is 3.

    Examples:
        # To look at
        nsadmin exportConfigs cluster-a
        # All settings, as a file
        nsadmin exportConfigs -c cluster-a --all -f exported
    """
    broker_groups = session.admin.clusters.get_info().groups_in_cluster(cluster_name)
    broker_settings, broker_errors = observer.read_configs(
        session.admin, observer.list_exported_masters(broker_groups)
    )
    namesrv_count = len(session.admin.addresses.addrs)
    export_document = configs.build_configs_document(
        broker_groups, broker_settings, namesrv_count, all_settings=all_settings
    )
    return _write_document(
        session, "configs.json", folder_name, export_document, broker_errors, len(broker_settings)
    )


@declare_columns(EXPORT_COLUMNS)
def export_metadata(
    session: Session,
    cluster_name: Annotated[
        str | None, Argument(("-c", "--clusterName"), "CLUSTER", "Every master of it.", required=False)
    ],
    broker_text: OptionalBrokerAddrOption = None,
    folder_name: ExportFolderOption = None,
    only_topics: Annotated[bool, Option("-t", "--topic", help="Only topics.")] = False,
    only_groups: Annotated[bool, Option("-g", "--subscriptionGroup", help="Only consumer groups.")] = False,
    with_special: Annotated[
        bool, Option("-s", "--specialTopic", help="Topics of retries and dead letters, too.")
    ] = False,
    sum_queues: Annotated[
        bool, Option("--sum", help="Add up queues over brokers, as mqadmin does: good for counting only.")
    ] = False,
) -> ResultRows | OutputText:
    """Write the topics and consumer groups that users made as JSON, each as its brokers have it.

    updateTopicList and updateSubGroupList read it again. What brokers do not have alike stands there as the
    first broker has it, and below perBroker as each has it. With -f it is a file in that folder:
    metadata.json, or topic.json with -t, or subscriptionGroup.json with -g. A broker that does not tell is
    named, and the others are written all the same; then the exit code is 3.

    Examples:
        # Topics and groups of all masters
        nsadmin exportMetadata cluster-a
        # Topics of one broker, as a file
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
        session.write_remark(f"not alike on all brokers, see perBroker: {', '.join(differing_names)}")
    file_name = {"topicConfigTable": "topic.json", "subscriptionGroupTable": "subscriptionGroup.json"}[
        table_names[0]
    ]
    if len(table_names) > 1:
        file_name = "metadata.json"
    return _write_document(
        session, file_name, folder_name, export_document, broker_errors, len(broker_tables)
    )


@declare_columns(EXPORT_COLUMNS)
def export_metrics(
    session: Session, cluster_name: ClusterArgument, folder_name: ExportFolderOption = None
) -> ResultRows | OutputText:
    """Write load, versions and sizes of the masters of a cluster as JSON.

    rocketmqVersion is the broker's; mqadmin writes its own. What mqadmin calls cpuNum stands under its real
    name, clientCallbackExecutorThreads, as brokers do not tell how many processors they have. What a broker
    does not tell is null, and no part of totalData. With -f it is the file metrics.json in that folder.

    Examples:
        # To look at
        nsadmin exportMetrics cluster-a
        # As a file
        nsadmin exportMetrics -c cluster-a -f exported
    """
    broker_groups = session.admin.clusters.get_info().groups_in_cluster(cluster_name)
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


def _select_places(
    session: Session, cluster_name: str | None, broker_text: str | None
) -> list[ExportedBroker]:
    if (broker_text is None) == (cluster_name is None):
        raise UsageError("exportMetadata: type either CLUSTER or -b ADDR")
    if broker_text is not None:
        broker_addr = find_broker_addr(session, broker_text)
        return [ExportedBroker(broker_addr, broker_addr)]
    return observer.list_exported_masters(session.admin.clusters.get_info().groups_in_cluster(cluster_name))


def _write_document(
    session: Session,
    file_name: str,
    folder_name: str | None,
    export_document: Mapping[str, Any],
    errors_by_broker: Mapping[str, RocketMQError | None],
    answer_count: int,
) -> ResultRows | OutputText:
    """Return the document for stdout, or write it to a file; raise the first error if no broker answered."""
    failures_by_broker = {
        broker_name: broker_error
        for broker_name, broker_error in errors_by_broker.items()
        if broker_error is not None
    }
    if not answer_count:
        raise next(iter(failures_by_broker.values()), UsageError(f"{file_name}: the cluster has no brokers"))
    failure_notes = [
        f"broker {broker_name}: {error_text(broker_error)}"
        for broker_name, broker_error in failures_by_broker.items()
    ]
    broker_errors: Sequence[RocketMQError | None] = list(errors_by_broker.values())
    if folder_name is None:
        for failure_note in failure_notes:
            stderr.write_stderr_line(failure_note)
        return OutputText(format_document(export_document), broker_errors)
    file_path = Path(folder_name) / file_name
    try:
        written_bytes = save_document(file_path, export_document)
    except OSError as broker_error:
        raise UsageError(f"{file_path}: {broker_error.strerror}") from None
    file_row = {"file": str(file_path), "brokers": answer_count, "size": to_bytes(written_bytes)}
    return ResultRows(EXPORT_COLUMNS, [file_row], broker_errors, failure_notes)
