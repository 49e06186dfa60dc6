"""Reads of one broker, simulated or fake."""

import re
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.operations.exporter.broker_reader import ReadChoice
from nsadmin.operations.exporter.figures import ServerIdentity
from nsadmin.operations.exporter.name_filter import NameFilter
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.exporter_series import deadline_after, open_broker_reader, select_series
from tests.support.fake_servers import Answer, answer_nothing, closed_port, refuse_with
from tests.support.lab import start_lab

PLAN = FleetPlan(clusters=1, groups=1, replicas=1, topics=6)


def place(addr: str) -> ServerIdentity:
    return ServerIdentity(addr, "C", "a", "0")


def test_a_broker_of_the_lab_gives_all_of_its_figures(tmp_path: Path) -> None:
    with start_lab(tmp_path, PLAN) as running, open_broker_reader(ReadChoice(shows_queues=True)) as reading:
        [(name, addr)] = [(name, addr) for (name, _), addr in running.brokers.items()]
        server = ServerIdentity(addr, "cluster-a", name, "0")
        assert reading.reader.read_state(server, True, deadline_after())
        assert reading.reader.read_topics(server, deadline_after())
        series = reading.stored_series()
    sources = {dict(labels)["source"] for labels in select_series(series, "nsadmin_scrape_age_seconds")}
    assert sources == {"up", "runtime", "replication", "groups", "clients", "registration", "topics"}
    for name in (
        "broker_up",
        "group_lag_messages",
        "group_queue_lag_messages",
        "topic_queue_stored_messages",
    ):
        assert select_series(series, f"nsadmin_{name}", cluster="cluster-a"), name
    assert select_series(series, "nsadmin_read_errors_total") == {}
    topics = {dict(labels)["topic"] for labels in select_series(series, "nsadmin_topic_write_queues")}
    assert topics == {
        dict(labels)["topic"] for labels in select_series(series, "nsadmin_topic_stored_messages")
    }
    assert not any(topic.startswith("rmq_sys") for topic in topics)


def test_the_lag_of_a_group_and_its_clients() -> None:
    with ConsumerBroker() as broker, open_broker_reader() as reading:
        broker.clients = {"G": ["1@x", "2@x"]}
        reading.reader.read_state(place(broker.addr), True, deadline_after())
        series = reading.stored_series()
        assert select_series(series, "nsadmin_group_lag_messages", group="G", topic="T").popitem()[1] == 10
        assert select_series(series, "nsadmin_group_uncommitted_queues", group="G").popitem()[1] == 1
        assert select_series(series, "nsadmin_group_clients", group="G").popitem()[1] == 2
        broker.configs.clear()
        reading.reader.read_state(place(broker.addr), True, deadline_after())
        assert select_series(reading.stored_series(), "nsadmin_group_lag_messages") == {}
        assert select_series(reading.stored_series(), "nsadmin_group_clients") == {}


def test_a_broadcasting_group_has_no_lag() -> None:
    with ConsumerBroker() as broker, open_broker_reader() as reading:
        broker.clients, broker.message_model = {"G": ["c1"]}, "BROADCASTING"
        reading.reader.read_state(place(broker.addr), True, deadline_after())
        assert select_series(reading.stored_series(), "nsadmin_group_lag_messages") == {}
        series = select_series(reading.stored_series(), "nsadmin_group_unknown_lag_queues", group="G")
        assert series.popitem()[1] == 2
        broker.clients = {}
        reading.reader.read_state(place(broker.addr), True, deadline_after())
        assert select_series(reading.stored_series(), "nsadmin_group_lag_messages").popitem()[1] == 10


@pytest.mark.parametrize("tps", ["9" * 401, "1e400", '"NaN"', '"word"'])
def test_an_answer_with_a_wrong_number_loses_the_figures_of_its_group_alone(tps: str) -> None:
    with ConsumerBroker() as broker, open_broker_reader() as reading:
        answer = broker.handlers[RequestCode.GET_CONSUME_STATS]
        broker.configs = {group: {"groupName": group} for group in ("F", "G", "H")}
        broker.offsets |= {("F", "T", 0): 80, ("H", "T", 0): 60}

        def answer_oddly(asked: RemotingCommand) -> Answer:
            reply = answer(asked)
            if isinstance(reply, RemotingCommand) and (asked.ext or {})["consumerGroup"] == "F":
                reply.body = re.sub(rb'"consumeTps": *[^,}]+', b'"consumeTps":' + tps.encode(), reply.body)
            return reply

        broker.handlers[RequestCode.GET_CONSUME_STATS] = answer_oddly
        reading.reader.read_state(place(broker.addr), True, deadline_after())
        series = reading.stored_series()
    lags = select_series(series, "nsadmin_group_lag_messages", topic="T")
    assert {dict(labels)["group"] for labels in lags} == {"G", "H"}
    assert select_series(series, "nsadmin_read_errors_total", source="groups").popitem()[1] == 1


def test_excluded_groups_are_not_asked() -> None:
    with ConsumerBroker() as broker, open_broker_reader(ReadChoice(NameFilter((), ("G*",)))) as reading:
        reading.reader.read_state(place(broker.addr), True, deadline_after())
        assert RequestCode.GET_CONSUME_STATS not in broker.asked_codes()
        assert select_series(reading.stored_series(), "nsadmin_group_lag_messages") == {}


def test_a_dead_broker_is_down_and_gets_one_request(dead_addr: str) -> None:
    with open_broker_reader() as reading:
        assert not reading.reader.read_state(place(dead_addr), True, deadline_after())
        series = reading.stored_series()
    assert select_series(series, "nsadmin_broker_up").popitem()[1] == 0
    assert select_series(series, "nsadmin_read_errors_total", source="runtime").popitem()[1] == 1


def test_a_broker_that_refuses_is_up() -> None:
    with ConsumerBroker() as broker, open_broker_reader() as reading:
        broker.handlers[RequestCode.GET_BROKER_RUNTIME_INFO] = refuse_with(1, "not ready")
        reading.reader.read_state(place(broker.addr), False, deadline_after())
        assert select_series(reading.stored_series(), "nsadmin_broker_up").popitem()[1] == 1


def test_a_broker_that_falls_silent_keeps_its_earlier_figures() -> None:
    with ConsumerBroker() as broker, open_broker_reader(timeout=0.3) as reading:
        assert closed_port()
        reading.reader.read_state(place(broker.addr), True, deadline_after())
        before = select_series(reading.stored_series(), "nsadmin_group_lag_messages")
        assert before
        broker.handlers[RequestCode.GET_CONSUME_STATS] = answer_nothing
        assert not reading.reader.read_state(place(broker.addr), True, deadline_after())
        assert select_series(reading.stored_series(), "nsadmin_group_lag_messages") == before
        broker.handlers[RequestCode.GET_BROKER_RUNTIME_INFO] = answer_nothing
        assert not reading.reader.read_state(place(broker.addr), True, deadline_after())
        series = reading.stored_series()
        assert select_series(series, "nsadmin_group_lag_messages") == before
        assert select_series(series, "nsadmin_broker_up").popitem()[1] == 0


def test_a_deadline_that_has_passed_leaves_the_groups_to_the_next_pass() -> None:
    with ConsumerBroker() as broker, open_broker_reader() as reading:
        assert not reading.reader.read_state(place(broker.addr), True, deadline_after(-1))
        assert RequestCode.GET_CONSUME_STATS not in broker.asked_codes()
        assert reading.reader.read_state(place(broker.addr), True, deadline_after())
