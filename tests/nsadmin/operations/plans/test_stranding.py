"""Messages in queues that go, in the lab."""

from nsadmin import AdminClient
from nsadmin.operations.plans.difference import Step
from nsadmin.operations.plans.observing import observe
from nsadmin.operations.plans.stranding import stranded
from tests.nsadmin.operations.plans.conftest import CLUSTER, A
from tests.nsadmin.operations.plans.states import topic
from tests.support.lab import Lab


def test_messages_in_queues_that_go(admin: AdminClient) -> None:
    live = observe(admin, CLUSTER)
    was = live.brokers[0].topics["orders"]
    fewer = Step("topic", "orders", A, was, {**was, "readQueueNums": 6})
    none = Step("topic", "orders", A, was, {**was, "writeQueueNums": 1, "perm": 4})
    gone = Step("topic", "orders", A, was, None)
    new = Step("topic", "fresh", A, None, topic())
    group = Step("group", "warehouse", A, {}, None)
    [(_, last)] = stranded(admin, live, [fewer, none, new, group]).items()
    [(_, everything)] = stranded(admin, live, [gone]).items()
    assert last is not None
    assert everything is not None
    assert 0 < last < everything
    stats = next(item.stats for item in admin.topics.stats("orders") if item.broker_name == A)
    assert stats is not None
    at_least = sum(queue.max_offset - (queue.min_offset or 0) for queue in stats.queues[6:])
    assert abs(last - at_least) < 1000


def test_a_broker_that_does_not_tell(there: Lab, admin: AdminClient) -> None:
    live = observe(admin, CLUSTER)
    there.kill(A, 0)
    step = Step("topic", "orders", A, live.brokers[0].topics["orders"], None)
    assert stranded(admin, live, [step]) == {step: None}
