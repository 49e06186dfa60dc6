"""The checks of what goes wrong slowly, as commands."""

import json
from pathlib import Path
from typing import Any

import pytest

from nsadmin.operations.drain.state import DrainState, build_state_record
from tests.nsadmin.conftest import Run
from tests.support.certificates import Authority
from tests.support.fake_servers import FakeBroker, FakeNameServer
from tests.support.journals import make_snapshot as empty
from tests.support.journals import write_journal


def found(run: Run, *words: str) -> dict[str, Any]:
    result = run("check", *words, "--json")
    value: dict[str, Any] = json.loads(result.out)
    assert value["exitCode"] == result.code
    return value


def test_heartbeats(run: Run, both_servers: str) -> None:
    assert found(run, "heartbeat", both_servers)["state"] == "OK"


def test_registrations_of_a_cluster_or_a_broker(
    run: Run, both_servers: str, broker: FakeBroker, dead_addr: str
) -> None:
    assert found(run, "registrationSize", both_servers)["state"] == "UNKNOWN"
    assert found(run, "registration-size", "-b", dead_addr)["details"] == [
        f"{dead_addr}: connection refused, no server listens on this port"
    ]
    assert run("check", "registrationSize", both_servers, "-b", dead_addr, "--clusterName", "C").code == 3


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


def test_journals_of_name_servers_of_the_context_or_as_named(
    run: Run, first_server: FakeNameServer, tmp_path: Path
) -> None:
    assert found(run, "journal", "-n", first_server.addr)["state"] == "UNKNOWN"
    first_server.config["journal"] = "ok"
    assert found(run, "journal", "-n", first_server.addr)["state"] == "OK"
    folder = write_journal(tmp_path / "j", [empty()])
    run("contextSet", "lab", "-n", first_server.addr, "--journal", folder)
    value = found(run, "journal", "--context", "lab")
    assert value["summary"] == "1 of 1 name servers can write their journal, 1 of 1 journals can be read"
    assert value["state"] == "CRITICAL"
    asked = len(first_server.asked)
    value = found(run, "journal", "--journal", folder, "--warning", "~:", "--critical", "~:", "--verify")
    assert (value["state"], value["summary"]) == ("OK", "1 of 1 journals can be read and are undamaged")
    assert len(first_server.asked) == asked
    result = run("check", "journal", "--journal", folder, "--since", "soon")
    assert (
        result.code,
        'invalid time "soon" for --since: use 1h, 14:03, or 2026-11-23T14:03Z' in result.err,
    ) == (3, True)


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
