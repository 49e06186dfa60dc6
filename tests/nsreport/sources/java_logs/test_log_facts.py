"""What logs say that is no event."""

from tests.nsreport.sources.java_logs.conftest import Read


def test_each_scan_of_5_x_is_a_fact(real: Read) -> None:
    assert len(real.facts_of("new", "scan")) == 4


def test_a_4_9_name_server_tells_of_each_registration_of_a_master(real: Read) -> None:
    assert ("broker-b", "127.0.0.1:22270", 1.0) in real.facts_of("old", "registration")


def test_figures_of_each_second_are_one_row_a_minute(real: Read) -> None:
    assert real.facts_of("broker", "waterMark") == [
        ("Lite Pull", "Size", 7.0),
        ("Lite Pull", "SlowTimeMills", 40.0),
    ]
    assert sorted(real.facts_of("new", "traffic")) == [
        ("Request", "103", 1.0), ("Request", "105", 5.0), ("Response", "0", 6.0),
    ]  # fmt: skip


def test_a_broker_tells_where_it_registered(real: Read) -> None:
    assert real.facts_of("broker", "registered") == [(None, "127.0.0.1:9876", 1.0)] * 2
    assert real.facts_of("broker", "notRegistered") == [(None, "127.0.0.1:9877", 1.0)]
    assert real.facts_of("broker", "slaveBehind") == [(None, None, 620.0)]
    assert real.facts_of("broker", "boot") == [("b", "10.0.0.3:10911", 1.0)]


def test_a_broken_frame_has_its_cause(real: Read) -> None:
    [fact] = [item for item in real.facts if item.kind == "decodeError"]
    assert fact.key == "10.0.0.9:4444"
    assert "Adjusted frame length exceeds 16777216: 20000004" in fact.text


def test_complaints_are_those_that_no_rule_knows(real: Read) -> None:
    [fact] = [item for item in real.facts if (item.server, item.kind) == ("rare", "complaint")]
    assert (fact.name, fact.key) == ("ERROR", "main")
    assert fact.text == "something is wrong\njava.lang.NullPointerException: null"


def test_every_line_with_a_time_is_counted(real: Read) -> None:
    assert {name: value for name, _, value in real.facts_of("rare", "lines")} == {
        "INFO": 22.0, "WARN": 6.0, "ERROR": 2.0,
    }  # fmt: skip


def test_a_proxy_tells_of_its_clients_and_of_no_other_proxys(real: Read) -> None:
    """A client of another proxy has no key."""
    came = real.facts_of("proxy", "clientConnected")
    assert ("Bills-consumer", "127.0.0.1@live", 1.0) in came
    assert ("Orders", "vm@15495@2@n026ffan", 1.0) in came
    assert [fact for fact in came if fact[1] is None] == [("bills-group", None, 1.0)]
    assert real.facts_of("proxy", "clientLeft") == [("pop-group", "vm@15495@1@mzxze59x", 1.0)]
    assert sorted(real.facts_of("proxy", "clientLost")) == [
        ("Bills-consumer", "127.0.0.1@live", 1.0),
        ("CLIENT_INNER_PRODUCER", "127.0.0.1@live", 1.0),
        ("orders-group", "127.0.0.1:37856", 1.0),
    ]


def test_a_proxy_tells_of_routes_that_it_could_not_update(real: Read) -> None:
    facts = [fact for fact in real.facts if (fact.server, fact.kind) == ("proxy", "routeFailed")]
    assert [fact.key for fact in facts] == [
        "Orders", "Bills", "broker-a", "%RETRY%Bills-consumer", "DefaultHeartBeatSyncerTopic",
    ]  # fmt: skip
    assert all("connect to 127.0.0.1:20390 failed" in fact.text for fact in facts)


def test_starts_stops_and_errors_of_a_proxy(real: Read) -> None:
    kinds = ("proxyBoot", "proxyShutdown", "syncFailed", "requestFailed")
    assert [len(real.facts_of("proxy", kind)) for kind in kinds] == [2, 1, 1, 1]
    [complaint] = [fact for fact in real.facts if (fact.server, fact.kind) == ("proxy", "complaint")]
    assert complaint.text.startswith("load subscription config failed. consumerGroup:orders-group")


def test_queues_of_a_proxy_have_lengths_and_waiting_times(real: Read) -> None:
    marks = {(name, key): value for name, key, value in real.facts_of("proxy", "waterMark")}
    assert marks["RemotingUpdateOffsetThread", "queueSize"] == 3.0
    assert marks["RemotingTopicRouteThread", "headSlow"] == 173.0
    assert ("Request", "105", 8.0) in real.facts_of("proxy", "traffic")
