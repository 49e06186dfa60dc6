"""check all: what applies, at the same time, and what it comes to."""

from pathlib import Path

from nsadmin import AdminClient, Tls
from nsadmin.operations.checks import check_suite
from nsadmin.operations.checks.check import CheckScope
from nsadmin.operations.checks.check_suite import CheckPlan
from nsadmin.operations.checks.check_table import find_check
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.inventory.keeper import InventoryKeeper
from tests.support.checks import UNSCRIPTED_CHECKS, run_check
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeBroker, FakeNameServer
from tests.support.journals import make_snapshot, write_journal

AT_ONCE = CheckPlan(CheckScope(settle_seconds=0))


def found(
    *addrs: str, asked: CheckPlan = AT_ONCE, left_out: tuple[str, ...] = UNSCRIPTED_CHECKS
) -> tuple[CheckFinding, dict[str, CheckFinding]]:
    whole, parts = check_suite.run_checks(
        lambda: AdminClient(addrs, timeout=5), asked._replace(skipped=left_out)
    )
    return whole, {part.check: part for part in parts}


def test_all_is_well_and_what_does_not_apply_is_told(first_server: FakeNameServer) -> None:
    whole, parts = found(first_server.addr)
    assert (whole.state, whole.summary) == (
        CheckState.OK,
        "4 checks. Not checked: divergence, replicas, certificates, journal, drain, reports, "
        f"{', '.join(UNSCRIPTED_CHECKS)}, topic, clients, backup, security",
    )
    assert list(parts) == ["namesrv", "brokers", "writable", "heartbeat"]
    assert [line.partition(": ")[2] for line in whole.details] == [
        "divergence: only one name server",
        "replicas: no broker has a slave",
        "certificates: no server showed a certificate",
        "journal: no name server that answered keeps a journal, and --journal names none",
        "drain: you drain no broker here; drains from other machines and by other users are not known",
        "reports: pass --reports DIR",
        *(f"{name}: skipped with --skip" for name in UNSCRIPTED_CHECKS),
        "topic: pass -t TOPIC to check one topic",
        "clients: run nsadmin check clients",
        "backup: run nsadmin check backup PATH",
        "security: run nsadmin securityAudit",
    ]
    assert [f"{part.check}: {part.reason}" for part in whole.unchecked] == [
        line.partition(": ")[2] for line in whole.details
    ]


def test_what_does_not_apply_is_unknown_if_no_name_server_answers(dead_addr: str) -> None:
    whole, _ = found(dead_addr)
    reasons = {part.check: part.reason for part in whole.unchecked}
    silent = ("replicas", "certificates", "journal")
    assert {name: reasons[name] for name in silent} == dict.fromkeys(silent, "no name server answered")


def test_the_worst_state_counts_and_is_named_first(
    first_server: FakeNameServer, second_server: FakeNameServer, dead_addr: str
) -> None:
    second_server.routes = {"T": {"broker-a": 4}}
    whole, parts = found(first_server.addr, second_server.addr, dead_addr)
    assert whole.state is CheckState.CRITICAL
    assert whole.summary.partition(". ")[0] == (
        "5 of 5 checks are not OK: divergence CRITICAL, writable CRITICAL (T), "
        f"namesrv WARNING ({dead_addr}), brokers WARNING, heartbeat WARNING"
    )
    assert parts["divergence"].state is CheckState.CRITICAL


def test_topics_and_groups_by_name(first_server: FakeNameServer) -> None:
    with ConsumerBroker() as group:
        group.clients = {"G": ["c1"]}
        group.offsets["G", "T", 1] = 50
        first_server.clusters = {"C": {"broker-a": {0: group.addr}}}
        whole, parts = found(first_server.addr, asked=CheckPlan(topics=("T", "X"), groups=("G",)))
    assert whole.summary.startswith("1 of 7 checks is not OK: topic X CRITICAL. Not checked: ")
    assert "topic" not in [part.check for part in whole.unchecked]
    assert parts["lag"].about == "G"


def test_the_groups_whose_lag_nobody_examined_are_counted(first_server: FakeNameServer) -> None:
    for topic in ("T", "%RETRY%G", "%RETRY%G_T", "%RETRY%other", "%RETRY%CID_ONSAPI_OWNER"):
        first_server.routes[topic] = {"broker-a": 6}
    whole, _ = found(first_server.addr, asked=CheckPlan(groups=("G",)))
    assert ", topic, lag of 1 group, clients" in whole.summary
    reason = "not checked: lag: 1 other group with a retry topic: leave out -g to check all groups"
    assert reason in whole.details


def test_tls_and_journals(first_server: FakeNameServer, tmp_path: Path) -> None:
    folder = write_journal(tmp_path / "j", [make_snapshot()])
    _, parts = found(
        first_server.addr,
        asked=CheckPlan(CheckScope(journal_folders=(Path(folder),), tls=Tls(), settle_seconds=0)),
    )
    assert parts["certificates"].state is CheckState.UNKNOWN
    assert parts["journal"].state is CheckState.CRITICAL
    first_server.config["journal"] = "ok"
    assert found(first_server.addr)[1]["journal"].state is CheckState.OK


def test_where_nobody_answers_each_check_says_so(dead_addr: str) -> None:
    whole, parts = found(dead_addr)
    assert whole.state is CheckState.CRITICAL
    assert {part.state for part in parts.values()} == {CheckState.CRITICAL, CheckState.UNKNOWN}
    assert parts["brokers"].state is CheckState.UNKNOWN


def test_no_check_of_brokers_is_ok_with_a_damaged_inventory(
    first_server: FakeNameServer, second_server: FakeNameServer, tmp_path: Path
) -> None:
    def states() -> dict[str, CheckState]:
        inventory = InventoryKeeper(lambda: "servers", environment={"NSADMIN_STATE": str(tmp_path)})
        asked = CheckPlan(CheckScope(inventory=inventory, settle_seconds=0), topics=("T",))
        _, parts = found(first_server.addr, second_server.addr, asked=asked)
        return {name: parts[name].state for name in ("brokers", "divergence", "writable", "topic")}

    assert {*states().values()} == {CheckState.OK}
    [file] = tmp_path.rglob("topics.json")
    file.write_text("{")
    assert (states()["writable"], states()["topic"]) == (CheckState.UNKNOWN, CheckState.UNKNOWN)
    [file] = tmp_path.rglob("brokers.json")
    file.write_text("{")
    assert {*states().values()} == {CheckState.UNKNOWN}


def test_no_check_of_messages_is_ok_if_a_broker_is_gone(
    first_server: FakeNameServer, broker: FakeBroker, tmp_path: Path
) -> None:
    def judge_check(name: str) -> CheckFinding:
        inventory = InventoryKeeper(lambda: "servers", environment={"NSADMIN_STATE": str(tmp_path)})
        return run_check(find_check(name), first_server.addr, scope=CheckScope(inventory=inventory))

    assert judge_check("dlq").state is CheckState.OK
    first_server.clusters = {"C": {"broker-b": {0: broker.addr}}}
    finding = judge_check("dlq")
    assert (finding.state, finding.summary) == (
        CheckState.UNKNOWN,
        "broker-a left all name servers, so it was not examined; no dead letter was found",
    )
    assert "broker-a: left all name servers" in judge_check("lag").details
    for name in ("sends", "timer", "transactions"):
        assert "broker-a left all name servers, so it was not examined" in judge_check(name).details
