"""All that a server is doing, in one picture."""

import json
from pathlib import Path

from namesrv_core.server.debug_state import describe_server
from tests.support.name_servers import Peer, run_on_loop, start_name_server
from tests.support.wire import broker_ext, registration_body


@run_on_loop
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


@run_on_loop
async def test_without_a_journal_there_is_none(tmp_path: Path) -> None:
    async with start_name_server(tmp_path) as server:
        assert describe_server(server)["journal"] is None
