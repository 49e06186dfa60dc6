"""Metrics of a running name server: what is counted, what is known, and how much of it at most."""

import json
from pathlib import Path

import pytest

from namesrv_core.server import metrics, name_server
from namesrv_core.server.counters import LatestRegistration
from namesrv_core.server.metric_families import METRIC_PREFIX
from namesrv_core.state.broker_tables import LiveBroker, RegisteredGroup
from namesrv_core.state.tls_settings import TlsSettings
from tests.support.certificates import Authority
from tests.support.http import fetch_page
from tests.support.metric_samples import ScrapedSamples, parse_families
from tests.support.name_servers import Peer, run_on_loop, start_name_server, wait_until
from tests.support.wire import broker_ext, registration_body

BODY = registration_body(["T", "U"])
HTTP = {"httpAddress": "127.0.0.1:0"}
ROOT = Path(__file__).parents[3]


@run_on_loop
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


@run_on_loop
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


@run_on_loop
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


@run_on_loop
async def test_a_journal_tells_how_it_is(tmp_path: Path) -> None:
    async with start_name_server(tmp_path, journalDir=str(tmp_path / "j")) as server:
        scraped = ScrapedSamples.scrape_server(server)
        assert scraped("journal_up") == 1
        assert (scraped("journal_records_total") or 0) >= 3
        assert scraped("journal_lost_events_total") == 0


@run_on_loop
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


@run_on_loop
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
