"""Messages in queues that go, in the lab."""

from nsadmin import AdminClient
from nsadmin.operations.plans.diff import PlanStep
from nsadmin.operations.plans.observer import observe_cluster
from nsadmin.operations.plans.stranded_messages import count_stranded_messages
from tests.nsadmin.operations.plans.conftest import CLUSTER, A
from tests.nsadmin.operations.plans.states import topic
from tests.support.lab import Lab


def test_messages_in_queues_that_go(admin: AdminClient) -> None:
    live = observe_cluster(admin, CLUSTER)
    was = live.broker_states[0].topics["orders"]
    fewer = PlanStep("topic", "orders", A, was, {**was, "readQueueNums": 6})
    none = PlanStep("topic", "orders", A, was, {**was, "writeQueueNums": 1, "perm": 4})
    closed = PlanStep("topic", "orders", A, was, {**was, "perm": 2})
    gone = PlanStep("topic", "orders", A, was, None)
    new = PlanStep("topic", "fresh", A, None, topic())
    group = PlanStep("group", "warehouse", A, {}, None)
    [(_, last)] = count_stranded_messages(admin, live, [fewer, none, new, group]).items()
    [(_, everything)] = count_stranded_messages(admin, live, [gone]).items()
    [(_, unreadable)] = count_stranded_messages(admin, live, [closed]).items()
    assert last is not None
    assert everything is not None
    assert unreadable is not None
    assert 0 < last < unreadable < everything
    stats = next(item.stats for item in admin.topics.get_stats("orders") if item.broker_name == A)
    assert stats is not None
    stored = sum(queue.max_offset - (queue.min_offset or 0) for queue in stats.queues)
    assert abs(everything - stored) < 1000


def test_a_broker_that_does_not_tell(running_lab: Lab, admin: AdminClient) -> None:
    live = observe_cluster(admin, CLUSTER)
    running_lab.kill(A, 0)
    step = PlanStep("topic", "orders", A, live.broker_states[0].topics["orders"], None)
    assert count_stranded_messages(admin, live, [step]) == {step: None}
