"""Reads that fail over from the master of a broker group to its slaves.

The next process is asked only if the previous one does not answer. A refusal counts as an answer.
"""

from collections.abc import Container, Iterable
from typing import NamedTuple

from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.caller import Caller
from nsadmin.client.results import ServerResult, is_unreachable
from nsadmin.client.topic_routes import QueueRoute


class ReplicaRequest(NamedTuple):
    """A request to a broker group.

    Attributes:
        broker_name: The broker group.
        addrs: The addresses to try, in order.
        command: The request.
    """

    broker_name: str
    addrs: tuple[str, ...]
    command: RemotingCommand


def list_replica_addrs(queue_route: QueueRoute) -> tuple[str, ...]:
    """Return the address of the master, then those of the slaves."""
    return tuple(queue_route.broker_addrs.values())


def ask_replicas(
    caller: Caller, replica_requests: Iterable[ReplicaRequest], accepted_codes: Container[int] = (0,)
) -> list[ServerResult[RemotingCommand]]:
    """Send requests to broker groups at once, with failover inside each group.

    The `addr` of a result is the process that was asked last; the broker name for a group without address.
    """
    replica_requests = list(replica_requests)
    results = [_unreachable_result(replica_request) for replica_request in replica_requests]
    for attempt_index in range(max((len(request.addrs) for request in replica_requests), default=0)):
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


def _can_try_next(request: ReplicaRequest, result: ServerResult[RemotingCommand], attempt_index: int) -> bool:
    return attempt_index < len(request.addrs) and is_unreachable(result.error)


def _unreachable_result(replica_request: ReplicaRequest) -> ServerResult[RemotingCommand]:
    name = replica_request.broker_name
    return ServerResult(
        name, None, CallError(name, "unconnected", "no name server lists an address of this broker")
    )
