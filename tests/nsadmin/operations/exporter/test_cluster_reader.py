"""Passes over a cluster in the lab."""

from concurrent.futures import CancelledError
from pathlib import Path
from threading import Event

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin.operations.exporter.cluster_reader import ReadPlan
from nsadmin.operations.exporter.server_lanes import ServerLanes
from tests.interop.processes import wait_for
from tests.support.exporter_series import Series, cluster_reader, select_series, series_of
from tests.support.lab import start_lab

PLAN = FleetPlan(clusters=1, groups=2, replicas=2, topics=6)
FAST = ReadPlan(0.2, 0.3, 5000)


def test_every_broker_is_read_and_a_dead_one_is_reported_once(tmp_path: Path) -> None:
    messages: list[str] = []
    with (
        start_lab(tmp_path, PLAN, name_servers=2) as running,
        cluster_reader(running.namesrv_addr, FAST, messages) as reader,
    ):

        def series() -> Series:
            return series_of(reader.store)

        def counts(up: int, down: int) -> bool:
            values = list(select_series(series(), "nsadmin_broker_up").values())
            return (values.count(1), values.count(0)) == (up, down)

        wait_for("all brokers", lambda: counts(4, 0))
        wait_for("the pass", lambda: reader.has_read)
        assert reader.name_servers == running.namesrv_addrs
        wait_for(
            "topics",
            lambda: select_series(series(), "nsadmin_topic_stored_messages", broker="broker-a-1"),
        )
        wait_for("slaves", lambda: len(select_series(series(), "nsadmin_broker_slave_distance_bytes")) == 2)
        wait_for(
            "the comparison",
            lambda: select_series(series(), "nsadmin_namesrv_differences", state="drift"),
        )
        assert set(select_series(series(), "nsadmin_namesrv_up").values()) == {1.0}

        def lagging_brokers() -> set[str]:
            return {
                dict(labels)["broker"] for labels in select_series(series(), "nsadmin_group_lag_messages")
            }

        wait_for("the lag on both", lambda: lagging_brokers() == {"broker-a-0", "broker-a-1"})
        running.kill("broker-a-1", 1)
        # The name servers take it out at once, because its connection is closed.
        wait_for("its end", lambda: counts(3, 0) or counts(3, 1))
        wait_for(
            "its series to go",
            lambda: not select_series(series(), "nsadmin_broker_info", broker="broker-a-1", id="1"),
        )
    assert len(messages) <= 2


def test_name_servers_that_do_not_answer_are_down_and_reported_once(dead_addr: str) -> None:
    messages: list[str] = []
    with cluster_reader(dead_addr, FAST, messages) as reader:
        wait_for("the passes", lambda: reader.store.list_pass_results().get("brokers", (0, 0, 0))[2] > 2)
        series = series_of(reader.store)
    assert list(select_series(series, "nsadmin_namesrv_up").values()) == [0]
    assert messages == []


def test_a_pass_that_the_stop_breaks_off_is_no_failure(
    dead_addr: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_running, is_stopped = Event(), Event()

    def run_pass(*_: object) -> int:
        is_running.set()
        is_stopped.wait(30)
        raise CancelledError

    monkeypatch.setattr(ServerLanes, "run_pass", run_pass)
    monkeypatch.setattr(ServerLanes, "close", lambda _: is_stopped.set())
    messages: list[str] = []
    with cluster_reader(dead_addr, FAST, messages):
        assert is_running.wait(30)
    assert messages == []
