"""Sends many changes to brokers: in lists if the broker supports lists, else one by one.

Each round sends to all brokers at once and reports progress at its end. The caller verifies the results.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from namesrv_core.errors import NotSupported, RocketMQError
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client import ServerResult
from nsadmin.client.topics.bulk_changes import DesiredConfig
from nsadmin.operations.plans.diff import PlanStep

ITEMS_PER_LIST, SINGLE_PER_ROUND = 250, 50
"""Items in one list request, and single requests, that a broker gets in one round."""

ConfigBatch = tuple[str, Sequence[DesiredConfig]]
PutBatches = Callable[[Sequence[ConfigBatch]], list[ServerResult[RemotingCommand]]]
AdvanceProgress = Callable[[int], None]
ErrorsByStep = dict[PlanStep, RocketMQError | None]


class ListSender:
    """Sends topics or groups; `put_batches` sends batches, `desired_config` makes the config of a step."""

    def __init__(
        self,
        put_batches: PutBatches,
        desired_config: Callable[[PlanStep], DesiredConfig],
        advance_progress: AdvanceProgress,
    ) -> None:
        self._put_batches, self._desired_config, self._advance_progress = (
            put_batches,
            desired_config,
            advance_progress,
        )
        self._listless_brokers: set[str] = set()

    def send_steps(
        self, addressed_steps: Iterable[tuple[str, PlanStep]], *, singly: bool = False
    ) -> ErrorsByStep:
        """Send each step to its address. The error of each step, or None if the broker answered success."""
        queues: dict[str, deque[tuple[PlanStep, bool]]] = {}
        for broker_addr, plan_step in addressed_steps:
            queues.setdefault(broker_addr, deque()).append((plan_step, singly))
        errors_by_step: ErrorsByStep = {}
        while any(queues.values()):
            batches = [batch for addr, q in queues.items() for batch in self._next_batches(addr, q)]
            answers = self._put_batches(
                [(addr, [self._desired_config(plan_step) for plan_step in steps]) for addr, steps in batches]
            )
            for (broker_addr, batch_steps), answer in zip(batches, answers, strict=True):
                self._take_answer(broker_addr, batch_steps, answer.error, queues[broker_addr], errors_by_step)
        return errors_by_step

    def _next_batches(
        self, broker_addr: str, queue: "deque[tuple[PlanStep, bool]]"
    ) -> list[tuple[str, list[PlanStep]]]:
        """The batches that a broker gets in the next round."""
        if queue and (queue[0][1] or broker_addr in self._listless_brokers):
            return [(broker_addr, [queue.popleft()[0]]) for _ in range(min(SINGLE_PER_ROUND, len(queue)))]
        batch_steps = [queue.popleft()[0] for _ in range(min(ITEMS_PER_LIST, len(queue)))]
        return [(broker_addr, batch_steps)] if batch_steps else []

    def _take_answer(
        self,
        broker_addr: str,
        batch_steps: list[PlanStep],
        error: RocketMQError | None,
        step_queue: "deque[tuple[PlanStep, bool]]",
        errors_by_step: ErrorsByStep,
    ) -> None:
        if len(batch_steps) > 1 and error is not None and not isinstance(error, CallError):
            # The broker refused one item or lists in general: single requests show which.
            if isinstance(error, NotSupported):
                self._listless_brokers.add(broker_addr)
            step_queue.extendleft((plan_step, True) for plan_step in reversed(batch_steps))
            return
        errors_by_step.update(dict.fromkeys(batch_steps, error))
        self._advance_progress(len(batch_steps))
        if isinstance(error, CallError) and not error.was_sent:
            errors_by_step.update({plan_step: error for plan_step, _ in step_queue})
            self._advance_progress(len(step_queue))
            step_queue.clear()


def send_singly(
    send_calls: Callable[[list[tuple[str, Any]]], list[ServerResult[RemotingCommand]]],
    step_calls: Sequence[tuple[PlanStep, str, Any]],
    advance_progress: AdvanceProgress,
) -> ErrorsByStep:
    """Send one request for each (step, address, content), SINGLE_PER_ROUND to each broker in a round."""
    errors_by_step: ErrorsByStep = {}
    calls_by_addr: dict[str, deque[tuple[PlanStep, str, Any]]] = {}
    for step_call in step_calls:
        calls_by_addr.setdefault(step_call[1], deque()).append(step_call)
    while any(calls_by_addr.values()):
        round_calls = [
            q.popleft() for q in calls_by_addr.values() for _ in range(min(SINGLE_PER_ROUND, len(q)))
        ]
        answers = send_calls([(broker_addr, call_content) for _, broker_addr, call_content in round_calls])
        errors_by_step.update({s: a.error for (s, _, _), a in zip(round_calls, answers, strict=True)})
        advance_progress(len(round_calls))
    return errors_by_step
