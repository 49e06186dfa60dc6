"""Whether anything was wrong."""

from datetime import date, datetime, timedelta
from typing import Any

import pytest

from nsreport.presentation import verdict
from nsreport.presentation.pages import ReportSection
from nsreport.reports.catalogue import REPORTS_BY_NAME

DAY, AT = date(2025, 2, 1), datetime(2025, 2, 1, 12)
Row = dict[str, Any]


def sections_of(**rows: list[Row]) -> list[ReportSection]:
    """A page with these rows; the other reports of incidents have none."""
    names = dict.fromkeys(("broker_availability", *verdict.INCIDENT_REPORTS), ())
    return [ReportSection(REPORTS_BY_NAME[name], list(found)) for name, found in (names | rows).items()]


def day(broker: str, down: float = 0, unknown: float = 0, offset: int = 0, cluster: str = "c") -> Row:
    return {
        "date": DAY + timedelta(offset), "cluster": cluster, "brokerName": broker, "brokerId": 0,
        "upSeconds": 80_000.0 - down, "downSeconds": down, "plannedSeconds": 0.0, "unknownSeconds": unknown,
    }  # fmt: skip


def flap(broker: str, minutes: int, outages: int = 1, ongoing: bool = False, cluster: str = "c") -> Row:
    return {
        "cluster": cluster, "brokerName": broker, "brokerId": 0, "ts": AT,
        "endTs": AT + timedelta(minutes=minutes), "ongoing": ongoing, "servers": ["n1", "n2"],
        "outages": outages, "downSeconds": 90.0, "cause": "expired",
    }  # fmt: skip


def difference(broker: str | None, topic: str | None, minute: int = 0, **changed: Any) -> Row:
    return {
        "cluster": "c", "topic": topic, "brokerName": broker, "key": None, "field": "route",
        "ts": AT + timedelta(minutes=minute), "endTs": AT + timedelta(minutes=minute, seconds=9),
        "seconds": 9.0, "ongoing": False, "values": '{"n1": "absent", "n2": "present"}',
    } | changed  # fmt: skip


def answered(**rows: list[Row]) -> tuple[str, str]:
    sections = sections_of(**rows)
    return verdict.answer(sections, verdict.find_incidents(sections))


def subjects(**rows: list[Row]) -> list[str]:
    return [incident.subject for incident in verdict.find_incidents(sections_of(**rows))]


def test_a_quiet_time_is_no_incident_and_says_how_much_nobody_saw() -> None:
    assert answered(broker_availability=[day("a", unknown=5400)]) == (
        "No", "No incident was found. Data about brokers is missing for 1 h 30 min.",
    )  # fmt: skip


def test_what_nobody_looked_at_is_unknown() -> None:
    word, sentence = answered()
    assert word == "Unknown"
    assert "There are no data about brokers." in sentence
    unseen = [day("a") | {"upSeconds": 0.0, "unknownSeconds": 86_400.0}]
    assert answered(broker_availability=unseen)[0] == "Unknown"
    made = [s for s in sections_of(broker_availability=[day("a")]) if s.report.name != "drain_audit"]
    word, sentence = verdict.answer(made, [])
    assert word == "Unknown"
    assert sentence.endswith("Not computed: drain_audit.")


def test_incidents_are_counted_the_open_ones_apart() -> None:
    assert answered(broker_flaps=[flap("a", 9)]) == ("Yes", "1 incident, none still open.")
    found = [flap("a", 9), flap("b", 9, ongoing=True)]
    assert answered(broker_flaps=found) == ("Yes", "2 incidents, 1 still open.")


def test_a_lost_broker_has_a_length_a_cause_and_who_saw_it() -> None:
    [once, often, other] = verdict.find_incidents(
        sections_of(broker_flaps=[flap("a", 5), flap("b", 4, 3), flap("c", 0, 0)])
    )
    assert (once.subject, once.begin, once.seconds) == ("a:0 lost", AT, 300)
    assert (once.cause, once.servers, once.report_name) == ("expired", "n1, n2", "broker_flaps")
    assert often.subject == "b:0 lost 3 times, 1 min 30 s in all"
    assert other.subject == "c:0 address used by another process"


def test_a_stop_during_a_drain_is_planned() -> None:
    def drain(minutes: int | None, outcome: str = "restarted", broker: str = "a") -> Row:
        opened = None if minutes is None else AT + timedelta(minutes=minutes)
        return {"cluster": "c", "brokerName": broker, "ts": AT, "outcome": outcome, "openedTs": opened}

    def lost(*drains: Row) -> list[str]:
        return subjects(broker_flaps=[flap("a", 5)], drain_audit=list(drains))

    assert lost(drain(5)) == lost(drain(None, "holds")) == []
    assert lost(drain(4)) == lost(drain(5, "missed")) == lost(drain(5, broker="b")) == ["a:0 lost"]


def test_open_incidents_come_first_then_the_serious_ones_then_the_longest() -> None:
    assert subjects(
        broker_flaps=[flap("short", 1), flap("long", 9)],
        ns_divergence=[difference(None, None, key="N/K", field="kv", ongoing=True), difference("x", "t", 99)],
    ) == ["KV config of N/K differed", "long:0 lost", "short:0 lost", "route of t differed on x"]


def test_differences_that_begin_together_are_one_incident() -> None:
    assert subjects(ns_divergence=[difference("x", "t"), difference("y", "t")]) == [
        "route of t differed on 2 brokers"
    ]
    mixed = [difference("x", "t"), difference("x", "u"), difference("x", None, key="0", field="brokerAddr")]
    [incident] = verdict.find_incidents(sections_of(ns_divergence=mixed))
    assert incident.subject == "brokerAddr, route of 3 topics or keys differed on x"
    assert (incident.cause, incident.servers, incident.seconds) == ("name servers disagreed", "n1, n2", 9)


def test_differences_about_a_lost_broker_belong_to_its_loss() -> None:
    during, after = difference("a", "t", 2), difference("a", "u", 30)
    found = subjects(broker_flaps=[flap("a", 5)], ns_divergence=[during, after])
    assert found == ["a:0 lost", "route of u differed on a"]


def test_an_undone_drain_is_one_incident_for_all_name_servers() -> None:
    row = {
        "cluster": "c", "brokerName": "a", "ts": AT, "outcome": "undone", "openedTs": AT + timedelta(hours=1),
        "openedType": "TopicsChanged", "openedCause": "REGISTER_BROKER",
    }  # fmt: skip
    rows = [row | {"server": "n1"}, row | {"server": "n2"}, row | {"server": "n3", "outcome": "holds"}]
    [incident] = verdict.find_incidents(sections_of(drain_audit=rows))
    assert incident[:6] == (
        AT + timedelta(hours=1), None, False,
        "drain of a undone", "TopicsChanged by REGISTER_BROKER", "n1, n2",
    )  # fmt: skip
    assert incident.seconds is None


def test_pauses_of_name_servers_are_incidents_and_silences_of_brokers_are_not() -> None:
    pause = {
        "cluster": "-", "brokerName": None, "server": "n1", "ts": AT, "endTs": AT + timedelta(seconds=90),
        "outcome": "resumed",
    }  # fmt: skip
    assert subjects(heartbeat_gaps=[pause, pause | {"brokerName": "a"}]) == ["name server n1 paused"]


def test_a_group_is_stuck_from_its_first_day_to_its_last() -> None:
    def lag(offset: int, trend: str, group: str = "g") -> Row:
        return {
            "date": DAY + timedelta(offset), "cluster": "c", "consumerGroup": group, "topic": "t",
            "trend": trend,
        }  # fmt: skip

    rows = [lag(0, "stuck"), lag(1, "stuck"), lag(2, "steady"), lag(2, "stuck", "h")]
    still, over = verdict.find_incidents(sections_of(consumer_lag_trend=rows))
    assert (still.subject, still.is_open) == ("group h stuck on t", True)
    assert (over.subject, over.is_open, over.seconds) == ("group g stuck on t", False, 2 * 86_400)


def test_where_a_page_has_several_clusters_incidents_name_theirs() -> None:
    days = [day("a", cluster=cluster) for cluster in "cd"]
    flaps = [flap("a", 2, cluster="d"), flap("b", 1, cluster="-")]
    assert subjects(broker_availability=days, broker_flaps=flaps) == ["d: a:0 lost", "b:0 lost"]


def test_the_worst_broker_and_its_worst_day_come_first() -> None:
    days = [day("a", 10), day("b", 5), day("b", 20, offset=1), day("good")]
    (first, first_days), (second, _) = verdict.rank_brokers(sections_of(broker_availability=days))
    assert (first, second) == ("b:0", "a:0")
    assert first_days[0] is days[2]
    assert verdict.compute_availability(first_days) == 99.984


def test_the_day_that_lacks_most_data_comes_first() -> None:
    days = [
        day("a", unknown=1),
        day("a", unknown=5, offset=1),
        day("b", unknown=9, offset=1),
        day("a", 0, 0, 2),
    ]
    found = verdict.rank_unknown_days(sections_of(broker_availability=days))
    assert [(at.day, rows[0]["brokerName"], len(rows)) for at, rows in found] == [(2, "b", 2), (1, "a", 1)]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"), (0.2, "less than 1 s"), (59.6, "1 min"), (90, "1 min 30 s"), (3_600, "1 h"),
        (4_890, "1 h 21 min"), (86_400, "1 d"), (183_600, "2 d 3 h"), (100_000_000, "1,157 d 9 h"),
    ],
)  # fmt: skip
def test_lengths_are_for_readers(seconds: float, text: str) -> None:
    assert verdict.format_seconds(seconds) == text
