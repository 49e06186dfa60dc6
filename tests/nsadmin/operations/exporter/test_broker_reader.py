"""Reads of one broker, simulated or fake."""

from pathlib import Path

from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.protocol.codes import RequestCode
from nsadmin.operations.exporter.broker_reader import ReadChoice
from nsadmin.operations.exporter.figures import ServerIdentity
from nsadmin.operations.exporter.name_filter import NameFilter
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.exported import choose, later, reads
from tests.support.lab import lab
from tests.support.servers import closed_port, refuse, silent

PLAN = FleetPlan(clusters=1, groups=1, replicas=1, topics=6)


def place(addr: str) -> ServerIdentity:
    return ServerIdentity(addr, "C", "a", "0")


def test_a_broker_of_the_lab_gives_all_of_its_figures(tmp_path: Path) -> None:
    with lab(tmp_path, PLAN) as running, reads(ReadChoice(shows_queues=True)) as reading:
        [(name, addr)] = [(name, addr) for (name, _), addr in running.brokers.items()]
        server = ServerIdentity(addr, "cluster-a", name, "0")
        assert reading.reader.read_state(server, True, later())
        assert reading.reader.read_topics(server, later())
        series = reading.series()
    sources = {dict(labels)["source"] for labels in choose(series, "nsadmin_scrape_age_seconds")}
    assert sources == {"up", "runtime", "replication", "groups", "clients", "registration", "topics"}
    for name in (
        "broker_up",
        "group_lag_messages",
        "group_queue_lag_messages",
        "topic_queue_stored_messages",
    ):
        assert choose(series, f"nsadmin_{name}", cluster="cluster-a"), name
    assert choose(series, "nsadmin_read_errors_total") == {}
    topics = {dict(labels)["topic"] for labels in choose(series, "nsadmin_topic_write_queues")}
    assert topics == {dict(labels)["topic"] for labels in choose(series, "nsadmin_topic_stored_messages")}
    assert not any(topic.startswith("rmq_sys") for topic in topics)


def test_the_lag_of_a_group_and_its_clients() -> None:
    with ConsumerBroker() as broker, reads() as reading:
        broker.clients = {"G": ["1@x", "2@x"]}
        reading.reader.read_state(place(broker.addr), True, later())
        series = reading.series()
        assert choose(series, "nsadmin_group_lag_messages", group="G", topic="T").popitem()[1] == 10
        assert choose(series, "nsadmin_group_uncommitted_queues", group="G").popitem()[1] == 1
        assert choose(series, "nsadmin_group_clients", group="G").popitem()[1] == 2
        broker.configs.clear()
        reading.reader.read_state(place(broker.addr), True, later())
        assert choose(reading.series(), "nsadmin_group_lag_messages") == {}
        assert choose(reading.series(), "nsadmin_group_clients") == {}


def test_excluded_groups_are_not_asked() -> None:
    with ConsumerBroker() as broker, reads(ReadChoice(NameFilter((), ("G*",)))) as reading:
        reading.reader.read_state(place(broker.addr), True, later())
        assert RequestCode.GET_CONSUME_STATS not in broker.codes()
        assert choose(reading.series(), "nsadmin_group_lag_messages") == {}


def test_a_dead_broker_is_down_and_gets_one_request(dead_addr: str) -> None:
    with reads() as reading:
        assert not reading.reader.read_state(place(dead_addr), True, later())
        series = reading.series()
    assert choose(series, "nsadmin_broker_up").popitem()[1] == 0
    assert choose(series, "nsadmin_read_errors_total", source="runtime").popitem()[1] == 1


def test_a_broker_that_refuses_is_up() -> None:
    with ConsumerBroker() as broker, reads() as reading:
        broker.handlers[RequestCode.GET_BROKER_RUNTIME_INFO] = refuse(1, "not ready")
        reading.reader.read_state(place(broker.addr), False, later())
        assert choose(reading.series(), "nsadmin_broker_up").popitem()[1] == 1


def test_a_broker_that_falls_silent_keeps_its_earlier_figures() -> None:
    with ConsumerBroker() as broker, reads(timeout=0.3) as reading:
        assert closed_port()
        reading.reader.read_state(place(broker.addr), True, later())
        before = choose(reading.series(), "nsadmin_group_lag_messages")
        assert before
        broker.handlers[RequestCode.GET_CONSUME_STATS] = silent
        assert not reading.reader.read_state(place(broker.addr), True, later())
        assert choose(reading.series(), "nsadmin_group_lag_messages") == before
        broker.handlers[RequestCode.GET_BROKER_RUNTIME_INFO] = silent
        assert not reading.reader.read_state(place(broker.addr), True, later())
        series = reading.series()
        assert choose(series, "nsadmin_group_lag_messages") == before
        assert choose(series, "nsadmin_broker_up").popitem()[1] == 0


def test_a_deadline_that_has_passed_leaves_the_groups_to_the_next_pass() -> None:
    with ConsumerBroker() as broker, reads() as reading:
        assert not reading.reader.read_state(place(broker.addr), True, later(-1))
        assert RequestCode.GET_CONSUME_STATS not in broker.codes()
        assert reading.reader.read_state(place(broker.addr), True, later())
