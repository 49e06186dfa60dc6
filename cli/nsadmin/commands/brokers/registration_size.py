"""Owns registrationSize, which compares each broker's registration with the largest frame."""

from collections.abc import Mapping, Set
from operator import attrgetter
from typing import Annotated, NamedTuple

from typer import Option

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import V5_0_0, version_text
from namesrv_core.protocol.frame import MAX_FRAME_BYTES
from nsadmin.client import ServerResult
from nsadmin.client.brokers.registrations import BrokerRegistrant
from nsadmin.client.results import error_text
from nsadmin.command_line import exclusive_options
from nsadmin.command_line.broker_targets import (
    ClusterMembersOption,
    ReadBrokerOption,
    distinct_addrs,
    list_members,
)
from nsadmin.command_line.declarations import command
from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_ID, BROKER_NAME, CLUSTER_NAME, VERSION
from nsadmin.commands.columns.servers import ERROR, result_notes
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.console.output import AnyColumn, ByteSize, Column, Columns, ResultRows, of_part
from nsadmin.console.output.quantities import to_bytes
from nsadmin.console.session import Session
from nsadmin.operations.registration_size import RegistrationSize, TopicSize, measure_registration
from nsadmin.operations.topic_kinds import find_topics_of_vanished_groups


class MeasuredBroker(NamedTuple):
    """A broker with its registration. Without an answer, only its address and the error are known.

    `vanished_groups` has the missing group of each topic of a vanished group; None if it is unknown which
    groups exist.
    """

    broker_addr: str
    error: RocketMQError | None
    registrant: BrokerRegistrant | None
    size: RegistrationSize | None
    vanished_groups: Mapping[str, str] | None

    @property
    def largest_topic(self) -> TopicSize | None:
        return self.size.topic_sizes[0] if self.size is not None and self.size.topic_sizes else None

    @property
    def removable_bytes(self) -> int | None:
        if self.size is None or self.vanished_groups is None:
            return None
        return sum(t.size_bytes for t in self.size.topic_sizes if t.topic in self.vanished_groups)


class MeasuredTopic(NamedTuple):
    broker: MeasuredBroker
    topic: str
    size_bytes: int
    vanished_group: str | None


BYTES: AnyColumn = Column("bytes", "size of the largest frame, in bytes", lambda r: ByteSize(r.frame_bytes))
REGISTRATION_COLUMNS: Columns[MeasuredBroker] = (
    *of_part(attrgetter("registrant"), (CLUSTER_NAME.in_wide(), BROKER_NAME, BROKER_ID)),
    BROKER_ADDR.in_wide(),
    *of_part(attrgetter("registrant"), (VERSION.in_wide().of(lambda r: version_text(r.version)),)),
    *of_part(attrgetter("size"), (Column("topics", "number of topics", lambda s: len(s.topic_sizes)),)),
    Column(
        "form",
        "JSON, or compressed if the broker has compressedRegister",
        lambda b: b.registrant and ("compressed" if b.registrant.is_compressed else "JSON"),
    ),
    *of_part(
        attrgetter("size"),
        (
            Column(
                "frames",
                "frames of a registration; more than one with enableSplitRegistration",
                lambda s: len(s.body_bytes),
                wide=True,
            ),
            BYTES,
            Column(
                "framePercent",
                "percent of the limit of 16 MiB; a broker above 100 cannot register",
                lambda s: round(100 * s.frame_share, 4),
            ),
            Column(
                "fits",
                "number of further topics of average size that fit; null without a limit",
                lambda s: s.room_for_topics,
            ),
        ),
    ),
    Column(
        "removable",
        "topics of retries and dead letters whose group no broker has; null if unknown",
        lambda b: None if b.vanished_groups is None else len(b.vanished_groups),
    ),
    Column("removableBytes", "bytes of these topics", lambda b: to_bytes(b.removable_bytes), wide=True),
    *of_part(
        attrgetter("largest_topic"),
        (
            Column(
                "largestTopic",
                "the topic with the largest part of the registration",
                lambda t: t.topic,
                wide=True,
            ),
            Column("largestTopicBytes", "bytes of that topic", lambda t: ByteSize(t.size_bytes), wide=True),
        ),
    ),
    ERROR,
)
TOPIC_SIZE_COLUMNS: Columns[MeasuredTopic] = (
    *of_part(attrgetter("broker.registrant"), (BROKER_NAME, BROKER_ID)),
    *of_part(attrgetter("broker"), (BROKER_ADDR,)),
    TOPIC,
    BYTES.of(lambda t: ByteSize(t.size_bytes)),
    Column(
        "vanishedGroup",
        "the missing group of a retry or dead-letter topic; null for topics in use",
        lambda t: t.vanished_group,
    ),
)


@command(
    columns=(*REGISTRATION_COLUMNS, *TOPIC_SIZE_COLUMNS), nothing="no broker is registered with {servers}"
)
def registration_size(
    session: Session,
    broker_text: ReadBrokerOption = None,
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
    exclusive_options.refuse_both("--largest", largest_count is not None, "--removable", only_removable)
    targets = list_members(session, broker_text, cluster_name)
    registrants = session.admin.registrations.get_each(distinct_addrs(targets))
    known_groups, notes = _known_groups(session, broker_text is not None and not only_removable)
    brokers = [_measure_broker(result, known_groups) for result in registrants]
    errors = [b.error for b in brokers]
    if largest_count is not None or only_removable:
        topics = [t for b in brokers for t in _list_topics(b, largest_count)]
        if only_removable and known_groups is not None and brokers and not topics:
            notes.append("every topic of retries or dead letters still has its group")
        notes += result_notes(registrants)
        return ResultRows.from_records(TOPIC_SIZE_COLUMNS, topics, errors, notes)
    notes += [
        f"broker {b.broker_addr}: name servers do not accept its registration, because it is "
        f"larger than {MAX_FRAME_BYTES} bytes"
        for b in brokers
        if b.size is not None and b.size.frame_share > 1
    ]
    notes += [
        f"broker {b.broker_addr}: Java name servers refuse its registration, because 5.x "
        "brokers compress it without a mark: set compressedRegister to false"
        for b in brokers
        if b.registrant is not None and b.registrant.is_compressed and b.registrant.version >= V5_0_0
    ]
    return ResultRows.from_records(REGISTRATION_COLUMNS, brokers, errors, notes)


def _known_groups(session: Session, is_named_directly: bool) -> tuple[Set[str] | None, list[str]]:
    """All existing groups, and notes; None if a broker did not answer, or if the line names one broker."""
    if is_named_directly:
        return None, []
    results = session.admin.groups.list_names(include_system=True)
    failures = [f"{r.addr}: {error_text(r.error)}" for r in results if r.error is not None]
    if failures:
        return None, [f"unknown which groups still exist: {'; '.join(failures)}"]
    return {group for r in results for group in r.result or ()}, []


def _measure_broker(result: ServerResult[BrokerRegistrant], known_groups: Set[str] | None) -> MeasuredBroker:
    registrant = result.result
    vanished_groups = (
        None
        if registrant is None or known_groups is None
        else find_topics_of_vanished_groups(registrant.topics, known_groups)
    )
    size = result.then(measure_registration).result
    return MeasuredBroker(result.addr, result.error, registrant, size, vanished_groups)


def _list_topics(broker: MeasuredBroker, largest_count: int | None) -> list[MeasuredTopic]:
    """The largest topics of a broker, or those of vanished groups."""
    if broker.size is None:
        return []
    vanished_groups = broker.vanished_groups or {}
    topics = [MeasuredTopic(broker, *t, vanished_groups.get(t.topic)) for t in broker.size.topic_sizes]
    return [t for t in topics if t.vanished_group] if largest_count is None else topics[:largest_count]
