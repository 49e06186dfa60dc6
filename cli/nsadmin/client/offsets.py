"""`admin.offsets`: resets of a group's offsets to a time, to the end or to an offset, and clones of a group.

Every change has a plan per queue, which shows how many messages it would skip or repeat. Applying a plan
changes the masters and reads the offsets back.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import MASTER_ID, RequestCode
from namesrv_core.protocol.command import request
from nsadmin.client import connections
from nsadmin.client.bodies import config_items, json_object
from nsadmin.client.caller import Caller
from nsadmin.client.clusters import Clusters
from nsadmin.client.committed import committed, offset_of
from nsadmin.client.groups import Groups
from nsadmin.client.queues import MessageQueue, queue_table
from nsadmin.client.results import NotApplied, NotFound
from nsadmin.client.retry import decoded
from nsadmin.client.targets import NO_MASTER, Target
from nsadmin.client.topics import Topics

END = -1
"""The timestamp that stands for the end of a queue."""


class Move(NamedTuple):
    """The move of a group on one queue.

    Attributes:
        broker_addr: The master; "" if the broker has no master now.
        queue: The queue.
        old_offset: The committed offset before; None if the group never committed one.
        new_offset: The offset of the next message to consume; None if there is no target.
        result: "planned", then "done", "failed", "pending" (a broker before 5.2 notified the clients, which
            move within seconds) or "kept" (already there, forward without force, or without a target).
        error: The reason of "failed"; None otherwise.
    """

    addr: str
    queue: MessageQueue
    old: int | None
    new: int | None
    result: str
    error: RocketMQError | None

    @property
    def skipped(self) -> int | None:
        """The number of messages that the group would skip; None if an offset is unknown."""
        return None if self.old is None or self.new is None else max(0, self.new - self.old)

    @property
    def repeated(self) -> int | None:
        """The number of messages that the group would consume again; None if an offset is unknown."""
        return None if self.old is None or self.new is None else max(0, self.old - self.new)


class Plan(NamedTuple):
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
    timestamp: int
    force: bool
    queue_id: int | None
    moves: tuple[Move, ...]


class Offsets:
    """`admin.offsets`: resets and clones of consumer offsets."""

    def __init__(self, caller: Caller, clusters: Clusters, topics: Topics, groups: Groups) -> None:
        self._caller = caller
        self._clusters = clusters
        self._topics = topics
        self._groups = groups

    def plan_reset(
        self, group: str, topic: str, timestamp: int, *, cluster_name: str | None = None, force: bool = True
    ) -> Plan:
        """Plan to reset every queue of a topic to the first message stored at a time or later.

        Asks the masters (QUERY_CONSUMER_OFFSET, 14; GET_MIN_OFFSET, 31; GET_MAX_OFFSET, 30;
        SEARCH_OFFSET_BY_TIMESTAMP, 29). A broker without a master gives a failed OffsetMove.

        Args:
            group: The consumer group.
            topic: The topic.
            timestamp_ms: The time in ms since 1970, or END_OF_QUEUE.
            cluster_name: The cluster. Default: all brokers of the topic.
            force: Allow brokers before 5.2 to move offsets forward.

        Raises:
            NotFound: No broker of the topic knows the group, or the cluster has no queue of the topic.
            NotApplied: The topic is static.
        """
        moves = self._targeted(self._queues(group, topic, cluster_name), group, timestamp)
        return Plan(group, topic, timestamp, force, None, tuple(moves))

    def plan_queue(
        self, group: str, queue: MessageQueue, addr: str, timestamp: int, offset: int | None = None
    ) -> Plan:
        """Plan to reset one queue to a time, or to an offset.

        Args:
            group: The consumer group.
            queue: The queue.
            broker_addr: The master of the queue's broker.
            timestamp_ms: The time in ms since 1970, or END_OF_QUEUE.
            wanted_offset: The offset, instead of a time. It must exist in the queue.

        Raises:
            NotFound: The broker does not know the group.
        """
        self._known(group, [addr])
        [move] = self._targeted([Move(addr, queue, None, None, "planned", None)], group, timestamp, offset)
        return Plan(group, queue.topic, timestamp, True, queue.queue_id, (move,))

    def reset(self, plan: Plan) -> list[Move]:
        """Apply a plan of `plan_reset` or `plan_queue_reset`, and read the offsets back. Call it once.

        Sends INVOKE_BROKER_TO_RESET_OFFSET (222); or UPDATE_CONSUMER_OFFSET (15) to a broker before 5.2
        without connected clients. If one queue of a broker failed in the plan, that broker stays unchanged.

        Returns:
            One OffsetMove per queue.
        """
        done: list[Move] = []
        for addr, moves in _by_addr(plan.moves).items():
            if any(move.error is not None for move in moves):
                rest = NotApplied("not touched, as another queue of this broker could not be planned")
                done += [move if move.error else _failed(move, rest) for move in moves]
            else:
                done += self._reset_broker(plan, addr, moves)
        return done

    def plan_clone(self, source: str, group: str, topic: str, *, offline: bool = False) -> Plan:
        """Plan to set every queue of a topic to the offset of another group (QUERY_CONSUMER_OFFSET, 14).

        A queue on which the source group never committed an offset is "kept".

        Args:
            source_group: The group to copy from.
            group: The group to change.
            topic: The topic.
            require_offline: Refuse if clients of `group` are connected.

        Raises:
            NotFound: No broker of the topic knows one of the groups.
            NotApplied: The topic is static, or `require_offline` is set and clients are connected.
        """
        moves = self._with_old(self._queues(group, topic, None), group)
        addrs = list(dict.fromkeys(move.addr for move in moves if move.addr))
        self._known(source, addrs)
        if offline and (error := self._connected(group, addrs)):
            raise error
        ready = [move for move in moves if move.error is None]
        offsets = committed(self._caller, [(move.addr, source, move.queue) for move in ready])
        filled = {move: _toward(move, *offset) for move, offset in zip(ready, offsets, strict=True)}
        return Plan(group, topic, END, True, None, tuple(filled.get(move, move) for move in moves))

    def clone(self, plan: Plan) -> list[Move]:
        """Apply a plan of `plan_clone` queue by queue, and read the offsets back. Call it once.

        Returns:
            One OffsetMove per queue. On a broker before 5.2 with connected clients of the group, the error is
            NotApplied.
        """
        return [
            done
            for addr, moves in _by_addr(plan.moves).items()
            for done in self._move_each(plan, addr, moves, bool(addr) and self._resets_by_itself(addr))
        ]

    def _queues(self, group: str, topic: str, cluster_name: str | None) -> list[Move]:
        """List an OffsetMove without offsets for every readable queue on the masters of the topic."""
        inside = {item.broker_name for item in self._clusters.info().in_cluster(cluster_name)}
        moves = []
        for item in self._topics.route(topic).queues:
            if item.logical_queues is not None:
                raise NotApplied(f"{topic} is a static topic, whose logical queues brokers cannot reset")
            if item.broker_name not in inside or not item.read_queue_nums:
                continue
            master = item.broker_addrs.get(MASTER_ID, "")
            error = None if master else NotApplied(NO_MASTER)
            moves += [
                Move(
                    master,
                    MessageQueue(topic, item.broker_name, number),
                    None,
                    None,
                    "planned" if master else "failed",
                    error,
                )
                for number in range(item.read_queue_nums if master else 1)
            ]
        if not moves:
            raise NotFound(f"no broker of the cluster {cluster_name!r} has queues of {topic!r}")
        self._known(group, [move.addr for move in moves if move.addr])
        return moves

    def _known(self, group: str, addrs: Sequence[str]) -> None:
        at = [Target(None, MASTER_ID, addr) for addr in dict.fromkeys(addrs)]
        held = self._groups.holders(group, at)
        if held and all(isinstance(item.error, NotFound) for item in held):
            raise NotFound(f"no broker of the topic knows the consumer group {group!r}")

    def _with_old(self, moves: Iterable[Move], group: str) -> list[Move]:
        moves = list(moves)
        asked = [move for move in moves if move.error is None]
        offsets = iter(committed(self._caller, [(move.addr, group, move.queue) for move in asked]))
        filled = []
        for move in moves:
            if move.error is None:
                old, error = next(offsets)
                move = move._replace(old=old) if error is None else _failed(move, error)
            filled.append(move)
        return filled

    def _targeted(
        self, moves: Iterable[Move], group: str, timestamp: int, offset: int | None = None
    ) -> list[Move]:
        """Add the old and new offsets. The new offset is limited to the offsets that the queue has."""
        moves = self._with_old(moves, group)
        asked = [move for move in moves if move.error is None]
        ends = self._ends(asked, RequestCode.GET_MIN_OFFSET), self._ends(asked, RequestCode.GET_MAX_OFFSET)
        if timestamp == END:
            found = ends[1]
        else:
            found = self._ends(asked, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, timestamp)
        filled = {}
        for move, low, high, new in zip(asked, *ends, found, strict=True):
            errors = [item for item in (low, high, new) if isinstance(item, RocketMQError)]
            if errors:
                filled[move] = _failed(move, errors[0])
                continue
            assert isinstance(low, int) and isinstance(high, int) and isinstance(new, int)  # noqa: PT018
            if offset is not None and not low <= offset <= high:
                filled[move] = _failed(move, NotApplied(f"offset {offset} is not within {low} to {high}"))
            else:
                # For a time before the first message, brokers answer an offset below the minimum.
                filled[move] = move._replace(new=min(max(new if offset is None else offset, low), high))
        return [filled.get(move, move) for move in moves]

    def _ends(
        self, moves: Sequence[Move], code: RequestCode, timestamp: int | None = None
    ) -> list[int | RocketMQError]:
        answers = self._caller.ask(
            (
                move.addr,
                request(
                    code,
                    headers.write(
                        broker_headers.QueueOffset(move.queue.topic, move.queue.queue_id, timestamp)
                    ),
                ),
            )
            for move in moves
        )
        results = [decoded(answer, offset_of) for answer in answers]
        return [item.result if item.result is not None else item.error or NotFound("") for item in results]

    def _reset_broker(self, plan: Plan, addr: str, moves: Sequence[Move]) -> list[Move]:
        """Send INVOKE_BROKER_TO_RESET_OFFSET (222) to one broker.

        A broker before 5.2 refuses it without connected clients: then commit the offsets instead.
        """
        by_itself = self._resets_by_itself(addr)
        if plan.queue_id is not None:
            return self._move_each(plan, addr, moves, by_itself)
        if not by_itself and self._connected(plan.group, [addr]) is None:
            return self._committed(plan.group, [_unless_forward(move, plan.force) for move in moves])
        ext = broker_headers.ResetOffset(plan.group, plan.topic, plan.timestamp, plan.force)
        code = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET
        [answer] = self._caller.ask_each([addr], code, headers.write(ext))
        told = decoded(answer, lambda command: queue_table(json_object(command).get("offsetTable")))
        if told.error is not None:
            return [_failed(move, told.error) for move in moves]
        offsets: Mapping[MessageQueue, object] = told.result or {}
        moved = [_told(move, offsets.get(move.queue)) for move in moves]
        return [
            move if move.error or move.result == "kept" else _read_back(move, now.old, by_itself)
            for move, now in zip(moved, self._with_old(moved, plan.group), strict=True)
        ]

    def _resets_by_itself(self, addr: str) -> bool:
        """Return whether the broker resets offsets itself (since 5.2). Older ones notify the clients."""
        [answer] = self._caller.ask_each([addr], RequestCode.GET_BROKER_CONFIG)
        config = decoded(answer, config_items).result or {}
        return config.get("useServerSideResetOffset") == "true"

    def _move_each(self, plan: Plan, addr: str, moves: Sequence[Move], by_itself: bool) -> list[Move]:
        """Move each queue to its own offset, with a reset by the broker if it `resets_by_itself`.

        Such a broker ignores a committed offset, but answers success, while an earlier reset waits for the
        clients of the group.
        """
        if by_itself:
            return self._written(plan.group, moves, RequestCode.INVOKE_BROKER_TO_RESET_OFFSET)
        # A broker before 5.2 ignores the queue id of a reset and moves all queues, so commit the offsets.
        if addr and (error := self._connected(plan.group, [addr])):
            return [move if move.error else _failed(move, error) for move in moves]
        return self._committed(plan.group, moves)

    def _connected(self, group: str, addrs: Sequence[str]) -> RocketMQError | None:
        """Return the error that prevents a commit: connected clients would overwrite the offsets."""
        online = connections.consumers_of(self._caller, [group], addrs)[group]
        if not online.clients:
            return next((error for error in online.errors.values() if error is not None), None)
        names = ", ".join(client.client_id for client in online.clients)
        return NotApplied(f"clients of {group!r} are connected and write offsets of their own: stop {names}")

    def _committed(self, group: str, moves: Sequence[Move]) -> list[Move]:
        return self._written(group, moves, RequestCode.UPDATE_CONSUMER_OFFSET)

    def _written(self, group: str, moves: Sequence[Move], code: RequestCode) -> list[Move]:
        """Write the new offset of each queue that moves, and read it back."""
        wanted = [move for move in moves if move.error is None and move.result != "kept"]
        answers = self._caller.ask((move.addr, request(code, _target(code, group, move))) for move in wanted)
        done = {
            move: move if answer.error is None else _failed(move, answer.error)
            for move, answer in zip(wanted, answers, strict=True)
        }
        moved = [done.get(move, move) for move in moves]
        return [
            move if move.error or move.result == "kept" else _read_back(move, now.old, True)
            for move, now in zip(moved, self._with_old(moved, group), strict=True)
        ]


def _by_addr(moves: Iterable[Move]) -> dict[str, list[Move]]:
    found: dict[str, list[Move]] = {}
    for move in moves:
        found.setdefault(move.addr, []).append(move)
    return found


def _target(code: RequestCode, group: str, move: Move) -> dict[str, str]:
    topic, _, queue_id = move.queue
    if code == RequestCode.UPDATE_CONSUMER_OFFSET:
        return headers.write(broker_headers.ConsumerOffset(group, topic, queue_id, commit_offset=move.new))
    return headers.write(broker_headers.ResetOffset(group, topic, END, True, move.new, queue_id))


def _toward(move: Move, new: int | None, error: RocketMQError | None) -> Move:
    """Set the offset of another group as the target; keep the queue if that group never committed."""
    if error is not None:
        return _failed(move, error)
    return move._replace(new=new, result="kept" if new in (None, move.old) else "planned")


def _failed(move: Move, error: RocketMQError) -> Move:
    return move._replace(result="failed", error=error)


def _unless_forward(move: Move, force: bool) -> Move:
    """Without force, keep a queue that would move forward."""
    if force or move.old is None or move.new is None or move.new <= move.old:
        return move
    return move._replace(result="kept", new=move.old)


def _told(move: Move, offset: object) -> Move:
    """Set the offset that the broker reports as its new one."""
    if isinstance(offset, int):
        return move._replace(new=offset)
    return _failed(move, NotApplied("the broker answered success, but does not name this queue"))


def _read_back(move: Move, now: int | None, at_once: bool) -> Move:
    """Decide the result of a move: it failed only if the offset is still the old one.

    Connected clients may have consumed and committed more messages since the move.
    """
    if now == move.new or (now != move.old and at_once):
        return move._replace(result="done")
    if not at_once:
        return move._replace(result="pending")
    return _failed(move, NotApplied(f"the broker answered success, but the offset is still {now}"))
