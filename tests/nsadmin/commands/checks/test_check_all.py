"""check all as a command."""

import json
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from nsadmin.operations.checks.check_suite import CHECKS_WITH_LIMITS
from tests.nsadmin.conftest import Run
from tests.support.checks import SKIP_WORDS, UNSCRIPTED_CHECKS
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer


def test_each_check_is_told(run: Run, first_server: FakeNameServer) -> None:
    result = run("check", "all", "-n", first_server.addr, *SKIP_WORDS, "--json")
    value = json.loads(result.out)
    assert (result.code, value["state"]) == (0, "OK")
    assert [check["check"] for check in value["checks"]] == ["namesrv", "brokers", "writable", "heartbeat"]
    assert {part["check"] for part in value["notChecked"]} >= {"topic", "reports", "clients", "backup"}


def test_other_findings_are_told_while_name_servers_get_time_to_agree(
    run: Run, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    second_server.routes = {"T": {"broker-a": 4}}
    words = ("check", "all", f"-n{first_server.addr};{second_server.addr}", "--settle", "1")
    result = run(*words)
    assert result.code == 2
    assert (
        "nsadmin: name servers differ: waiting up to 1 s until they agree (--settle 0 does not wait)\n"
        in result.err
    )
    assert "nsadmin: CRITICAL  writable  1 of 1 topic is writable (1 of them not for" in result.err
    assert "divergence" not in result.err.replace("name servers differ", "").split("writable")[0]
    assert "CRITICAL  divergence" in result.out
    assert run(*words, "--quiet").err == ""


def test_the_worst_state_is_the_exit_code(run: Run, first_server: FakeNameServer, dead_addr: str) -> None:
    result = run("check", "all", f"-n{first_server.addr};{dead_addr}", *SKIP_WORDS, "--settle", "0")
    assert result.code == 1
    assert result.out.splitlines()[0].partition(". ")[0] == (
        f"WARNING: 5 of 5 checks are not OK: namesrv WARNING ({dead_addr}), brokers WARNING, "
        "writable WARNING, heartbeat WARNING, divergence UNKNOWN"
    )


def test_topics_and_groups_have_labels(run: Run, first_server: FakeNameServer, tmp_path: Path) -> None:
    file = tmp_path / "all.prom"
    words = ("-t", "T", "-g", "G", "--format", "prometheus", "--out", str(file))
    assert run("check", "all", "-n", first_server.addr, *words).code == 3
    families = {family.name: family for family in text_string_to_metric_families(file.read_text())}
    states = {
        tuple(family.labels.values()): family.value for family in families["nsadmin_check_state"].samples
    }
    assert (states["all",], states["topic", "T"], states["lag", "G"]) == (3, 0, 3)
    [writable] = families["nsadmin_check_topic_writable"].samples
    assert (writable.labels, writable.value) == ({"topic": "T"}, 1)


def test_a_broker_that_has_gone_is_missed_where_it_is_expected(
    run: Run, first_server: FakeNameServer
) -> None:
    words = ("check", "all", "-n", first_server.addr, *SKIP_WORDS, "--expect")
    assert run(*words, "1").code == 0
    assert run(*words, "2").code == 2


def test_other_limits_for_some(run: Run, first_server: FakeNameServer, dead_addr: str) -> None:
    words = ("check", "all", f"-n{first_server.addr};{dead_addr}", *SKIP_WORDS, "--skip", "divergence")
    limits = ("--warning", "namesrv=1", "--critical", "namesrv=2:", "--critical", "brokers=~:")
    result = run(*words, *limits, "--json")
    states_by_check = {check["check"]: check["state"] for check in json.loads(result.out)["checks"]}
    assert states_by_check["namesrv"] == "CRITICAL"
    assert result.code == 2
    states_by_check = {
        check["check"]: check["state"]
        for check in json.loads(run(*words, *limits[:2], "--json").out)["checks"]
    }
    assert states_by_check["namesrv"] == "OK"
    names = ", ".join(CHECKS_WITH_LIMITS)
    assert names.startswith("namesrv, brokers, divergence, writable, lag, heartbeat, replicas, ")
    assert names.endswith(", drain, reports, topic")
    for wrong, message in (
        ("lag", f'invalid value "lag" for --critical: write CHECK=RANGE with one of {names}'),
        ("lags=5", f'invalid value "lags=5" for --critical: write CHECK=RANGE with one of {names}'),
        ("lag=x", 'check lag: --critical: invalid range "x"'),
        ("namesrv=2", "low values are bad: use 2:"),
    ):
        result = run(*words, "--critical", wrong)
        assert (result.code, message in result.err) == (3, True), result.err


def test_what_is_excluded_is_not_judged_and_said(run: Run, first_server: FakeNameServer) -> None:
    first_server.routes["Closed"] = {"broker-a": 4}
    skipped = ",".join(name for name in SKIP_WORDS if name != "--skip")
    words = ("check", "all", "-n", first_server.addr, "--skip", skipped, "--json")
    assert json.loads(run(*words).out)["state"] == "CRITICAL"
    value = json.loads(run(*words, "--exclude", "^Clo").out)
    assert value["state"] == "OK"
    reasons = {part["check"]: part["reason"] for part in value["notChecked"]}
    assert reasons["excluded names"] == "topics and groups that match ^Clo"


def test_the_first_line_names_the_worst_group_and_the_report_has_the_next_step(
    run: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker
) -> None:
    consumer_broker.configs |= {"H": {"groupName": "H"}}
    consumer_broker.clients = {"G": ["c1"], "H": ["c1"]}
    consumer_broker.offsets |= {("G", "T", 1): 50, ("H", "T", 0): 50, ("H", "T", 1): 50}
    skipped = ",".join(name for name in UNSCRIPTED_CHECKS if name != "lag")
    words = ("check", "all", "-n", first_server.addr, "--skip", skipped, "--settle", "0")
    assert "lag CRITICAL (G and 1 more)" in run(*words, "--critical", "lag=5").out.splitlines()[0]
    result = run(*words, "--critical", "lag=20")
    assert "lag CRITICAL (H)" in result.out.splitlines()[0]
    assert "    next: nsadmin group explain H\n" in result.out
    checks = run(*words, "--critical", "lag=20", "--format", "json").json["checks"]
    assert {c["check"]: c["worst"] for c in checks}["lag"] == "H"
    assert "nsadmin group explain" not in run(*words, "--exclude", "H").out
    assert "lag H" in run(*words, "-g", "H*").out
    none = run(*words, "-g", "X*")
    assert (none.code, none.out) == (3, 'UNKNOWN: no consumer group matches "X*"\n')


def test_a_check_that_is_none(run: Run, first_server: FakeNameServer) -> None:
    result = run("check", "all", "-n", first_server.addr, "--skip", "topic")
    assert (result.code, result.out) == (3, "")
    assert 'unknown check "topic" for --skip: use namesrv, brokers' in result.err
    assert run("check", "all", "-n", first_server.addr, "--settle", "-1").code == 3
