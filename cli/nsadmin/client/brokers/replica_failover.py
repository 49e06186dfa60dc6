"""Replicas: what any broker process of a group may answer, asked of its master and then of its slaves.

Only where an address does not answer is the next one asked: a refusal is an answer.
"""

from collections.abc import Container, Iterable
from typing import NamedTuple

from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.caller import Caller
from nsadmin.client.results import ServerResult, is_unreachable
from nsadmin.client.topic_routes import QueueRoute


class ReplicaRequest(NamedTuple):
    """A request to a broker group, with the addresses to try, in order."""

    broker_name: str
    addrs: tuple[str, ...]
    command: RemotingCommand


def list_replica_addrs(queue_route: QueueRoute) -> tuple[str, ...]:
    """The master's address, then the slaves'."""
    return tuple(queue_route.broker_addrs.values())


def ask_replicas(
    caller: Caller, replica_requests: Iterable[ReplicaRequest], accepted_codes: Container[int] = (0,)
) -> list[ServerResult[RemotingCommand]]:
    """What each group answered, all of them asked at the same time; `addr` is who was asked last.

    A group without an address counts as unreachable, under its name.
    """
    replica_requests = list(replica_requests)
    results = [_unreachable_result(replica_request) for replica_request in replica_requests]
    for attempt_index in range(
        max((len(replica_request.addrs) for replica_request in replica_requests), default=0)
    ):
        pending_indexes = [
            request_index
            for request_index in range(len(replica_requests))
            if _can_try_next(replica_requests[request_index], results[request_index], attempt_index)
        ]
        calls = [
            (replica_requests[request_index].addrs[attempt_index], replica_requests[request_index].command)
            for request_index in pending_indexes
        ]
        for request_index, result in zip(
            pending_indexes, caller.send_requests(calls, accepted_codes=accepted_codes), strict=True
        ):
            results[request_index] = result
    return results


def _can_try_next(
    replica_request: ReplicaRequest, result: ServerResult[RemotingCommand], attempt_index: int
) -> bool:
    return attempt_index < len(replica_request.addrs) and is_unreachable(result.error)


def _unreachable_result(replica_request: ReplicaRequest) -> ServerResult[RemotingCommand]:
    broker_name = replica_request.broker_name
    return ServerResult(
        broker_name, None, CallError(broker_name, "unconnected", "nobody knows an address of this broker")
    )
