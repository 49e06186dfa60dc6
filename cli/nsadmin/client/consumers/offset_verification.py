"""Verifies that moved offsets hold after connected clients committed their own offsets."""

from collections.abc import Mapping, Sequence

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_json_object
from nsadmin.client.consumers import client_connections
from nsadmin.client.consumers.committed_offsets import read_committed_offsets
from nsadmin.client.consumers.offset_plans import OffsetMove, fail_move
from nsadmin.client.results import NotApplied
from nsadmin.client.topics.topic_traffic import accept_uncounted

COMMIT_INTERVAL_SECONDS = 5
"""Default interval in which clients commit (persistConsumerOffsetInterval of ClientConfig)."""


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
        NotApplied(
            f"overwritten: a client committed {current_offset} after the change; stop the clients first"
        ),
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
    count_results = [decode_answer(accept_uncounted(answer), _parse_minute_sum) for answer in answers]
    return {r.addr: r.result for r in count_results if r.result is not None}


def _parse_minute_sum(response: RemotingCommand) -> int:
    return parse_json_object(response).child("statsMinute").integer("sum", 0)
