"""Events: what happens in a drain, for whoever watches it; as records for files and programs, and in words.

Only `Progress` comes again and again; all others are changes.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nsadmin.operations.drain.risks import Risk
from nsadmin.operations.drain.state import camel
from nsadmin.wording import first_of

_MOST = 3


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
    risks: tuple[Risk, ...]


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


Event = (
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
Record = Mapping[str, Any]


def record(event: Event) -> dict[str, Any]:
    """An event as JSON has it: `event` is its name, `time` ms since 1970."""
    name = type(event).__name__
    fields = {camel(field): _plain(value) for field, value in event._asdict().items()}
    return {"time": fields.pop("time"), "event": name[0].lower() + name[1:], **fields}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [item._asdict() if hasattr(item, "_asdict") else item for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def names(topics: Any, most: int = _MOST) -> str:
    """The first of them, and how many more."""
    return first_of(list(topics), most)


def words(told: Record) -> str:
    """A record in a line."""
    return _WORDS[told["event"]](told)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _started(told: Record) -> str:
    where = ", ".join(told["nameServers"])
    if told["resumed"]:
        return f"goes on with {told['broker']} of {told['cluster']}, which was at {told['resumed']}; {where}"
    return f"drains {told['broker']} of {told['cluster']} on {where}"


def _checked(told: Record) -> str:
    share = "unknown" if told["share"] is None else f"{told['share']:.0%}"
    found = "; ".join(item["text"] for item in told["risks"])
    return f"{_count(told['topics'], 'topic')}, {share} of all queues that clients write to" + (
        f"; {found}" if found else ""
    )


def _wiped(told: Record) -> str:
    if told["error"]:
        return f"{told['addr']}: writes could not be stopped: {told['error']}"
    times = "" if told["times"] == 1 else f" (for the {_ordinal(told['times'])} time)"
    return f"{told['addr']}: write permission taken away{times}"


def _ordinal(number: int) -> str:
    special = number % 100 in (11, 12, 13)
    return f"{number}{'th' if special else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _permission(told: Record) -> str:
    if told["error"]:
        return f"{told['addr']}: brokerPermission stays {told['before']}: {told['error']}"
    return f"{told['addr']}: brokerPermission {told['before']} -> {told['after']}"


def _reopened(told: Record) -> str:
    topics = told["topics"]
    return f"{told['addr']}: {_count(len(topics), 'topic')} open again ({names(topics)}): {told['cause']}"


def _progress(told: Record) -> str:
    puts = "unknown" if told["puts"] is None else f"{told['puts']:,} a minute"
    parts = [f"puts {puts}"]
    if told["residue"]:
        most = sorted(told["residue"].items(), key=lambda item: -item[1])
        parts.append(names(f"{topic} {count} ({told['sources'][topic]})" for topic, count in most))
    if told["lag"] is not None:
        parts.append(f"lag {told['lag']:,}")
    waiting = f"waits for {'; '.join(told['waitingFor'])}" if told["waitingFor"] else "holds"
    return f"{told['phase']}: {', '.join(parts)}; {waiting}"


def _safe(told: Record) -> str:
    if told["unknown"]:
        return (
            "safe to stop as far as is known: nobody knows what clients are told by "
            f"{', '.join(told['unknown'])}"
        )
    return "safe to stop"


def _put_back(told: Record) -> str:
    if told["error"]:
        return f"{told['addr']}: nothing was put back: {told['error']}"
    done = f"{told['addr']}: {_count(told['topics'], 'topic')} as before ({told['how']})"
    differing = [f"{topic} ({why})" for topic, why in told["differing"].items()]
    return f"{done}; not {names(differing)}" if differing else done


_WORDS: dict[str, Callable[[Record], str]] = {
    "started": _started,
    "joined": lambda told: f"process {told['pid'] or 'unknown'} is draining it already: joined",
    "checked": _checked,
    "snapshotTaken": lambda told: f"{told['addr']}: {_count(told['topics'], 'topic')} saved as they are",
    "wiped": _wiped,
    "permissionSet": _permission,
    "closed": lambda told: f"routes read back: nothing to write to on {', '.join(told['addrs'])}",
    "reopened": _reopened,
    "serverLost": lambda told: (
        f"{told['addr']} does not answer, what it tells clients is unknown: {told['error']}"
    ),
    "serverBack": lambda told: f"{told['addr']} answers again",
    "brokerGone": lambda told: f"{told['addr']}: the broker is not registered any more",
    "brokerBack": lambda told: f"{told['addr']}: the broker is registered again",
    "progress": _progress,
    "safe": _safe,
    "unsafe": lambda told: f"not safe to stop any more: {told['why']}",
    "commandEnded": lambda told: f"{told['command']}: ended with {told['code']}",
    "putBack": _put_back,
    "undone": lambda told: f"{told['broker']} takes writes as before the drain",
}
