"""Owns registrationSize, which compares each broker's registration with the largest frame."""

from collections.abc import Sequence, Set
from typing import Annotated

from typer import Option

from namesrv_core.protocol.codes import V5_0_0, version_text
from namesrv_core.protocol.frame import MAX_FRAME_BYTES
from nsadmin.client import ServerResult
from nsadmin.client.brokers.registrations import BrokerRegistrant
from nsadmin.client.brokers.targets import list_member_targets
from nsadmin.client.results import error_text
from nsadmin.command_line import exclusive_options
from nsadmin.command_line.broker_targets import (
    ClusterMembersOption,
    OptionalBrokerAddrOption,
    distinct_addrs,
    find_broker,
)
from nsadmin.command_line.declarations import command
from nsadmin.console.output import ByteSize, ResultRow, ResultRows
from nsadmin.console.session import Session
from nsadmin.operations.registration_size import RegistrationSize, measure_registration
from nsadmin.operations.topic_kinds import find_topics_of_vanished_groups

REGISTRATION_COLUMNS = (
    "clusterName", "brokerName", "brokerId", "brokerAddr", "version", "topics", "form", "frames", "bytes",
    "framePercent", "fits", "removable", "removableBytes", "largestTopic", "largestTopicBytes", "error",
)  # fmt: skip
REGISTRATION_TABLE_COLUMNS = (
    "brokerName",
    "brokerId",
    "topics",
    "form",
    "bytes",
    "framePercent",
    "fits",
    "removable",
    "error",
)
TOPIC_SIZE_COLUMNS = ("brokerName", "brokerId", "brokerAddr", "topic", "bytes", "vanishedGroup")


@command(columns=(*REGISTRATION_COLUMNS, *TOPIC_SIZE_COLUMNS))
def registration_size(
    session: Session,
    broker_text: OptionalBrokerAddrOption = None,
    cluster_name: ClusterMembersOption = None,
    largest_count: Annotated[
        int | None,
        Option(
            "--largest",
            metavar="COUNT",
            help="Show this number of topics of each broker, the largest first.",
            min=1,
        ),
    ] = None,
    only_removable: Annotated[
        bool,
        Option(
            "--removable", help="Show the topics of retries and dead letters whose group no longer exists."
        ),
    ] = False,
) -> ResultRows:
    """Show the size of each broker's registration, compared with the limit of 16 MiB.

    A name server closes the connection if a registration exceeds the limit. Then the broker and all of its
    topics disappear. nsadmin computes the size from the broker's topics and settings. It is exact to the
    byte, and within 2% for a compressed registration. Name servers do not list a broker that cannot register:
    name it with -b.

    Examples:
        # How near each broker is to the limit, and how many more topics fit
        nsadmin registrationSize
        # The five largest topics of one broker
        nsadmin registrationSize -b 127.0.0.1:10911 --largest 5
        # Brokers below half of the limit, for a script
        nsadmin registrationSize --filter 'framePercent<50' --output csv
    """
    exclusive_options.refuse_both("-b ADDR", broker_text, "-c CLUSTER", cluster_name)
    exclusive_options.refuse_both("--largest", largest_count is not None, "--removable", only_removable)
    if broker_text is not None:
        broker_targets = [find_broker(session, broker_text)]
    else:
        broker_targets = list_member_targets(session.admin.clusters.get_info(), cluster_name)
    registrant_results = session.admin.registrations.get_each(distinct_addrs(broker_targets))
    known_groups, size_notes = _known_groups(session, broker_text is not None)
    registrant_errors = [broker_result.error for broker_result in registrant_results]
    if largest_count is not None or only_removable:
        size_rows = [
            topic_row
            for broker_result in registrant_results
            for topic_row in _topic_size_rows(broker_result, known_groups, largest_count)
        ]
        failure_notes = [
            f"broker {broker_addr}: {error_text(error)}"
            for broker_addr, _, error in registrant_results
            if error is not None
        ]
        return ResultRows(TOPIC_SIZE_COLUMNS, size_rows, registrant_errors, [*size_notes, *failure_notes])
    size_results = [broker_result.then(measure_registration) for broker_result in registrant_results]
    size_notes += [
        _oversize_note(broker_result)
        for broker_result in size_results
        if broker_result.result and broker_result.result.frame_share > 1
    ]
    size_notes += filter(None, map(_compression_note, registrant_results))
    size_rows = [
        _registration_row(*registrant_and_size, known_groups)
        for registrant_and_size in zip(registrant_results, size_results, strict=True)
    ]
    return ResultRows(
        REGISTRATION_COLUMNS, size_rows, registrant_errors, size_notes, REGISTRATION_TABLE_COLUMNS
    )


def _known_groups(session: Session, is_named_directly: bool) -> tuple[Set[str] | None, list[str]]:
    """All existing groups, and notes; None if a broker did not answer, or if the line names one broker."""
    if is_named_directly:
        return None, []
    group_results = session.admin.groups.list_names(include_system=True)
    silent_addrs = [group_result.addr for group_result in group_results if group_result.error is not None]
    if silent_addrs:
        return None, [f"unknown which groups still exist: {', '.join(silent_addrs)} did not answer"]
    return {group_name for group_result in group_results for group_name in group_result.result or ()}, []


def _oversize_note(result: ServerResult[RegistrationSize]) -> str:
    return (
        f"broker {result.addr}: name servers do not accept its registration, because it is "
        f"larger than {MAX_FRAME_BYTES} bytes"
    )


def _compression_note(result: ServerResult[BrokerRegistrant]) -> str | None:
    registering_broker = result.result
    if (
        registering_broker is None
        or not registering_broker.is_compressed
        or registering_broker.version < V5_0_0
    ):
        return None
    return (
        f"broker {result.addr}: Java name servers refuse its registration, because 5.x "
        "brokers compress it without a mark: set compressedRegister to false"
    )


def _registration_row(
    registrant_result: ServerResult[BrokerRegistrant],
    size_result: ServerResult[RegistrationSize],
    known_groups: Set[str] | None,
) -> ResultRow:
    if registrant_result.result is None or size_result.result is None:
        assert registrant_result.error is not None
        return {"brokerAddr": registrant_result.addr, "error": error_text(registrant_result.error)}
    largest_topic = size_result.result.topic_sizes[0] if size_result.result.topic_sizes else None
    removable_topics = (
        None
        if known_groups is None
        else find_topics_of_vanished_groups(registrant_result.result.topics, known_groups)
    )
    return {
        **_registrant_cells(registrant_result.result, registrant_result.addr),
        "clusterName": registrant_result.result.cluster_name,
        "version": version_text(registrant_result.result.version),
        "topics": len(size_result.result.topic_sizes),
        "form": "compressed" if registrant_result.result.is_compressed else "JSON",
        "frames": len(size_result.result.body_bytes),
        "bytes": ByteSize(size_result.result.frame_bytes),
        "framePercent": round(100 * size_result.result.frame_share, 4),
        "fits": size_result.result.room_for_topics,
        "removable": None if removable_topics is None else len(removable_topics),
        "removableBytes": None
        if removable_topics is None
        else ByteSize(
            sum(
                topic_size.size_bytes
                for topic_size in size_result.result.topic_sizes
                if topic_size.topic in removable_topics
            )
        ),
        "largestTopic": largest_topic and largest_topic.topic,
        "largestTopicBytes": largest_topic and ByteSize(largest_topic.size_bytes),
    }


def _registrant_cells(registering_broker: BrokerRegistrant, broker_addr: str) -> ResultRow:
    return {
        "brokerName": registering_broker.broker_name,
        "brokerId": registering_broker.broker_id,
        "brokerAddr": broker_addr,
    }


def _topic_size_rows(
    registrant_result: ServerResult[BrokerRegistrant],
    known_groups: Set[str] | None,
    largest_count: int | None,
) -> Sequence[ResultRow]:
    registering_broker = registrant_result.result
    if registering_broker is None:
        return []
    vanished_groups = (
        {}
        if known_groups is None
        else find_topics_of_vanished_groups(registering_broker.topics, known_groups)
    )
    topic_rows: list[ResultRow] = [
        {
            **_registrant_cells(registering_broker, registrant_result.addr),
            "topic": topic_size.topic,
            "bytes": ByteSize(topic_size.size_bytes),
            "vanishedGroup": vanished_groups.get(topic_size.topic),
        }
        for topic_size in measure_registration(registering_broker).topic_sizes
    ]
    return (
        topic_rows[:largest_count]
        if largest_count is not None
        else [topic_row for topic_row in topic_rows if topic_row["vanishedGroup"]]
    )
