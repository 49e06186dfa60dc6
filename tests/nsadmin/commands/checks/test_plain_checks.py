"""The commands of checks without options of their own."""

import json
from pathlib import Path

import pytest

from nsadmin.operations.drain.state import DrainState, build_state_record
from tests.nsadmin.commands.checks.conftest import found
from tests.nsadmin.conftest import Run
from tests.support.certificates import Authority
from tests.support.servers import FakeBroker, FakeNameServer


def test_name_servers_with_other_limits(run: Run, both_servers: str, dead_addr: str) -> None:
    assert found(run, "namesrv", both_servers)["state"] == "OK"
    assert found(run, "namesrv", both_servers, "--critical", "3:")["state"] == "CRITICAL"
    assert found(run, "namesrv", f"{both_servers};{dead_addr}")["state"] == "WARNING"
    assert found(run, "namesrv", f"{both_servers};{dead_addr}", "--warning", "1")["state"] == "OK"


def test_heartbeats(run: Run, both_servers: str) -> None:
    assert found(run, "heartbeat", both_servers)["state"] == "OK"


def test_certificates_without_and_with_files_of_its_own(
    run: Run, first_server: FakeNameServer, broker: FakeBroker, tmp_path: Path
) -> None:
    assert found(run, "certificates", "-n", first_server.addr)["summary"] == "no server showed a certificate"
    authority = Authority(tmp_path)
    tls = authority.issue("server", days=40).for_servers()
    with FakeBroker(tls=tls) as member, FakeNameServer({"C": {"a": {0: member.addr}}}, tls=tls) as server:
        words = ("certificates", "-n", server.addr, "--tlsCa", str(authority.ca))
        value = found(run, *words)
        assert value["state"] == "CRITICAL"
        assert value["summary"].startswith("3 certificates; the first one expires in 2.0 days: CA file")
        assert found(run, *words, "--warning", "1:", "--critical", "1:")["state"] == "OK"


def test_drains_of_this_machine(
    run: Run, both_servers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NSADMIN_STATE", str(tmp_path / "state"))
    assert found(run, "drain", both_servers)["state"] == "OK"
    folder = tmp_path / "state" / "drains" / "C" / "broker-a"
    folder.mkdir(parents=True)
    (folder / "state.json").write_text("no drain")
    value = found(run, "drain", both_servers)
    assert value["state"] == "UNKNOWN"
    assert "state.json is not JSON" in value["details"][0]
    state = build_state_record(DrainState("C", "broker-a", ("h:1",), 1, 2))
    for name_servers in (None, "x", [1]):
        (folder / "state.json").write_text(json.dumps({**state, "nameServers": name_servers}))
        value = found(run, "drain", both_servers)
        assert value["state"] == "UNKNOWN"
        assert f"a saved drain cannot be read: {folder / 'state.json'}: expected " in value["summary"]
    assert "drain" in [
        check["check"] for check in json.loads(run("check", "all", both_servers, "--json").out)["checks"]
    ]
