"""What a stage changes and waits for."""

from typing import Any

from nsadmin.operations.rebalance.move_stages import MoveStage
from nsadmin.operations.rebalance.rebalance_plan import NO_QUEUES, QueuePair
from nsadmin.operations.rebalance.run_facts import (
    CommitStart,
    DeleteTopicOn,
    GroupLag,
    MovingTopicFacts,
    NewQueueUse,
    PutOrderConf,
    PutTopic,
    RoutedQueues,
    RunAction,
    TopicAtServer,
    TopicOnBroker,
)
from nsadmin.operations.rebalance.run_rules import RunRules
from nsadmin.operations.rebalance.run_state import TopicProgress
from nsadmin.operations.rebalance.stage_conditions import (
    list_actions,
    list_unsettled_servers,
    list_waits,
    question_of_stage,
)

FOUR = QueuePair(4, 4)
CLOSED = QueuePair(4, 0)
CLOSING = MoveStage("closeWrites", {"a": CLOSED, "b": FOUR}, drains_from={"a": 0})


def make_facts(
    queues: dict[str, QueuePair], perm: int = 6, conf: str = "", **fields: Any
) -> MovingTopicFacts:
    on_brokers = {broker: TopicOnBroker(None, pair != NO_QUEUES, pair, 6) for broker, pair in queues.items()}
    routed = {broker: RoutedQueues(pair, perm) for broker, pair in queues.items()}
    return MovingTopicFacts(on_brokers, {"ns": TopicAtServer(None, routed, conf)}, **fields)


def actions(stage: MoveStage, facts: MovingTopicFacts) -> list[RunAction]:
    return list_actions("t", stage, facts, 6, TopicProgress())


def waits(
    stage: MoveStage, facts: MovingTopicFacts, now_ms: int = 100_000, quiet: int = 2, **rules: Any
) -> list[str]:
    progress = TopicProgress(routed_since=1000)
    return list(list_waits(stage, progress, facts, RunRules(**rules), now_ms, quiet))


def test_a_broker_that_differs_is_changed_and_one_that_is_silent_is_left() -> None:
    facts = make_facts({"a": FOUR, "b": FOUR})
    assert actions(CLOSING, facts) == [PutTopic("t", "a", FOUR, CLOSED, 6, ("b",))]
    silent = facts._replace(on_brokers={**facts.on_brokers, "a": TopicOnBroker("no answer")})
    assert actions(CLOSING, silent) == []
    assert next(list_unsettled_servers(CLOSING, silent)) == "a to answer (no answer)"


def test_a_name_server_has_to_show_what_the_broker_has() -> None:
    facts = make_facts({"a": CLOSED, "b": FOUR})
    assert list(list_unsettled_servers(CLOSING, facts)) == []
    stale = facts._replace(at_servers={"ns": TopicAtServer(None, {"b": RoutedQueues(FOUR, 6)})})
    assert list(list_unsettled_servers(CLOSING, stale)) == ["ns to route to 4 read and 0 write queues of a"]
    drained = make_facts({"a": CLOSED, "b": FOUR}, perm=4)
    assert len(list(list_unsettled_servers(CLOSING, drained))) == 2


def test_a_silent_name_server_keeps_the_order_configuration_from_being_written() -> None:
    stage = MoveStage("switchOrder", {"a": FOUR}, "b:4")
    facts = make_facts({"a": FOUR}, conf="a:4")
    assert actions(stage, facts) == [PutOrderConf("t", "b:4")]
    assert list(list_unsettled_servers(stage, facts)) == [
        "ns to add the order configuration b:4 to the route"
    ]
    silent = facts._replace(at_servers={**facts.at_servers, "ns-2": TopicAtServer("no answer")})
    assert actions(stage, silent) == []


def test_groups_without_an_offset_start_where_new_queues_begin() -> None:
    stage = MoveStage("openReads", {"a": FOUR, "b": QueuePair(4, 0)}, opens_from={"b": 0})
    use = NewQueueUse(4, True, {"b": (0, 1)})
    facts = make_facts({"a": FOUR, "b": QueuePair(4, 0)}, new_queue_use={"g": use})
    assert actions(stage, facts) == [CommitStart("t", "b", "g", (0, 1))]


def test_the_mark_of_an_ordered_topic_is_put_back_when_its_configuration_is_gone() -> None:
    stage = MoveStage("unpinOrder", {"a": FOUR}, "")
    facts = make_facts({"a": FOUR})
    marked = facts._replace(on_brokers={"a": TopicOnBroker(None, True, FOUR, 6, is_ordered=True)})
    assert actions(stage, marked) == [PutTopic("t", "a", FOUR, FOUR, 6, (), False)]
    assert actions(stage, facts) == []


def test_a_topic_is_deleted_where_it_has_no_queues() -> None:
    stage = MoveStage("deleteTopic", {"a": NO_QUEUES, "b": FOUR}, deletes_on=("a",))
    facts = make_facts({"a": NO_QUEUES, "b": FOUR})
    present = facts._replace(on_brokers={**facts.on_brokers, "a": TopicOnBroker(None, True)})
    assert actions(stage, present) == [DeleteTopicOn("t", "a")]
    assert list(list_unsettled_servers(stage, present)) == ["a to delete the topic"]
    assert (actions(stage, facts), list(list_unsettled_servers(stage, facts))) == ([], [])


def test_closed_queues_are_waited_for_until_every_group_consumed_them() -> None:
    lags = {
        "behind": GroupLag(7, 9, 2, True),
        "ignored": GroupLag(7, 9, 0, True),
        "offline": GroupLag(3, 3, 0, False),
        "ready": GroupLag(0, 5, 0, True),
        "unknown": GroupLag(None, None, None, True),
    }
    facts = make_facts({}, group_lags=lags, undelivered=2)
    assert waits(CLOSING, facts, quiet=1, ignored_groups=frozenset({"ignored"})) == [
        "the delivery of 2 delayed or transactional messages",
        "1 more check without a new message in the closed queues",
        "group behind to consume 7 messages and 2 retry messages",
        "group offline to consume 3 messages (no client is connected; --ignore-group offline skips it)",
        "the lag of group unknown, which is unknown",
    ]
    assert waits(CLOSING, make_facts({}, undelivered=None)) == [
        "the brokers to report their delayed and transactional messages"
    ]


def test_clients_get_the_time_to_refresh_their_routes() -> None:
    assert waits(CLOSING, make_facts({}), now_ms=31_000) == ["clients to refresh their routes (30 s)"]
    assert waits(CLOSING, make_facts({}), now_ms=61_000) == []


def test_new_queues_are_waited_for_until_consumers_have_them() -> None:
    stage = MoveStage("openReads", {"b": QueuePair(4, 0)}, opens_from={"b": 0})
    unowned = make_facts({}, new_queue_use={"g": NewQueueUse(3, True)})
    assert waits(stage, unowned) == ["group g to take over 3 new queues"]
    assert waits(stage, unowned, ignored_groups=frozenset({"g"})) == []
    unknown = make_facts({}, new_queue_use={"g": NewQueueUse(3, False)})
    assert waits(stage, unknown, now_ms=31_000) == ["clients to refresh their routes (30 s)"]
    assert waits(stage, unknown, now_ms=61_000) == []


def test_an_observation_reads_what_the_stage_needs() -> None:
    question = question_of_stage("t", {"c"}, CLOSING)
    assert question.brokers == ("a", "b", "c")
    assert (question.closing_queues, question.leaving_brokers) == ({"a": range(4)}, ("a",))
    assert question_of_stage("t", {"c"}, None).brokers == ("c",)
