"""routeExplain: why a client gets "No route info of this topic"."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from tests.nsadmin.conftest import CommandResult, Run
from tests.support.examples import JOURNAL
from tests.support.fake_servers import FakeNameServer, refuse_with
from tests.support.lab import start_lab
from tests.support.topic_brokers import TopicBroker, topic_config


@pytest.fixture
def topic_broker(first_server: FakeNameServer, second_server: FakeNameServer) -> Iterator[TopicBroker]:
    """The only broker of both name servers, with the topics T and orders."""
    with TopicBroker(topic_config("T"), topic_config("orders")) as running:
        running.items |= {"namesrvAddr": f"{first_server.addr};{second_server.addr}", "brokerPermission": "6"}
        for server in (first_server, second_server):
            server.clusters = {"C": {"broker-a": {0: running.addr}}}
            server.routes = {"T": {"broker-a": 6}, "orders": {"broker-a": 6}}
        yield running


def results(result: CommandResult) -> dict[str, str]:
    """The result of each step, of several rows the last."""
    return {row["step"]: row["result"] for row in result.json}


def found(result: CommandResult, cause: str) -> list[dict[str, object]]:
    return [row for row in result.json if row["step"] == cause]


def test_a_healthy_topic_has_each_step_ticked(run: Run, both_servers: str, topic_broker: TopicBroker) -> None:
    result = run("routeExplain", "T", both_servers)
    assert (result.code, result.err) == (
        0,
        "nsadmin: no problem: clients of each name server find writable and readable queues\n",
    )
    lines = result.out.splitlines()
    assert lines[0].split() == ["result", "step", "namesrvAddrs", "seen", "next"]
    assert {line.split()[0] for line in lines[1:]} == {"ok", "skipped"}
    assert len(lines) == 22


def test_a_cause_says_where_what_and_what_next(
    run: Run, both_servers: str, topic_broker: TopicBroker, second_server: FakeNameServer
) -> None:
    second_server.routes["T"] = {"broker-a": 4}
    result = run("routeExplain", "T", both_servers, "--json")
    [row] = found(result, "wiped")
    assert (result.code, result.err) == (
        1,
        f"nsadmin: cause found: wiped ({row['seen']})\nnsadmin: next: {row['next']}\n",
    )
    assert [row[name] for name in ("result", "namesrvAddrs", "brokerName", "brokerAddr")] == [
        "cause", [second_server.addr], "broker-a", topic_broker.addr,
    ]  # fmt: skip
    assert row["command"] == f"nsadmin repair wipe broker-a -n {second_server.addr}"
    assert str(row["next"]).endswith(f": {row['command']}")


def test_who_did_it_is_read_from_a_journal(
    run: Run, topic_broker: TopicBroker, first_server: FakeNameServer, tmp_path: Path
) -> None:
    [(name, text)] = JOURNAL.items()
    file = tmp_path / name
    file.parent.mkdir(parents=True)
    file.write_text(text)
    first_server.routes["orders"] = {"broker-a": 4}
    done = run("routeExplain", "orders", "-n", first_server.addr, "--journal", str(file.parent), "--json")
    [row] = found(done, "wiped")
    evidence = "the journal of h:9876, 2025-02-01T00:00:03Z, WIPE_WRITE_PERM_OF_BROKER by 10.0.0.9:5"
    assert evidence in str(row["seen"])
    file.write_text("{")
    broken = run("routeExplain", "orders", "-n", first_server.addr, "--journal", str(file.parent), "--json")
    assert broken.code == 1
    (tmp_path / "empty").mkdir()
    empty = str(tmp_path / "empty")
    assert run("routeExplain", "orders", "-n", first_server.addr, "--journal", empty).code == 2


def test_a_silent_server_neither_hides_the_others_nor_goes_unmentioned(
    run: Run, first_server: FakeNameServer, topic_broker: TopicBroker, dead_addr: str
) -> None:
    topic_broker.items["namesrvAddr"] = f"{first_server.addr};{dead_addr}"
    result = run("routeExplain", "T", "-n", f"{first_server.addr};{dead_addr}", "--json")
    assert result.code == 3
    assert "unknown: no cause found, but some checks were incomplete: nameServerSilent" in result.err
    assert [row["namesrvAddrs"] for row in found(result, "nameServerSilent")] == [[dead_addr]]
    assert results(result)["wiped"] == "ok"
    first_server.routes["T"] = {"broker-a": 4}
    assert run("routeExplain", "T", "-n", f"{first_server.addr};{dead_addr}").code == 1


def test_of_silence_alone_nothing_is_concluded(run: Run, dead_addr: str) -> None:
    result = run("routeExplain", "T", "-n", dead_addr, "--json")
    assert result.code == 4
    assert set(results(result).values()) <= {"unknown", "skipped", "ok"}


def test_a_broker_that_no_name_server_knows_is_named(
    run: Run, first_server: FakeNameServer, topic_broker: TopicBroker
) -> None:
    first_server.clusters, first_server.routes = {}, {}
    topic_broker.items["namesrvAddr"] = "10.9.9.9:9876"
    unnamed = run("routeExplain", "T", "-n", first_server.addr, "--json")
    assert (unnamed.code, results(unnamed)["wrongNameServer"]) == (1, "cause")
    done = run("routeExplain", "T", "-n", first_server.addr, "-b", topic_broker.addr, "--json")
    [row] = found(done, "partialNameServerList")
    assert "broker-a registers with 10.9.9.9:9876, but not with this name server" in str(row["seen"])
    assert run("routeExplain", "T", "-n", first_server.addr, "-b", "no/where").code == 2


def test_a_clients_list_is_taken_as_the_client_takes_it_and_its_servers_are_asked(
    run: Run, first_server: FakeNameServer, second_server: FakeNameServer, topic_broker: TopicBroker
) -> None:
    listed = f"{first_server.addr},{second_server.addr}"
    result = run("routeExplain", "T", "-n", first_server.addr, "--client", listed, "--json")
    [row] = found(result, "clientList")
    assert (result.code, row["result"]) == (1, "cause")
    assert second_server.asked_codes()
    assert run("routeExplain", "T", "-n", first_server.addr, "--client", "h:x").code == 2


def test_other_contexts_are_looked_at_if_that_is_wanted(
    run: Run,
    first_server: FakeNameServer,
    second_server: FakeNameServer,
    topic_broker: TopicBroker,
    dead_addr: str,
) -> None:
    first_server.routes = {}
    topic_broker.configs = {}
    for name, addr in (("here", first_server.addr), ("prod", second_server.addr), ("lost", dead_addr)):
        assert run("contextSet", name, "-n", addr).code == 0
    before = len(second_server.asked)
    done = run("--context", "here", "routeExplain", "T", "--json")
    [row] = found(done, "otherContext")
    assert (row["result"], row["seen"]) == ("skipped", "not asked: pass --contexts to search lost, prod")
    assert len(second_server.asked) == before
    done = run("--context", "here", "routeExplain", "T", "--contexts", "--json")
    lost, prod = found(done, "otherContext")
    assert (prod["result"], lost["result"]) == ("cause", "unknown")
    assert f"context prod has the topic in C, on {second_server.addr}" in str(prod["seen"])


def test_another_context_that_verifies_no_certificates_gets_no_signed_request(
    run: Run,
    first_server: FakeNameServer,
    second_server: FakeNameServer,
    topic_broker: TopicBroker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first_server.routes = {}
    topic_broker.configs = {}
    monkeypatch.setenv("NSADMIN_ACCESS_KEY", "me")
    monkeypatch.setenv("NSADMIN_SECRET_KEY", "s3cret")
    assert run("contextSet", "here", "-n", first_server.addr).code == 0
    assert run("contextSet", "prod", "-n", second_server.addr, "--tls", "--insecure").code == 0
    done = run("--context", "here", "routeExplain", "T", "--contexts", "--json")
    [prod] = found(done, "otherContext")
    assert prod["result"] == "unknown"
    assert "context prod does not verify certificates" in str(prod["seen"])
    assert second_server.asked == []


def test_a_name_server_in_its_waiting_time(
    run: Run, first_server: FakeNameServer, topic_broker: TopicBroker
) -> None:
    first_server.handlers[105] = refuse_with(1, "name server not ready")
    result = run("routeExplain", "T", "-n", first_server.addr, "--json")
    [row] = found(result, "nameServerNotReady")
    assert (result.code, row["result"]) == (1, "cause")
    assert "it starts to return routes 45 s after its start" in str(row["seen"])


def test_clusters_and_zones_are_looked_at_where_they_are_named(
    run: Run, first_server: FakeNameServer, topic_broker: TopicBroker
) -> None:
    result = run("routeExplain", "T", "-n", first_server.addr, "-c", "D", "--zone", "z", "--json")
    assert (result.code, results(result)["otherCluster"], results(result)["zone"]) == (1, "cause", "ok")


def test_of_two_labs_the_topic_is_found_in_the_other(run: Run, tmp_path: Path) -> None:
    small = FleetPlan(1, 1, 1, 4)
    with start_lab(tmp_path / "a", small) as here, start_lab(tmp_path / "b", small) as there:
        for name, one in (("here", here), ("there", there)):
            assert run("contextSet", name, "-n", one.namesrv_addr).code == 0
        assert run("--context", "there", "updateTopic", "elsewhere", "-c", "cluster-a", "--yes").code == 0
        result = run("--context", "here", "routeExplain", "elsewhere", "--contexts", "--json")
        [row] = found(result, "otherContext")
        assert (result.code, row["result"]) == (1, "cause")
        assert row["seen"] == f"context there has the topic in cluster-a, on {there.namesrv_addr}"
        assert row["command"] == "nsadmin where --context there"
        assert run("--context", "there", "routeExplain", "elsewhere", "--contexts").code == 0


def test_the_address_of_a_broker_is_no_name_server(run: Run, topic_broker: TopicBroker) -> None:
    result = run("routeExplain", "T", "-n", topic_broker.addr)
    assert (result.code, result.out) == (1, "")
    assert f"{topic_broker.addr}: this is the broker broker-a, not a name server" in result.err
