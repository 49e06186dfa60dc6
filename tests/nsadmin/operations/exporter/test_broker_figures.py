"""Figures of a broker from its answers."""

import pytest

from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.replication import HaStatus, SlaveLink
from nsadmin.operations.broker_disks import parse_disk_capacity, parse_size
from nsadmin.operations.exporter.broker_figures import (
    build_replication_table,
    build_runtime_tables,
)
from nsadmin.operations.exporter.figures import FigureTable
from tests.support.exporter_series import BROKER

TABLE = {
    "brokerVersionDesc": "V5_5_0", "bootTimestamp": "1700000000250", "brokerActive": "true",
    "putTps": "1.5 2 3", "getTransferredTps": "4.5 1 1", "msgPutTotalTodayNow": "12",
    "msgGetTotalTodayNow": "11",
    "commitLogDiskRatio": "0.35", "dispatchBehindBytes": "7", "earliestMessageTimeStamp": "1690000000000",
    "commitLogDirCapacity": "Total : 500.0 GiB, Free : 1.5 TiB.", "remainHowManyDataToFlush": "2.5 KiB",
    "sendThreadPoolQueueSize": "3", "sendThreadPoolQueueCapacity": "10000",
    "sendThreadPoolQueueHeadWaitTimeMills": "250", "putLatency99": "1.84", "putMessageSizeTotal": "4096",
}  # fmt: skip


def figures_of(tables: tuple[FigureTable, ...]) -> dict[str, dict[tuple[str, ...], float | None]]:
    return {
        name: {labels: figures[index] for labels, figures in table.rows}
        for table in tables
        for index, name in enumerate(table.metric_names)
    }


def test_the_runtime_figures_in_the_units_of_their_names() -> None:
    figures = figures_of(build_runtime_tables(BROKER, RuntimeInfo(TABLE)))
    expected = {
        "boot_time_seconds": 1_700_000_000.25, "active": 1, "put_messages_total": 12,
        "get_messages_total": 11, "put_bytes_total": 4096, "put_messages_per_second": 1.5,
        "get_messages_per_second": 4.5,
        "commit_log_disk_used_ratio": 0.35, "dispatch_behind_bytes": 7, "unflushed_bytes": 2560,
        "oldest_message_time_seconds": 1_690_000_000, "commit_log_disk_size_bytes": 500 * 1024**3,
        "commit_log_disk_free_bytes": 1.5 * 1024**4,
    }  # fmt: skip
    for name, figure in expected.items():
        assert figures[f"nsadmin_broker_{name}"] == {("C", "a", "0"): figure}, name
    assert figures["nsadmin_broker_info"] == {("C", "a", "0", "h:1", "V5_5_0"): 1}
    assert figures["nsadmin_broker_put_latency_seconds"][("C", "a", "0", "99")] == pytest.approx(0.00184)
    send = ("C", "a", "0", "send")
    assert figures["nsadmin_broker_waiting_requests"] == {send: 3}
    assert figures["nsadmin_broker_waiting_requests_limit"] == {send: 10_000}
    assert figures["nsadmin_broker_request_wait_seconds"] == {send: 0.25}


def test_a_german_broker_has_the_same_figures() -> None:
    german = {
        **TABLE, "commitLogDirCapacity": "Total : 500,0 GiB, Free : 1,5 TiB.",
        "remainHowManyDataToFlush": "2,5 KiB", "putLatency99": "1,84",
    }  # fmt: skip
    assert build_runtime_tables(BROKER, RuntimeInfo(german)) == build_runtime_tables(
        BROKER, RuntimeInfo(TABLE)
    )


def test_what_a_release_does_not_report_is_not_known_and_never_0() -> None:
    values = figures_of(build_runtime_tables(BROKER, RuntimeInfo({"earliestMessageTimeStamp": "-1"})))
    del values["nsadmin_broker_info"]
    assert {figure for figures in values.values() for figure in figures.values()} == {None}


def test_only_masters_have_slaves() -> None:
    link = SlaveLink("h:2", 10, 5, True, 0, 0)
    master = build_replication_table(BROKER, HaStatus(True, 15, 1, (link,), None))
    assert master.rows == [(("C", "a", "0"), (1.0, 1.0))]
    assert build_replication_table(BROKER, HaStatus(False, None, None, (), None)).rows == []


def test_sizes_as_brokers_write_them() -> None:
    assert (parse_size("0 B"), parse_size("1.5 MiB"), parse_size("none")) == (0, 1.5 * 1024**2, None)
    assert parse_disk_capacity("Total : 1.0 KiB, Free : 512 B.") == {"Total": 1024, "Free": 512}
    assert parse_disk_capacity("") == {}
