"""Gathers the story of a message from its broker, its groups, their retries and dead letters, and traces."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from namesrv_core.errors import RocketMQError, TopicNotExist
from namesrv_core.protocol.resource_names import DLQ_PREFIX, RETRY_PREFIX
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client import AdminClient
from nsadmin.client.messages.consume_tracks import ConsumeTrack
from nsadmin.client.messages.dead_letter_selection import REPLAY_ID_PROPERTY, DeadLetter
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.messages.message_traces import MessageTrace
from nsadmin.client.results import ClientClosed, error_text
from nsadmin.console.phrases import count_noun

TRACK_TEXTS = {
    "CONSUMED": "consumed",
    "CONSUMED_BUT_FILTERED": "skipped, because the group does not subscribe to the tag",
    "NOT_CONSUME_YET": "not consumed yet",
    "NOT_ONLINE": "unknown, because no client of the group is connected to its broker",
    "PULL": "unknown, because the group pulls",
    "CONSUME_BROADCASTING": "unknown, because the group broadcasts",
    "UNKNOWN": "unknown",
}


class StoryEvent(NamedTuple):
    """One event of a message.

    `step` is "produced", "stored", "retry", "replay", "dead letter", "group" (the present state of a group)
    or "trace". `time_ms` is None for the present state. `located_message` is the copy that the event is
    about, None if there is none.
    """

    time_ms: int | None
    step: str
    group: str | None
    detail: str
    located_message: LocatedMessage | None = None


class MessageStory(NamedTuple):
    """The events in the order of their times, present states last, and a line for each failure."""

    events: tuple[StoryEvent, ...]
    failures: tuple[tuple[str, RocketMQError], ...]


def gather_story(admin: AdminClient, located_messages: Iterable[LocatedMessage]) -> MessageStory:
    """Gather the story of a message; `located_messages` are its copies in its topic."""
    events: list[StoryEvent] = []
    failures: list[tuple[str, RocketMQError]] = []
    groups: set[str] = set()
    message: StoredMessage | None = None
    for located_message in located_messages:
        message = message or located_message.message
        events += list_message_events(located_message)
        try:
            consume_tracks = admin.consume_tracks.get_tracks(located_message)
        except RocketMQError as error:
            _note_failure(failures, "groups of the topic", error)
            continue
        events += list_track_events(consume_tracks)
        groups.update(consume_track.group for consume_track in consume_tracks)
    if message is None:
        return MessageStory((), ())
    for group in sorted(groups):
        for topic in (
            RETRY_PREFIX + group,
            f"{RETRY_PREFIX}{group}_{message.topic}",
            f"{RETRY_PREFIX}{group}+{message.topic}",
            DLQ_PREFIX + group,
        ):
            events += _find_copies(admin, topic, group, message, failures)
    events += _find_traces(admin, message.msg_id, failures)
    events.sort(key=lambda event: (event.time_ms is None, event.time_ms or 0))
    return MessageStory(tuple(events), tuple(failures))


def list_message_events(located_message: LocatedMessage) -> list[StoryEvent]:
    """The events that the message itself records: it was produced, and stored."""
    message = located_message.message
    delays = [
        f"delay {name}={message.properties[name]}"
        for name in ("DELAY", "TIMER_DELAY_SEC", "TIMER_DELAY_MS", "TIMER_DELIVER_MS")
        if name in message.properties
    ]
    details = [
        f"by {message.born_host}",
        *([f"tag {message.tags}"] if message.tags else []),
        *([f"keys {' '.join(message.keys)}"] if message.keys else []),
        *delays,
    ]
    position_text = f"queue {message.queue_id}, offset {message.queue_offset}, {message.store_size} bytes"
    return [
        StoryEvent(message.born_timestamp, "produced", None, ", ".join(details)),
        StoryEvent(message.store_timestamp, "stored", None, position_text, located_message),
    ]


def list_track_events(consume_tracks: Iterable[ConsumeTrack]) -> list[StoryEvent]:
    return [
        StoryEvent(
            None,
            "group",
            consume_track.group,
            TRACK_TEXTS.get(consume_track.track_type, consume_track.track_type)
            + (
                f"; {count_noun(n, 'client')} at other brokers"
                if (n := consume_track.other_client_count)
                else ""
            )
            + (f": {error_text(consume_track.error)}" if consume_track.error is not None else ""),
        )
        for consume_track in consume_tracks
    ]


def describe_copy(group: str, located_message: LocatedMessage) -> StoryEvent:
    message = located_message.message
    if message.topic.startswith(DLQ_PREFIX):
        letter = DeadLetter(located_message.broker_name or "", message)
        replays = f", replays before: {letter.replay_count}" if letter.replay_count else ""
        return StoryEvent(
            message.store_timestamp,
            "dead letter",
            group,
            f"attempts: {letter.attempts}{replays}",
            located_message,
        )
    if REPLAY_ID_PROPERTY in message.properties and not message.reconsume_times:
        return StoryEvent(message.store_timestamp, "replay", group, "sent by nsadmin", located_message)
    detail = f"attempt {message.reconsume_times + 1}"
    return StoryEvent(message.store_timestamp, "retry", group, detail, located_message)


def describe_trace(trace: MessageTrace) -> StoryEvent:
    details = [
        trace.kind,
        *([trace.status] if trace.status else []),
        *([f"{trace.cost_ms} ms"] if trace.cost_ms is not None else []),
        f"by {trace.client_host}",
    ]
    return StoryEvent(trace.time_ms, "trace", trace.group, ", ".join(details))


def _find_copies(
    admin: AdminClient,
    topic: str,
    group: str,
    message: StoredMessage,
    failures: list[tuple[str, RocketMQError]],
) -> Iterator[StoryEvent]:
    try:
        found_messages = admin.messages.find_by_unique_key(topic, message.msg_id)
    except TopicNotExist:
        return
    except RocketMQError as error:
        _note_failure(failures, topic, error)
        return
    for broker_error in found_messages.errors:
        if broker_error is not None:
            _note_failure(failures, topic, broker_error)
    for located_message in found_messages.messages:
        yield describe_copy(group, located_message)


def _find_traces(
    admin: AdminClient, msg_id: str, failures: list[tuple[str, RocketMQError]]
) -> list[StoryEvent]:
    try:
        return [describe_trace(trace) for trace in admin.traces.find_traces(msg_id).traces]
    except TopicNotExist:
        # Brokers without traceTopicEnable have no trace topic.
        return []
    except RocketMQError as error:
        _note_failure(failures, "traces", error)
        return []


def _note_failure(failures: list[tuple[str, RocketMQError]], failed_part: str, error: RocketMQError) -> None:
    if isinstance(error, ClientClosed):
        raise error
    failures.append((failed_part, error))
