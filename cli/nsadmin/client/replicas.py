"""Replicas: what any broker process of a group may answer, asked of its master and then of its slaves.

Only where an address does not answer is the next one asked: a refusal is an answer.
"""

from collections.abc import Container, Iterable
from typing import NamedTuple

from namesrv_core.protocol.command import Command
from namesrv_core.transport.calls import CallError
from nsadmin.client.caller import Caller
from nsadmin.client.results import ServerResult, is_unreachable
from nsadmin.client.routes import QueueRoute


class Inquiry(NamedTuple):
    """A request to a broker group, with the addresses to try, in order."""

    broker_name: str
    addrs: tuple[str, ...]
    asked: Command


def addrs_of(queues: QueueRoute) -> tuple[str, ...]:
    """The master's address, then the slaves'."""
    return tuple(queues.broker_addrs.values())


def ask_replicas(
    caller: Caller, inquiries: Iterable[Inquiry], codes: Container[int] = (0,)
) -> list[ServerResult[Command]]:
    """What each group answered, all of them asked at the same time; `addr` is who was asked last.

    A group without an address counts as unreachable, under its name.
    """
    inquiries = list(inquiries)
    results = [_nobody(inquiry) for inquiry in inquiries]
    for turn in range(max((len(inquiry.addrs) for inquiry in inquiries), default=0)):
        pending = [at for at in range(len(inquiries)) if _goes_on(inquiries[at], results[at], turn)]
        calls = [(inquiries[at].addrs[turn], inquiries[at].asked) for at in pending]
        for at, result in zip(pending, caller.ask(calls, codes=codes), strict=True):
            results[at] = result
    return results


def _goes_on(inquiry: Inquiry, result: ServerResult[Command], turn: int) -> bool:
    return turn < len(inquiry.addrs) and is_unreachable(result.error)


def _nobody(inquiry: Inquiry) -> ServerResult[Command]:
    name = inquiry.broker_name
    return ServerResult(name, None, CallError(name, "unconnected", "nobody knows an address of this broker"))
