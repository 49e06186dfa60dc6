"""The events of a rebalance, as records, as lines of text and as facts for live output.

`Progress` repeats with every observation. All other events are changes. `time` is in ms since 1970.
"""

from collections.abc import Callable, Mapping
from typing import ClassVar

from nsadmin.console.phrases import count_noun
from nsadmin.operations.rebalance.move_stages import (
    ADD_QUEUES,
    CLOSE_READS,
    CLOSE_WRITES,
    DELETE_TOPIC,
    OPEN_READS,
    OPEN_WRITES,
    PIN_ORDER,
    READ_ON,
    SWITCH_ORDER,
    UNPIN_ORDER,
)
from nsadmin.operations.run_folder import EventRecord, RunEvent

_MAX_WAITING_TOPICS = 2
_MAX_SHOWN_TOPICS = 12
STAGE_TEXTS = {
    OPEN_READS: "opening the new queues to consumers",
    OPEN_WRITES: "opening the new queues to producers",
    CLOSE_WRITES: "closing the old queues to producers",
    CLOSE_READS: "removing the old queues",
    DELETE_TOPIC: "deleting the topic from brokers without queues",
    PIN_ORDER: "writing an order configuration of the present queues",
    ADD_QUEUES: "adding queues that consumers do not read yet",
    SWITCH_ORDER: "switching producers to the next queues",
    READ_ON: "opening the next queues to consumers",
    UNPIN_ORDER: "writing the final order configuration",
}


class Began(RunEvent, frozen=True):
    """A run begins, or resumes in phase `resumed`."""

    cluster: str
    digest: str
    topics: int
    name_servers: tuple[str, ...]
    resumed: str | None
    is_rollback: bool


class GroupCreated(RunEvent, frozen=True):
    """A group was created on a broker that gets queues."""

    group: str
    broker: str
    error: str | None


class StageBegan(RunEvent, frozen=True):
    """A topic enters a stage; `position` of `stages` counts from 1."""

    topic: str
    stage: str
    position: int
    stages: int
    counts: Mapping[str, Mapping[str, int]]


class Changed(RunEvent, frozen=True):
    """A server was asked to change something."""

    topic: str
    broker: str | None
    change: str
    error: str | None


class TopicMoved(RunEvent, frozen=True):
    """A topic is where the plan wants it, or back where it was."""

    topic: str
    is_rollback: bool


class Progress(RunEvent, frozen=True):
    """The status of the run. `waiting` has what each moving topic waits for, as texts."""

    is_status: ClassVar = True

    phase: str
    done: int
    moving: int
    pending: int
    stages: Mapping[str, str]
    waiting: Mapping[str, tuple[str, ...]]


class Paused(RunEvent, frozen=True):
    """The run pauses without a request of the operator."""

    reason: str


class Finished(RunEvent, frozen=True):
    """All topics are where they should be."""

    cluster: str
    topics: int
    is_rollback: bool


def describe_record(record: EventRecord) -> str:
    """Return an event record as a line of text."""
    return _DESCRIBERS[record["event"]](record)


def _describe_began(record: EventRecord) -> str:
    action = "moving back" if record["isRollback"] else "moving"
    resumed = {"paused": ", after a pause", "running": ", resumed", "rollingBack": ", resumed"}
    topics = count_noun(record["topics"], "topic")
    how = resumed.get(record["resumed"], "")
    return f"{record['cluster']}: {action} {topics} (plan {record['digest']}){how}"


def _describe_stage(record: EventRecord) -> str:
    queues = ", ".join(
        f"{broker} {counts['read']}/{counts['write']}" for broker, counts in sorted(record["counts"].items())
    )
    step = f"{record['position']} of {record['stages']}"
    return f"{record['topic']}: step {step}, {STAGE_TEXTS[record['stage']]}: read/write queues {queues}"


def _describe_change(record: EventRecord) -> str:
    broker_phrase = f" on {record['broker']}" if record["broker"] else ""
    outcome = f": failed: {record['error']}" if record["error"] else ""
    return f"{record['topic']}{broker_phrase}: {record['change']}{outcome}"


def describe_progress(record: EventRecord) -> str:
    """Return the counts of a progress record and what its first topics wait for."""
    counts = f"topics: {record['done']} done, {record['moving']} moving, {record['pending']} to come"
    waiting = [(topic, texts) for topic, texts in sorted(record["waiting"].items()) if texts]
    waits = [f"{topic} waits for {' and '.join(texts[:2])}" for topic, texts in waiting[:_MAX_WAITING_TOPICS]]
    hidden_count = len(waiting) - len(waits)
    if hidden_count > 0:
        waits.append(f"and {count_noun(hidden_count, 'more topic')}")
    return "; ".join([counts, *waits])


_DESCRIBERS: Mapping[str, Callable[[EventRecord], str]] = {
    "began": _describe_began,
    "groupCreated": lambda record: (
        f"group {record['group']} on {record['broker']}: "
        f"{'failed: ' + record['error'] if record['error'] else 'created'}"
    ),
    "stageBegan": _describe_stage,
    "changed": _describe_change,
    "topicMoved": lambda record: (
        f"{record['topic']}: {'back where it was' if record['isRollback'] else 'moved'}"
    ),
    "progress": describe_progress,
    "paused": lambda record: f"paused: {record['reason']}",
    "finished": lambda record: (
        f"{record['cluster']}: {count_noun(record['topics'], 'topic')} moved"
        f"{' back' if record['isRollback'] else ''}"
    ),
}


def list_progress_facts(_: str, record: EventRecord) -> list[tuple[str, str]]:
    """Return pairs of a label and a value from the record of a `Progress` event."""
    facts = [
        (record["phase"], f"{record['done']} done, {record['moving']} moving, {record['pending']} to come")
    ]
    topics = sorted({*record["stages"], *record["waiting"]})
    for topic in topics[:_MAX_SHOWN_TOPICS]:
        stage = record["stages"].get(topic)
        waiting_text = "; ".join(record["waiting"].get(topic, ()))
        stage_text = "" if stage is None else STAGE_TEXTS[stage]
        facts.append(
            (topic or "groups", f"{stage_text}; waiting for {waiting_text}" if waiting_text else stage_text)
        )
    if len(topics) > _MAX_SHOWN_TOPICS:
        facts.append(("", f"and {len(topics) - _MAX_SHOWN_TOPICS} more topics"))
    return facts
