"""Restores consumer offsets: by position if the queue still has the same messages, otherwise by time."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError, TopicNotExist
from namesrv_core.protocol.resource_names import GROUP_TOPIC_PREFIXES
from nsadmin.client import AdminClient
from nsadmin.client.consumers.offset_moves import END_OF_QUEUE, OffsetMove, OffsetPlan
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.queue_reader import MessagePlace
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.client.topic_routes import QueueRoute
from nsadmin.client.topics.lite_topics import parse_parent_name
from nsadmin.operations.backups.records import BrokerBackup, SavedOffset

HAS_OTHER_OFFSET = "the group has another offset (--overwrite-offsets moves it)"
"""Why an offset is kept that is not that of the backup."""
HAS_LEFT_OFFSET = "the broker already has another offset of the group (--overwrite-offsets moves it)"
"""Why an offset is kept although the restore creates its topic or group."""
_PREVIEW_REASON = "this offset if the queue has the same messages, otherwise by time"


class OffsetTarget(NamedTuple):
    """Where a group should continue on one queue.

    Attributes:
        method: "position", "time", "unchanged", "kept" (the group has another offset, or its retry topic is
            gone), "dry-run" (only the restore creates the queue) or "unknown" (no target).
        new_offset: The offset of the next message; None without a target. In a preview, that of the backup.
        reason: Why it is kept or unknown; "" otherwise.
    """

    topic: str
    group: str
    queue_id: int
    old_offset: int | None
    new_offset: int | None
    method: str
    reason: str = ""


class OffsetOutcome(NamedTuple):
    """A target and its result: "done", "unchanged", "kept", "unknown", "failed" or "dry-run"."""

    target: OffsetTarget
    result: str
    error: RocketMQError | None = None


class _SavedQueue(NamedTuple):
    topic: str
    group: str
    queue_id: int
    saved_offset: SavedOffset


class _OffsetSearch:
    """Searches offsets on one broker by time. It asks for the route of each topic once.

    A lite topic has the route of its parent topic.
    """

    def __init__(self, admin: AdminClient, broker: str, static_topics: Collection[str]) -> None:
        self._admin = admin
        self._broker_name = broker
        self._static_topics = static_topics
        self._routes_by_topic: dict[str, Sequence[QueueRoute]] = {}

    def is_static(self, topic: str) -> bool:
        return topic in self._static_topics

    def is_gone(self, topic: str) -> bool:
        """Whether a retry or dead-letter topic has no queue on the broker: it went with its group."""
        try:
            return topic.startswith(GROUP_TOPIC_PREFIXES) and not self._list_routes(topic)
        except TopicNotExist:
            return True

    def search_offset(self, topic: str, queue_id: int, begin_ms: int) -> int | str:
        """Return the first message at this time or later; a text with the reason if that fails."""
        if self.is_static(topic):
            return 0 if begin_ms == 0 else "the queue of the static topic has other messages"
        try:
            [result] = self._admin.queue_reader.get_spans(
                topic, self._list_routes(topic), queue_id=queue_id, begin_ms=begin_ms
            )
        except (RocketMQError, ValueError) as error:
            return str(error).split("\n", 1)[0] or "the queue does not exist"
        return str(result.error) if result.queue_span is None else result.queue_span.begin_offset

    def _list_routes(self, topic: str) -> Sequence[QueueRoute]:
        if topic not in self._routes_by_topic:
            self._routes_by_topic[topic] = [
                route
                for route in self._admin.topics.get_route(parse_parent_name(topic)).queues
                if route.broker_name == self._broker_name
            ]
        return self._routes_by_topic[topic]


def plan_offsets(
    admin: AdminClient,
    addr: str,
    broker: BrokerBackup,
    static_topics: Collection[str] = (),
    *,
    overwrites: bool,
    queue_counts_now: Mapping[str, int] = {},
) -> list[OffsetTarget]:
    """Decide for each saved offset where the group continues. Raises RocketMQError if the broker is silent.

    Offsets of `static_topics` belong to the broker's own queues, in which nsadmin searches no times. With
    `overwrites`, a group that has another offset already moves as well. A preview passes the read queues of
    the topics that the restore creates or changes: what the others hold shows only after it.
    """
    [result] = admin.consumers.get_committed_each([addr])
    committed = result.value()
    saved_queues = [
        _SavedQueue(topic, group, queue_id, offset)
        for (topic, group), saved in broker.offsets.items()
        for queue_id, offset in saved.items()
    ]
    store_times = _read_store_times(admin, addr, saved_queues)
    offset_search = _OffsetSearch(admin, broker.broker_name, static_topics)
    return [
        _choose_target(
            offset_search,
            queue,
            committed.get(f"{queue.topic}@{queue.group}", {}).get(queue.queue_id),
            store_times.get((queue.topic, queue.queue_id, queue.saved_offset.offset - 1)),
            overwrites=overwrites,
            is_created=queue.queue_id
            >= queue_counts_now.get(parse_parent_name(queue.topic), queue.queue_id + 1),
        )
        for queue in saved_queues
    ]


def _read_store_times(
    admin: AdminClient, addr: str, saved_queues: Iterable[_SavedQueue]
) -> dict[tuple[str, int, int], int | None]:
    """Return the store time of the message before each saved offset, by (topic, queue, offset)."""
    keys = sorted(
        {
            (queue.topic, queue.queue_id, queue.saved_offset.offset - 1)
            for queue in saved_queues
            if queue.saved_offset.offset > 0
        }
    )
    places = (MessagePlace(addr, MessageQueue(t, "", queue_id), offset) for t, queue_id, offset in keys)
    results: Sequence[ServerResult[int | None]] = admin.queue_reader.get_store_times(
        places, in_own_queues=True
    )
    return {key: result.result for key, result in zip(keys, results, strict=True)}


def _choose_target(
    offset_search: _OffsetSearch,
    queue: _SavedQueue,
    old_offset: int | None,
    store_ms: int | None,
    *,
    overwrites: bool,
    is_created: bool,
) -> OffsetTarget:
    topic, group, queue_id, saved = queue
    target = OffsetTarget(topic, group, queue_id, old_offset, None, "unknown")
    if old_offset == saved.offset and (saved.offset == 0 or is_created or store_ms == saved.store_ms):
        return target._replace(method="unchanged")
    if old_offset is not None and not overwrites:
        return target._replace(method="kept", reason=HAS_OTHER_OFFSET)
    if is_created:
        return target._replace(method="dry-run", new_offset=saved.offset, reason=_PREVIEW_REASON)
    if offset_search.is_gone(topic):
        return target._replace(method="kept", reason=f"{topic} does not exist: offset not restored")
    # Java clients commit logical offsets for own queues of a static topic, which have no such message.
    has_same_message = saved.store_ms is not None or offset_search.is_static(topic)
    if saved.offset > 0 and has_same_message and store_ms == saved.store_ms:
        return target._replace(method="position", new_offset=saved.offset)
    if saved.offset > 0 and saved.store_ms is None:
        return target._replace(
            reason="the message before the offset had expired when the backup was made: see "
            "`nsadmin resetOffsetByTime --help`"
        )
    # A group at offset 0 had consumed nothing: it begins at the first message that the queue has.
    begin_ms = 0 if saved.store_ms is None else saved.store_ms + 1
    found_offset = offset_search.search_offset(topic, queue_id, begin_ms)
    if isinstance(found_offset, str):
        return target._replace(reason=found_offset)
    is_position = begin_ms == found_offset == 0
    return target._replace(method="position" if is_position else "time", new_offset=found_offset)


def apply_offsets(
    admin: AdminClient,
    addr: str,
    broker: str,
    targets: Sequence[OffsetTarget],
    static_topics: Collection[str] = (),
) -> list[OffsetOutcome]:
    """Move the groups, and read the offsets back."""
    outcomes = [OffsetOutcome(target, target.method) for target in targets if target.new_offset is None]
    targets_by_plan: dict[tuple[str, str], list[OffsetTarget]] = {}
    for target in targets:
        if target.new_offset is not None:
            targets_by_plan.setdefault((target.group, target.topic), []).append(target)
    for (group, topic), plan_targets in targets_by_plan.items():
        if topic in static_topics:
            outcomes += _commit_own_offsets(admin, addr, group, topic, plan_targets)
            continue
        targets_by_queue = {target.queue_id: target for target in plan_targets}
        outcomes += [
            OffsetOutcome(targets_by_queue[move.queue.queue_id], *_judge_move(move))
            for move in _move_group(admin, addr, broker, group, topic, targets_by_queue)
        ]
    return outcomes


def _commit_own_offsets(
    admin: AdminClient, addr: str, group: str, topic: str, targets: Sequence[OffsetTarget]
) -> list[OffsetOutcome]:
    """Commit offsets of a static topic: a reset by the broker does not know its logical queues."""
    offsets = {target.queue_id: target.new_offset for target in targets if target.new_offset is not None}
    errors = admin.queue_mappings.commit_own_offsets(group, topic, addr, offsets)
    return [
        OffsetOutcome(target, "done" if error is None else "failed", error)
        for target, error in zip(targets, errors, strict=True)
    ]


def _move_group(
    admin: AdminClient,
    addr: str,
    broker: str,
    group: str,
    topic: str,
    targets_by_queue: Mapping[int, OffsetTarget],
) -> list[OffsetMove]:
    moves = tuple(
        OffsetMove(
            addr, MessageQueue(topic, broker, queue_id), target.old_offset, target.new_offset, "planned", None
        )
        for queue_id, target in targets_by_queue.items()
    )
    return admin.offsets.apply_clone(OffsetPlan(group, topic, END_OF_QUEUE, True, None, moves))


def _judge_move(move: OffsetMove) -> tuple[str, RocketMQError | None]:
    if move.error is not None:
        return "failed", move.error
    if move.result == "kept":
        return "failed", NotApplied("the broker kept the old offset")
    return "done", None
