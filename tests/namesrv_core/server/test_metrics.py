"""Metrics of a running name server: what is counted, what is known, and how much of it at most."""

import json
import logging
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from namesrv_core.server import metrics, name_server, tls_certificates
from namesrv_core.server.counters import Histogram, LatestRegistration
from namesrv_core.server.log import LogWriter, log
from namesrv_core.server.metrics import METRIC_PREFIX
from namesrv_core.state.broker_tables import LiveBroker, RegisteredGroup
from namesrv_core.state.refusals import RefusalReason
from namesrv_core.state.tls_settings import TlsSettings
from tests.support.certificates import Authority
from tests.support.http import fetch_page
from tests.support.metric_samples import ScrapedSamples, parse_families
from tests.support.name_servers import Peer, run_on_loop, start_name_server, wait_until
from tests.support.wire import broker_ext, registration_body

BODY = registration_body(["T", "U"])
HTTP = {"httpAddress": "127.0.0.1:0"}
ROOT = Path(__file__).parents[3]


async def test_a_scrape_tells_what_was_asked_answered_and_registered(tmp_path: Path) -> None:
    async with start_name_server(tmp_path, **HTTP) as server, Peer.connect(server.namesrv_addr) as peer:
        await peer.send_request(103, broker_ext("a", 0, "127.0.0.1:1"), BODY)
        await peer.send_request(105, {"topic": "T"})
        await peer.send_request(105, {"topic": "none"})
        await peer.send_request(12345)
        await peer.send_request(100, {"namespace": "n", "key": "k", "value": "v"})
        scraped = ScrapedSamples(
            (await fetch_page(server.state.actual_settings["httpAddress"], "/metrics")).text
        )
    count = "requests_total"
    assert scraped(count, request="REGISTER_BROKER", code="SUCCESS") == 1
    assert scraped(count, request="GET_ROUTEINFO_BY_TOPIC", code="SUCCESS") == 1
    assert scraped(count, request="GET_ROUTEINFO_BY_TOPIC", code="TOPIC_NOT_EXIST") == 1
    assert scraped(count, request="unknown", code="REQUEST_CODE_NOT_SUPPORTED") == 1
    assert scraped(count, request="WIPE_WRITE_PERM_OF_BROKER", code="SUCCESS") == 0
    route = {"request": "GET_ROUTEINFO_BY_TOPIC"}
    assert scraped("request_duration_seconds_count", **route) == 2
    assert scraped("request_duration_seconds_bucket", le="+Inf", **route) == 2
    assert 0 < (scraped("request_duration_seconds_sum", **route) or 0) < 10
    assert scraped("ready") == 1
    assert scraped("connections") == scraped("connections_opened_total") == 1
    assert scraped("clusters") == 1
    assert scraped("brokers", cluster="c", role="master", state="heard") == 1
    assert scraped("broker_groups_without_master", cluster="c") == 0
    assert scraped("topics") == 2
    assert scraped("kv_entries") == 1
    assert (scraped("route_changes_total") or 0) > 0
    broker = {"cluster": "c", "broker": "a", "id": "0"}
    assert 0 <= (scraped("broker_heard_seconds", **broker) or 0) < 10
    assert scraped("broker_timeout_seconds", **broker) == 120
    assert scraped("broker_registration_bytes", **broker) == len(BODY)
    assert 0 <= (scraped("broker_registration_age_seconds", **broker) or 0) < 10
    assert scraped("registration_bytes_sum") == len(BODY)
    assert scraped("events_total", event="BrokerRegistered") == 1
    assert scraped("events_total", event="KvPut") == 1
    assert scraped("journal_up") is None
    assert (scraped("event_loop_lag_seconds_bucket", le="+Inf") or 0) >= 0


async def test_brokers_that_left_are_counted_by_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_server, "FIRST_SCAN_SECONDS", 0.02)
    async with (
        start_name_server(tmp_path, scanNotActiveBrokerInterval=20) as server,
        Peer.connect(server.namesrv_addr) as peer,
    ):
        await peer.send_request(103, broker_ext("a", 0, "127.0.0.1:1"), BODY)
        await peer.send_request(104, broker_ext("a", 0, "127.0.0.1:1"))
        async with Peer.connect(server.namesrv_addr) as other:
            await other.send_request(103, broker_ext("b", 0, "127.0.0.1:2"), BODY)
        await peer.send_request(
            103, broker_ext("d", 0, "127.0.0.1:3") | {"heartbeatTimeoutMillis": "1"}, BODY
        )
        await wait_until(lambda: not server.state.tables.broker_groups)
        scraped = ScrapedSamples.scrape_server(server)
        for reason in ("unregistered", "channel closed", "expired"):
            assert scraped("brokers_left_total", reason=reason) == 1


async def test_connections_that_are_closed_from_here_are_counted_by_why(tmp_path: Path) -> None:
    async with (
        start_name_server(tmp_path, serverChannelMaxIdleTimeSeconds=1) as server,
        Peer.connect(server.namesrv_addr) as idle,
        Peer.connect(server.namesrv_addr) as bad,
    ):
        bad.send(b"GET / HTTP/1.1\r\n\r\n")
        assert await bad.is_closed()
        assert await idle.is_closed()
        await wait_until(lambda: not server.open_streams)
        scraped = ScrapedSamples.scrape_server(server)
        assert scraped("connections_closed_total", reason="unintelligible") == 1
        assert scraped("connections_closed_total", reason="idle") == 1
        assert (scraped("connections"), scraped("connections_opened_total")) == (0, 2)


async def test_a_journal_tells_how_it_is(tmp_path: Path) -> None:
    async with start_name_server(tmp_path, journalDir=str(tmp_path / "j")) as server:
        scraped = ScrapedSamples.scrape_server(server)
        assert scraped("journal_up") == 1
        assert (scraped("journal_records_total") or 0) >= 3
        assert scraped("journal_lost_events_total") == 0


async def test_whatever_brokers_make_up_there_are_only_so_many_series(tmp_path: Path) -> None:
    async with start_name_server(tmp_path) as server:
        tables, now = server.state.tables, server.now_ms()
        for number in range(2000):
            cluster, addr = f"cluster-{number % 100}", f"10.0.0.1:{number}"
            group = tables.broker_groups[f"b{number}"] = RegisteredGroup(cluster, f"b{number}")
            group.broker_addrs[number % 2] = addr
            tables.broker_names_by_cluster.setdefault(cluster, {})[group.broker_name] = None
            tables.live_brokers[cluster, addr] = LiveBroker(now, 120_000, None, number, None)
            server.counters.latest_registrations[cluster, addr] = LatestRegistration(1, now)
        scraped = ScrapedSamples.scrape_server(server)
        assert len(scraped.series_of("broker_heard_seconds")) == metrics.MAX_SHOWN_BROKERS
        assert scraped("brokers_not_shown") == 2000 - metrics.MAX_SHOWN_BROKERS
        clusters = {dict(labels)["cluster"] for labels in scraped.series_of("brokers")}
        assert len(clusters) == metrics.MAX_SHOWN_CLUSTERS + 1
        assert sum(scraped.series_of("brokers").values()) == 2000
        assert sum(scraped.series_of("broker_groups_without_master").values()) == 1000
        assert len(scraped.values) < 4 * metrics.MAX_SHOWN_BROKERS + 1000


@pytest.mark.parametrize(
    "name", ["half\ud800", "x" * 60_000, 'a "b"\n\\', "name\x1b[2J\x7f\x85\u202e\u2066\u2028"]
)
def test_no_name_that_a_broker_makes_up_spoils_or_fills_the_page(tmp_path: Path, name: str) -> None:
    @run_on_loop
    async def test() -> None:
        settings = {"httpAddress": "0", "maxNameBytes": 0}
        async with (
            start_name_server(tmp_path, **settings) as server,
            Peer.connect(server.namesrv_addr) as peer,
        ):
            ext = broker_ext(name, cluster=name)
            header = {"code": 103, "opaque": 1, "version": 477, "language": "JAVA", "extFields": ext}
            peer.send(frame(json.dumps(header).encode(), registration_body(["T", "U"])))
            answer = await peer.receive()
            assert answer is not None
            assert answer.code == 0
            page = await fetch_page(server.state.actual_settings["httpAddress"], "/metrics")
            assert (page.status, len(page.text) < 50_000) == (200, True)
            assert page.text.replace("\n", "").isprintable()
            [labels] = ScrapedSamples.scrape_server(server).series_of("broker_heard_seconds")
            broker_label = dict(labels)["broker"]
            assert broker_label.startswith(name[:4])
            assert len(broker_label) <= 137

    test()


def frame(header: bytes, body: bytes) -> bytes:
    size = len(header).to_bytes(4, "big")
    return (4 + len(header) + len(body)).to_bytes(4, "big") + size + header + body


async def test_silent_brokers_and_those_that_only_their_group_knows_are_told_apart(tmp_path: Path) -> None:
    async with start_name_server(tmp_path) as server:
        tables, now = server.state.tables, server.now_ms()
        group = tables.broker_groups["a"] = RegisteredGroup("c", "a")
        group.broker_addrs.update({0: "10.0.0.1:1", 1: "10.0.0.1:2", 2: "10.0.0.1:3"})
        tables.broker_names_by_cluster["c"] = {"a": None}
        tables.live_brokers["c", "10.0.0.1:1"] = LiveBroker(now, 120_000, None, 1, None)
        tables.live_brokers["c", "10.0.0.1:2"] = LiveBroker(now - 100_000, 120_000, None, 1, None)
        scraped = ScrapedSamples.scrape_server(server)
        assert scraped("brokers", cluster="c", role="master", state="heard") == 1
        assert scraped("brokers", cluster="c", role="slave", state="silent") == 1
        assert scraped("brokers", cluster="c", role="slave", state="unheard") == 1


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", "text/plain; version=0.0.4"),
        ("application/openmetrics-text; version=1.0.0", "application/openmetrics-text"),
    ],
)
def test_the_form_is_the_one_that_is_asked_for(tmp_path: Path, accept: str, kind: str) -> None:
    @run_on_loop
    async def test() -> None:
        async with start_name_server(tmp_path, **HTTP) as server:
            answer = await fetch_page(server.state.actual_settings["httpAddress"], "/metrics", Accept=accept)
            assert answer.headers["content-type"].startswith(kind)
            assert answer.text.endswith("# EOF\n") == ("openmetrics" in kind)

    test()


def test_each_metric_is_documented_with_its_type_and_none_that_is_not_there(tmp_path: Path) -> None:
    pair = Authority(tmp_path / "ca").issue("here")
    tls = TlsSettings("permissive", str(pair.cert), str(pair.key))
    texts: list[str] = []

    @run_on_loop
    async def scrape() -> None:
        async with start_name_server(tmp_path, journalDir=str(tmp_path / "j"), tls=tls, **HTTP) as server:
            texts.append((await fetch_page(server.state.actual_settings["httpAddress"], "/metrics")).text)

    scrape()
    exported = {
        (family.name + ("_total" if family.type == "counter" else ""), family.type)
        for family in parse_families(texts[0]).values()
        if family.name.startswith(METRIC_PREFIX)
    }
    page = ROOT / "docs" / "reference" / "metrics.md"
    cells = [line.split("|") for line in page.read_text().splitlines()]
    documented = {
        (row[1].strip().strip("`").partition("{")[0], row[2].strip())
        for row in cells
        if len(row) > 3 and row[1].strip().startswith("`" + METRIC_PREFIX)
    }
    assert documented == exported


def text(*metrics: Metric) -> list[str]:
    """The samples, as they are exported."""

    class Given(Collector):
        def collect(self) -> list[Metric]:
            return list(metrics)

    registry = CollectorRegistry()
    registry.register(Given())
    return [line for line in generate_latest(registry).decode().splitlines() if not line.startswith("#")]


def test_figures_of_one_series_have_our_prefix() -> None:
    assert text(metrics.gauge("a", "?", 1), metrics.counter("b", "?", 2)) == [
        "nsadmin_namesrv_a 1.0",
        "nsadmin_namesrv_b_total 2.0",
    ]


def test_those_with_labels_have_a_series_for_each_key() -> None:
    gauge = metrics.gauge("a", "?", {("1", "2"): 3, ("1", 'q"\n'): 4}, "x", "y")
    assert text(gauge) == ['nsadmin_namesrv_a{x="1",y="2"} 3.0', 'nsadmin_namesrv_a{x="1",y="q\\"\\n"} 4.0']
    assert text(metrics.counter("b", "?", {"1": 3}, "x")) == ['nsadmin_namesrv_b_total{x="1"} 3.0']


def test_a_histogram_adds_up_its_buckets() -> None:
    histogram = Histogram((1.0, 2.5))
    for value in (0.5, 1.5, 2.0, 9.0):
        histogram.add_value(value)
    assert text(metrics.histogram("h", "?", {("r",): histogram}, "x")) == [
        'nsadmin_namesrv_h_bucket{le="1.0",x="r"} 1.0',
        'nsadmin_namesrv_h_bucket{le="2.5",x="r"} 3.0',
        'nsadmin_namesrv_h_bucket{le="+Inf",x="r"} 4.0',
        'nsadmin_namesrv_h_count{x="r"} 4.0',
        'nsadmin_namesrv_h_sum{x="r"} 13.0',
    ]


def test_a_name_is_a_label_as_it_is_unless_it_is_too_long_or_no_text() -> None:
    assert metrics.bounded_label("broker-a") == "broker-a"
    assert metrics.bounded_label("ü" * 128) == "ü" * 128
    long, longer = metrics.bounded_label("x" * 129), metrics.bounded_label("x" * 130)
    assert long.startswith("x" * 128 + "#")
    assert long != longer
    assert metrics.bounded_label("a\ud800").startswith("a?#")


def test_a_name_with_control_characters_is_escaped_and_still_differs_from_its_escaped_form() -> None:
    names = [
        "a\nb", r"a\nb", "a\x1b[2J", "a\x7f", "a\x85", "a\u202eb", "a\u2066b", "a\u2028b", "\n" * 128,
        'q"\\',
    ]  # fmt: skip
    labels = [metrics.bounded_label(name) for name in names]
    assert labels[0].startswith(r"a\nb#")
    assert all(label.isprintable() and len(label) <= 128 + 9 for label in labels)
    assert len(set(labels)) == len(names)
    assert (labels[1], labels[-1]) == (names[1], names[-1])
    (line,) = text(metrics.gauge("a", "?", {labels[0]: 1}, "x"))
    assert line.startswith(r'nsadmin_namesrv_a{x="a\\nb#')


def test_tls_tells_its_handshakes_its_renewals_and_when_its_certificate_expires(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls_certificates, "CHECK_SECONDS", 60)
    authority = Authority(tmp_path / "ca")
    first, second = authority.issue("first"), authority.issue("second")
    cert, key = tmp_path / "tls.pem", tmp_path / "tls.key"
    cert.write_bytes(first.cert.read_bytes())
    key.write_bytes(first.key.read_bytes())

    @run_on_loop
    async def test() -> None:
        tls = TlsSettings("enforcing", str(cert), str(key))
        async with start_name_server(tmp_path, tls=tls) as server:
            async with Peer.connect(server.namesrv_addr) as plain:
                plain.send(b"\0\0\0\1")
                assert await plain.is_closed()
            async with Peer.connect(server.namesrv_addr) as bad:
                bad.send(b"\x16\x03\x01\x00\x05hello")
                assert await bad.is_closed()
            await wait_until(lambda: not server.open_streams)
            scraped = ScrapedSamples.scrape_server(server)
            assert scraped("tls_handshakes_total") == 1
            assert scraped("tls_refused_total") == 2
            expires = scraped("tls_certificate_expiry_timestamp_seconds") or 0
            assert 0 < expires - server.now_ms() / 1000 < 3 * 24 * 3600
            key.write_bytes(second.key.read_bytes())
            server.reload_files()
            cert.write_bytes(second.cert.read_bytes())
            server.reload_files()
            scraped = ScrapedSamples.scrape_server(server)
            assert scraped("tls_reloads_total", result="failed") == 1
            assert scraped("tls_reloads_total", result="read") == 1

    test()


async def test_without_tls_nothing_is_told_of_it(tmp_path: Path) -> None:
    async with start_name_server(tmp_path, tls=TlsSettings("disabled")) as server:
        assert "tls" not in ScrapedSamples.scrape_server(server).text


async def test_lines_of_the_log_that_nobody_read_are_counted(tmp_path: Path) -> None:
    writer = LogWriter(lambda text: None, max_waiting_lines=0)
    log.addHandler(writer)
    try:
        writer.emit(logging.LogRecord("x", logging.INFO, "", 0, "lost", None, None))
        async with start_name_server(tmp_path) as server:
            assert (ScrapedSamples.scrape_server(server)("log_lost_lines_total") or 0) >= 1
    finally:
        log.removeHandler(writer)


async def test_refusals_are_told_by_reason_and_files_that_could_not_be_used(tmp_path: Path) -> None:
    path = tmp_path / "credentials.yaml"
    path.write_text("everybody: read")
    async with (
        start_name_server(tmp_path, credentialsFile=str(path)) as server,
        Peer.connect(server.namesrv_addr) as peer,
    ):
        await peer.send_request(319)
        await peer.send_request(319, {"AccessKey": "nobody", "Signature": "x"})
        path.write_text("everybody: all")
        server.reload_files()
        scraped = ScrapedSamples.scrape_server(server)
    refusals = {r.value: scraped("refused_requests_total", reason=r.value) for r in RefusalReason}
    assert {reason: count for reason, count in refusals.items() if count} == {"unsigned": 1, "unknownKey": 1}
    assert None not in refusals.values()
    assert scraped("credentials_reloads_total", result="failed") == 1
    assert scraped("credentials_reloads_total", result="read") == 0
