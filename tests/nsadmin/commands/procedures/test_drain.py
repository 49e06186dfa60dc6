"""drain, undrain and drainStatus, in a lab whose producers look at routes often."""

import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin.client import AdminClient
from nsadmin.client.consumers.lag import Lag
from nsadmin.console.audit import describe_user
from nsadmin.operations.drain.cluster_environment import ClusterEnvironment
from nsadmin.operations.drain.state import (
    DrainState,
    SavedDrain,
    load_drains,
    open_drain,
)
from tests.nsadmin.conftest import Run
from tests.support.clock import speed_up_drains
from tests.support.fake_servers import FakeNameServer
from tests.support.lab import Lab, start_lab
from tests.support.name_servers import ROOT, ServerProgram

# Two groups with the same topics: nothing would be left without a broker.
PLAN = FleetPlan(clusters=1, groups=2, replicas=2, topics=5)
# The lab's orders have an order configuration, which name servers do not hand out.
B = "broker-a-0"
UNREAD = (
    r"nsadmin: broker-a-0 has [1-9]\d* unread messages of \d+ groups?: while it is stopped, nobody can "
    r"deliver them; --for-good waits until all are read\n"
    r"nsadmin: broker-a-0:1 refuses reads, because its slaveReadEnable is false: to let it serve them while "
    r"its master is down, run nsadmin updateBrokerConfig slaveReadEnable true -b broker-a-0:1\n"
)


@pytest.fixture
def running_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    speed_up_drains(monkeypatch)
    with start_lab(tmp_path / "lab", PLAN, name_servers=2, producer_period=0.1) as running:
        monkeypatch.setenv("NAMESRV_ADDR", running.namesrv_addr)
        yield running


@pytest.fixture
def with_env(running_lab: Lab, run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run` empties the environment first."""
    monkeypatch.setenv("NAMESRV_ADDR", running_lab.namesrv_addr)
    return run


def events(out: str) -> list[str]:
    event_names = [json.loads(line)["event"] for line in out.splitlines()]
    return [name for name in event_names if name != "progress"]


def saved_drains(tmp_path: Path) -> list[SavedDrain]:
    return [saved for saved in load_drains(tmp_path / "state") if isinstance(saved, SavedDrain)]


def perms(running_lab: Lab) -> list[dict[str, int]]:
    with AdminClient(running_lab.namesrv_addr) as admin:
        return [permission.result or {} for permission in admin.broker_routes.get_topic_permissions(B)]


def test_a_drain_and_what_undoes_it(with_env: Run, running_lab: Lab) -> None:
    before = perms(running_lab)
    result = with_env("drain", B, "--json")
    assert (result.code, result.err.count("\n")) == (0, 2)
    assert re.fullmatch(UNREAD, result.err)
    assert events(result.out) == [
        "started", "checked", "snapshotTaken", "snapshotTaken", "wiped", "wiped", "closed", "safe",
        "holdEnded",
    ]  # fmt: skip
    assert all(not perm & 2 for table in perms(running_lab) for perm in table.values())
    status = with_env("drainStatus", "--json")
    assert [
        [
            row[name]
            for name in ("brokerName", "phase", "namesrvAddr", "openTopics", "differing", "pid", "error")
        ]
        for row in json.loads(status.out)
    ] == [[B, "safe", addr, 0, None, None, None] for addr in running_lab.namesrv_addrs]
    explained = with_env("route", "explain", "payments", "--filter", "step=wiped", "--json").json
    assert {row["command"] for row in explained} == {f"nsadmin undrain {B}"}
    dry = with_env("undrain", B, "--dry-run", "--json")
    assert [row["result"] for row in json.loads(dry.out)] == ["dry-run"] * 2
    assert all(row["topicCount"] > 10 for row in json.loads(dry.out))
    undone = with_env("undrain", B, "--json")
    assert (undone.code, undone.err) == (0, "")
    counts = [[row["topicCount"] for row in json.loads(result.out)] for result in (dry, undone)]
    assert counts[0] == counts[1]
    assert [(row["how"], row["result"]) for row in json.loads(undone.out)] == [("topic by topic", "done")] * 2
    assert perms(running_lab) == before
    assert json.loads(with_env("drainStatus", "--json").out) == []
    assert (
        with_env("drainStatus").err
        == "nsadmin: you drain no broker here; drains from other machines and by other users are not known\n"
    )
    again = with_env("undrain", B)
    assert (again.code, again.err) == (5, with_env("drainStatus", B).err)
    assert again.err.startswith(f"nsadmin: {B} has no drain: it was undone at 20")
    unknown = with_env("drainStatus", "no-such")
    assert (unknown.code, unknown.err) == (
        5,
        'nsadmin: no name server lists a broker "no-such", and the account '
        f"{describe_user()} has no drain of it\n",
    )


def test_a_broker_that_was_wiped_before_its_drain_stays_wiped_and_undrain_says_so(with_env: Run) -> None:
    assert with_env("wipeWritePerm", B).code == 0
    assert with_env("drain", B).code == 0
    undone = with_env("undrain", B, "--json")
    assert (undone.code, [row["result"] for row in json.loads(undone.out)]) == (0, ["unchanged"] * 2)
    advice = f"topics of {B}: `nsadmin repair wipe {B}` restores the permissions"
    assert [line.endswith(advice) for line in undone.err.splitlines()] == [True] * 2
    assert with_env("repair", "wipe", B).code == 0


def test_undrain_says_how_clients_send_ordered_messages_to_the_broker_again(with_env: Run) -> None:
    assert with_env("updateNamesrvConfig", "orderMessageEnable", "true").code == 0
    assert with_env("updateOrderConf", "orders", "put", "broker-a-1:8").code == 0
    assert with_env("drain", B).code == 0
    undone = with_env("undrain", B)
    [advice] = re.findall(r"`nsadmin (updateOrderConf orders put .*)` adds it", undone.err)
    assert with_env(*shlex.split(advice)).code == 0
    assert with_env("drain", B, "--dry-run").code == 1


def inventory_state(with_env: Run) -> str:
    """The state of the master in the inventory."""
    inventory = json.loads(with_env("inventoryList", "--json").out)
    return next(str(row["state"]) for row in inventory if (row["brokerName"], row["brokerId"]) == (B, 0))


def test_a_broker_that_is_drained_for_good_leaves_the_inventory(
    with_env: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Simulated consumers never reach the end of the queues.
    monkeypatch.setattr(ClusterEnvironment, "read_lag", lambda cluster_view, master_addr: {})
    assert with_env("drain", B, "--json").code == 0
    assert inventory_state(with_env) == "listed"
    assert with_env("undrain", B).code == 0
    assert with_env("drain", B, "--for-good", "--json").code == 0
    assert inventory_state(with_env) == "leaving"
    assert with_env("undrain", B).code == 0
    assert inventory_state(with_env) == "listed"


def test_lines_for_who_has_no_terminal(with_env: Run) -> None:
    result = with_env("drain", B)
    lines = [line.partition("Z ")[2] for line in result.out.splitlines()]
    assert lines[0].startswith(f"draining {B} of cluster cluster-a on 127.0.0.1:")
    assert lines[-3:] == [
        "safe: 0 messages a minute",
        "safe to stop",
        f"{B} is drained, but nsadmin no longer watches it: if it registers with write permission again, "
        "clients write to it. Stop it now, or drain it with --hold or --then COMMAND.",
    ]
    assert len(lines) == len(set(lines))


def test_a_dry_run_changes_nothing_and_keeps_nothing(with_env: Run, running_lab: Lab, tmp_path: Path) -> None:
    before = perms(running_lab)
    result = with_env("drain", B, "--dry-run", "--json")
    assert result.code == 0
    assert [(row["result"], row["openTopics"] > 10) for row in json.loads(result.out)] == [
        ("dry-run", True)
    ] * 2
    assert perms(running_lab) == before
    assert not (tmp_path / "state").exists()
    assert re.search(UNREAD, result.err)
    assert "unread" not in with_env("drain", B, "--for-good", "--dry-run").err


@pytest.mark.parametrize(
    ("lags", "note"),
    [
        (None, f"nsadmin: it is unknown how many unread messages {B} has\n"),
        ({"g": Lag(0)}, ""),
        ({}, ""),
    ],
)
def test_without_unread_messages_nothing_is_said(
    with_env: Run, monkeypatch: pytest.MonkeyPatch, lags: dict[str, Lag] | None, note: str
) -> None:
    monkeypatch.setattr(ClusterEnvironment, "read_lag", lambda cluster_view, master_addr: lags)
    assert with_env("drain", B, "--dry-run").err == note


def test_slaves_that_serve_reads_deliver_the_unread_messages(with_env: Run) -> None:
    assert with_env("updateBrokerConfig", "slaveReadEnable", "true", "-b", f"{B}:1", "--yes").code == 0
    preview = with_env("drain", B, "--dry-run")
    assert "while it is stopped, only its slaves can deliver them; " in preview.err
    assert "slaveReadEnable" not in preview.err


def test_a_broker_without_slaves_keeps_its_unread_messages(
    with_env: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        ClusterEnvironment, "read_lag", lambda cluster_view, master_addr: {"g": Lag(1), "h": Lag(None, "?")}
    )
    monkeypatch.setattr("nsadmin.commands.procedures.drain.find_slave_addrs", lambda servers: {})
    assert with_env("drain", B, "--dry-run").err == (
        "nsadmin: broker-a-0 has 1 unread message of 1 group: they are delivered only after it has started "
        "again; --for-good waits until all are read\n"
    )


def test_a_preview_names_a_name_server_that_does_not_list_the_broker(with_env: Run, running_lab: Lab) -> None:
    with FakeNameServer() as other:
        result = with_env("drain", B, "--dry-run", "-n", f"{running_lab.namesrv_addr};{other.addr}")
    remark = f"{other.addr} does not list {B}: its clients may still write, and the drain would end with exit"
    assert remark in result.err


def test_what_would_be_left_alone_is_refused(with_env: Run, running_lab: Lab) -> None:
    with AdminClient(running_lab.namesrv_addr) as admin:
        admin.brokers.wipe_write_perm("broker-a-1")
    result = with_env("drain", B)
    assert result.code == 1
    assert result.err.startswith("nsadmin: the drain did not begin: 4 topics would be left")
    assert (
        "broker-a-1 takes no messages for them (coupons-archived, inventory-cancelled, orders," in result.err
    )
    planned = with_env("drain", B, "--dry-run")
    assert planned.code == 1
    assert (
        "4 topics would be left without a writable queue: broker-a-1 takes no messages for them"
        " (coupons-archived, inventory-cancelled, orders, payments): `nsadmin route explain "
        "coupons-archived` says why" in planned.err
    )
    assert with_env("drain", B, "--force").code == 0


def test_a_name_server_that_does_not_answer_needs_consent(
    with_env: Run, running_lab: Lab, dead_addr: str
) -> None:
    addrs = f"-n{running_lab.namesrv_addr};{dead_addr}"
    refused = with_env("drain", B, addrs)
    assert refused.code == 1
    assert "pass --allow-unreachable to drain without it" in refused.err
    result = with_env("drain", B, addrs, "--allow-unreachable", "--json")
    assert result.code == 0
    assert "serverLost" in events(result.out)
    undone = with_env("undrain", B, addrs, "--json")
    assert undone.code == 3
    assert [row["result"] for row in json.loads(undone.out)] == ["done", "done", "failed"]
    assert len(json.loads(with_env("drainStatus", "--json").out)) == 2
    assert with_env("undrain", B, "-n", running_lab.namesrv_addr).code == 0


def test_nobody_knows_the_broker(with_env: Run) -> None:
    result = with_env("drain", "broker-x")
    assert (result.code, result.err.startswith('nsadmin: no broker "broker-x"; did you mean ')) == (5, True)


def test_the_command_runs_when_it_is_safe_and_its_failure_is_told(
    with_env: Run, running_lab: Lab, tmp_path: Path
) -> None:
    file = tmp_path / "stopped"
    result = with_env("drain", B, "--then", f"echo {{brokerName}} {{brokerAddr}} > {file}; exit 4", "--json")
    assert result.code == 1
    assert file.read_text() == f"{B} {running_lab.brokers[B, 0]}\n"
    assert "the command of --then failed with exit code 4; broker-a-0 stays drained" in result.err
    assert events(result.out)[-3:] == ["safe", "commandEnded", "holdEnded"]


def test_a_drain_whose_command_succeeded_does_not_ask_for_another_one(with_env: Run) -> None:
    result = with_env("drain", B, "--then", "true", "--json")
    assert (result.code, events(result.out)[-2:]) == (0, ["safe", "commandEnded"])


def test_a_command_is_refused_where_a_shell_could_interpret_the_name_of_the_broker(
    run: Run, tmp_path: Path
) -> None:
    name = f"x$(touch {tmp_path}/run)"
    with FakeNameServer({"C": {name: {0: "127.0.0.1:10911"}}}) as server:
        server.routes = {"T": {name: 6}}
        result = run("drain", name, "-n", server.addr, "--force", "--then", 'sh -c "echo {brokerName}"')
        assert (result.code, result.out) == (1, "")
        assert f'unsafe brokerName "{name}", so nothing was run' in result.err
        assert server.routes == {"T": {name: 6}}
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--settle", "soon"), 'invalid time "soon" for --settle: use 100ms to 1h, such as 15s or 1m'),
        (("--interval", "0s"), 'invalid time "0s" for --interval: use 100ms to 10m, such as 15s or 1m'),
        (
            ("--then", "stop {broker}"),
            "unknown placeholder {broker} in --then: use {brokerName} and {brokerAddr}",
        ),
        (("--output", "csv"), 'invalid format "csv" for --output: drain supports only text and jsonl'),
    ],
)
def test_what_cannot_be_understood_is_told(with_env: Run, words: tuple[str, str], says: str) -> None:
    result = with_env("drain", B, *words)
    assert (result.code, says in result.err) == (2, True), result.err


def test_a_kept_drain_goes_on_in_its_own_way(with_env: Run) -> None:
    assert with_env("drain", B, "--durable", "--force").code == 0
    again = with_env("drain", B)
    assert (again.code, again.err.splitlines()[0]) == (
        0, "nsadmin: the drain of broker-a-0 was started with --durable, and continues so",
    )  # fmt: skip
    assert with_env("undrain", B).code == 0


def test_a_drain_under_way_is_left_alone(with_env: Run, tmp_path: Path) -> None:
    assert with_env("drain", B).code == 0
    [first] = [drain.folder for drain in saved_drains(tmp_path)]
    assert first.lock.acquire()
    result = with_env("undrain", B)
    assert (result.code, "is running this drain: stop it first" in result.err) == (1, True)
    assert json.loads(with_env("drainStatus", B, "--json").out)[0]["pid"] is not None
    first.lock.release()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)]
)
def test_ended_in_the_middle_it_goes_on_when_it_is_started_again(
    with_env: Run, running_lab: Lab, tmp_path: Path, number: int, code: int
) -> None:
    before = perms(running_lab)
    command = [sys.executable, "-m", "nsadmin", "drain", B, "-n", running_lab.namesrv_addr, "--json"]
    env = {
        **ServerProgram.make_environment(),
        "NSADMIN_STATE": str(tmp_path / "state"),
        "NSADMIN_AUDIT": "off",
    }
    with subprocess.Popen(
        command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        try:
            for line in child.stdout:
                if '"closed"' in line:
                    child.send_signal(number)
                    break
            stderr = child.stderr.read()
        finally:
            child.kill()
    assert child.returncode == code
    assert (
        f"interrupted; the drain is saved: run the same command to resume it, or `nsadmin undrain {B}` "
        "to undo it" in stderr
    ) == (number != signal.SIGKILL)
    [row, _] = json.loads(with_env("drainStatus", "--json").out)
    assert (row["phase"], row["pid"]) == ("settle", None)
    result = with_env("drain", B, "--json")
    assert result.code == 0
    assert json.loads(result.out.splitlines()[0])["resumed"] == "settle"
    assert "snapshotTaken" not in events(result.out)
    assert with_env("undrain", B).code == 0
    assert perms(running_lab) == before


def test_what_makes_no_sense_is_told(with_env: Run, tmp_path: Path) -> None:
    folder = open_drain(tmp_path / "state", "cluster-a", B).path
    folder.mkdir(parents=True)
    state = msgspec.to_builtins(DrainState("cluster-a", B, ("127.0.0.1:1",), 1, 2))
    for name_servers in (None, "x", [1]):
        (folder / "state.json").write_text(json.dumps({**state, "nameServers": name_servers}))
        result = with_env("drainStatus", "--json")
        [row] = json.loads(result.out)
        assert (result.code, row["error"].startswith(f"{folder / 'state.json'}: expected ")) == (1, True)
        for words in (("drain", B), ("repair", "wipe", B, "--yes")):
            result = with_env(*words)
            assert (result.code, result.err.count("\n")) == (1, 1)
            assert "at nameServers" in result.err


def test_the_status_counts_reopened_topics_of_each_name_server(
    with_env: Run, running_lab: Lab, tmp_path: Path
) -> None:
    assert with_env("drain", B).code == 0
    [saved] = saved_drains(tmp_path)
    first, second = running_lab.namesrv_addrs
    saved.folder.save(saved.state._replace(reopened=5, reopens={first: 3, second: 2}), saved.snapshot)
    rows = json.loads(with_env("drainStatus", "--json").out)
    assert {row["namesrvAddr"]: row["reopened"] for row in rows} == {first: 3, second: 2}
