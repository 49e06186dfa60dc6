"""/probe: which servers, how long, and what of them."""

from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.transport.metrics_renderer import render_metrics
from nsadmin.operations.exporter import probe
from nsadmin.operations.exporter.cluster_reader import ClusterReader, ReadPlan
from nsadmin.operations.exporter.exposition import build_registry
from nsadmin.operations.exporter.figures import ServerIdentity
from tests.interop.processes import wait_for
from tests.support.exporter_series import Series, cluster_reader, deadline_after, read_series, select_series
from tests.support.lab import start_lab


def test_the_deadline_is_before_the_timeout_of_prometheus() -> None:
    header = "x-prometheus-scrape-timeout-seconds"
    assert probe.choose_deadline({header: "5"}, 100) == 104.5
    assert probe.choose_deadline({header: "600"}, 100) == 109.5
    assert probe.choose_deadline({header: "0.1"}, 100) == 100.5
    assert probe.choose_deadline({}, 100) == probe.choose_deadline({header: "soon"}, 100) == 109.5
    assert probe.choose_deadline({header: "nan"}, 100) == probe.choose_deadline({header: "inf"}, 100) == 109.5


def probed(reader: ClusterReader, addr: str) -> Series:
    reader_found, server = probe.find_target(f"target={addr}", [reader])
    metrics = probe.read_target(reader_found, server, deadline_after())
    return read_series(render_metrics(build_registry(metrics, has_process=False), "")[0].decode())


def test_servers_of_the_cluster_are_probed_and_no_others(tmp_path: Path) -> None:
    plan = FleetPlan(clusters=1, groups=1, replicas=1, topics=3)
    with (
        start_lab(tmp_path, plan) as running,
        cluster_reader(running.namesrv_addr, ReadPlan(0.2, 60), []) as reader,
    ):
        wait_for("the brokers", lambda: reader.has_read)
        [addr] = running.brokers.values()
        series = probed(reader, addr)
        assert select_series(series, "nsadmin_probe_success").popitem()[1] == 1
        assert select_series(series, "nsadmin_group_lag_messages")
        assert select_series(series, "nsadmin_namesrv_up") == {}
        series = probed(reader, running.namesrv_addr)
        assert select_series(series, "nsadmin_namesrv_up").popitem()[1] == 1
        assert select_series(series, "nsadmin_broker_up") == {}
        for query, text in (
            ("", "missing parameter target: pass /probe?target=HOST:PORT"),
            ("target=10.0.0.1:1", 'unknown target "10.0.0.1:1": the page /sd lists all targets'),
            (f"target={addr}&context=prod", f'unknown target "{addr}": the page /sd lists all targets'),
        ):
            with pytest.raises(probe.UnknownTargetError) as raised:
                probe.find_target(query, [reader])
            assert str(raised.value) == text
        running.kill("broker-a-0", 0)
        metrics = probe.read_target(
            reader, ServerIdentity(addr, "cluster-a", "broker-a-0", "0"), deadline_after()
        )
        series = read_series(render_metrics(build_registry(metrics, has_process=False), "")[0].decode())
        assert select_series(series, "nsadmin_probe_success").popitem()[1] == 0
