"""The events of a drain, as records for files and programs, as lines of text and as facts for live output.

`Progress` repeats with every observation. All other events are changes. `time` is in ms since 1970.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from nsadmin.console.phrases import abbreviate_names, count_noun
from nsadmin.operations.drain.risks import DrainRisk
from nsadmin.operations.process_lock import name_process
from nsadmin.operations.run_folder import EventRecord, RunEvent

_MAX_NAMED = 3


class Started(RunEvent, frozen=True):
    """A drain begins, or resumes from the phase `resumed`."""

    cluster: str
    broker: str
    name_servers: tuple[str, ...]
    resumed: str | None


class Joined(RunEvent, frozen=True):
    """Another process is draining this broker. This process repeats its events until it ends."""

    pid: int | None


class Checked(RunEvent, frozen=True):
    """The risks of a cluster without the broker.

    `share` is its part of the writable queues of the `topics` that it has, 0 to 1.
    """

    topics: int
    share: float | None
    risks: tuple[DrainRisk, ...]

    def to_record(self) -> dict[str, Any]:
        return {**super().to_record(), "risks": [risk._asdict() for risk in self.risks]}


class SnapshotTaken(RunEvent, frozen=True):
    """The broker's queues at a name server are saved in a file."""

    addr: str
    topics: int


class Wiped(RunEvent, frozen=True):
    """A name server was asked to remove the write permission, for the `times`-th time."""

    addr: str
    times: int
    error: str | None


class PermissionSet(RunEvent, frozen=True):
    """The broker was asked to change its brokerPermission."""

    addr: str
    before: int
    after: int
    error: str | None


class Closed(RunEvent, frozen=True):
    """The routes of these name servers have no writable queue on the broker."""

    addrs: tuple[str, ...]


class Reopened(RunEvent, frozen=True):
    """A registration restored the write permission of topics."""

    addr: str
    topics: tuple[str, ...]
    cause: str


class ServerLost(RunEvent, frozen=True):
    """A name server does not answer, so its routes are unknown."""

    addr: str
    error: str


class ServerBack(RunEvent, frozen=True):
    """A name server answers again."""

    addr: str


class BrokerGone(RunEvent, frozen=True):
    """The broker is no longer registered at a name server."""

    addr: str


class BrokerBack(RunEvent, frozen=True):
    """The broker is registered again at a name server."""

    addr: str


class Progress(RunEvent, frozen=True):
    """The status of the drain.

    Attributes:
        puts: Messages per minute, None if unknown.
        residue: The message counts of the last minute by topic. `sources` has their likely sources.
        behind: The replication lag of each slave in bytes, None if unknown.
        open_topics: The number of writable topics by name server, None if unknown.
        quiet: The number of intervals without writes, of `intervals` that are needed.
        waiting_for: Missing conditions, as texts; empty once the broker can be stopped.
        writers: The hosts that wrote last to the busiest topics, by topic.
    """

    is_status: ClassVar = True

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
    writers: Mapping[str, tuple[str, ...]] = {}


class Safe(RunEvent, frozen=True):
    """The broker can be stopped. `unknown` name servers do not answer, or do not list the broker."""

    unknown: tuple[str, ...]


class Unsafe(RunEvent, frozen=True):
    """The broker can no longer be stopped safely."""

    why: str


class HoldEnded(RunEvent, frozen=True):
    """The command ends, and with it the repeated removal of write permissions. The broker may still run."""

    broker: str


class CommandEnded(RunEvent, frozen=True):
    """The operator's command ended with the exit code `code`."""

    command: str
    code: int


class PutBack(RunEvent, frozen=True):
    """The routes of a name server are as before the drain, except for the topics in `differing`.

    `how` names the method of restoration. `differing` has the reason by topic. `closed` are topics that the
    name server had without write permission before the drain, and the broker has with it.
    """

    addr: str
    topics: int
    how: str
    differing: Mapping[str, str]
    error: str | None
    closed: tuple[str, ...] = ()


class Undone(RunEvent, frozen=True):
    """The routes of all name servers are as before the drain."""

    broker: str


def join_first_names(topics: Any, max_named: int = _MAX_NAMED) -> str:
    """Join the first names, and add how many more there are."""
    return abbreviate_names(list(topics), max_named)


def describe_record(record: EventRecord) -> str:
    """Describe a record in one line."""
    return _DESCRIBERS[record["event"]](record)


def _describe_started(record: EventRecord) -> str:
    server_list = ", ".join(record["nameServers"])
    if record["resumed"]:
        was_undone = ", whose undoing was interrupted" if record["resumed"] == "undrain" else ""
        return (
            f"resuming the drain of {record['broker']} of cluster {record['cluster']} on {server_list}"
            f"{was_undone}"
        )
    return f"draining {record['broker']} of cluster {record['cluster']} on {server_list}"


def _describe_checked(record: EventRecord) -> str:
    topics = count_noun(record["topics"], "topic")
    share = record["share"]
    share_text = "no topic has a writable queue" if share is None else f"{share:.0%} of their writable queues"
    return "; ".join([f"{topics}, {share_text}", *(risk["text"] for risk in record["risks"])])


def _describe_wiped(record: EventRecord) -> str:
    if record["error"]:
        return f"{record['addr']}: the write permission was not removed: {record['error']}"
    times_text = "" if record["times"] == 1 else f" (for the {_format_ordinal(record['times'])} time)"
    return f"{record['addr']}: write permission removed{times_text}"


def _format_ordinal(wipe_count: int) -> str:
    is_teen = wipe_count % 100 in (11, 12, 13)
    return f"{wipe_count}{'th' if is_teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(wipe_count % 10, 'th')}"


def _describe_progress(record: EventRecord) -> str:
    puts = record["puts"]
    texts = ["writes are not counted now" if puts is None else f"{count_noun(puts, 'message')} a minute"]
    if record["residue"]:
        busiest = (f"{count} to {topic} (from {source})" for topic, count, source in _list_residue(record))
        texts.append(f"in the last minute {join_first_names(busiest)}")
    if record["lag"] is not None:
        texts.append(f"{count_noun(record['lag'], 'message')} not consumed")
    texts += [f"waiting for {condition}" for condition in record["waitingFor"]]
    return ("safe: " if record["phase"] == "safe" else "") + "; ".join(texts)


def _describe_put_back(record: EventRecord) -> str:
    if record["error"]:
        return f"{record['addr']}: its routes could not be verified: {record['error']}"
    outcome_text = f"{record['addr']}: {count_noun(record['topics'], 'topic')} as before ({record['how']})"
    # Records of earlier releases have no closed topics.
    if record.get("closed"):
        outcome_text += f"; closed to writes, as before: {join_first_names(record['closed'])}"
    differing_topics = [f"{topic} ({text})" for topic, text in record["differing"].items()]
    differing = f"; not as before: {join_first_names(differing_topics)}" if differing_topics else ""
    return outcome_text + differing


_DESCRIBERS: dict[str, Callable[[EventRecord], str]] = {
    "started": _describe_started,
    "joined": lambda record: (
        f"{name_process(record['pid'])} is already draining this broker: following its progress"
    ),
    "checked": _describe_checked,
    "snapshotTaken": lambda record: f"{record['addr']}: {count_noun(record['topics'], 'topic')} saved",
    "wiped": _describe_wiped,
    "permissionSet": lambda record: (
        f"{record['addr']}: brokerPermission stays {record['before']}: {record['error']}"
        if record["error"]
        else f"{record['addr']}: brokerPermission {record['before']} -> {record['after']}"
    ),
    "closed": lambda record: (
        f"verified: the broker has no writable queue in the routes of {', '.join(record['addrs'])}"
    ),
    "reopened": lambda record: (
        f"{record['addr']}: {count_noun(len(record['topics']), 'topic')} now writable "
        f"({join_first_names(record['topics'])}): {record['cause']}"
    ),
    "serverLost": lambda record: (
        f"{record['addr']} does not answer, so its routes are unknown: {record['error']}"
    ),
    "serverBack": lambda record: f"{record['addr']} answers again",
    "brokerGone": lambda record: f"{record['addr']}: the broker is no longer registered",
    "brokerBack": lambda record: f"{record['addr']}: the broker is registered again",
    "progress": _describe_progress,
    "safe": lambda record: (
        "safe to stop for clients of the other name servers. Clients of these may still write, because they "
        f"do not answer, or do not list the broker: {', '.join(record['unknown'])}"
        if record["unknown"]
        else "safe to stop"
    ),
    "unsafe": lambda record: f"no longer safe to stop: {record['why']}",
    "holdEnded": lambda record: (
        f"{record['broker']} is drained, but nsadmin no longer watches it: if it registers with write "
        "permission again, clients write to it. Stop it now, or drain it with --hold or --then COMMAND."
    ),
    "commandEnded": lambda record: (
        f"{record['command']}: failed with exit code {record['code']}: the broker stays drained"
        if record["code"]
        else f"{record['command']}: exit code 0"
    ),
    "putBack": _describe_put_back,
    "undone": lambda record: f"the drain of {record['broker']} is undone",
}

SHOWN_PHASES = ("snapshot", "wipe", "settle", "wait", "safe")


def describe_status(broker: str, record: EventRecord) -> list[tuple[str, str]]:
    """Return pairs of a label and a value from the record of a `Progress` event."""
    phases = " ".join(f"[{phase}]" if phase == record["phase"] else phase for phase in SHOWN_PHASES)
    facts = [
        (broker, phases),
        ("messages per minute", "unknown" if record["puts"] is None else str(record["puts"])),
    ]
    if record["residue"]:
        top_topics = (f"{topic} {count} (from {source})" for topic, count, source in _list_residue(record))
        facts.append(("last minute", join_first_names(top_topics)))
    # Records of earlier releases have no writers.
    if record.get("writers"):
        writers = (f"{topic}: {join_first_names(names)}" for topic, names in record["writers"].items())
        facts.append(("last writers", "; ".join(writers)))
    if record["lag"] is not None:
        facts.append(
            (
                "lag",
                f"{count_noun(record['lag'], 'message')} of {count_noun(record['groupsBehind'], 'group')}",
            )
        )
    if record["behind"]:
        facts.append(("slaves behind", _format_by_addr(record["behind"], " bytes")))
    return [
        *facts,
        ("writable topics", _format_by_addr(record["openTopics"], "")),
        ("reopened", count_noun(record["reopened"], "time")),
        ("checks without writes", f"{record['quiet']} of {record['intervals']}"),
        ("waiting for", "; ".join(record["waitingFor"]) or "nothing"),
    ]


def _list_residue(record: EventRecord) -> list[tuple[str, int, str]]:
    """The topics that got messages in the last minute, their counts and likely sources, busiest first."""
    busiest = sorted(record["residue"].items(), key=lambda item: -item[1])
    return [(topic, count, record["sources"][topic]) for topic, count in busiest]


def _format_by_addr(values_by_addr: Mapping[str, int | None], unit_text: str) -> str:
    return ", ".join(
        f"{addr} {'unknown' if value is None else f'{value}{unit_text}'}"
        for addr, value in values_by_addr.items()
    )
