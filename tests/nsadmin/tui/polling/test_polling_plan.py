"""What a poller polls unless it is told otherwise."""

from nsadmin.tui.polling.polling_plan import PollingPlan


def test_a_plan_needs_only_addresses() -> None:
    plan = PollingPlan(["10.0.0.1:9876"])
    assert (plan.interval, plan.requests_per_second) == (5.0, 250)
    assert plan.namespaces == ("ORDER_TOPIC_CONFIG",)
    assert plan.describe_event("KvPut", {}) is None
    assert plan.load_message_tools is None
