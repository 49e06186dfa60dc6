"""What is known, since when, and what became of who left."""

from nsadmin.tui.model.cluster_model import ClusterModel, Trend
from nsadmin.tui.model.server_states import BrokerProcessKey, Silence
from nsadmin.tui.polling.poll_records import (
    BrokerPolled,
    ConfigPolled,
    ConnectionsPolled,
    EventSeen,
    GroupPolled,
    GroupsPolled,
    MissingBrokerRecord,
    MissingBrokersPolled,
    NameServerPolled,
    QueueCounts,
    QueueLag,
    TopicPolled,
    TopicRatesPolled,
)
from tests.support.screens import NOON, make_broker_poll, make_model, make_server_poll, make_silent_broker

A, B = "10.0.1.1:10911", "10.0.1.2:10911"
PLACE = BrokerProcessKey("broker-a", 0, A)


def test_a_broker_that_no_name_server_lists_is_gone_and_stays_in_sight() -> None:
    model = ClusterModel()
    for number in (1, 2):
        model.apply_poll(make_server_poll(f"10.0.0.{number}:9876"))
    model.apply_poll(make_server_poll("10.0.0.1:9876", NOON + 1000, groups={}))
    assert model.brokers[PLACE].gone_since_ms is None
    assert model.brokers[PLACE].listed_by == {"10.0.0.2:9876"}
    model.apply_poll(make_server_poll("10.0.0.2:9876", NOON + 2000, groups={}))
    assert model.brokers[PLACE].gone_since_ms == NOON + 2000
    model.apply_poll(make_server_poll("10.0.0.2:9876", NOON + 3000))
    assert model.brokers[PLACE].gone_since_ms is None


def test_a_dead_name_server_takes_no_broker_along() -> None:
    model = make_model(make_server_poll(), NameServerPolled(NOON + 1000, "10.0.0.1:9876", error="closed"))
    assert model.brokers[PLACE].gone_since_ms is None


def test_who_comes_back_at_another_address_is_not_gone_any_more() -> None:
    model = make_model(
        make_server_poll(),
        make_server_poll(at=NOON + 1, groups={}),
        make_server_poll(at=NOON + 2, groups={"broker-a": {0: B}}),
    )
    assert list(model.brokers) == [("broker-a", 0, B)]
    assert [item.key.addr for item in model.list_replicas("broker-a")] == [B]
    model.apply_poll(make_broker_poll(A))
    assert model.brokers[BrokerProcessKey("broker-a", 0, B)].last_poll is None


def test_a_broker_that_was_missing_before_the_start_is_gone() -> None:
    model = make_model(make_server_poll())
    missing = MissingBrokerRecord("cluster-a", "broker-b", 0, B, NOON - 1000)
    model.apply_poll(MissingBrokersPolled(NOON, [missing]))
    place = BrokerProcessKey("broker-b", 0, B)
    assert model.brokers[place].gone_since_ms == NOON - 1000
    # An operator expects it no longer.
    model.apply_poll(MissingBrokersPolled(NOON + 1, []))
    assert list(model.brokers) == [PLACE]
    model.apply_poll(MissingBrokersPolled(NOON + 2, [missing]))
    model.apply_poll(make_server_poll(at=NOON + 3, groups={"broker-a": {0: A}, "broker-b": {0: B}}))
    assert model.brokers[place].gone_since_ms is None
    model.apply_poll(MissingBrokersPolled(NOON + 4, []))
    assert place in model.brokers


def test_rates_of_a_cluster_are_those_of_its_masters() -> None:
    model = make_model(
        make_server_poll(groups={"broker-a": {0: A, 1: B}}),
        make_broker_poll(A, putTps="10 1 1"),
        make_broker_poll(B, putTps="99 1 1"),
    )
    assert model.put_rate_by_cluster() == {"cluster-a": 10.0}
    assert list(model.put_trends["cluster-a"].values) == [10.0]
    model.apply_poll(make_broker_poll(A, NOON + 1000, putTps="20 1 1"))
    assert list(model.put_trends["cluster-a"].values) == [10.0]
    model.apply_poll(make_broker_poll(A, NOON + 6000, putTps="30 1 1"))
    assert list(model.put_trends["cluster-a"].times_ms) == [NOON, NOON + 6000]


def test_groups_topics_configs_and_clients_are_kept_by_name() -> None:
    model = make_model(
        GroupsPolled(NOON, ["g"]),
        GroupPolled(NOON, "g", 1.0, [QueueLag("t", "b", 0, 10, 4, 0, None)]),
        GroupPolled(NOON + 1, "g", error="closed"),
    )
    assert model.group_names_answer.last_poll is not None
    assert (model.group_answers["g"].error_text, model.lag_trends["g"].known_values) == ("closed", [6])
    assert model.lag_trends["g"].last_value is None
    model.apply_poll(ConfigPolled(NOON, A, {"brokerName": "a"}))
    model.apply_poll(ConfigPolled(NOON, B, None, "closed"))
    assert [model.config_answers[addr].is_fresh for addr in (A, B)] == [True, False]
    model.apply_poll(ConnectionsPolled(NOON, A, {}))
    model.apply_poll(ConnectionsPolled(NOON, A, None, "closed"))
    assert model.connection_answers[A].silent_since_ms == NOON


def test_nobody_answers_from_when_the_last_one_fell_silent() -> None:
    one, two = "10.0.0.1:9876", "10.0.0.2:9876"
    model = ClusterModel([one, two])
    assert ClusterModel().find_silence() is None
    assert model.find_silence() == Silence("asking the name servers")
    model.apply_poll(make_server_poll(one))
    model.apply_poll(NameServerPolled(NOON, two, error="closed"))
    assert model.find_silence() is None
    model.apply_poll(NameServerPolled(NOON + 7, one, error="closed"))
    assert model.find_silence() == Silence("no name server answers", NOON + 7)


def test_what_nobody_tells_again_stays_as_it_was_told_last() -> None:
    model = make_model(GroupsPolled(NOON, ["g"], {B: "closed"}))
    assert model.group_names_answer.current_silence is None
    model.apply_poll(GroupsPolled(NOON + 1, (), {"": "no name server answers"}))
    assert model.group_names_answer.last_poll is not None
    assert model.group_names_answer.last_poll.names == ["g"]
    assert model.group_names_answer.current_silence == Silence("no name server answers", NOON + 1)
    poll = TopicPolled(
        NOON, "t", {"h:1": {"broker-a": QueueCounts(8, 8, 6)}}, groups=["g"], put_tps={"b": 3.0}
    )
    model.apply_poll(poll)
    model.apply_poll(TopicPolled(NOON + 1, "t", {}, {"h:1": "closed"}))
    assert model.topic_polls["t"] == poll


def test_a_rate_that_no_broker_tells_is_no_zero() -> None:
    model = make_model(make_server_poll(), BrokerPolled(NOON, A, 1.0, {"brokerActive": "true"}))
    assert (model.put_rate_by_cluster(), model.put_trends) == ({}, {})


def test_a_rate_that_was_not_asked_again_is_the_one_of_before() -> None:
    model = make_model(TopicPolled(NOON, "t", put_tps={"b": 3.0}, groups=["g"]), TopicPolled(NOON + 1, "t"))
    assert (model.topic_polls["t"].put_tps, model.topic_polls["t"].groups) == ({"b": 3.0}, ["g"])


def test_events_of_a_journal_stand_among_what_was_noticed() -> None:
    model = make_model(EventSeen(NOON, "ns-1", "KvPut", "k: new", ["k"]))
    [notice] = model.notices
    assert (notice.event_kind, notice.object_names, notice.is_from_journal) == ("KvPut", ("k",), True)
    assert (model.now_ms, model.poll_count) == (NOON, 1)


def test_what_is_worked_out_is_kept_until_it_is_of_something_else() -> None:
    model, computations = ClusterModel(), []
    for number in (1, 1, 2, 2):
        model.compute_once("squares", (number,), lambda number=number: computations.append(number))  # type: ignore[misc]
    assert computations == [1, 2]


def test_an_hour_is_kept_and_not_more() -> None:
    trend = Trend.create_empty()
    for number in range(1_000):
        trend.add_point(number, float(number))
    assert (len(trend.times_ms), len(trend.values)) == (720, 720)
    assert (trend.times_ms[0], trend.values[-1]) == (280, 999.0)


def test_topics_that_were_looked_at_last_are_kept() -> None:
    model = ClusterModel()
    for number in range(2_500):
        model.apply_poll(TopicPolled(NOON, f"topic-{number}"))
        model.apply_poll(TopicPolled(NOON, "orders"))
    assert len(model.topic_polls) == 2_000
    assert {"orders", "topic-2499"} <= model.topic_polls.keys()
    assert "topic-0" not in model.topic_polls


def test_a_deleted_group_is_forgotten_unless_a_silent_broker_may_have_it() -> None:
    model = make_model(
        make_server_poll(groups={"broker-a": {0: A}, "broker-b": {0: B}}), GroupsPolled(NOON, ["g", "h", "i"])
    )
    for group, broker_name in (("g", "broker-a"), ("h", "broker-b"), ("i", "broker-a")):
        lags = [QueueLag("t", broker_name, 0, 57_100, 0, 0, None)]
        model.apply_poll(GroupPolled(NOON, group, 1.0, lags))
    model.apply_poll(GroupsPolled(NOON + 1, ["i"], {B: "no answer within 5 s"}))
    assert list(model.group_answers) == list(model.lag_trends) == ["h", "i"]
    model.apply_poll(GroupsPolled(NOON + 2, [], {A: "no answer", B: "no answer"}))
    assert list(model.group_answers) == ["h", "i"]
    model.apply_poll(GroupsPolled(NOON + 3, ["i"]))
    assert list(model.group_answers) == list(model.lag_trends) == ["i"]


def test_the_rate_of_a_cluster_and_of_a_topic_ends_with_its_brokers() -> None:
    model = make_model(
        make_server_poll(),
        make_broker_poll(A),
        TopicPolled(NOON, "orders", {"n": {"broker-a": QueueCounts(4, 4, 6)}}, put_tps={"broker-a": 5.0}),
        TopicRatesPolled(NOON, {"payments": 3.0}),
        make_silent_broker(A, NOON + 6_000),
        TopicPolled(NOON + 6_000, "orders", {"n": {"broker-a": QueueCounts(4, 4, 6)}}, put_tps={}),
        TopicRatesPolled(NOON + 6_000, {"payments": None}),
    )
    assert model.put_trends["cluster-a"].known_values == [100.0]
    assert model.put_trends["cluster-a"].last_value is None
    assert model.topic_rates == {}


def test_brokers_that_came_and_went_do_not_pile_up() -> None:
    model = ClusterModel()
    for turn in range(40):
        groups = {f"broker-{turn}-{number}": {0: f"h:{turn * 100 + number}"} for number in range(100)}
        model.apply_poll(make_server_poll(at=NOON + turn, groups=groups))
    assert len(model.brokers) == 1_100
    assert "broker-39-0" in {key.name for key in model.brokers}
    assert "broker-0-0" not in {key.name for key in model.brokers}


def test_a_notice_keeps_no_megabytes() -> None:
    model = ClusterModel()
    for turn in range(3):
        value = f"{turn}" * 4_000_000
        model.apply_poll(
            make_server_poll(at=NOON + turn, kv={"NS": {"k": value}}, settings={"k": value}, topics=(value,))
        )
    model.apply_poll(EventSeen(NOON, "n", "RouteChanged", "x" * 4_000_000, ["y" * 4_000_000]))
    assert len(model.notices) == 9
    assert max(len(notice.description) for notice in model.notices) == 500
    assert not any(len(name) > 500 for notice in model.notices for name in notice.object_names)


def test_the_rate_of_a_topic_is_forgotten_with_the_topic() -> None:
    model = make_model(
        make_server_poll(),
        TopicRatesPolled(NOON, {"orders": 1.0, "payments": 2.0}),
        make_server_poll(at=NOON + 1, topics=("orders",)),
    )
    assert model.topic_rates == {"orders": 1.0}
