"""Planned moves of consumer offsets, and their results."""

from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import MASTER_BROKER_ID, RequestCode
from nsadmin.client.brokers.targets import NO_MASTER
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.results import NotApplied
from nsadmin.client.topic_routes import QueueRoute, list_read_queues

END_OF_QUEUE = -1
"""The timestamp that stands for the end of a queue."""


class OffsetMove(NamedTuple):
    """The move of a group on one queue.

    Attributes:
        broker_addr: The master; "" if the broker has no master now.
        queue: The queue.
        old_offset: The consumer offset before; None if the group never committed one.
        new_offset: The offset of the next message to consume; None if there is no target.
        result: "planned", then "done", "failed", "pending" (a broker before 5.2 notified the clients, which
            move within seconds) or "kept" (already there, forward without force, or without a target). It is
            "unknown" if the broker did not say which offset it has now.
        error: The reason of "failed" and "unknown"; None otherwise.
    """

    broker_addr: str
    queue: MessageQueue
    old_offset: int | None
    new_offset: int | None
    result: str
    error: RocketMQError | None

    @property
    def skipped_count(self) -> int | None:
        """The number of messages that the group would skip; None if an offset is unknown."""
        return (
            None
            if self.old_offset is None or self.new_offset is None
            else max(0, self.new_offset - self.old_offset)
        )

    @property
    def repeated_count(self) -> int | None:
        """The number of messages that the group would consume again; None if an offset is unknown."""
        return (
            None
            if self.old_offset is None or self.new_offset is None
            else max(0, self.old_offset - self.new_offset)
        )


class OffsetPlan(NamedTuple):
    """A planned reset or clone of a group's offsets on a topic.

    Attributes:
        group: The consumer group.
        topic: The topic.
        timestamp_ms: The target time in ms since 1970, or END_OF_QUEUE.
        is_forced: If False, brokers before 5.2 move offsets only backward.
        queue_id: The queue, if the plan is about one queue only; else None.
        moves: One OffsetMove per queue.
    """

    group: str
    topic: str
    timestamp_ms: int
    is_forced: bool
    queue_id: int | None
    moves: tuple[OffsetMove, ...]


def list_empty_moves(topic: str, route: QueueRoute) -> list[OffsetMove]:
    """List a move without offsets for every readable queue of a broker, or a failed one without a master."""
    if not route.read_queue_nums:
        return []
    master = route.broker_addrs.get(MASTER_BROKER_ID)
    if master is None:
        queue = MessageQueue(topic, route.broker_name, 0)
        return [OffsetMove("", queue, None, None, "failed", NotApplied(NO_MASTER))]
    return [
        OffsetMove(master, MessageQueue(topic, route.broker_name, queue_id), None, None, "planned", None)
        for _, queue_id in list_read_queues([route])
    ]


def group_by_addr(offset_moves: Iterable[OffsetMove]) -> dict[str, list[OffsetMove]]:
    """Group moves by broker."""
    moves_by_addr: dict[str, list[OffsetMove]] = {}
    for offset_move in offset_moves:
        moves_by_addr.setdefault(offset_move.broker_addr, []).append(offset_move)
    return moves_by_addr


def move_header(
    request_code: RequestCode, group: str, offset_move: OffsetMove
) -> broker_headers.ConsumerOffset | broker_headers.ResetOffset:
    """The header of the request that moves one queue."""
    topic, _, queue_id = offset_move.queue
    if request_code == RequestCode.UPDATE_CONSUMER_OFFSET:
        return broker_headers.ConsumerOffset(group, topic, queue_id, commit_offset=offset_move.new_offset)
    return broker_headers.ResetOffset(group, topic, END_OF_QUEUE, True, offset_move.new_offset, queue_id)


def move_toward(offset_move: OffsetMove, new_offset: int | None, error: RocketMQError | None) -> OffsetMove:
    """Set the offset of another group as the target; keep the queue if that group never committed."""
    if error is not None:
        return fail_move(offset_move, error)
    return offset_move._replace(
        new_offset=new_offset, result="kept" if new_offset in (None, offset_move.old_offset) else "planned"
    )


def return_to(
    offset_move: OffsetMove,
    former_offset: int | None,
    min_offset: int | RocketMQError,
    max_offset: int | RocketMQError,
) -> OffsetMove:
    """Set the offset of an earlier time as the target; see `set_target_offset` for the limits."""
    if former_offset is None:
        return fail_move(
            offset_move, NotApplied("the group had no offset here before, and brokers cannot remove one")
        )
    planned_move = set_target_offset(offset_move, min_offset, max_offset, former_offset, None)
    return move_toward(planned_move, planned_move.new_offset, planned_move.error)


def fail_move(offset_move: OffsetMove, error: RocketMQError) -> OffsetMove:
    """Return the move with the result "failed"."""
    return offset_move._replace(result="failed", error=error)


def keep_if_forward(offset_move: OffsetMove, force: bool) -> OffsetMove:
    """Without force, keep a queue that would move forward."""
    if (
        force
        or offset_move.old_offset is None
        or offset_move.new_offset is None
        or offset_move.new_offset <= offset_move.old_offset
    ):
        return offset_move
    return offset_move._replace(result="kept", new_offset=offset_move.old_offset)


def apply_reported_offset(offset_move: OffsetMove, reported_offset: int | None) -> OffsetMove:
    """Set the offset that the broker reports as its new one."""
    if reported_offset is not None:
        return offset_move._replace(new_offset=reported_offset)
    return fail_move(
        offset_move, NotApplied("the broker reported success, but its answer does not contain this queue")
    )


def judge_read_back(
    offset_move: OffsetMove, current: OffsetMove, is_immediate: bool, send_error: RocketMQError | None
) -> OffsetMove:
    """Decide the result of a move: it failed only if the offset is still the old one.

    `current` has the present offset. Connected clients may have consumed and committed more messages since
    the move.
    """
    current_offset = current.old_offset
    if current.error is not None or (send_error is not None and not is_immediate):
        return offset_move._replace(result="unknown", error=send_error or current.error)
    if current_offset == offset_move.new_offset or (
        current_offset != offset_move.old_offset and is_immediate
    ):
        return offset_move._replace(result="done")
    if send_error is not None:
        return fail_move(offset_move, send_error)
    if not is_immediate:
        return offset_move._replace(result="pending")
    return fail_move(
        offset_move, NotApplied(f"the broker reported success, but the offset is still {current_offset}")
    )


def set_target_offset(
    offset_move: OffsetMove,
    min_offset: int | RocketMQError,
    max_offset: int | RocketMQError,
    target_offset: int | RocketMQError,
    wanted_offset: int | None,
) -> OffsetMove:
    """Set the new offset, limited to the offsets of the queue, or the error of an offset not read."""
    for read_value in (min_offset, max_offset, target_offset):
        if isinstance(read_value, RocketMQError):
            return fail_move(offset_move, read_value)
    assert isinstance(min_offset, int)
    assert isinstance(max_offset, int)
    assert isinstance(target_offset, int)
    if wanted_offset is None:
        # For a time before the first message, brokers answer an offset below the minimum.
        return offset_move._replace(new_offset=min(max(target_offset, min_offset), max_offset))
    if min_offset <= wanted_offset <= max_offset:
        return offset_move._replace(new_offset=wanted_offset)
    problem = NotApplied(f"offset {wanted_offset} is out of range: use {min_offset} to {max_offset}")
    return fail_move(offset_move, problem)
