"""The pages of a running name server."""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.errors import RocketMQError
from namesrv_core.server import http_pages
from namesrv_core.server.http_pages import describe_server
from namesrv_core.server.name_server import NameServer
from tests.support.http import HttpAnswer, fetch_page
from tests.support.metric_samples import ScrapedSamples
from tests.support.name_servers import Peer, make_settings, run_on_loop, start_name_server
from tests.support.wire import broker_ext, registration_body
from tests.test_house import loaded_by

HTTP = {"httpAddress": "0"}


async def page(server: NameServer, path: str, **headers: str) -> HttpAnswer:
    return await fetch_page(server.state.actual_settings["httpAddress"], path, **headers)


async def test_the_port_is_of_this_machine_alone_unless_an_address_is_named(tmp_path: Path) -> None:
    async with start_name_server(tmp_path, **HTTP) as server:
        assert server.state.actual_settings["httpAddress"].startswith("127.0.0.1:")
    async with start_name_server(tmp_path, httpAddress="[::1]:0") as server:
        assert (await page(server, "/healthz")).text == "ok\n"


@pytest.mark.parametrize("address", ["x", ":1", "h:65536", "127.0.0.1:0:1:2", "no.such.host.invalid:0"])
def test_an_address_that_cannot_be_stops_the_start_and_leaves_nothing_open(
    tmp_path: Path, address: str
) -> None:
    @run_on_loop
    async def test() -> None:
        with pytest.raises(RocketMQError, match="cannot serve HTTP at"):
            await NameServer(make_settings(tmp_path, httpAddress=address)).start()

    test()


def test_a_server_without_the_port_loads_nothing_for_it() -> None:
    loaded = loaded_by("import namesrv_core.__main__, namesrv_core.server.name_server")
    assert loaded.isdisjoint({"h11", "prometheus_client", "namesrv_core.server.metrics"})


async def test_a_server_without_the_port_measures_nothing(tmp_path: Path) -> None:
    async with start_name_server(tmp_path) as server, Peer.connect(server.namesrv_addr) as peer:
        await peer.send_request(106)
        assert server.counters.tallies_by_code == {}


async def test_it_is_ready_once_it_answers_about_routes(tmp_path: Path) -> None:
    now = [1000.0]
    settings: dict[str, Any] = {"needWaitForService": True, "waitSecondsForService": 45}
    server = NameServer(make_settings(tmp_path, **HTTP, **settings), lambda: now[0])
    await server.start()
    async with Peer.connect(server.namesrv_addr) as peer:
        for seconds, status, code in ((44.9, 503, 1), (45, 200, 17)):
            now[0] = 1000 + seconds
            answer = await page(server, "/readyz")
            assert (answer.status, "45 s" in answer.text) == (status, status == 503)
            assert (await peer.send_request(105, {"topic": "T"})).code == code
        assert (await page(server, "/healthz")).status == 200
        server.freeze()
        assert (await page(server, "/readyz")).text == "paused\n"
        server.thaw()
        server.state.settings.enableShutdownGracefully = True
        stopping = asyncio.ensure_future(server.stop())
        await asyncio.sleep(0)
        assert (await page(server, "/readyz")).text == "stopping\n"
        server.hurry_shutdown()
        await stopping


async def test_it_is_the_address_server_of_itself_or_of_the_list_it_was_given(tmp_path: Path) -> None:
    async with start_name_server(tmp_path, **HTTP) as server:
        assert (await page(server, "/rocketmq/nsaddr?nofix=1")).text == f"{server.namesrv_addr}\n"
        assert (await page(server, "/rocketmq/nsaddr-unit")).status == 404
    settings = HTTP | {"nsaddr": "a:9876;[::1]:9877"}
    async with start_name_server(tmp_path, **settings) as server, Peer.connect(server.namesrv_addr) as peer:
        answer = await page(server, "/rocketmq/nsaddr")
        assert (answer.status, answer.text) == (200, "a:9876;[::1]:9877\n")
        assert (await peer.send_request(318, body=b"nsaddr=b:9876\n")).code == 16
        assert (await page(server, "/rocketmq/nsaddr")).text == "a:9876;[::1]:9877\n"


async def test_one_that_listens_everywhere_names_the_address_that_was_reached(tmp_path: Path) -> None:
    for bind in ("0.0.0.0", "::"):
        async with start_name_server(tmp_path, bindAddress=bind, **HTTP) as server:
            expected = f"127.0.0.1:{server.bound_host_port[1]}\n"
            assert (await page(server, "/rocketmq/nsaddr")).text == expected


async def test_its_state_is_shown_to_whoever_has_the_token_and_to_nobody_else(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret\n")
    async with (
        start_name_server(tmp_path, httpTokenFile=str(token), **HTTP) as server,
        Peer.connect(server.namesrv_addr) as peer,
    ):
        await peer.send_request(103, broker_ext("a", 0, "127.0.0.1:1"), registration_body(["T", "U"]))
        for wrong in ("", "Bearer", "Bearer ", "Bearer secre", "secret", "Bearer sécret"):
            answer = await page(server, "/debug/state", Authorization=wrong)
            assert answer.status == 401
            assert "www-authenticate" in answer.headers
            assert "127.0.0.1" not in answer.text
        answer = await page(server, "/debug/state", Authorization="Bearer secret")
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
        state = json.loads(answer.text)
        assert state["brokers"][0]["brokerAddr"] == "127.0.0.1:1"
        assert len(state["connections"]) == 1
        token.write_text("other")
        assert (await page(server, "/debug/state", Authorization="Bearer secret")).status == 401
        assert (await page(server, "/debug/state", Authorization="Bearer other")).status == 200


TOKEN_MISTAKES: list[tuple[bytes | None, str]] = [
    (None, 'cannot read httpTokenFile "{}": No such file or directory'),
    (b" \n", 'empty httpTokenFile "{}": write a token into it'),
    (b"\xff\xfe", 'invalid httpTokenFile "{}": write the token as UTF-8 text'),
]


def put_token(token: Path, content: bytes | None) -> None:
    if content is None:
        token.unlink(missing_ok=True)
    else:
        token.write_bytes(content)


@pytest.mark.parametrize(("content", "said"), TOKEN_MISTAKES)
def test_a_token_file_that_cannot_be_used_stops_the_start(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    token = tmp_path / "token"
    put_token(token, content)

    @run_on_loop
    async def test() -> None:
        with pytest.raises(RocketMQError, match=f"{said.format(token)}$"):
            await NameServer(make_settings(tmp_path, httpTokenFile=str(token), **HTTP)).start()

    test()


@pytest.mark.parametrize(("content", "said"), TOKEN_MISTAKES)
def test_a_token_file_that_becomes_unusable_costs_one_log_line_and_shows_nothing(
    tmp_path: Path, content: bytes | None, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    token = tmp_path / "token"
    token.write_text("secret")
    settings: dict[str, Any] = {**HTTP, "httpTokenFile": str(token)}

    @run_on_loop
    async def test() -> None:
        async with start_name_server(tmp_path, **settings) as server:
            put_token(token, content)
            caplog.clear()
            for sent in ("secret", "", "x"):
                answer = await page(server, "/debug/state", Authorization=f"Bearer {sent}")
                assert answer.status == 503
                assert str(token) not in answer.text
            assert (await page(server, "/debug/state")).status == 401
            lines = [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]
            assert [record.getMessage() for record in lines] == [said.format(token)]
            assert not lines[0].exc_info
            token.write_text("secret")
            assert (await page(server, "/debug/state", Authorization="Bearer secret")).status == 200

    test()


async def test_an_administrator_needs_no_token_file(tmp_path: Path) -> None:
    token, credentials = tmp_path / "token", tmp_path / "credentials.yaml"
    token.write_text("secret")
    credentials.write_text("accounts: [{accessKey: ops, secretKey: eight letters, role: admin}]")
    credentials.chmod(0o600)
    files: dict[str, Any] = {"httpTokenFile": str(token), "credentialsFile": str(credentials)}
    async with start_name_server(tmp_path, **HTTP, **files) as server:
        token.unlink()
        answer = await page(server, "/debug/state", Authorization=basic("ops", "eight letters"))
        assert answer.status == 200


def test_a_page_that_fails_logs_one_traceback_and_tells_no_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> object:
        raise OSError("/etc/hidden is gone")

    monkeypatch.setattr(http_pages, "render_metrics", fail)

    @run_on_loop
    async def test() -> None:
        async with start_name_server(tmp_path, **HTTP) as server:
            for _ in range(3):
                answer = await page(server, "/metrics")
                assert (answer.status, "hidden" in answer.text) == (500, False)

    test()
    assert caplog.text.count("OSError: /etc/hidden is gone") == 1


async def test_without_a_token_its_state_is_shown_to_nobody(tmp_path: Path) -> None:
    async with start_name_server(tmp_path, **HTTP) as server:
        answer = await page(server, "/debug/state", Authorization="Bearer x")
        assert answer.status == 403
        assert "httpTokenFile" in answer.text


def basic(key: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{key}:{secret}".encode()).decode()


async def test_its_state_is_shown_to_administrators_by_their_key_from_where_they_may(tmp_path: Path) -> None:
    path = tmp_path / "credentials.yaml"
    path.write_text(
        "everybody: admin\n"
        "accounts:\n"
        "  - {accessKey: ops, secretKey: secret-of-ops, role: admin}\n"
        "  - {accessKey: far, secretKey: secret-of-far, role: admin, from: [10.0.0.0/8]}\n"
        "  - {accessKey: app, secretKey: secret-of-app, role: broker}\n"
    )
    async with start_name_server(tmp_path, credentialsFile=str(path), **HTTP) as server:
        state_page = await page(server, "/debug/state", Authorization=basic("ops", "secret-of-ops"))
        assert state_page.status == 200
        assert "secret-of" not in state_page.text
        for refused in (
            basic("ops", "secret-of-op"), basic("app", "secret-of-app"), basic("far", "secret-of-far"),
            basic("none", ""), basic("", ""), "Basic", "Basic !", "Basic /////w==", "Bearer secret-of-ops",
        ):  # fmt: skip
            assert (await page(server, "/debug/state", Authorization=refused)).status == 401


async def test_pages_are_counted_and_those_that_do_not_exist_together(tmp_path: Path) -> None:
    async with start_name_server(tmp_path, **HTTP) as server:
        for path in ("/healthz", "/x", "/y", "/z", "/healthz"):
            await page(server, path)
        scraped = ScrapedSamples((await page(server, "/metrics")).text)
        assert scraped("http_requests_total", path="/healthz", status="200") == 2
        assert scraped("http_requests_total", path="other", status="404") == 3


async def test_a_page_that_fails_is_code_500_and_the_server_goes_on(tmp_path: Path) -> None:
    async with start_name_server(tmp_path, **HTTP) as server:
        tables, server.state.tables = server.state.tables, None  # type: ignore[assignment]
        answer = await page(server, "/metrics")
        assert (answer.status, "AttributeError" in answer.text) == (500, True)
        server.state.tables = tables
        assert (await page(server, "/metrics")).status == 200


async def test_the_ports_that_were_really_taken_are_shown_and_never_written_down(tmp_path: Path) -> None:
    async with start_name_server(tmp_path, **HTTP) as server, Peer.connect(server.namesrv_addr) as peer:
        shown_settings = dict(
            line.split("=", 1) for line in (await peer.send_request(319)).body.decode().splitlines()
        )
        assert shown_settings["listenPort"] == server.namesrv_addr.rpartition(":")[2]
        assert shown_settings["httpAddress"] == server.state.actual_settings["httpAddress"]
        await peer.send_request(318, body=b"enableTopicList=false\n")
        written = (tmp_path / "namesrv.properties").read_text()
        assert "listenPort=0\n" in written
        assert "httpAddress=0\n" in written
        assert (await peer.send_request(318, body=b"httpAddress=1\n")).code == 16


async def test_settings_tables_brokers_connections_requests_and_journal_are_described(tmp_path: Path) -> None:
    more = {"httpAddress": "0", "journalDir": str(tmp_path / "j")}
    async with start_name_server(tmp_path, **more) as server, Peer.connect(server.namesrv_addr) as peer:
        body = registration_body(["T", "U"])
        await peer.send_request(103, broker_ext("a", 0, "127.0.0.1:1"), body)
        state = json.loads(json.dumps(describe_server(server)))
        assert state["address"] == server.namesrv_addr
        assert state["unready"] is None
        assert state["settings"]["listenPort"] == server.namesrv_addr.rpartition(":")[2]
        assert state["tables"] == {
            "clusters": 1, "brokerGroups": 1, "brokers": 1, "topics": 2, "staticTopics": 0, "kvNamespaces": 0,
            "generation": server.state.tables.generation,
        }  # fmt: skip
        (broker,) = state["brokers"]
        assert (broker["brokerAddr"], broker["registrationBytes"]) == ("127.0.0.1:1", len(body))
        assert 0 <= broker["silentMillis"] < 10_000
        (connection,) = state["connections"]
        assert connection["number"] == broker["connection"]
        assert connection["peer"].startswith("127.0.0.1:")
        assert state["requests"] == {"REGISTER_BROKER": {"0": 1}}
        assert state["journal"]["is_ok"] is True
        assert "journal" in state["process"]["threads"]


async def test_without_a_journal_there_is_none(tmp_path: Path) -> None:
    async with start_name_server(tmp_path) as server:
        assert describe_server(server)["journal"] is None
