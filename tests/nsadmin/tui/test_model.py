"""What is known, since when, and what became of who left."""

from nsadmin.tui.model import Model, Silence, Trend
from nsadmin.tui.polls import (
    BrokerPolled,
    ConfigPolled,
    ConnectionsPolled,
    EventSeen,
    GroupPolled,
    GroupsPolled,
    Lag,
    NameServerPolled,
    Queues,
    TopicPolled,
)
from tests.support.screens import NOON, broker, server, silent

A, B = "10.0.1.1:10911", "10.0.1.2:10911"
PLACE = ("broker-a", 0, A)


def test_what_a_silent_server_told_last_stays_with_the_time_since_when() -> None:
    model = Model(["10.0.0.1:9876"])
    model.apply(server(at=NOON))
    for later in (1000, 2000):
        model.apply(NameServerPolled(NOON + later, "10.0.0.1:9876", error="connection refused"))
    [known] = model.servers.values()
    assert (known.is_fresh, known.since, known.error) == (False, NOON + 1000, "connection refused")
    assert known.last is not None
    assert known.last.groups.keys() == {"broker-a"}
    assert list(known.latencies) == [1.0, None, None]
    model.apply(server(at=NOON + 3000))
    assert (known.is_fresh, known.since) == (True, None)


def test_what_a_poll_leaves_out_is_as_it_was() -> None:
    model = Model()
    model.apply(server(settings={"listenPort": "9876"}, kv={"NS": {"k": "v"}}))
    model.apply(server(topics=None, settings=None, kv=None))
    [known] = model.servers.values()
    assert known.topics == {"orders", "payments"}
    assert model.topic_names() == ["orders", "payments"]
    assert (known.settings, known.kv) == ({"listenPort": "9876"}, {"NS": {"k": "v"}})


def test_a_broker_that_no_name_server_lists_is_gone_and_stays_in_sight() -> None:
    model = Model()
    for number in (1, 2):
        model.apply(server(f"10.0.0.{number}:9876"))
    model.apply(server("10.0.0.1:9876", NOON + 1000, groups={}))
    assert model.brokers[PLACE].gone is None
    assert model.brokers[PLACE].listed_by == {"10.0.0.2:9876"}
    model.apply(server("10.0.0.2:9876", NOON + 2000, groups={}))
    assert model.brokers[PLACE].gone == NOON + 2000
    model.apply(server("10.0.0.2:9876", NOON + 3000))
    assert model.brokers[PLACE].gone is None


def test_a_dead_name_server_takes_no_broker_along() -> None:
    model = Model()
    model.apply(server())
    model.apply(NameServerPolled(NOON + 1000, "10.0.0.1:9876", error="closed"))
    assert model.brokers[PLACE].gone is None


def test_who_comes_back_at_another_address_is_not_gone_any_more() -> None:
    model = Model()
    model.apply(server())
    model.apply(server(at=NOON + 1, groups={}))
    model.apply(server(at=NOON + 2, groups={"broker-a": {0: B}}))
    assert list(model.brokers) == [("broker-a", 0, B)]
    assert [item.place[2] for item in model.siblings("broker-a")] == [B]
    model.apply(broker(A))
    assert model.brokers["broker-a", 0, B].last is None


def test_figures_of_a_broker_are_numbers_or_unknown() -> None:
    model = Model()
    model.apply(server())
    known = model.brokers[PLACE]
    assert known.number("putTps") is None
    assert known.text("brokerActive") is None
    model.apply(broker(A, putTps="12.5 1 1", getMissTps="", getFoundTps="many"))
    assert known.number("putTps") == 12.5
    assert known.number("getMissTps") is known.number("getFoundTps") is None
    assert known.number("nothing", "putTps") == 12.5
    model.apply(silent(A, NOON + 9))
    assert (known.is_fresh, known.kind, known.since, known.number("putTps")) == (
        False,
        "timeout",
        NOON + 9,
        12.5,
    )
    assert list(known.ins) == [12.5, None]


def test_rates_of_a_cluster_are_those_of_its_masters() -> None:
    model = Model()
    model.apply(server(groups={"broker-a": {0: A, 1: B}}))
    model.apply(broker(A, putTps="10 1 1"))
    model.apply(broker(B, putTps="99 1 1"))
    assert model.rates() == {"cluster-a": 10.0}
    assert list(model.puts["cluster-a"].values) == [10.0]
    model.apply(broker(A, NOON + 1000, putTps="20 1 1"))
    assert list(model.puts["cluster-a"].values) == [10.0]
    model.apply(broker(A, NOON + 6000, putTps="30 1 1"))
    assert list(model.puts["cluster-a"].times) == [NOON, NOON + 6000]


def test_groups_topics_configs_and_clients_are_kept_by_name() -> None:
    model = Model()
    model.apply(GroupsPolled(NOON, ["g"]))
    model.apply(GroupPolled(NOON, "g", 1.0, [Lag("t", "b", 0, 10, 4, 0, None)]))
    model.apply(GroupPolled(NOON + 1, "g", error="closed"))
    assert model.group_names.last is not None
    assert (model.groups["g"].error, list(model.lags["g"].values)) == ("closed", [6])
    model.apply(ConfigPolled(NOON, A, {"brokerName": "a"}))
    model.apply(ConfigPolled(NOON, B, None, "closed"))
    assert [model.configs[addr].is_fresh for addr in (A, B)] == [True, False]
    model.apply(ConnectionsPolled(NOON, A, {}))
    model.apply(ConnectionsPolled(NOON, A, None, "closed"))
    assert model.connections[A].since == NOON


def test_nobody_answers_from_when_the_last_one_fell_silent() -> None:
    one, two = "10.0.0.1:9876", "10.0.0.2:9876"
    model = Model([one, two])
    assert Model().silence() is None
    assert model.silence() == Silence("name servers are being asked")
    model.apply(server(one))
    model.apply(NameServerPolled(NOON, two, error="closed"))
    assert model.silence() is None
    model.apply(NameServerPolled(NOON + 7, one, error="closed"))
    assert model.silence() == Silence("no name server answers", NOON + 7)


def test_what_nobody_tells_again_stays_as_it_was_told_last() -> None:
    model = Model()
    model.apply(GroupsPolled(NOON, ["g"], {B: "closed"}))
    assert model.group_names.silence is None
    model.apply(GroupsPolled(NOON + 1, (), {"": "no name server answers"}))
    assert model.group_names.last is not None
    assert model.group_names.last.names == ["g"]
    assert model.group_names.silence == Silence("no name server answers", NOON + 1)
    told = TopicPolled(NOON, "t", {"h:1": {"broker-a": Queues(8, 8, 6)}}, groups=["g"], put_tps={"b": 3.0})
    model.apply(told)
    model.apply(TopicPolled(NOON + 1, "t", {}, {"h:1": "closed"}))
    assert model.topics["t"] == told


def test_a_rate_that_no_broker_tells_is_no_zero() -> None:
    model = Model()
    model.apply(server())
    model.apply(BrokerPolled(NOON, A, 1.0, {"brokerActive": "true"}))
    assert (model.rates(), model.puts) == ({}, {})


def test_a_rate_that_was_not_asked_again_is_the_one_of_before() -> None:
    model = Model()
    model.apply(TopicPolled(NOON, "t", put_tps={"b": 3.0}, groups=["g"]))
    model.apply(TopicPolled(NOON + 1, "t"))
    assert (model.topics["t"].put_tps, model.topics["t"].groups) == ({"b": 3.0}, ["g"])


def test_events_of_a_journal_stand_among_what_was_noticed() -> None:
    model = Model()
    model.apply(EventSeen(NOON, "ns-1", "KvPut", "k: new", ["k"]))
    [notice] = model.notices
    assert (notice.kind, notice.names, notice.recorded) == ("KvPut", ("k",), True)
    assert (model.now, model.polls) == (NOON, 1)


def test_what_is_worked_out_is_kept_until_it_is_of_something_else() -> None:
    model, made = Model(), []
    for number in (1, 1, 2, 2):
        model.once("squares", (number,), lambda number=number: made.append(number))  # type: ignore[misc]
    assert made == [1, 2]


def test_an_hour_is_kept_and_not_more() -> None:
    trend = Trend.empty()
    for number in range(1_000):
        trend.add(number, float(number))
    assert (len(trend.times), len(trend.values)) == (720, 720)
    assert (trend.times[0], trend.values[-1]) == (280, 999.0)


def test_topics_that_were_looked_at_last_are_kept() -> None:
    model = Model()
    for number in range(2_500):
        model.apply(TopicPolled(NOON, f"topic-{number}"))
        model.apply(TopicPolled(NOON, "orders"))
    assert len(model.topics) == 2_000
    assert {"orders", "topic-2499"} <= model.topics.keys()
    assert "topic-0" not in model.topics
