"""`admin.offsets`: resets of a group's offsets to a time, to the end or to an offset, and clones of a group.

Every change has a plan per queue, which shows how many messages it would skip or repeat. Applying a plan
changes the masters and reads the offsets back.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import MASTER_BROKER_ID, RequestCode
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.clusters import ClusterAdmin
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import to_integer
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_config_items, parse_json_object
from nsadmin.client.consumers import client_connections
from nsadmin.client.consumers.committed_offsets import read_committed_offsets, read_queue_offsets
from nsadmin.client.consumers.groups import GroupAdmin
from nsadmin.client.consumers.offset_plans import (
    END_OF_QUEUE,
    OffsetMove,
    OffsetPlan,
    apply_reported_offset,
    fail_move,
    group_by_addr,
    judge_read_back,
    keep_if_forward,
    list_empty_moves,
    move_header,
    move_toward,
    return_to,
    set_target_offset,
)
from nsadmin.client.message_queues import MessageQueue, parse_queue_table
from nsadmin.client.results import NotApplied, NotFound
from nsadmin.client.topics.topic_traffic import accept_uncounted
from nsadmin.client.topics.topics import TopicAdmin

COMMIT_INTERVAL_SECONDS = 5
"""Default interval in which clients commit (persistConsumerOffsetInterval of ClientConfig)."""


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

        Args:
            offset_plan: The plan.

        Returns:
            One OffsetMove per queue.
        """
        finished_moves: list[OffsetMove] = []
        for broker_addr, offset_moves in group_by_addr(offset_plan.moves).items():
            if any(offset_move.error is not None for offset_move in offset_moves):
                error = NotApplied("unchanged, because the plan for another queue of this broker failed")
                finished_moves += [m if m.error else fail_move(m, error) for m in offset_moves]
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
        offset_moves = self._add_old_offsets(self._list_moves(group, topic, None), group)
        broker_addrs = list(dict.fromkeys(m.broker_addr for m in offset_moves if m.broker_addr))
        self._require_known_group(source_group, broker_addrs)
        if require_offline and (error := find_connected_error(self._caller, group, broker_addrs)):
            raise error
        plannable_moves = [offset_move for offset_move in offset_moves if offset_move.error is None]
        source_offsets = read_committed_offsets(
            self._caller, [(move.broker_addr, source_group, move.queue) for move in plannable_moves]
        )
        planned_by_move = {
            offset_move: move_toward(offset_move, *source_offset)
            for offset_move, source_offset in zip(plannable_moves, source_offsets, strict=True)
        }
        return OffsetPlan(
            group,
            topic,
            END_OF_QUEUE,
            True,
            None,
            tuple(planned_by_move.get(offset_move, offset_move) for offset_move in offset_moves),
        )

    def apply_clone(self, offset_plan: OffsetPlan) -> list[OffsetMove]:
        """Apply a plan of `plan_clone` queue by queue, and read the offsets back. Call it once.

        Args:
            offset_plan: The plan.

        Returns:
            One OffsetMove per queue. The error is NotApplied on a broker before 5.2 with connected clients.
        """
        return [
            move
            for addr, moves in group_by_addr(offset_plan.moves).items()
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
        offset_moves = self._add_old_offsets(listed_moves, group)
        readable_moves = [move for move in offset_moves if move.error is None]
        limits = zip(
            readable_moves,
            self._read_offsets(readable_moves, RequestCode.GET_MIN_OFFSET),
            self._read_offsets(readable_moves, RequestCode.GET_MAX_OFFSET),
            strict=True,
        )
        planned_by_move = {
            move: return_to(move, offsets[move.queue.broker_name, move.queue.queue_id], *queue_limits)
            for move, *queue_limits in limits
        }
        planned_moves = [planned_by_move.get(move, move) for move in offset_moves]
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
        broker_addrs = list(filter(None, group_by_addr(offset_moves)))
        return find_connected_error(self._caller, group, broker_addrs) is not None

    def verify_moves(self, group: str, offset_moves: Sequence[OffsetMove]) -> list[OffsetMove]:
        """Read offsets again after clients committed; see `offset_verification.verify_moves`.

        Args:
            group: The consumer group.
            offset_moves: The result of `apply_reset` or `apply_clone`.
        """
        return verify_moves(self._caller, group, offset_moves)

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
            for offset_move in list_empty_moves(topic, queue_route)
        ]
        if not offset_moves:
            raise NotFound(f'no broker of the cluster "{cluster_name}" has queues of "{topic}"')
        clusters = {clusters_by_broker[move.queue.broker_name] for move in offset_moves}
        creation = quote_command("updateSubGroup", group, "-c", ",".join(sorted(clusters)))
        lacking = self._require_known_group(
            group, [m.broker_addr for m in offset_moves if m.broker_addr], creation
        )
        # Brokers before 5.2 store the offsets of any group.
        refusing = {addr for addr in lacking if self._resets_by_itself(addr)}

        def require_group(move: OffsetMove) -> OffsetMove:
            if move.broker_addr not in refusing:
                return move
            return fail_move(
                move, NotFound(f'the broker has no consumer group "{group}": `{creation}` creates it')
            )

        return [*map(require_group, offset_moves)]

    def _require_known_group(
        self, group: str, broker_addrs: Sequence[str], creation: str | None = None
    ) -> list[str]:
        """Return the brokers that do not have the group. Raises NotFound if none has it."""
        broker_targets = [BrokerTarget(None, MASTER_BROKER_ID, addr) for addr in dict.fromkeys(broker_addrs)]
        holder_results = self._groups.find_holders(group, broker_targets)
        lacking = [result.addr for result in holder_results if isinstance(result.error, NotFound)]
        if lacking and len(lacking) == len(holder_results):
            advice = (
                f"create it with `{creation}`" if creation else "`nsadmin consumerProgress` lists the groups"
            )
            raise NotFound(f'no broker of the topic has the consumer group "{group}": {advice}')
        return lacking

    def _add_old_offsets(self, offset_moves: Iterable[OffsetMove], group: str) -> list[OffsetMove]:
        # A broker that was renamed has two names with one address: its queues count once.
        by_place: dict[tuple[str, int], OffsetMove] = {}
        for move in offset_moves:
            by_place.setdefault((move.broker_addr or move.queue.broker_name, move.queue.queue_id), move)
        offset_moves = list(by_place.values())
        readable_moves = [move for move in offset_moves if move.error is None]
        committed_offsets = iter(
            read_committed_offsets(self._caller, [(m.broker_addr, group, m.queue) for m in readable_moves])
        )
        filled_moves = []
        for move in offset_moves:
            if move.error is None:
                old_offset, error = next(committed_offsets)
                move = move._replace(old_offset=old_offset) if error is None else fail_move(move, error)
            filled_moves.append(move)
        return filled_moves

    def _add_target_offsets(
        self, moves: Iterable[OffsetMove], group: str, timestamp_ms: int, wanted_offset: int | None = None
    ) -> list[OffsetMove]:
        """Add the old and new offsets. The new offset is limited to the offsets that the queue has."""
        moves = self._add_old_offsets(moves, group)
        readable_moves = [offset_move for offset_move in moves if offset_move.error is None]
        min_and_max = (
            self._read_offsets(readable_moves, RequestCode.GET_MIN_OFFSET),
            self._read_offsets(readable_moves, RequestCode.GET_MAX_OFFSET),
        )
        if timestamp_ms == END_OF_QUEUE:
            target_offsets = min_and_max[1]
        else:
            target_offsets = self._read_offsets(
                readable_moves, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, timestamp_ms
            )
        filled_by_move = {}
        for offset_move, min_offset, max_offset, target_offset in zip(
            readable_moves, *min_and_max, target_offsets, strict=True
        ):
            filled_by_move[offset_move] = set_target_offset(
                offset_move, min_offset, max_offset, target_offset, wanted_offset
            )
        return [filled_by_move.get(offset_move, offset_move) for offset_move in moves]

    def _read_offsets(
        self, offset_moves: Sequence[OffsetMove], request_code: RequestCode, timestamp_ms: int | None = None
    ) -> list[int | RocketMQError]:
        queue_places = [(offset_move.broker_addr, offset_move.queue) for offset_move in offset_moves]
        return read_queue_offsets(self._caller, queue_places, request_code, timestamp_ms)

    def _reset_broker(self, plan: OffsetPlan, addr: str, moves: Sequence[OffsetMove]) -> list[OffsetMove]:
        """Send code 222. A broker before 5.2 without clients refuses it: then commit the offsets instead."""
        resets_by_itself = self._resets_by_itself(addr)
        if plan.queue_id is not None:
            return self._move_each(plan, addr, moves, resets_by_itself)
        if not (resets_by_itself or find_connected_error(self._caller, plan.group, [addr])):
            return self._commit_offsets(plan.group, [keep_if_forward(move, plan.is_forced) for move in moves])
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
        reported_moves = [apply_reported_offset(m, offsets_by_id.get(m.queue.queue_id)) for m in moves]
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
            else judge_read_back(move, current, is_immediate, send_errors.get(move))
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
        error = find_connected_error(self._caller, plan.group, [broker_addr]) if broker_addr else None
        if error is not None:
            return [move if move.error else fail_move(move, error) for move in offset_moves]
        return self._commit_offsets(plan.group, offset_moves)

    def _commit_offsets(self, group: str, offset_moves: Sequence[OffsetMove]) -> list[OffsetMove]:
        return self._write_offsets(group, offset_moves, RequestCode.UPDATE_CONSUMER_OFFSET)

    def _write_offsets(
        self, group: str, offset_moves: Sequence[OffsetMove], request_code: RequestCode
    ) -> list[OffsetMove]:
        """Write the new offset of each queue that moves, and read it back."""
        to_write = [move for move in offset_moves if move.error is None and move.result != "kept"]
        answers = self._caller.send_requests(
            (m.broker_addr, make_request(request_code, move_header(request_code, group, m))) for m in to_write
        )
        errors = {move: answer.error for move, answer in zip(to_write, answers, strict=True)}
        return self._read_back(offset_moves, group, True, errors)


def find_connected_error(caller: Caller, group: str, broker_addrs: Sequence[str]) -> RocketMQError | None:
    """Return the error that prevents a commit: connected clients would overwrite the offsets."""
    group_connections = client_connections.read_consumers(caller, [group], broker_addrs)[group]
    if not group_connections.clients:
        return next((error for error in group_connections.errors.values() if error is not None), None)
    client_ids = ", ".join(connected_client.client_id for connected_client in group_connections.clients)
    return NotApplied(
        f'clients of group "{group}" are connected and commit their own offsets: stop {client_ids} first'
    )


def verify_moves(caller: Caller, group: str, offset_moves: Sequence[OffsetMove]) -> list[OffsetMove]:
    """Read the offsets of moved queues again, and decide which moves hold (QUERY_CONSUMER_OFFSET, 14).

    A move forward holds if the offset is at the new one or later. A move backward holds if it is before the
    old one. It may also be at the old one or later because clients consumed everything again. That counts as
    held if the broker delivered at least as many messages in the last minute as the moves repeat
    (VIEW_BROKER_STATS_DATA, 315, GROUP_GET_NUMS).
    """
    verified_moves = [m for m in offset_moves if m.error is None and m.result in ("done", "pending")]
    committed_offsets = read_committed_offsets(
        caller, [(offset_move.broker_addr, group, offset_move.queue) for offset_move in verified_moves]
    )
    current_by_move = dict(zip(verified_moves, committed_offsets, strict=True))
    repeated_by_addr: dict[str, int] = {}
    for offset_move, (current_offset, _) in current_by_move.items():
        if _is_past_old_offset(offset_move, current_offset):
            repeated_by_addr[offset_move.broker_addr] = repeated_by_addr.get(offset_move.broker_addr, 0) + (
                offset_move.repeated_count or 0
            )
    delivered_by_addr = _read_delivered_counts(
        caller, group, verified_moves[0].queue.topic if verified_moves else "", list(repeated_by_addr)
    )
    replayed_addrs = {addr for addr, c in repeated_by_addr.items() if delivered_by_addr.get(addr, 0) >= c}
    return [
        _judge_move(offset_move, *current_by_move[offset_move], offset_move.broker_addr in replayed_addrs)
        if offset_move in current_by_move
        else offset_move
        for offset_move in offset_moves
    ]


def _judge_move(
    offset_move: OffsetMove, current_offset: int | None, error: RocketMQError | None, is_replayed: bool
) -> OffsetMove:
    if error is not None:
        return fail_move(offset_move, error)
    if current_offset is not None and offset_move.new_offset is not None:
        # Clients that have not carried out a pending move yet may have consumed enough before it.
        is_replayed = is_replayed and offset_move.result == "done"
        is_far_enough = current_offset >= offset_move.new_offset
        if is_far_enough and (is_replayed or not _is_past_old_offset(offset_move, current_offset)):
            return offset_move._replace(result="done")
    if offset_move.result == "pending":
        return offset_move
    return fail_move(
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


def _read_delivered_counts(caller: Caller, group: str, topic: str, addrs: Sequence[str]) -> Mapping[str, int]:
    """Return how many messages each broker delivered to the group in the last minute, if it reports that."""
    stats_fields = broker_headers.ViewBrokerStats("GROUP_GET_NUMS", f"{topic}@{group}")
    answers = caller.send_requests(
        (addr, make_request(RequestCode.VIEW_BROKER_STATS_DATA, stats_fields)) for addr in addrs
    )
    count_results = [
        decode_answer(
            accept_uncounted(a), lambda r: parse_json_object(r).child("statsMinute").integer("sum", 0)
        )
        for a in answers
    ]
    return {r.addr: r.result for r in count_results if r.result is not None}
