"""`admin.offsets`: resets of a group's offsets to a time, to the end or to an offset, and clones of a group.

Every change has a plan per queue, which shows how many messages it would skip or repeat. Applying a plan
changes the masters and reads the offsets back.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import MASTER_BROKER_ID, RequestCode
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.clusters import ClusterAdmin
from nsadmin.client.brokers.targets import NO_MASTER, BrokerTarget
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import to_integer
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_config_items, parse_json_object
from nsadmin.client.consumers.committed_offsets import (
    CommittedOffset,
    read_committed_offsets,
    read_queue_offsets,
)
from nsadmin.client.consumers.connected_clients import read_consumers
from nsadmin.client.consumers.groups import GroupAdmin
from nsadmin.client.message_queues import MessageQueue, parse_queue_table
from nsadmin.client.results import NotApplied, NotFound
from nsadmin.client.topic_routes import QueueRoute, list_read_queues
from nsadmin.client.topics.topic_traffic import accept_uncounted
from nsadmin.client.topics.topics import TopicAdmin

END_OF_QUEUE = -1
"""The timestamp that stands for the end of a queue."""
COMMIT_INTERVAL_SECONDS = 5
"""Default interval in which clients commit (persistConsumerOffsetInterval of ClientConfig)."""


class OffsetMove(NamedTuple):
    """The move of a group on one queue.

    Attributes:
        broker_addr: The master; "" if the broker has no master now.
        queue: The queue.
        old_offset: The consumer offset before; None if the group never committed one.
        new_offset: The offset of the next message to consume; None if there is no target.
        result: "planned", then "done", "failed", "pending" (a broker before 5.2 notified the clients, which
            move within seconds) or "kept" (already there, forward without force, or without a target). It is
            "unknown" if the broker did not say which offset it has now, or if the group may have read on.
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
        distance = self._distance
        return None if distance is None else max(0, distance)

    @property
    def repeated_count(self) -> int | None:
        """The number of messages that the group would consume again; None if an offset is unknown."""
        distance = self._distance
        return None if distance is None else max(0, -distance)

    @property
    def _distance(self) -> int | None:
        if self.old_offset is None or self.new_offset is None:
            return None
        return self.new_offset - self.old_offset


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


class OffsetAdmin:
    """`admin.offsets`: resets and clones of consumer offsets."""

    def __init__(
        self, caller: Caller, clusters: ClusterAdmin, topics: TopicAdmin, groups: GroupAdmin
    ) -> None:
        self._caller, self._clusters, self._topics, self._groups = caller, clusters, topics, groups

    def plan_reset(
        self,
        group: str,
        topic: str,
        timestamp_ms: int,
        *,
        cluster_name: str | None = None,
        force: bool = True,
    ) -> OffsetPlan:
        """Plan to reset every queue of a topic to the first message stored at a time or later.

        Asks the masters (QUERY_CONSUMER_OFFSET, 14, GET_MIN_OFFSET, 31, GET_MAX_OFFSET, 30, and
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
        moves = self._add_target_offsets(self._list_moves(group, topic, cluster_name), group, timestamp_ms)
        return OffsetPlan(group, topic, timestamp_ms, force, None, tuple(moves))

    def plan_queue_reset(
        self,
        group: str,
        queue: MessageQueue,
        broker_addr: str,
        timestamp_ms: int,
        wanted_offset: int | None = None,
    ) -> OffsetPlan:
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
        self._require_known_group(group, [broker_addr])
        [planned_move] = self._add_target_offsets(
            [OffsetMove(broker_addr, queue, None, None, "planned", None)], group, timestamp_ms, wanted_offset
        )
        return OffsetPlan(group, queue.topic, timestamp_ms, True, queue.queue_id, (planned_move,))

    def apply_reset(self, offset_plan: OffsetPlan) -> list[OffsetMove]:
        """Apply a plan of `plan_reset` or `plan_queue_reset`, and read the offsets back. Call it once.

        Sends INVOKE_BROKER_TO_RESET_OFFSET (222); or UPDATE_CONSUMER_OFFSET (15) to a broker before 5.2
        without connected clients. If one queue of a broker failed in the plan, that broker stays unchanged.

        Returns:
            One OffsetMove per queue.
        """
        finished_moves: list[OffsetMove] = []
        for broker_addr, offset_moves in _group_by_addr(offset_plan.moves).items():
            if any(offset_move.error is not None for offset_move in offset_moves):
                error = NotApplied("unchanged, because the plan for another queue of this broker failed")
                finished_moves += [m if m.error else _fail(m, error) for m in offset_moves]
            else:
                finished_moves += self._reset_broker(offset_plan, broker_addr, offset_moves)
        return finished_moves

    def plan_clone(
        self, source_group: str, group: str, topic: str, *, require_offline: bool = False
    ) -> OffsetPlan:
        """Plan to set every queue of a topic to the offset of another group (QUERY_CONSUMER_OFFSET, 14).

        Args:
            source_group: The group to copy from. A queue on which it never committed an offset is "kept".
            group: The group to change.
            topic: The topic.
            require_offline: Refuse if clients of `group` are connected.

        Raises:
            NotFound: No broker of the topic knows one of the groups.
            NotApplied: The topic is static, or `require_offline` is set and clients are connected.
        """
        moves = self._add_old_offsets(self._list_moves(group, topic, None), group)
        broker_addrs = list(filter(None, _group_by_addr(moves)))
        self._require_known_group(source_group, broker_addrs)
        if require_offline and (error := self._find_connected_error(group, broker_addrs)):
            raise error
        planned_moves = _change_readable(moves, partial(self._read_committed, source_group), _move_toward)
        return OffsetPlan(group, topic, END_OF_QUEUE, True, None, tuple(planned_moves))

    def apply_clone(self, offset_plan: OffsetPlan) -> list[OffsetMove]:
        """Apply a plan of `plan_clone` queue by queue, and read the offsets back. Call it once.

        Returns:
            One OffsetMove per queue. The error is NotApplied on a broker before 5.2 with connected clients.
        """
        return [
            move
            for addr, moves in _group_by_addr(offset_plan.moves).items()
            for move in self._move_each(offset_plan, addr, moves, bool(addr) and self._resets_by_itself(addr))
        ]

    def plan_return(
        self, group: str, topic: str, offsets: Mapping[tuple[str, int], int | None]
    ) -> OffsetPlan:
        """Plan to set queues to offsets that the group had. Apply it with `apply_clone`.

        A queue whose offset is no longer stored gets the nearest stored one. A queue that no name server
        lists gives a failed OffsetMove.

        Args:
            group: The consumer group.
            topic: The topic.
            offsets: Broker name and queue id to the offset; None if the group had none, which fails.

        Raises:
            NotFound: No broker of the topic knows the group, or none has these queues.
            NotApplied: The topic is static.
        """
        listed_moves = [
            move
            for move in self._list_moves(group, topic, None)
            if (move.queue.broker_name, move.queue.queue_id) in offsets
        ]
        if not listed_moves:
            raise NotFound(f'no broker has the queues of "{topic}" that were moved')

        def return_to(
            move: OffsetMove, min_offset: int | RocketMQError, max_offset: int | RocketMQError
        ) -> OffsetMove:
            former_offset = offsets[move.queue.broker_name, move.queue.queue_id]
            if former_offset is None:
                return _fail(
                    move, NotApplied("the group had no offset here before, and brokers cannot remove one")
                )
            planned_move = _set_target_offset(move, min_offset, max_offset, former_offset)
            return _move_toward(planned_move, planned_move.new_offset, planned_move.error)

        old_moves = self._add_old_offsets(listed_moves, group)
        planned_moves = _change_readable(old_moves, self._read_limits, return_to)
        unlisted = NotApplied("no name server lists the queue now: undo it again later")
        planned_moves += [
            OffsetMove("", MessageQueue(topic, *place), None, None, "failed", unlisted)
            for place in sorted(offsets.keys() - {m.queue[1:] for m in listed_moves})
        ]
        return OffsetPlan(group, topic, END_OF_QUEUE, True, None, tuple(planned_moves))

    def has_clients(self, group: str, offset_moves: Sequence[OffsetMove]) -> bool:
        """Return whether clients of a group are connected, which commit their own offsets.

        Asks the masters (GET_CONSUMER_CONNECTION_LIST, 203). A master that does not answer counts as yes.

        Args:
            group: The consumer group.
            offset_moves: The moves, which name the masters.
        """
        return self._find_connected_error(group, list(filter(None, _group_by_addr(offset_moves)))) is not None

    def verify_moves(self, group: str, offset_moves: Sequence[OffsetMove]) -> list[OffsetMove]:
        """Read the offsets of moved queues again, and decide which moves hold (QUERY_CONSUMER_OFFSET, 14).

        A move forward holds if the offset is at the new one or later. A move backward holds if it is before
        the old one. It may also be at the old one or later because clients consumed everything again. That
        counts as held if the broker delivered at least as many messages in the last minute as the moves
        repeat (VIEW_BROKER_STATS_DATA, 315, GROUP_GET_NUMS). It is "unknown" if the broker does not say how
        many, or if the clients filter (GET_CONSUMER_CONNECTION_LIST, 203), which lowers the number.

        Args:
            group: The consumer group.
            offset_moves: The result of `apply_reset` or `apply_clone`.
        """
        verified_moves = [m for m in offset_moves if m.error is None and m.result in ("done", "pending")]
        current_by_move = dict(zip(verified_moves, self._read_committed(group, verified_moves), strict=True))
        repeated_by_place = Counter[tuple[str, str]]()
        for move, (current_offset, _) in current_by_move.items():
            if _is_past_old_offset(move, current_offset):
                repeated_by_place[move.broker_addr, move.queue.topic] += move.repeated_count or 0
        replays = self._find_replays(group, repeated_by_place) if repeated_by_place else {}
        return [
            _judge_move(move, *current_by_move[move], replays.get((move.broker_addr, move.queue.topic)))
            if move in current_by_move
            else move
            for move in offset_moves
        ]

    def _list_moves(self, group: str, topic: str, cluster_name: str | None) -> list[OffsetMove]:
        """List an OffsetMove without offsets for every readable queue on the masters of the topic."""
        broker_groups = self._clusters.get_info().groups_in_cluster(cluster_name)
        clusters_by_broker = {g.broker_name: g.cluster_name for g in broker_groups}
        queue_routes = self._topics.get_route(topic).queues
        if any(queue_route.logical_queues is not None for queue_route in queue_routes):
            raise NotApplied(f'"{topic}" is a static topic: brokers cannot reset its logical queues')
        offset_moves = [
            offset_move
            for queue_route in queue_routes
            if queue_route.broker_name in clusters_by_broker
            for offset_move in _list_empty_moves(topic, queue_route)
        ]
        if not offset_moves:
            raise NotFound(f'no broker of the cluster "{cluster_name}" has queues of "{topic}"')

        def quote_creation(moves: Iterable[OffsetMove]) -> str:
            clusters = {clusters_by_broker[move.queue.broker_name] for move in moves}
            return quote_command("updateSubGroup", group, "-c", ",".join(sorted(clusters)))

        lacking = self._require_known_group(
            group, [m.broker_addr for m in offset_moves if m.broker_addr], quote_creation(offset_moves)
        )
        # Brokers before 5.2 store the offsets of any group.
        refusing = {addr for addr in lacking if self._resets_by_itself(addr)}
        if not refusing:
            return offset_moves
        refused = [move for move in offset_moves if move.broker_addr in refusing]
        brokers = sorted({move.queue.broker_name for move in refused})
        error = NotFound(
            f'{", ".join(brokers)} {"has" if len(brokers) == 1 else "have"} no consumer group "{group}": '
            f"`{quote_creation(refused)}` creates it"
        )
        return [_fail(move, error) if move.broker_addr in refusing else move for move in offset_moves]

    def _require_known_group(
        self, group: str, broker_addrs: Sequence[str], creation: str | None = None
    ) -> list[str]:
        """Return the brokers that do not have the group. Raises NotFound if none has it."""
        broker_targets = [BrokerTarget(None, MASTER_BROKER_ID, addr) for addr in dict.fromkeys(broker_addrs)]
        holder_results = self._groups.find_holders(group, broker_targets)
        lacking = [result.addr for result in holder_results if isinstance(result.error, NotFound)]
        if lacking and len(lacking) == len(holder_results):
            is_pattern = not {"*", "?"}.isdisjoint(group)
            listing = quote_command("consumerProgress", *([group] if is_pattern else []))
            advice = f"`{listing}` lists the groups"
            if is_pattern:
                advice = f"this takes the name of one group, and {advice}"
            elif creation:
                advice += f"; create it with `{creation}`"
            raise NotFound(f'no broker of the topic has the consumer group "{group}": {advice}')
        return lacking

    def _add_old_offsets(self, offset_moves: Iterable[OffsetMove], group: str) -> list[OffsetMove]:
        # A broker that was renamed has two names with one address: its queues count once.
        by_place: dict[tuple[str, int], OffsetMove] = {}
        for move in offset_moves:
            by_place.setdefault((move.broker_addr or move.queue.broker_name, move.queue.queue_id), move)
        return _change_readable(
            by_place.values(),
            partial(self._read_committed, group),
            lambda m, offset, error: _fail(m, error) if error is not None else m._replace(old_offset=offset),
        )

    def _add_target_offsets(
        self, moves: Iterable[OffsetMove], group: str, timestamp_ms: int, wanted_offset: int | None = None
    ) -> list[OffsetMove]:
        """Add the old and new offsets. The new offset is limited to the offsets that the queue has."""

        def read_offsets(moves: list[OffsetMove]) -> Iterable[tuple[int | RocketMQError, ...]]:
            limits = self._read_limits(moves)
            if timestamp_ms == END_OF_QUEUE:
                return [(begin, end, end) for begin, end in limits]
            found = self._read_offsets(moves, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, timestamp_ms)
            return [(*queue_limits, offset) for queue_limits, offset in zip(limits, found, strict=True)]

        set_target_offset = partial(_set_target_offset, wanted_offset=wanted_offset)
        return _change_readable(self._add_old_offsets(moves, group), read_offsets, set_target_offset)

    def _read_committed(self, group: str, moves: Sequence[OffsetMove]) -> list[CommittedOffset]:
        return read_committed_offsets(self._caller, [(m.broker_addr, group, m.queue) for m in moves])

    def _read_limits(
        self, moves: Sequence[OffsetMove]
    ) -> list[tuple[int | RocketMQError, int | RocketMQError]]:
        """The first offset of each queue, and the offset after the last one."""
        codes = (RequestCode.GET_MIN_OFFSET, RequestCode.GET_MAX_OFFSET)
        return list(zip(*(self._read_offsets(moves, code) for code in codes), strict=True))

    def _read_offsets(
        self, moves: Sequence[OffsetMove], request_code: RequestCode, timestamp_ms: int | None = None
    ) -> list[int | RocketMQError]:
        places = [(move.broker_addr, move.queue) for move in moves]
        return read_queue_offsets(self._caller, places, request_code, timestamp_ms)

    def _reset_broker(self, plan: OffsetPlan, addr: str, moves: Sequence[OffsetMove]) -> list[OffsetMove]:
        """Send code 222. A broker before 5.2 without clients refuses it: then commit the offsets instead."""
        resets_by_itself = self._resets_by_itself(addr)
        if plan.queue_id is not None:
            return self._move_each(plan, addr, moves, resets_by_itself)
        if not (resets_by_itself or self._find_connected_error(plan.group, [addr])):
            if not plan.is_forced:
                moves = [
                    m._replace(result="kept", new_offset=m.old_offset) if m.skipped_count else m
                    for m in moves
                ]
            return self._write_offsets(plan.group, moves, RequestCode.UPDATE_CONSUMER_OFFSET)
        _, reported_offsets, error = self._caller.read_one(
            addr,
            lambda r: parse_queue_table(parse_json_object(r).members.get("offsetTable"), to_integer),
            RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
            broker_headers.ResetOffset(plan.group, plan.topic, plan.timestamp_ms, plan.is_forced),
        )
        if reported_offsets is None:
            errors = dict.fromkeys(moves, error or NotFound(""))
            return self._read_back(moves, plan.group, resets_by_itself, errors)
        # By queue id: the broker answers with its own name, which is another one after a renaming.
        offsets_by_id = {queue.queue_id: offset for queue, offset in reported_offsets.items()}
        unreported = NotApplied("the broker reported success, but its answer does not contain this queue")
        reported_moves = [
            m._replace(new_offset=offsets_by_id[m.queue.queue_id])
            if m.queue.queue_id in offsets_by_id
            else _fail(m, unreported)
            for m in moves
        ]
        return self._read_back(reported_moves, plan.group, resets_by_itself)

    def _read_back(
        self,
        moves: Sequence[OffsetMove],
        group: str,
        is_immediate: bool,
        send_errors: Mapping[OffsetMove, RocketMQError | None] = MappingProxyType({}),
    ) -> list[OffsetMove]:
        """Decide by the present offsets: a request without an answer may have taken effect."""
        return [
            move
            if move.error or move.result == "kept"
            else _judge_read_back(move, current, is_immediate, send_errors.get(move))
            for move, current in zip(moves, self._add_old_offsets(moves, group), strict=True)
        ]

    def _resets_by_itself(self, broker_addr: str) -> bool:
        """Return whether the broker resets offsets itself (since 5.2). Older ones notify the clients."""
        config = self._caller.read_one(broker_addr, parse_config_items, RequestCode.GET_BROKER_CONFIG)
        return (config.result or {}).get("useServerSideResetOffset") == "true"

    def _move_each(
        self, plan: OffsetPlan, broker_addr: str, offset_moves: Sequence[OffsetMove], resets_by_itself: bool
    ) -> list[OffsetMove]:
        """Move each queue to its own offset, with a reset by the broker if it `resets_by_itself`.

        Such a broker ignores a consumer offset, but answers success, while an earlier reset waits for the
        clients of the group.
        """
        if resets_by_itself:
            return self._write_offsets(plan.group, offset_moves, RequestCode.INVOKE_BROKER_TO_RESET_OFFSET)
        # A broker before 5.2 ignores the queue id of a reset and moves all queues, so commit the offsets.
        error = self._find_connected_error(plan.group, [broker_addr]) if broker_addr else None
        if error is not None:
            return [move if move.error else _fail(move, error) for move in offset_moves]
        return self._write_offsets(plan.group, offset_moves, RequestCode.UPDATE_CONSUMER_OFFSET)

    def _write_offsets(
        self, group: str, offset_moves: Sequence[OffsetMove], request_code: RequestCode
    ) -> list[OffsetMove]:
        """Write the new offset of each queue that moves, and read it back."""

        def build_header(move: OffsetMove) -> broker_headers.ConsumerOffset | broker_headers.ResetOffset:
            topic, _, queue_id = move.queue
            if request_code == RequestCode.UPDATE_CONSUMER_OFFSET:
                return broker_headers.ConsumerOffset(group, topic, queue_id, commit_offset=move.new_offset)
            return broker_headers.ResetOffset(group, topic, END_OF_QUEUE, True, move.new_offset, queue_id)

        to_write = [move for move in offset_moves if move.error is None and move.result != "kept"]
        answers = self._caller.send_requests(
            (m.broker_addr, make_request(request_code, build_header(m))) for m in to_write
        )
        errors = {move: answer.error for move, answer in zip(to_write, answers, strict=True)}
        return self._read_back(offset_moves, group, True, errors)

    def _find_connected_error(self, group: str, broker_addrs: Sequence[str]) -> RocketMQError | None:
        """Return the error that prevents a commit: connected clients would overwrite the offsets."""
        connections = read_consumers(self._caller, [group], broker_addrs)[group]
        if not connections.clients:
            return next((error for error in connections.errors.values() if error is not None), None)
        client_ids = ", ".join(client.client_id for client in connections.clients)
        return NotApplied(
            f'clients of group "{group}" are connected and commit their own offsets: stop {client_ids} first'
        )

    def _find_replays(
        self, group: str, repeated_by_place: Mapping[tuple[str, str], int]
    ) -> Mapping[tuple[str, str], bool]:
        """Whether each broker delivered so many messages of a topic in the last minute, if that is known."""
        addrs = sorted({addr for addr, _ in repeated_by_place})
        subscriptions = read_consumers(self._caller, [group], addrs)[group].subscriptions
        filtered_topics = {s.topic for s in subscriptions if s.sub_string != "*"}
        delivered_by_place = self._read_delivered_counts(group, list(repeated_by_place))
        return {
            place: delivered >= repeated_by_place[place]
            for place, delivered in delivered_by_place.items()
            if delivered >= repeated_by_place[place] or place[1] not in filtered_topics
        }

    def _read_delivered_counts(
        self, group: str, places: Sequence[tuple[str, str]]
    ) -> Mapping[tuple[str, str], int]:
        """How many messages of a topic each broker delivered to the group in the last minute, if known."""
        answers = self._caller.send_requests(
            (
                addr,
                make_request(
                    RequestCode.VIEW_BROKER_STATS_DATA,
                    broker_headers.ViewBrokerStats("GROUP_GET_NUMS", f"{topic}@{group}"),
                ),
            )
            for addr, topic in places
        )
        results = [
            decode_answer(
                accept_uncounted(a), lambda r: parse_json_object(r).child("statsMinute").integer("sum", 0)
            )
            for a in answers
        ]
        return {place: r.result for place, r in zip(places, results, strict=True) if r.result is not None}


def _list_empty_moves(topic: str, route: QueueRoute) -> list[OffsetMove]:
    """List a move without offsets for every readable queue of a broker, or a failed one without a master."""
    if not route.read_queue_nums:
        return []
    master = route.master_addr
    if master is None:
        queue = MessageQueue(topic, route.broker_name, 0)
        return [OffsetMove("", queue, None, None, "failed", NotApplied(NO_MASTER))]
    return [
        OffsetMove(master, MessageQueue(topic, route.broker_name, queue_id), None, None, "planned", None)
        for _, queue_id in list_read_queues([route])
    ]


def _group_by_addr(offset_moves: Iterable[OffsetMove]) -> dict[str, list[OffsetMove]]:
    """Group moves by broker."""
    moves_by_addr: dict[str, list[OffsetMove]] = {}
    for offset_move in offset_moves:
        moves_by_addr.setdefault(offset_move.broker_addr, []).append(offset_move)
    return moves_by_addr


def _change_readable(
    moves: Iterable[OffsetMove],
    read: Callable[[list[OffsetMove]], Iterable[tuple[Any, ...]]],
    change: Callable[..., OffsetMove],
) -> list[OffsetMove]:
    """Read values for all moves without an error at once, and change each move with its values."""
    moves = list(moves)
    readable = [move for move in moves if move.error is None]
    changed = (change(move, *values) for move, values in zip(readable, read(readable), strict=True))
    return [next(changed) if move.error is None else move for move in moves]


def _fail(move: OffsetMove, error: RocketMQError) -> OffsetMove:
    return move._replace(result="failed", error=error)


def _move_toward(offset_move: OffsetMove, new_offset: int | None, error: RocketMQError | None) -> OffsetMove:
    """Set the offset of another group as the target; keep the queue if that group never committed."""
    if error is not None:
        return _fail(offset_move, error)
    return offset_move._replace(
        new_offset=new_offset, result="kept" if new_offset in (None, offset_move.old_offset) else "planned"
    )


def _judge_read_back(
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
        return _fail(offset_move, send_error)
    if not is_immediate:
        return offset_move._replace(result="pending")
    return _fail(
        offset_move, NotApplied(f"the broker reported success, but the offset is still {current_offset}")
    )


def _set_target_offset(
    offset_move: OffsetMove,
    min_offset: int | RocketMQError,
    max_offset: int | RocketMQError,
    target_offset: int | RocketMQError,
    wanted_offset: int | None = None,
) -> OffsetMove:
    """Set the new offset, limited to the offsets of the queue, or the error of an offset not read."""
    for read_value in (min_offset, max_offset, target_offset):
        if isinstance(read_value, RocketMQError):
            return _fail(offset_move, read_value)
    assert isinstance(min_offset, int)
    assert isinstance(max_offset, int)
    assert isinstance(target_offset, int)
    if wanted_offset is None:
        # For a time before the first message, brokers answer an offset below the minimum.
        return offset_move._replace(new_offset=min(max(target_offset, min_offset), max_offset))
    if min_offset <= wanted_offset <= max_offset:
        return offset_move._replace(new_offset=wanted_offset)
    problem = NotApplied(f"offset {wanted_offset} is out of range: use {min_offset} to {max_offset}")
    return _fail(offset_move, problem)


def _judge_move(
    offset_move: OffsetMove, current_offset: int | None, error: RocketMQError | None, is_replayed: bool | None
) -> OffsetMove:
    if error is not None:
        return _fail(offset_move, error)
    is_past = _is_past_old_offset(offset_move, current_offset)
    current, target = current_offset, offset_move.new_offset
    if current is not None and target is not None and current >= target and not is_past:
        return offset_move._replace(result="done")
    # Clients that have not carried out a pending move yet may have consumed enough before it.
    if offset_move.result == "pending" or (is_past and is_replayed):
        return offset_move
    if is_past and is_replayed is None:
        reason = f"the group read on to {current_offset}, or a client committed its former offset"
        return offset_move._replace(result="unknown", error=RocketMQError(reason))
    return _fail(
        offset_move,
        NotApplied(f"overwritten: a client committed {current_offset} after the change"),
    )


def _is_past_old_offset(offset_move: OffsetMove, current_offset: int | None) -> bool:
    """Return whether a queue that was moved backward is where it was before, or later."""
    return (
        current_offset is not None
        and offset_move.old_offset is not None
        and bool(offset_move.repeated_count)
        and current_offset >= offset_move.old_offset
    )
