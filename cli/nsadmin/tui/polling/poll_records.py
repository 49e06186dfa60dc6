"""The poll records: the result of one poll of a server, as it is shown, recorded and replayed.

Rule: everything that a screen shows arrives as a poll record, so that a replay shows the same.
The names of fields and tags are part of the file format of recordings. A field that has another name in
recordings states that name with `msgspec.field`. Structs with `array_like` are recorded without field names.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import msgspec

from nsadmin.client.consumers.lag import Lag, measure_lag, sum_lags

if TYPE_CHECKING:
    from nsadmin.tui.messages.message_query import BrowsedMessage, MessageQuery


class SlaveDifferenceRecord(msgspec.Struct, frozen=True, array_like=True):
    """An item that differs, as in a row of `replicaDiff`. nsadmin knows it since `since` (ms since 1970)."""

    kind: str
    name: str
    state: str
    differs: str
    reason: str
    since: int


class SlaveRecord(msgspec.Struct, frozen=True, array_like=True):
    """A slave. `state` is equal, lag, drift or unknown. The counts are of all differences.

    `error` says why the slave was not compared, or not in all kinds. `differences` has the first ones.
    """

    broker_name: str
    broker_id: int
    state: str
    drift_count: int = 0
    lag_count: int = 0
    error: str | None = None
    differences: Sequence[SlaveDifferenceRecord] = ()


JavaLong: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Finite: TypeAlias = Annotated[float, msgspec.Meta(ge=-1e100, le=1e100)]
"""Without NaN and infinity, which JSON cannot record."""
OptionalTexts: TypeAlias = Mapping[str, str | None]
EventDescriber = Callable[[str, Mapping[str, Any]], str | None]
"""Describes a journal event in words, from its type and its fields."""


class Poll(msgspec.Struct, frozen=True, tag_field="poll", omit_defaults=True):
    """`at` is the time of the answer, in ms since 1970."""

    at: int


class BrokerGroupListing(msgspec.Struct, frozen=True, array_like=True):
    """A broker group as a name server lists it, with addresses by broker id."""

    cluster_name: str
    broker_addrs: Mapping[JavaLong, str]


class NameServerPolled(Poll, frozen=True, tag="nameServer"):
    """A poll of a name server. If it failed, only `error` is set.

    `topics`, `settings` and `kv` (by namespace) are None if they equal those of the poll before, or if the
    server did not report them. `unreported` has the reason by field name. `silences` are by broker address:
    the time since the last heartbeat and the expiry time, both in ms. Apache's name servers do not report
    them. `perms` has the permission of a topic that every broker has, by broker name. `millis` is the
    duration of one request. `peer` is the address that the connection leads to. It is the same for two names
    of one name server.
    """

    addr: str
    millis: float = 0.0
    error: str | None = None
    groups: Mapping[str, BrokerGroupListing] = {}
    topics: Sequence[str] | None = None
    settings: Mapping[str, str] | None = None
    kv: Mapping[str, OptionalTexts] | None = None
    perms: Mapping[str, JavaLong] = {}
    silences: Mapping[str, tuple[JavaLong, JavaLong]] | None = None
    unreported: Mapping[str, str] = msgspec.field(name="untold", default={})
    peer: str | None = None


class BrokerPolled(Poll, frozen=True, tag="broker"):
    """The runtime figures of a broker under its own keys, or the `error` as text and its `kind`.

    Kinds: "timeout" (connected, but no answer), "refused" (the answer is an error), "unreachable".
    """

    addr: str
    millis: float = 0.0
    table: Mapping[str, str] | None = None
    error: str | None = None
    kind: str | None = None


class QueueLag(msgspec.Struct, frozen=True, array_like=True):
    """The progress of a consumer group on one queue. `consumer_offset` is None before the first commit."""

    topic: str
    broker_name: str
    queue_id: JavaLong
    broker_offset: JavaLong
    consumer_offset: JavaLong | None
    inflight: JavaLong | None
    last_timestamp: JavaLong | None
    is_broadcasting: bool = False

    @property
    def lag(self) -> Lag:
        return measure_lag(self.broker_offset, self.consumer_offset, self.is_broadcasting)


class ClientConnection(msgspec.Struct, frozen=True, array_like=True):
    """A connected client of a consumer group or a producer group. `proxies` has addresses, with commas."""

    client_id: str
    addr: str
    language: str
    version: str
    protocol: str = ""
    proxies: str = ""


class GroupPolled(Poll, frozen=True, tag="group", dict=True):
    """A consumer group over all brokers.

    `unreported` are the errors of brokers that returned no connections, so that `members` is incomplete.
    """

    group: str
    tps: Finite | None = None
    lags: Sequence[QueueLag] = ()
    members: Sequence[ClientConnection] = ()
    consume_type: str | None = None
    message_model: str | None = None
    error: str | None = None
    unreported: Mapping[str, str] = msgspec.field(name="untold", default={})

    @cached_property
    def lag(self) -> Lag:
        return sum_lags(queue.lag for queue in self.lags)


class GroupsPolled(Poll, frozen=True, tag="groups"):
    """The names of all consumer groups. `errors` are by address of the brokers that did not answer."""

    names: Sequence[str]
    errors: Mapping[str, str] = {}


class QueueCounts(msgspec.Struct, frozen=True, array_like=True):
    """The queue counts and the permission of a topic on one broker group."""

    read: JavaLong
    write: JavaLong
    perm: JavaLong


class TopicPolled(Poll, frozen=True, tag="topic"):
    """A topic: for each name server the queues by broker name, or None if it does not know the topic.

    `errors` are by name server that did not answer. `groups` are the consumer groups that read the topic.
    `put_tps` has messages per second over the last minute, by broker.
    """

    topic: str
    routes: Mapping[str, Mapping[str, QueueCounts] | None] = {}
    errors: Mapping[str, str] = {}
    groups: Sequence[str] | None = None
    put_tps: Mapping[str, Finite] | None = None


class TopicRatesPolled(Poll, frozen=True, tag="topicRates"):
    """Messages per second over the last minute on all masters, by topic. Only some of the topics.

    The rate is None if no master returned it.
    """

    rates: Mapping[str, Finite | None]


class ConfigPolled(Poll, frozen=True, tag="config"):
    """The settings in force on a broker."""

    addr: str
    config: Mapping[str, str] | None = None
    error: str | None = None


class BrokerTopicsPolled(Poll, frozen=True, tag="brokerTopics"):
    """The topics in a broker's own configuration."""

    addr: str
    topics: Mapping[str, QueueCounts] | None = None
    error: str | None = None


class DivergenceFinding(msgspec.Struct, frozen=True, array_like=True):
    """A finding of the command `divergence`: objects on which name servers differ, and the probable cause.

    `state` is new, converging or drift. `age` is the time (ms) since nsadmin first saw the difference.
    `texts_by_server` has the value of each name server for the first object.
    """

    section_name: str
    name: str
    parent_name: str
    count: int
    state: str
    age: int
    differs: str
    cause: str
    advice: str
    texts_by_server: Mapping[str, str]


class DivergencePolled(Poll, frozen=True, tag="divergence"):
    """A comparison of all tables of all name servers."""

    verdict: str | None = None
    findings: Sequence[DivergenceFinding] = msgspec.field(name="found", default=())
    error: str | None = None


class ConnectionsPolled(Poll, frozen=True, tag="connections"):
    """The producers that are connected to a broker, by producer group."""

    addr: str
    producers: Mapping[str, Sequence[ClientConnection]] | None = None
    error: str | None = None


class DrainRecord(msgspec.Struct, frozen=True, array_like=True):
    """A drain that `undrain` has not ended, from its folder on this machine. Times are ms since 1970.

    `pid` is the process that runs the drain now. `last` describes the last event. `puts` are messages per
    minute, as that process counted them at the time `updated`. `log_lines` describe the last events.
    """

    cluster: str
    broker_name: str
    phase: str
    started: int
    by: str
    pid: int | None
    durable: bool
    reopened: int
    safe_since: int | None
    last: str
    puts: int | None = None
    updated: int = 0
    log_lines: Sequence[str] = ()


class RestartRecord(msgspec.Struct, frozen=True, array_like=True):
    """A rolling restart that is not finished, from its file on this machine. Times are ms since 1970.

    `process_title` is the process that is being restarted, `position` its index among `process_count`.
    `pid` is the process that runs the restart now. The commands are those of the operator's shell.
    """

    cluster: str
    process_title: str
    step: str
    position: int
    process_count: int
    started: int
    by: str
    pid: int | None
    stop_command: str
    start_command: str
    last: str
    log_lines: Sequence[str] = ()


class MovingTopicRecord(msgspec.Struct, frozen=True, array_like=True):
    """A topic that a rebalance moves. `since` is the start of its step, in ms since 1970.

    `stage` is the kind of the step, "" before the first one. `queues` are pairs of read and write queues that
    the step wants, by broker. `waits` are the missing conditions.
    """

    topic: str
    stage: str
    position: int
    stage_count: int
    since: int
    queues: Mapping[str, tuple[int, int]]
    waits: Sequence[str]


class RebalanceRecord(msgspec.Struct, frozen=True, array_like=True):
    """A rebalance that is not finished, from its folder on this machine. `started` is in ms since 1970.

    `pause` is the reason why it paused itself. `plan_file` is the copy of its plan.
    """

    cluster: str
    digest: str
    phase: str
    started: int
    by: str
    pid: int | None
    moved_count: int
    pause: str | None
    plan_file: str
    topics: Sequence[MovingTopicRecord] = ()


class DrainsPolled(Poll, frozen=True, tag="drains"):
    """All drains, restarts and rebalances of this account. `errors` are about folders that cannot be read."""

    drains: Sequence[DrainRecord] = ()
    errors: Sequence[str] = ()
    restarts: Sequence[RestartRecord] = ()
    rebalances: Sequence[RebalanceRecord] = ()


class MissingBrokerRecord(msgspec.Struct, frozen=True, array_like=True):
    """A broker of the inventory. `last_seen` (ms since 1970) is None if no command saw it."""

    cluster: str
    broker_name: str
    broker_id: int
    broker_addr: str
    last_seen: int | None


class MissingBrokersPolled(Poll, frozen=True, tag="missingBrokers"):
    """The brokers that should be registered, and that no name server lists; or why they are unknown."""

    missing: Sequence[MissingBrokerRecord] = ()
    problem: str = ""


class ProblemRecord(msgspec.Struct, frozen=True, array_like=True):
    """A line of a check that is not OK: `state` is WARNING, CRITICAL or UNKNOWN, `remedy` may be empty."""

    check: str
    about: str | None
    state: str
    text: str
    remedy: str = ""


class ProblemsPolled(Poll, frozen=True, tag="problems"):
    """The result of all checks: the problems, the number of checks that ran, and those that did not run."""

    problems: Sequence[ProblemRecord] = ()
    check_count: int = 0
    unchecked: Sequence[str] = ()


class ReplicasPolled(Poll, frozen=True, tag="replicas"):
    """The comparison of all slaves with their masters."""

    slaves: Sequence[SlaveRecord] = ()


class EventSeen(Poll, frozen=True, tag="event"):
    """A journal record. `description` describes the change. `names` are the objects that it concerns."""

    server: str
    kind: str
    description: str = msgspec.field(name="said")
    names: Sequence[str] = ()


class MessagesPolled(Poll, frozen=True, tag="messages"):
    """The next messages of a query. Rule: it is never recorded, because bodies are confidential.

    A new `run_id` begins again. `examined`, `lost` and `skipped` count since the begin of the run; see
    `MessageLog`. `state` is reading, waiting (for new messages), full (the read limit is reached) or done.
    """

    query: "MessageQuery"
    run_id: int
    messages: "Sequence[BrowsedMessage]" = ()
    examined: int = 0
    lost: int = 0
    skipped: int = 0
    errors: Mapping[str, str] = {}
    state: str = "reading"


RecordedPoll: TypeAlias = (
    NameServerPolled | BrokerPolled | GroupPolled | GroupsPolled | TopicPolled | TopicRatesPolled
    | ConfigPolled | BrokerTopicsPolled | ConnectionsPolled | DivergencePolled | DrainsPolled
    | MissingBrokersPolled | ProblemsPolled | ReplicasPolled | EventSeen
)  # fmt: skip
AnyPoll: TypeAlias = RecordedPoll | MessagesPolled


def _to_plain(value: object) -> float:
    """A number of a JSON answer that has kept its text."""
    if isinstance(value, float):
        return float(value)
    raise TypeError(f"{type(value).__name__} is no value of a record")


def check_poll(poll: AnyPoll) -> AnyPoll:
    """The poll, if its fields have their types; else a poll of the same object with an error.

    Raises ValueError if the record has no place for an error. Messages have been decoded with types.
    """
    if isinstance(poll, MessagesPolled):
        return poll
    try:
        checked_poll: AnyPoll = msgspec.convert(msgspec.to_builtins(poll, enc_hook=_to_plain), RecordedPoll)
    except (msgspec.ValidationError, OverflowError, TypeError) as error:
        error_text = f"malformed answer ({error})"
        if isinstance(poll, BrokerPolled):
            return BrokerPolled(poll.at, poll.addr, error=error_text, kind="refused")
        if isinstance(poll, GroupPolled):
            return GroupPolled(poll.at, poll.group, error=error_text)
        if isinstance(poll, GroupsPolled):
            return GroupsPolled(poll.at, (), {"": error_text})
        if isinstance(poll, TopicPolled):
            return TopicPolled(poll.at, poll.topic, errors={"": error_text})
        if isinstance(poll, NameServerPolled | ConfigPolled | ConnectionsPolled | BrokerTopicsPolled):
            return type(poll)(poll.at, poll.addr, error=error_text)
        raise ValueError(f"{type(poll).__name__}: {error_text}") from error
    return checked_poll


_poll_encoder = msgspec.json.Encoder()
_poll_decoder = msgspec.json.Decoder(RecordedPoll)


def encode_poll(poll: AnyPoll) -> bytes:
    """Encode a poll as one line of JSON."""
    return _poll_encoder.encode(poll) + b"\n"


def decode_poll(json_line: bytes) -> AnyPoll:
    """Decode a line of JSON. Raises msgspec.DecodeError (a ValueError) for an invalid line."""
    decoded_poll: AnyPoll = _poll_decoder.decode(json_line)
    return decoded_poll
