"""repairWipe and repairRegister, in a lab with two name servers."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.protocol.codes import RequestCode
from nsadmin.client import AdminClient
from tests.nsadmin.conftest import Run
from tests.support.clock import speed_up_drains
from tests.support.fake_servers import FakeNameServer
from tests.support.lab import Lab, start_lab

B = "broker-a-0"


@pytest.fixture(scope="module")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_lab(
        tmp_path_factory.mktemp("lab"), FleetPlan(1, 2, 2, 5), name_servers=2, producer_period=0.1
    ) as running:
        yield running


def read_perms(running_lab: Lab) -> list[dict[str, int]]:
    with AdminClient(running_lab.namesrv_addr) as admin:
        return [permission.result or {} for permission in admin.broker_routes.get_topic_permissions(B)]


def rows_of(out: str) -> list[dict[str, Any]]:
    listed_rows: list[dict[str, Any]] = json.loads(out)
    return listed_rows


def test_a_wipe_on_one_name_server_is_repaired_exactly(running_lab: Lab, run: Run) -> None:
    before = read_perms(running_lab)
    assert len({*before[0].values()}) > 1, "the lab has read-only and inheriting topics"
    first, second = running_lab.namesrv_addrs
    assert run("wipeWritePerm", B, "-n", first, "--yes").code == 0
    result = run("repair", "wipe", B, "-n", running_lab.namesrv_addr, "--yes", "--json")
    assert (result.code, result.err) == (0, "")
    wiped, whole = rows_of(result.out)
    assert (wiped["namesrvAddr"], wiped["result"], wiped["how"]) == (first, "done", "topic by topic")
    assert wiped["after"] == {topic: perm for topic, perm in before[0].items() if perm & 2}
    assert "r-- -> rw- on" in wiped["changes"]
    assert (whole["namesrvAddr"], whole["result"], whole["after"]) == (second, "unchanged", {})
    assert read_perms(running_lab) == before


def test_what_add_write_perm_made_of_read_only_topics_is_repaired(running_lab: Lab, run: Run) -> None:
    before = read_perms(running_lab)
    assert run("addWritePerm", B, "-n", running_lab.namesrv_addr, "--yes").code == 0
    assert read_perms(running_lab) != before
    assert run("repair-wipe", B, "-n", running_lab.namesrv_addr, "--yes").code == 0
    assert read_perms(running_lab) == before


def test_minus_n_repairs_that_server_only(running_lab: Lab, run: Run) -> None:
    before = read_perms(running_lab)
    assert run("wipeWritePerm", B, "-n", running_lab.namesrv_addr, "--yes").code == 0
    assert run("repair", "wipe", B, "-n", running_lab.namesrv_addrs[1], "--yes").code == 0
    wiped, repaired = read_perms(running_lab)
    assert repaired == before[1]
    assert not any(perm & 2 for perm in wiped.values())
    assert run("repair", "wipe", B, "-n", running_lab.namesrv_addr, "--yes").code == 0


def test_a_dry_run_shows_the_repair_and_changes_nothing(running_lab: Lab, run: Run) -> None:
    before = read_perms(running_lab)
    assert run("wipeWritePerm", B, "-n", running_lab.namesrv_addrs[0], "--yes").code == 0
    wiped = read_perms(running_lab)
    result = run("repair", "wipe", B, "-n", running_lab.namesrv_addr, "--dry-run", "--json")
    assert result.code == 0
    assert [row["result"] for row in rows_of(result.out)] == ["dry-run", "dry-run"]
    assert rows_of(result.out)[0]["before"]["orders"] == 4
    assert rows_of(result.out)[0]["after"]["orders"] == 6
    assert read_perms(running_lab) == wiped
    assert run("repair", "wipe", B, "-n", running_lab.namesrv_addr, "--yes").code == 0
    assert read_perms(running_lab) == before


def test_a_drained_broker_is_refused_and_stays_drained(
    running_lab: Lab, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_perms(running_lab)
    speed_up_drains(monkeypatch)
    assert run("drain", B, "-n", running_lab.namesrv_addr, "--force", "--yes").code == 0
    for words in (("repair", "wipe"), ("repair", "register")):
        result = run(*words, B, "-n", running_lab.namesrv_addr, "--yes")
        assert (result.code, result.err) == (
            1, f"nsadmin: {B} is drained: nsadmin undrain {B} restores its permissions\n",
        )  # fmt: skip
    assert not any(perm & 2 for table in read_perms(running_lab) for perm in table.values())
    assert run("undrain", B, "-n", running_lab.namesrv_addr, "--yes").code == 0
    assert read_perms(running_lab) == before


def test_an_unknown_broker_is_not_found(running_lab: Lab, run: Run) -> None:
    result = run("repair", "wipe", "broker-x", "-n", running_lab.namesrv_addr, "--yes")
    assert result.code == 5
    assert 'no broker "broker-x"; did you mean "broker-a-0" or "broker-a-1"?' in result.err


def test_no_name_server_that_answers_is_exit_4(run: Run, dead_addr: str) -> None:
    assert run("repair", "wipe", B, "-n", dead_addr, "--yes").code == 4


def test_one_silent_name_server_is_named_and_the_other_repaired(
    running_lab: Lab, run: Run, dead_addr: str
) -> None:
    before = read_perms(running_lab)
    first = running_lab.namesrv_addrs[0]
    assert run("wipeWritePerm", B, "-n", first, "--yes").code == 0
    result = run("repair", "wipe", B, "-n", f"{dead_addr};{first}", "--yes", "--json")
    assert result.code == 3
    silent, repaired = rows_of(result.out)
    assert (silent["namesrvAddr"], silent["result"], silent["topicCount"]) == (dead_addr, "failed", None)
    assert repaired["result"] == "done"
    assert read_perms(running_lab) == before


def test_a_broker_registers_all_of_its_topics_again(running_lab: Lab, run: Run) -> None:
    before = read_perms(running_lab)
    first = running_lab.namesrv_addrs[0]
    assert run("wipeWritePerm", B, "-n", first, "--yes").code == 0
    with AdminClient(first) as admin:
        admin.topics.forget_topic("orders", [first])
    dry = run("repair", "register", B, "-n", running_lab.namesrv_addr, "--dry-run", "--json")
    assert [(row["missing"], row["how"]) for row in rows_of(dry.out)] == [
        (1, "by a registration of the broker"),
        (0, "by a registration of the broker"),
    ]
    result = run("repair", "register", B, "-n", running_lab.namesrv_addr, "--yes", "--json")
    assert (result.code, result.err) == (0, "")
    assert {(row["result"], row["how"]) for row in rows_of(result.out)} == {
        ("done", "by a registration of the broker")
    }
    assert read_perms(running_lab) == before


def test_a_server_that_ignores_the_repair_is_reported(running_lab: Lab, run: Run) -> None:
    """Code 217 always answers success, so only reading back shows that nothing happened."""
    with FakeNameServer({"cluster-a": {B: {0: running_lab.brokers[B, 0]}}}) as server:
        server.routes = {"orders": {B: 4}}
        server.handlers[RequestCode.REGISTER_TOPIC_IN_NAMESRV] = server.handlers[RequestCode.PUT_KV_CONFIG]
        result = run("repair", "wipe", B, "-n", server.addr, "--yes", "--json")
    assert result.code == 1
    [row] = rows_of(result.out)
    assert (row["result"], row["error"]) == ("failed", "orders is r-- instead of rw-")
