"""The risks of a plan, one line for each."""

from nsadmin.operations.rebalance.plan_risks import PlannedTopic, find_risks
from nsadmin.operations.rebalance.rebalance_plan import QueuePair, RebalanceMove, RebalancePlan

EIGHT = {"a": QueuePair(8, 8)}


def make_plan(*topics: str, **fields: object) -> RebalancePlan:
    moves = tuple(RebalanceMove(topic, False, EIGHT, EIGHT) for topic in topics)
    return RebalancePlan("c", "", "load", "", moves, **fields)  # type: ignore[arg-type]


def test_a_plain_move_has_no_risk() -> None:
    assert find_risks(make_plan("T"), {"T": PlannedTopic(EIGHT)}, ()) == ()


def test_special_topics_and_missing_groups_are_risks() -> None:
    planned_topics = {
        "orders": PlannedTopic(EIGHT, is_ordered=True, order_conf="a:8"),
        "delayed": PlannedTopic(EIGHT, message_type="DELAY"),
        "payments": PlannedTopic(EIGHT, message_type="TRANSACTION"),
    }
    plan = make_plan(*planned_topics, groups_to_create={"b": ("g1", "g2", "g3", "g4")})
    assert find_risks(plan, planned_topics, ()) == (
        "ordered topics, which `rebalance run` moves only with --ordered: 1 (orders)",
        "topics with an order configuration, which `rebalance run` changes on every name server: 1 (orders)",
        "topics of transactions (let the old brokers run until open ones are decided): 1 (payments)",
        "topics of delayed messages (let the old brokers run until they have delivered theirs): 1 (delayed)",
        "consumer groups that b lacks and `rebalance run` creates: 4 (g1, g2, g3 and 1 more)",
    )


def test_topics_that_stay_on_a_removed_broker_are_risks() -> None:
    planned_topics = {"S": PlannedTopic(EIGHT, fixed_reason="static"), "T": PlannedTopic(EIGHT)}
    assert find_risks(make_plan(removed=("a",)), planned_topics, ["S", "T"]) == (
        "a keeps 1 topic (T): because of --max-topics or --max-share",
        "a keeps 1 topic (S): static, see `nsadmin remappingStaticTopic --help`",
        "a keeps its retry and dead-letter topics: replay dead letters before it stops",
    )
