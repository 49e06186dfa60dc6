"""The latest readings of a cluster."""

from nsadmin.operations.exporter.figures import Reading, ServerIdentity
from nsadmin.operations.exporter.reading_store import ReadingStore
from tests.support.exporter_series import BROKER

SLAVE = ServerIdentity("h:2", "C", "a", "1")


def stored(*readings: Reading) -> ReadingStore:
    store = ReadingStore()
    for reading in readings:
        store.put_reading(reading)
    return store


def places(store: ReadingStore) -> list[tuple[str, str]]:
    return [(reading.source, reading.server.address) for reading in store.list_readings()]


def test_the_latest_reading_of_a_source_counts() -> None:
    store = stored(Reading("up", BROKER, 1.0), Reading("up", BROKER, 2.0))
    reading = store.find_reading("up", "h:1")
    assert reading is not None
    assert reading.read_at == 2.0
    assert store.find_reading("groups", "h:1") is None


def test_brokers_that_are_listed_no_more_are_forgotten_and_name_servers_stay() -> None:
    store = stored(
        Reading("up", BROKER, 1.0), Reading("up", SLAVE, 1.0), Reading("tables", ServerIdentity("n:1"), 1.0)
    )
    store.count_error("groups", SLAVE)
    store.retain_brokers([BROKER], {"h:1"})
    assert places(store) == [("tables", "n:1"), ("up", "h:1")]
    assert store.list_error_counts() == []


def test_a_slave_that_is_no_longer_the_first_of_its_name_reports_no_groups() -> None:
    store = stored(Reading("groups", SLAVE, 1.0), Reading("up", SLAVE, 1.0))
    store.retain_brokers([BROKER, SLAVE], {"h:1"})
    assert places(store) == [("up", "h:2")]


def test_a_broker_that_moved_to_another_name_starts_anew() -> None:
    store = stored(Reading("up", BROKER, 1.0))
    store.retain_brokers([ServerIdentity("h:1", "C", "b", "0")], {"h:1"})
    assert places(store) == []


def test_old_readings_expire_by_source() -> None:
    store = stored(
        Reading("up", BROKER, 10.0), Reading("topics", BROKER, 10.0), Reading("drains", BROKER, 0.0)
    )
    store.expire_readings({"up": 60.0, "topics": 120.0}, 71.0)
    assert places(store) == [("drains", "h:1"), ("topics", "h:1")]


def test_errors_and_passes_are_counted() -> None:
    store = ReadingStore()
    store.count_error("up", BROKER)
    store.count_error("up", BROKER)
    assert store.list_error_counts() == [("up", BROKER, 2)]
    store.record_pass("brokers", 1.5, 2)
    store.record_pass("brokers", 0.5, 0)
    assert store.list_pass_results() == {"brokers": (0.5, 0, 2)}
