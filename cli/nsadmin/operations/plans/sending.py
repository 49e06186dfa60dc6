"""Sends many changes to brokers: in lists if the broker supports lists, else one by one.

Each round sends to all brokers at once and reports progress at its end. The caller verifies the results.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from namesrv_core.errors import NotSupported, RocketMQError
from namesrv_core.protocol.command import Command
from namesrv_core.transport.calls import CallError
from nsadmin.client import ServerResult
from nsadmin.client.bulk import Wanted
from nsadmin.operations.plans.difference import Step

IN_A_LIST, SINGLE = 250, 50
"""Items in one list request, and single requests, that a broker gets in one round."""

Batch = tuple[str, Sequence[Wanted]]
Put = Callable[[Sequence[Batch]], list[ServerResult[Command]]]
Advance = Callable[[int], None]
Errors = dict[Step, RocketMQError | None]


class Lists:
    """Sends topics or groups; `put_batches` sends batches, `desired_config` makes the config of a step."""

    def __init__(self, put: Put, wanted: Callable[[Step], Wanted], advance: Advance) -> None:
        self._put, self._wanted, self._advance = put, wanted, advance
        self._takes_no_lists: set[str] = set()

    def send(self, steps: Iterable[tuple[str, Step]], *, singly: bool = False) -> Errors:
        """Send each step to its address. The error of each step, or None if the broker answered success."""
        queues: dict[str, deque[tuple[Step, bool]]] = {}
        for addr, step in steps:
            queues.setdefault(addr, deque()).append((step, singly))
        errors: Errors = {}
        while any(queues.values()):
            batches = [batch for addr, queue in queues.items() for batch in self._next(addr, queue)]
            answers = self._put([(addr, [self._wanted(step) for step in some]) for addr, some in batches])
            for (addr, some), answer in zip(batches, answers, strict=True):
                self._take(addr, some, answer.error, queues[addr], errors)
        return errors

    def _next(self, addr: str, queue: "deque[tuple[Step, bool]]") -> list[tuple[str, list[Step]]]:
        """The batches that a broker gets in the next round."""
        if queue and (queue[0][1] or addr in self._takes_no_lists):
            return [(addr, [queue.popleft()[0]]) for _ in range(min(SINGLE, len(queue)))]
        some = [queue.popleft()[0] for _ in range(min(IN_A_LIST, len(queue)))]
        return [(addr, some)] if some else []

    def _take(
        self,
        addr: str,
        some: list[Step],
        error: RocketMQError | None,
        queue: "deque[tuple[Step, bool]]",
        errors: Errors,
    ) -> None:
        if len(some) > 1 and error is not None and not isinstance(error, CallError):
            # The broker refused one item or lists in general: single requests show which.
            if isinstance(error, NotSupported):
                self._takes_no_lists.add(addr)
            queue.extendleft((step, True) for step in reversed(some))
            return
        errors.update(dict.fromkeys(some, error))
        self._advance(len(some))
        if isinstance(error, CallError) and not error.was_sent:
            errors.update({step: error for step, _ in queue})
            self._advance(len(queue))
            queue.clear()


def singly(
    ask: Callable[[list[tuple[str, Any]]], list[ServerResult[Command]]],
    calls: Sequence[tuple[Step, str, Any]],
    advance: Advance,
) -> Errors:
    """Send one request for each (step, address, content), SINGLE_PER_ROUND to each broker in a round."""
    errors: Errors = {}
    by_addr: dict[str, deque[tuple[Step, str, Any]]] = {}
    for call in calls:
        by_addr.setdefault(call[1], deque()).append(call)
    while any(by_addr.values()):
        some = [queue.popleft() for queue in by_addr.values() for _ in range(min(SINGLE, len(queue)))]
        answers = ask([(addr, what) for _, addr, what in some])
        errors.update({step: answer.error for (step, _, _), answer in zip(some, answers, strict=True)})
        advance(len(some))
    return errors
