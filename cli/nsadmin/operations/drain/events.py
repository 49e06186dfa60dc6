"""Events: what happens in a drain, for whoever watches it; as records for files and programs, and in words.

Only `Progress` comes again and again; all others are changes.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nsadmin.operations.drain.risks import DrainRisk
from nsadmin.operations.drain.state import to_camel_case
from nsadmin.phrases import abbreviate_names

_MAX_NAMED = 3


class Started(NamedTuple):
    """A drain begins, or goes on from a phase that it had reached."""

    time: int
    cluster: str
    broker: str
    name_servers: tuple[str, ...]
    resumed: str | None


class Joined(NamedTuple):
    """Another process is draining this broker: what it does is told on, until it ends."""

    time: int
    pid: int | None


class Checked(NamedTuple):
    """What would be left without the broker; `share` is its part of all queues to write to, 0 to 1."""

    time: int
    topics: int
    share: float | None
    risks: tuple[DrainRisk, ...]


class SnapshotTaken(NamedTuple):
    """The queues that a name server has of the broker are in a file."""

    time: int
    addr: str
    topics: int


class Wiped(NamedTuple):
    """A name server was told to take the write permission away; `times` counts that."""

    time: int
    addr: str
    times: int
    error: str | None


class PermissionSet(NamedTuple):
    """The broker was told another brokerPermission."""

    time: int
    addr: str
    before: int
    after: int
    error: str | None


class Closed(NamedTuple):
    """Routes read back: none of these name servers gives clients anything to write to on the broker."""

    time: int
    addrs: tuple[str, ...]


class Reopened(NamedTuple):
    """A registration gave topics their write permission back."""

    time: int
    addr: str
    topics: tuple[str, ...]
    cause: str


class ServerLost(NamedTuple):
    """A name server does not answer: what it tells clients is unknown."""

    time: int
    addr: str
    error: str


class ServerBack(NamedTuple):
    """It answers again."""

    time: int
    addr: str


class BrokerGone(NamedTuple):
    """The broker is not registered at a name server any more."""

    time: int
    addr: str


class BrokerBack(NamedTuple):
    """It is again."""

    time: int
    addr: str


class Progress(NamedTuple):
    """How it stands: `puts` are messages a minute, None while unknown, `quiet` the intervals without any.

    `residue` are topics that got messages in the last minute, with their likely source; `behind` the bytes
    that each slave is behind; `waiting_for` says in words what is missing, nothing once it is safe.
    """

    time: int
    phase: str
    puts: int | None
    residue: Mapping[str, int]
    sources: Mapping[str, str]
    lag: int | None
    groups_behind: int | None
    behind: Mapping[str, int | None]
    open_topics: Mapping[str, int | None]
    reopened: int
    quiet: int
    intervals: int
    waiting_for: tuple[str, ...]


class Safe(NamedTuple):
    """The broker can be stopped. Of the `unknown` name servers nobody knows what they tell clients."""

    time: int
    unknown: tuple[str, ...]


class Unsafe(NamedTuple):
    """It was safe to stop the broker, and is not any more."""

    time: int
    why: str


class CommandEnded(NamedTuple):
    """The operator's command."""

    time: int
    command: str
    code: int


class PutBack(NamedTuple):
    """What a name server tells clients is as it was before the drain, but for the topics in `differing`.

    `how` says by which way; `differing` has why, by topic.
    """

    time: int
    addr: str
    topics: int
    how: str
    differing: Mapping[str, str]
    error: str | None


class Undone(NamedTuple):
    """All of it is as it was before."""

    time: int
    broker: str


DrainEvent = (
    Started
    | Joined
    | Checked
    | SnapshotTaken
    | Wiped
    | PermissionSet
    | Closed
    | Reopened
    | ServerLost
    | ServerBack
    | BrokerGone
    | BrokerBack
    | Progress
    | Safe
    | Unsafe
    | CommandEnded
    | PutBack
    | Undone
)
EventRecord = Mapping[str, Any]


def build_event_record(drain_event: DrainEvent) -> dict[str, Any]:
    """An event as JSON has it: `event` is its name, `time` ms since 1970."""
    class_name = type(drain_event).__name__
    record_fields = {
        to_camel_case(field_name): _plain_value(field_value)
        for field_name, field_value in drain_event._asdict().items()
    }
    return {
        "time": record_fields.pop("time"),
        "event": class_name[0].lower() + class_name[1:],
        **record_fields,
    }


def _plain_value(field_value: Any) -> Any:
    if isinstance(field_value, tuple):
        return [
            field_item._asdict() if hasattr(field_item, "_asdict") else field_item
            for field_item in field_value
        ]
    return dict(field_value) if isinstance(field_value, Mapping) else field_value


def join_first_names(topics: Any, max_named: int = _MAX_NAMED) -> str:
    """The first of them, and how many more."""
    return abbreviate_names(list(topics), max_named)


def describe_record(record: EventRecord) -> str:
    """A record in a line."""
    return _DESCRIBERS[record["event"]](record)


def _format_count(thing_count: int, thing_name: str) -> str:
    return f"{thing_count:,} {thing_name}{'' if thing_count == 1 else 's'}"


def _describe_started(record: EventRecord) -> str:
    where = ", ".join(record["nameServers"])
    if record["resumed"]:
        return (
            f"goes on with {record['broker']} of {record['cluster']}, which was at "
            f"{record['resumed']}; {where}"
        )
    return f"drains {record['broker']} of {record['cluster']} on {where}"


def _describe_checked(record: EventRecord) -> str:
    share_text = "unknown" if record["share"] is None else f"{record['share']:.0%}"
    risk_texts = "; ".join(risk_record["text"] for risk_record in record["risks"])
    return f"{_format_count(record['topics'], 'topic')}, {share_text} of all queues that clients write to" + (
        f"; {risk_texts}" if risk_texts else ""
    )


def _describe_wiped(record: EventRecord) -> str:
    if record["error"]:
        return f"{record['addr']}: writes could not be stopped: {record['error']}"
    times_text = "" if record["times"] == 1 else f" (for the {_format_ordinal(record['times'])} time)"
    return f"{record['addr']}: write permission taken away{times_text}"


def _format_ordinal(wipe_count: int) -> str:
    is_teen = wipe_count % 100 in (11, 12, 13)
    return f"{wipe_count}{'th' if is_teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(wipe_count % 10, 'th')}"


def _describe_permission(record: EventRecord) -> str:
    if record["error"]:
        return f"{record['addr']}: brokerPermission stays {record['before']}: {record['error']}"
    return f"{record['addr']}: brokerPermission {record['before']} -> {record['after']}"


def _describe_reopened(record: EventRecord) -> str:
    topics = record["topics"]
    return (
        f"{record['addr']}: {_format_count(len(topics), 'topic')} open again "
        f"({join_first_names(topics)}): {record['cause']}"
    )


def _describe_progress(record: EventRecord) -> str:
    puts_text = "unknown" if record["puts"] is None else f"{record['puts']:,} a minute"
    text_parts = [f"puts {puts_text}"]
    if record["residue"]:
        busiest_topics = sorted(record["residue"].items(), key=lambda topic_and_count: -topic_and_count[1])
        text_parts.append(
            join_first_names(
                f"{topic} {message_count} ({record['sources'][topic]})"
                for topic, message_count in busiest_topics
            )
        )
    if record["lag"] is not None:
        text_parts.append(f"lag {record['lag']:,}")
    waiting_text = f"waits for {'; '.join(record['waitingFor'])}" if record["waitingFor"] else "holds"
    return f"{record['phase']}: {', '.join(text_parts)}; {waiting_text}"


def _describe_safe(record: EventRecord) -> str:
    if record["unknown"]:
        return (
            "safe to stop as far as is known: nobody knows what clients are told by "
            f"{', '.join(record['unknown'])}"
        )
    return "safe to stop"


def _describe_put_back(record: EventRecord) -> str:
    if record["error"]:
        return f"{record['addr']}: nothing was put back: {record['error']}"
    done = f"{record['addr']}: {_format_count(record['topics'], 'topic')} as before ({record['how']})"
    differing_topics = [
        f"{topic} ({difference_text})" for topic, difference_text in record["differing"].items()
    ]
    return f"{done}; not {join_first_names(differing_topics)}" if differing_topics else done


_DESCRIBERS: dict[str, Callable[[EventRecord], str]] = {
    "started": _describe_started,
    "joined": lambda record: f"process {record['pid'] or 'unknown'} is draining it already: joined",
    "checked": _describe_checked,
    "snapshotTaken": lambda record: (
        f"{record['addr']}: {_format_count(record['topics'], 'topic')} saved as they are"
    ),
    "wiped": _describe_wiped,
    "permissionSet": _describe_permission,
    "closed": lambda record: f"routes read back: nothing to write to on {', '.join(record['addrs'])}",
    "reopened": _describe_reopened,
    "serverLost": lambda record: (
        f"{record['addr']} does not answer, what it tells clients is unknown: {record['error']}"
    ),
    "serverBack": lambda record: f"{record['addr']} answers again",
    "brokerGone": lambda record: f"{record['addr']}: the broker is not registered any more",
    "brokerBack": lambda record: f"{record['addr']}: the broker is registered again",
    "progress": _describe_progress,
    "safe": _describe_safe,
    "unsafe": lambda record: f"not safe to stop any more: {record['why']}",
    "commandEnded": lambda record: f"{record['command']}: ended with {record['code']}",
    "putBack": _describe_put_back,
    "undone": lambda record: f"{record['broker']} takes writes as before the drain",
}
