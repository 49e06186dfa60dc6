"""Owns exportConfigs, exportMetadata and exportMetrics: JSON about a cluster, with mqadmin's field names."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import time
from typing import Annotated, Any

from namesrv_core.errors import RocketMQError
from nsadmin import diagnostics
from nsadmin.client.results import error_text
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.targets import AddrOption, broker_addr
from nsadmin.commands.units import size
from nsadmin.diagnostics import UsageError
from nsadmin.operations.exporting import asking, configs, metadata, metrics
from nsadmin.operations.exporting.asking import Place
from nsadmin.operations.exporting.saving import save, text_of
from nsadmin.output import Rows, Text
from nsadmin.session import Session

COLUMNS = ("file", "brokers", "size")

ClusterWord = Annotated[str, Word(("-c", "--clusterName"), "CLUSTER", "The cluster.")]
FolderOption = Annotated[
    str | None,
    Option("-f", "--filePath", metavar="DIR", help="Write a file in this folder instead of standard output."),
]


@shows(COLUMNS)
def export_configs(
    session: Session,
    cluster: ClusterWord,
    folder: FolderOption = None,
    whole: Annotated[bool, Option("--all", help="All settings, not the 16 that mqadmin picks.")] = False,
) -> Rows | Text:
    """Write settings of the masters of a cluster, and how large it is, as JSON.

    With -f it is the file configs.json in that folder, which is made, and replaced if it is there. A broker
    that does not tell is named, and the others are written all the same; then the exit code is 3.

    Examples:
        # To look at
        nsadmin exportConfigs cluster-a
        # All settings, as a file
        nsadmin exportConfigs -c cluster-a --all -f exported
    """
    groups = session.admin.clusters.info().in_cluster(cluster)
    found, errors = asking.configs(session.admin, asking.masters(groups))
    names = len(session.admin.addresses.addrs)
    document = configs.document(groups, found, names, whole=whole)
    return _written(session, "configs.json", folder, document, errors, len(found))


@shows(COLUMNS)
def export_metadata(
    session: Session,
    cluster: Annotated[
        str | None, Word(("-c", "--clusterName"), "CLUSTER", "Every master of it.", required=False)
    ],
    broker: AddrOption = None,
    folder: FolderOption = None,
    topics: Annotated[bool, Option("-t", "--topic", help="Only topics.")] = False,
    groups: Annotated[bool, Option("-g", "--subscriptionGroup", help="Only consumer groups.")] = False,
    special: Annotated[
        bool, Option("-s", "--specialTopic", help="Topics of retries and dead letters, too.")
    ] = False,
    summed: Annotated[
        bool, Option("--sum", help="Add up queues over brokers, as mqadmin does: good for counting only.")
    ] = False,
) -> Rows | Text:
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
    places = _places(session, cluster, broker)
    found, errors = asking.metadata(session.admin, places, special=special)
    wanted = {"topicConfigTable": topics, "subscriptionGroupTable": groups}
    tables = [table for table, is_wanted in wanted.items() if is_wanted] or list(wanted)
    document = metadata.document(found, tables, export_time=int(time() * 1000), summed=summed)
    unlike = metadata.differing(document)
    if unlike:
        session.remark(f"not alike on all brokers, see perBroker: {', '.join(unlike)}")
    file = {"topicConfigTable": "topic.json", "subscriptionGroupTable": "subscriptionGroup.json"}[tables[0]]
    if len(tables) > 1:
        file = "metadata.json"
    return _written(session, file, folder, document, errors, len(found))


@shows(COLUMNS)
def export_metrics(session: Session, cluster: ClusterWord, folder: FolderOption = None) -> Rows | Text:
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
    groups = session.admin.clusters.info().in_cluster(cluster)
    found, errors = asking.metrics(session.admin, asking.masters(groups))
    return _written(session, "metrics.json", folder, metrics.document(found), errors, len(found))


def _places(session: Session, cluster: str | None, broker: str | None) -> list[Place]:
    if (broker is None) == (cluster is None):
        raise UsageError("exportMetadata: type either CLUSTER or -b ADDR")
    if broker is not None:
        addr = broker_addr(session, broker)
        return [Place(addr, addr)]
    return asking.masters(session.admin.clusters.info().in_cluster(cluster))


def _written(
    session: Session,
    name: str,
    folder: str | None,
    document: Mapping[str, Any],
    errors: Mapping[str, RocketMQError | None],
    found: int,
) -> Rows | Text:
    """Return the document for stdout, or write it to a file; raise the first error if no broker answered."""
    failed = {broker: error for broker, error in errors.items() if error is not None}
    if not found:
        raise next(iter(failed.values()), UsageError(f"{name}: the cluster has no brokers"))
    notes = [f"broker {broker}: {error_text(error)}" for broker, error in failed.items()]
    results: Sequence[RocketMQError | None] = list(errors.values())
    if folder is None:
        for note in notes:
            diagnostics.say(note)
        return Text(text_of(document), results)
    file = Path(folder) / name
    try:
        written = save(file, document)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    row = {"file": str(file), "brokers": found, "size": size(written)}
    return Rows(COLUMNS, [row], results, notes)
