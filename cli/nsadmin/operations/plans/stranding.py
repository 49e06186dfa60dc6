"""How many messages are in queues that go: nobody can read them any more."""

from collections.abc import Sequence

from nsadmin.client import AdminClient
from nsadmin.operations.plans.difference import Step
from nsadmin.operations.plans.records import Live


def stranded(admin: AdminClient, live: Live, steps: Sequence[Step]) -> dict[Step, int | None]:
    """Messages in the queues that each of these steps takes away from readers, None where nobody could tell.

    A step that takes none away is left out.
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
