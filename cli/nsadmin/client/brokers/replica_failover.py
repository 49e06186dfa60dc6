"""Reads that fail over from the master of a broker group to its slaves.

The next process is asked only if the previous one does not answer. A refusal counts as an answer.
"""

from collections.abc import Container, Iterable

from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.caller import Caller
from nsadmin.client.results import ServerResult, is_unreachable
from nsadmin.client.topic_routes import QueueRoute


def ask_replicas(
    caller: Caller,
    route_requests: Iterable[tuple[QueueRoute, RemotingCommand]],
    accepted_codes: Container[int] = (0,),
) -> list[ServerResult[RemotingCommand]]:
    """Send requests to broker groups at once: to the master, then to its slaves in the order of their ids.

    The `addr` of a result is the process that was asked last; the broker name for a group without address.
    """
    requests = list(route_requests)
    group_addrs = [list(route.broker_addrs.values()) for route, _ in requests]
    results = [_unreachable_result(route.broker_name) for route, _ in requests]
    for attempt in range(max(map(len, group_addrs), default=0)):
        pending = [
            index
            for index, addrs in enumerate(group_addrs)
            if attempt < len(addrs) and is_unreachable(results[index].error)
        ]
        calls = [(group_addrs[index][attempt], requests[index][1]) for index in pending]
        answers = caller.send_requests(calls, accepted_codes=accepted_codes)
        for index, answer in zip(pending, answers, strict=True):
            results[index] = answer
    return results


def _unreachable_result(broker_name: str) -> ServerResult[RemotingCommand]:
    reason = "no name server lists an address of this broker"
    return ServerResult(broker_name, None, CallError(broker_name, "unconnected", reason))
