"""What logs say that is no event."""

from datetime import datetime

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


def test_sums_of_a_minute_and_no_others(real: Read) -> None:
    minute = datetime(2026, 11, 21, 23, 14)
    found = [(item.ts, item.name, item.topic, item.group, item.sum) for item in real.stats]
    assert found == [
        (minute, "GROUP_GET_LATENCY", "Orders", "billing", 98.0),
        (minute, "TOPIC_PUT_NUMS", "Orders", None, 5.0),
        (minute.replace(minute=15), "BROKER_PUT_NUMS", None, None, 0.0),
    ]
