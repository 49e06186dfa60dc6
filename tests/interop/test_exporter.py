"""`nsadmin exporter` on a real cluster: its figures are those of the commands, also with a frozen broker."""

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from nsadmin.operations.exporter.compat_metrics import COMPAT_METRICS
from nsadmin.operations.exporter.metric_registry import METRICS
from tests.interop import command_line, wire
from tests.interop.cluster import create_topic, wait_for_broker, wait_for_topic
from tests.interop.command_line import ENVIRONMENT
from tests.interop.daily import commit
from tests.interop.java_parts import JavaBroker, LiveClients, Running
from tests.interop.our_server import OurNameServer
from tests.interop.processes import Child, wait_for
from tests.support.metric_samples import parse_families

TOPIC = "Exported"
GROUP = f"{TOPIC}-consumer"
UNSEEN_HERE = {
    # Brokers count these once a minute.
    *(metric.name for metric in COMPAT_METRICS if "_pmdt_" in metric.name),
    # No slave, one name server, no proxy, and no message that a consumer sent back.
    "rocketmq_broker_commitlog_diff",
    "rocketmq_send_back_nums",
    "nsadmin_broker_slave_distance_bytes",
    "nsadmin_namesrv_differences",
    *(metric.name for metric in METRICS if metric.subject == "proxies"),
    "nsadmin_drain_start_time_seconds",
}
SAMPLED = {
    # Brokers sample counters every 10 s. A consumer commits the offset of its retry topic after as long.
    "rocketmq_group_retrydiff",
    "rocketmq_broker_tps",
    "rocketmq_broker_qps",
    "rocketmq_producer_tps",
    "rocketmq_producer_message_size",
    "rocketmq_consumer_tps",
    "rocketmq_consumer_message_size",
}
Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


class Exporter(Running):
    """An exporter of one cluster with all options that add series."""

    def __init__(self, home: Path, namesrv: str, *options: str) -> None:
        self._home, self._namesrv, self._options = home, namesrv, options

    def start(self) -> None:
        command = [sys.executable, "-m", "nsadmin", "exporter", "-n", self._namesrv, "--http", "0"]
        state = {"NSADMIN_STATE": str(self._home / "state")}
        self.child = Child([*command, *self._options], self._home / "log", env={**ENVIRONMENT, **state})
        line = self.child.wait_for_line("serving", 30)
        address_match = re.search(r"http://\S+(?=/metrics)", line)
        assert address_match is not None, line
        self.url = address_match[0]
        # A client loads certificates when it is made.
        self._http = httpx.Client(timeout=10)

    def kill(self) -> None:
        self._http.close()
        super().kill()

    def page(self, path: str, **headers: str) -> httpx.Response:
        return self._http.get(self.url + path, headers=headers)

    def series(self, path: str = "/metrics") -> Series:
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in parse_families(self.page(path).text).values()
            for sample in family.samples
        }


class Cluster(NamedTuple):
    server: OurNameServer
    brokers: tuple[JavaBroker, JavaBroker]
    clients: LiveClients
    exporter: Exporter

    def rows(self, *words: str) -> list[dict[str, object]]:
        result = command_line.nsadmin(self.server.address, "--timeout", "10", *words)
        assert result.code == 0, result.err
        result_rows: list[dict[str, object]] = result.rows
        return result_rows


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("exporter")
    with (
        OurNameServer(home / "ns") as server,
        JavaBroker(home / "a", [server.address], name="broker-a") as first,
        JavaBroker(home / "b", [server.address], name="broker-b") as second,
    ):
        for broker in (first, second):
            wait_for_broker([server], broker.name)
            create_topic(broker.port, TOPIC, queues=2)
            create_topic(broker.port, f"%DLQ%{GROUP}", queues=1)
        wait_for_topic([server], TOPIC)
        options = ("--interval", "3s", "--topic-interval", "6s", "--per-queue", "--compat", "--rate", "1000")
        with (
            LiveClients(home / "clients", server.address, TOPIC) as clients,
            Exporter(home / "exporter", server.address, *options, "--timeout", "8") as exporter,
        ):
            yield Cluster(server, (first, second), clients, exporter)


def choose(series: Series, name: str, **labels: str) -> dict[frozenset[tuple[str, str]], float]:
    return {
        sample_labels: value
        for (found_name, sample_labels), value in series.items()
        if found_name == name and labels.items() <= dict(sample_labels).items()
    }


def total(series: Series, name: str, **labels: str) -> float | None:
    values = choose(series, name, **labels).values()
    return sum(values) if values else None


def wait_until(cluster: Cluster, what: str, is_so: Callable[[Series], bool], timeout: float = 60) -> Series:
    """The series of the first page of which it is so."""

    def page() -> Series | None:
        series = cluster.exporter.series()
        return series if is_so(series) else None

    return wait_for(what, page, timeout, interval=1)


def wait_for_metrics(cluster: Cluster, expected: set[str]) -> Series:
    deadline = time.monotonic() + 90
    series = cluster.exporter.series()
    while missing := expected - {name for name, _ in series}:
        assert time.monotonic() < deadline, sorted(missing)
        time.sleep(1)
        series = cluster.exporter.series()
    return series


def test_each_metric_of_ours_and_of_rocketmq_exporter_has_series(cluster: Cluster) -> None:
    cluster.clients.order("send 20")
    cluster.clients.order("wait 20")
    commit(cluster.brokers[0], "beyond", TOPIC, {0: 99})
    expected = {metric.name for metric in (*METRICS, *COMPAT_METRICS)} - UNSEEN_HERE - SAMPLED
    series = wait_for_metrics(cluster, expected)
    assert total(series, "nsadmin_group_clients", group=GROUP) == 1
    assert total(series, "rocketmq_group_count", group=GROUP) == 1
    assert total(series, "nsadmin_group_unknown_lag_queues", group="beyond", reason="beyond_end") == 1
    assert total(series, "nsadmin_producer_clients", group=f"{TOPIC}-producer") == 1
    assert total(series, "nsadmin_clients", kind="consumer", language="JAVA", version="V5_5_0") == 1
    for metric in (*METRICS, *COMPAT_METRICS):
        for labels in choose(series, metric.name):
            assert {name for name, _ in labels} == set(metric.labels), metric.name


def sums(rows: list[dict[str, object]], column: str, **wanted: str) -> float:
    return sum(float(str(row[column])) for row in rows if wanted.items() <= row.items())


def test_the_figures_are_those_of_the_commands(cluster: Cluster) -> None:
    cluster.clients.order("leave")
    cluster.clients.order("send 30")
    lag = {"group": GROUP, "topic": TOPIC}
    wait_until(
        cluster,
        "the lag",
        lambda series: (
            total(series, "nsadmin_group_lag_messages", **lag) == 30
            and total(series, "nsadmin_topic_put_messages_total", topic=TOPIC) == 50
            and total(series, "rocketmq_group_diff", **lag) == 30
        ),
    )
    progress = cluster.rows("consumerProgress", GROUP)
    offsets = cluster.rows("topicStatus", TOPIC)
    expected_values: list[Expected] = []
    for broker in ("broker-a", "broker-b"):
        place, topic_place = {"broker": broker, **lag}, {"broker": broker, "topic": TOPIC}
        topic_labels = {"brokerName": broker, "topic": TOPIC}
        behind, consumed = (
            sums(progress, "lag", **topic_labels),
            sums(progress, "consumerOffset", **topic_labels),
        )
        stored = sums(offsets, "maxOffset", **topic_labels)
        expected_values += [
            ("nsadmin_group_lag_messages", place, behind),
            ("nsadmin_group_queue_lag_messages", place, behind),
            ("nsadmin_group_committed_messages", place, consumed),
            ("rocketmq_consumer_offset", place, consumed),
            ("nsadmin_topic_put_messages_total", topic_place, stored),
            ("nsadmin_topic_queue_put_messages_total", topic_place, stored),
            ("rocketmq_producer_offset", topic_place, stored),
        ]
    for row in cluster.rows("registrationSize"):
        labels = {"broker": str(row["brokerName"])}
        expected_values.append(("nsadmin_broker_registration_bytes", labels, float(str(row["bytes"]))))
    expected_values += list_runtime_values(cluster)
    expected_values.append(("nsadmin_group_clients", {"group": GROUP}, 0))
    found: dict[str, float | None] = {}

    def has_all(series: Series) -> bool:
        # The passes over groups and topics end at different times.
        found.update(
            (f"{name} {labels}", total(series, name, **labels)) for name, labels, _ in expected_values
        )
        return [*found.values()] == [value for _, _, value in expected_values]

    try:
        wait_until(cluster, "all figures", has_all)
    except TimeoutError:
        assert found == {f"{name} {labels}": value for name, labels, value in expected_values}


Expected = tuple[str, Mapping[str, str], float]
"""A metric, the labels of its series, and the sum of their values."""


def list_runtime_values(cluster: Cluster) -> Iterator[Expected]:
    names = {
        "nsadmin_broker_commit_log_max_offset_bytes": "commitLogMaxOffset",
        "nsadmin_broker_put_messages_total": "msgPutTotalTodayNow",
        "rocketmq_brokeruntime_commitlog_maxoffset": "commitLogMaxOffset",
        "rocketmq_brokeruntime_msg_put_total_today_now": "msgPutTotalTodayNow",
    }
    for broker in cluster.brokers:
        runtime = {row["key"]: row["value"] for row in cluster.rows("brokerStatus", "-b", broker.address)}
        for name, key in names.items():
            label = {"brokerIP": broker.address} if name.startswith("rocketmq") else {"broker": broker.name}
            yield name, label, float(str(runtime[key]))


def test_a_deleted_group_has_no_series_after_the_next_pass(cluster: Cluster) -> None:
    doomed = "doomed"
    cluster.rows("updateSubGroup", doomed, "-c", "DefaultCluster", "--yes")
    for broker in cluster.brokers:
        offset = {"consumerGroup": doomed, "topic": TOPIC, "queueId": "0", "commitOffset": "1"}
        assert wire.ask(broker.port, 15, offset).code == 0
    wait_until(
        cluster, "the group", lambda now: len(choose(now, "nsadmin_group_lag_messages", group=doomed)) == 2
    )
    cluster.rows("deleteSubGroup", doomed, "-c", "DefaultCluster", "-r", "true", "--yes")
    passes = total(cluster.exporter.series(), "nsadmin_passes_total", **{"pass": "brokers"}) or 0

    def has_passed(series: Series) -> bool:
        # The pass that ran during the deletion may have read the group before.
        is_finished = total(series, "nsadmin_pass_unfinished_servers", **{"pass": "brokers"}) == 0
        return (
            total(series, "nsadmin_passes_total", **{"pass": "brokers"}) or 0
        ) >= passes + 2 and is_finished

    series = wait_until(cluster, "the next pass", has_passed)
    for name in ("nsadmin_group_lag_messages", "nsadmin_group_queue_lag_messages", "nsadmin_group_clients"):
        assert choose(series, name, group=doomed) == {}


def test_a_frozen_broker_delays_only_its_own_figures(cluster: Cluster) -> None:
    healthy, frozen = cluster.brokers
    wait_until(cluster, "the broker", lambda now: total(now, "nsadmin_broker_up", broker=frozen.name) == 1)
    said_before = len(cluster.exporter.child.output)
    os.kill(frozen.child.pid, signal.SIGSTOP)
    try:
        moments: list[float] = []
        # One refresh may be under way. If others waited for the broker, the next one would wait for its
        # timeout of 8 s.
        while len(moments) < 3:
            series = cluster.exporter.series()
            assert total(series, "nsadmin_broker_up", broker=frozen.name) == 1, moments
            age_label = {"broker": healthy.name, "source": "groups"}
            for age in choose(series, "nsadmin_scrape_age_seconds", **age_label).values():
                if not moments or time.monotonic() - age > moments[-1] + 0.5:
                    moments.append(time.monotonic() - age)
            time.sleep(0.5)
        assert total(series, "nsadmin_broker_up", broker=healthy.name) == 1
        # The exporter reports it at the end of its pass.
        report = f"1 of 2 brokers do not answer: DefaultCluster/{frozen.name}/0"
        wait_for("the report", lambda: report in cluster.exporter.child.output[said_before:], interval=0.5)
    finally:
        os.kill(frozen.child.pid, signal.SIGCONT)
    wait_until(cluster, "the broker", lambda now: total(now, "nsadmin_broker_up", broker=frozen.name) == 1)
    assert cluster.exporter.child.output[said_before:].count(report) == 1


def test_other_pages(cluster: Cluster) -> None:
    exporter, (first, _) = cluster.exporter, cluster.brokers
    probe = exporter.series(f"/probe?target={first.address}")
    assert total(probe, "nsadmin_probe_success") == 1
    assert total(probe, "nsadmin_broker_up") == 1
    assert total(exporter.series(f"/probe?target={cluster.server.address}"), "nsadmin_namesrv_up") == 1
    assert exporter.page("/probe?target=127.0.0.1:1").status_code == 404
    targets: list[Mapping[str, object]] = exporter.page("/sd").json()
    assert targets == command_line.nsadmin(cluster.server.address, "discovery", "prometheus").rows
    assert [group["targets"] for group in targets] == [
        [server] for server in (cluster.server.address, *(broker.address for broker in cluster.brokers))
    ]
    openmetrics = exporter.page("/metrics", Accept="application/openmetrics-text; version=1.0.0")
    assert openmetrics.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    assert openmetrics.text.endswith("# EOF\n")
    assert (exporter.page("/healthz").text, exporter.page("/readyz").text) == ("ok\n", "ready\n")
