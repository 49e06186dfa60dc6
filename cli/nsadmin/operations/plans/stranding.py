"""Counts the messages in queues that steps take away: consumers can no longer read them."""

from collections.abc import Sequence

from nsadmin.client import AdminClient
from nsadmin.operations.plans.difference import Step
from nsadmin.operations.plans.records import Live


def stranded(admin: AdminClient, live: Live, steps: Sequence[Step]) -> dict[Step, int | None]:
    """The messages in the queues that each step takes away from consumers; None if the broker did not answer.

    Steps that take no queues away are left out.
    """
    addrs = {broker.name: broker.addr or "" for broker in live.brokers}
    taking = [step for step in steps if step.kind == "topic" and _left(step) < _had(step)]
    found = admin.bulk.messages((addrs[step.server], step.name) for step in taking)
    return {
        step: None
        if counts.result is None
        else sum(number for queue, number in counts.result.items() if queue >= _left(step))
        for step, counts in zip(taking, found, strict=True)
    }


def _had(step: Step) -> int:
    return 0 if step.before is None else int(step.before["readQueueNums"])


def _left(step: Step) -> int:
    return 0 if step.after is None else int(step.after["readQueueNums"])
