"""rollingRestart in a lab; that brokers are stopped and started is tested with real ones."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin import AdminClient
from nsadmin.console.exit_codes import ChangeDeclined
from nsadmin.console.session import Session
from nsadmin.operations.installation import Installation
from nsadmin.operations.restart.state import open_restart, plan_restart
from tests.nsadmin.conftest import Run
from tests.support.clock import speed_up_drains
from tests.support.fake_servers import FakeNameServer
from tests.support.lab import Lab, start_lab


@pytest.fixture
def running_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    speed_up_drains(monkeypatch)
    plan = FleetPlan(clusters=1, groups=2, replicas=2, topics=5)
    with start_lab(tmp_path / "lab", plan, producer_period=0.1) as running:
        yield running


@pytest.fixture
def restart(running_lab: Lab, run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    def restart(*words: str) -> object:
        return run("rollingRestart", "-c", "cluster-a", "-n", running_lab.namesrv_addr, *words)

    return restart  # type: ignore[return-value]


def test_a_dry_run_shows_the_order(restart: Run, running_lab: Lab) -> None:
    result = restart("--dry-run", "--json")
    assert result.code == 0
    rows = json.loads(result.out)
    assert [(row["brokerName"], row["brokerId"], row["brokerAddr"]) for row in rows] == [
        (name, number, running_lab.brokers[name, number])
        for name in ("broker-a-0", "broker-a-1")
        for number in (1, 0)
    ]
    assert [row["steps"] for row in rows[:2]] == [
        ["stop", "start", "wait"],
        ["drain", "stop", "start", "wait", "undrain"],
    ]
    assert [row["openTopics"] is None for row in rows] == [True, False] * 2


def test_a_broker_that_runs_on_is_not_believed_to_be_restarted(restart: Run, tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = f"echo {{brokerName}} {{brokerId}} {{brokerAddr}} >> {log}"
    result = restart("--stop", command, "--start", command, "--patience", "20s", "--json")
    assert result.code == 1
    assert (
        "broker-a-0 (slave 1) is not healthy after 20 s (--patience): waiting for the old process at "
        in result.err
    )
    assert [line.split()[:2] for line in log.read_text().splitlines()] == [["broker-a-0", "1"]] * 2
    assert [json.loads(line)["event"] for line in result.out.splitlines()][:3] == [
        "began",
        "stepBegan",
        "stepBegan",
    ]
    again = restart("--dry-run", "--json")
    assert json.loads(again.out)[0]["brokerId"] == 1


def test_a_resumed_restart_asks_only_about_the_brokers_that_are_left(
    restart: Run, running_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def decline(_: Session, question: str) -> None:
        asked.append(question)
        raise ChangeDeclined

    monkeypatch.setattr(Session, "confirm_change", decline)
    addrs = {
        name: {broker_id: running_lab.brokers[name, broker_id] for broker_id in (0, 1)}
        for name in ("broker-a-0", "broker-a-1")
    }
    with AdminClient(running_lab.namesrv_addr) as admin:
        folder = Installation(admin).find_run(lambda home: open_restart(home, "cluster-a"))
        folder.state.save(folder.sign(plan_restart("cluster-a", addrs, 1)._replace(at=2, step="stop")))
    restart("--stop", "true", "--start", "true")
    assert asked == ["Restart broker-a-1 of cluster-a, one after another?"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            (),
            "missing option --stop: pass both commands, such as --stop 'ssh {brokerName} systemctl "
            "stop broker' --start 'ssh {brokerName} systemctl start broker'",
        ),
        (("--stop", "x"), "missing option --start: pass both commands, such as --stop 'ssh {brokerName} "),
        (
            ("--stop", "x {broker}", "--start", "y"),
            "unknown placeholder {broker} in --stop: use {brokerName}, {brokerAddr}, {brokerId}",
        ),
        (
            ("--stop", "x", "--start", "y", "--patience", "0s"),
            'invalid time "0s" for --patience: use 1s to 24h, such as 15s or 1m',
        ),
    ],
)
def test_what_cannot_be_understood_is_told(restart: Run, words: tuple[str, ...], says: str) -> None:
    result = restart(*words)
    assert (result.code, says in result.err) == (2, True), result.err


def test_a_cluster_that_is_not_there(run: Run, running_lab: Lab) -> None:
    result = run(
        "rollingRestart", "-c", "nowhere", "-n", running_lab.namesrv_addr, "--stop", "x", "--start", "y"
    )
    assert (result.code, 'no cluster "nowhere"' in result.err) == (5, True)


def test_a_broker_whose_name_a_shell_could_interpret_stops_everything_before_it_begins(
    run: Run, tmp_path: Path
) -> None:
    groups = {"broker-a": {0: "127.0.0.1:10911"}, f"x$(touch {tmp_path}/run)": {0: "127.0.0.1:10921"}}
    with FakeNameServer({"DefaultCluster": groups}) as server:
        words = ("rollingRestart", "-c", "DefaultCluster", "-n", server.addr)
        command = f'touch {tmp_path}/begun; sh -c "echo {{brokerName}}"'
        for more in ((), ("--dry-run",)):
            result = run(*words, "--stop", command, "--start", command, *more)
            assert (result.code, result.out) == (1, "")
            assert f'unsafe brokerName "x$(touch {tmp_path}/run)", so nothing was run' in result.err
            assert result.err.count("\n") == 1
        assert run(*words, "--dry-run").code == 0
    assert not (tmp_path / "begun").exists()
    assert not (tmp_path / "run").exists()
    assert not (tmp_path / "state" / "restarts").exists()


def test_two_names_of_one_process_are_refused(run: Run) -> None:
    groups = {"broker-a": {0: "127.0.0.1:10911"}, "broker-b": {0: "127.0.0.1:10911"}}
    with FakeNameServer({"C": groups}) as server:
        for more in (("--stop", "false", "--start", "false", "--yes"), ("--dry-run",)):
            result = run("rollingRestart", "-c", "C", "-n", server.addr, *more)
            assert (result.code, result.out) == (1, "")
            assert result.err == (
                "nsadmin: broker-a and broker-b are one process, at 127.0.0.1:10911: restart the name "
                "servers one by one to remove former names, then run the command again\n"
            )


def test_a_restart_whose_drains_would_be_refused_does_not_begin(
    restart: Run, running_lab: Lab, run: Run, tmp_path: Path
) -> None:
    created = run(
        "updateTopic", "lonely", "-b", running_lab.brokers["broker-a-1", 0], "-n", running_lab.namesrv_addr,
        "--yes",
    )  # fmt: skip
    assert created.code == 0, created.err
    drain = run("drain", "broker-a-1", "--dry-run", "-n", running_lab.namesrv_addr, "--json")
    refusal = json.loads(drain.out)[0]["error"]
    assert refusal == "1 topic would be left without a writable queue (lonely)"
    assert (
        f"nsadmin: {refusal}: create it on all brokers of cluster-a with `nsadmin spread lonely -c "
        in drain.err
    )
    preview = restart("--dry-run", "--json")
    assert (preview.code, drain.code) == (1, 1)
    assert preview.err == "nsadmin: no broker would be stopped: broker-a-1 cannot be drained\n"
    assert [(r["brokerName"], r["brokerId"]) for r in json.loads(preview.out) if r["error"]] == [
        ("broker-a-1", 0)
    ]
    command = f"echo {{brokerName}} >> {tmp_path}/log"
    real = restart("--stop", command, "--start", command, "--yes")
    assert (real.code, real.out) == (1, "")
    assert f"no broker was stopped: broker-a-1: {refusal}" in real.err
    assert not (tmp_path / "log").exists()
    assert restart("--dry-run", "--force").code == 0


def test_only_a_broker_that_is_drained_is_to_be_undrained(restart: Run, running_lab: Lab, run: Run) -> None:
    where = ("-n", running_lab.namesrv_addr, "--yes")
    assert run("wipeWritePerm", "broker-a-1", *where).code == 0
    wiped = restart("--dry-run").out
    assert "`nsadmin route explain" in wiped
    assert "undrain broker-a-1" not in wiped
    assert run("repair", "wipe", "broker-a-1", *where).code == 0
    assert run("drain", "broker-a-1", *where).code == 0
    assert "run `nsadmin undrain broker-a-1` first" in restart("--dry-run").out
    assert run("undrain", "broker-a-1", *where).code == 0
    assert restart("--dry-run").code == 0
