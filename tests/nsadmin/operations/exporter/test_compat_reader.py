"""Reads for the metrics of rocketmq-exporter."""

from pathlib import Path

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin.operations.collector.request_pace import RequestPace
from nsadmin.operations.exporter.broker_reader import ReadChoice
from nsadmin.operations.exporter.compat_metrics import COMPAT_METRICS
from nsadmin.operations.exporter.compat_reader import CompatReader
from nsadmin.operations.exporter.figures import ServerIdentity
from tests.support.exporter_series import (
    StoredReads,
    deadline_after,
    open_broker_reader,
    select_series,
    series_of,
)
from tests.support.lab import start_lab

PLAN = FleetPlan(clusters=1, groups=1, replicas=2, topics=12)


def compat(reading: StoredReads) -> CompatReader:
    return CompatReader(reading.reader.admin, reading.store, RequestPace(100_000), ReadChoice())


def test_a_broker_of_the_lab_gives_nearly_all_of_them(tmp_path: Path) -> None:
    with start_lab(tmp_path, PLAN) as running, open_broker_reader() as reading:
        for (name, broker_id), addr in running.brokers.items():
            server = ServerIdentity(addr, "cluster-a", name, str(broker_id))
            assert reading.reader.read_state(server, broker_id == 0, deadline_after())
            assert broker_id or reading.reader.read_topics(server, deadline_after())
            assert compat(reading).read_broker(server, deadline_after())
        series = series_of(reading.store, is_compat=True)
    missing = {metric.name for metric in COMPAT_METRICS} - {name for name, _ in series}
    # Simulated brokers do not count these.
    assert missing == {
        "rocketmq_broker_tps",
        "rocketmq_broker_qps",
        "rocketmq_consumer_message_size",
        "rocketmq_send_back_nums",
    }
    latencies = select_series(series, "rocketmq_group_get_latency_by_storetime")
    assert all(0 <= latency < 3_600_000 for latency in latencies.values())


def test_nothing_of_a_broker_that_does_not_answer_or_not_in_time(dead_addr: str, tmp_path: Path) -> None:
    with open_broker_reader() as reading:
        assert not compat(reading).read_broker(ServerIdentity(dead_addr, "C", "a", "0"), deadline_after())
        assert compat(reading).read_broker(ServerIdentity(dead_addr, "C", "a", "1"), deadline_after())
        assert reading.store.list_readings() == []
        assert [count for source, _, count in reading.store.list_error_counts() if source == "compat"] == [1]
    with start_lab(tmp_path, PLAN) as running, open_broker_reader() as reading:
        addr = running.brokers["broker-a-0", 0]
        assert not compat(reading).read_broker(
            ServerIdentity(addr, "cluster-a", "broker-a-0", "0"), deadline_after(-1)
        )
