"""export, plan and apply in the lab, on the command line."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin.operations.plans import fields
from nsadmin.operations.plans.yaml_reader import read_desired_cluster
from nsadmin.operations.rebalance.run_state import RunState, open_rebalance
from tests.nsadmin.conftest import Run
from tests.nsadmin.console.test_session import on_terminal
from tests.support.lab import Lab, start_lab

A, B = "broker-a-0", "broker-a-1"
FILE = """\
cluster: cluster-a
topics:
  orders: {readQueueNums: 2, attributes: {message.type: FIFO}}
  ratings: {}
kv:
  DEPLOYMENT: {stage: canary}
"""
REFUSAL = (
    "nsadmin: the plan takes queues from consumers that may have unread messages there: let them read the "
    "messages first, or pass --allow-stranded to lose them"
)


@pytest.fixture
def running_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    with start_lab(tmp_path / "lab", FleetPlan(1, 2, 1, 6), name_servers=2) as running:
        monkeypatch.chdir(tmp_path)
        yield running


def wanted(text: str = FILE, name: str = "cluster.yaml") -> str:
    Path(name).write_text(text)
    return name


def test_an_export_is_a_file_that_changes_nothing(run_on_lab: Run) -> None:
    exported = run_on_lab("export", "cluster-a", "--namespace", "DEPLOYMENT")
    assert (exported.code, exported.err) == (0, "")
    # The short name is that of kvDiff.
    assert run_on_lab("export", "cluster-a", "-s", "DEPLOYMENT").out == exported.out
    desired = read_desired_cluster(exported.out, "f")
    assert {"orders", "payments"} <= (desired.topic_specs or {}).keys()
    assert (desired.kv_tables, list(desired.order_confs or {})) == ({"DEPLOYMENT": {}}, ["orders"])
    result = run_on_lab("plan", wanted(exported.out), "--prune")
    assert (result.code, result.json, result.err) == (0, [], "nsadmin: no changes\n")


def test_an_export_without_a_cluster(run_on_lab: Run) -> None:
    assert run_on_lab("export", "--schema").out == fields.format_schema()
    assert run_on_lab("export").err == "nsadmin: missing argument CLUSTER: usage: nsadmin export CLUSTER\n"
    assert run_on_lab("export", "nowhere").code == 5


def test_a_plan_and_its_end(run_on_lab: Run) -> None:
    file = wanted()
    planned = run_on_lab("plan", file)
    assert (planned.code, planned.err.count("become unreadable")) == (0, 2)
    assert planned.err.splitlines()[-1].startswith("nsadmin: 2 to create, 1 to update, 0 to delete; ")
    by_name = {row["name"]: row for row in planned.json}
    assert (by_name["orders"]["servers"], by_name["orders"]["result"]) == ([A, B], "planned")
    assert "readQueueNums 8 -> 2" in by_name["orders"]["changes"]
    assert by_name["orders"]["messages"] > 0
    assert by_name["DEPLOYMENT stage"]["changes"] == "new: canary"
    dry_run = run_on_lab("apply", file, "--dry-run")
    assert {row["result"] for row in dry_run.json} == {"dry-run"}
    assert dry_run.code == 1
    assert dry_run.err.splitlines()[-1] == REFUSAL
    refused = run_on_lab("apply", file, "--yes")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.count("become unreadable") == 2
    assert refused.err.splitlines()[-1] == REFUSAL
    applied = run_on_lab("apply", file, "--allow-stranded")
    assert (applied.code, {row["result"] for row in applied.json}) == (0, {"done"})
    assert run_on_lab("apply", file).json == run_on_lab("plan", file).json == []


@pytest.mark.parametrize("words", [("plan",), ("apply", "--dry-run")])
def test_a_rebalance_that_the_plan_would_undo_is_named(
    run_on_lab: Run, running_lab: Lab, tmp_path: Path, words: tuple[str, ...]
) -> None:
    folder = open_rebalance(tmp_path / "state", "cluster-a", "0123456789ab")
    folder.path.mkdir(parents=True)
    servers = tuple(running_lab.namesrv_addrs)
    folder.state.save(RunState("cluster-a", "0123456789ab", servers, 1, 1, moved=("orders",)))
    name, *options = words
    line = "nsadmin: this changes orders; a rebalance of cluster-a is interrupted, with no topic in motion: `"
    assert line in run_on_lab(name, wanted(), *options).err


def test_deletes_have_a_guard(run_on_lab: Run) -> None:
    file = wanted("cluster: cluster-a\ntopics: {orders: }\ngroups: {}\n")
    unasked = run_on_lab("apply", file, "--prune", "--max-deletes", "50")
    assert (unasked.code, "apply: this would delete " in unasked.err) == (2, True)
    many = run_on_lab("apply", file, "--prune", "--yes")
    assert (many.code, many.out) == (1, "")
    assert (
        "the plan deletes 12 items, more than --max-deletes 10: check them with "
        f"`nsadmin plan {file} --prune`, then pass --max-deletes 12"
    ) in many.err
    assert "delete" in run_on_lab("plan", file, "--prune", "--out", "pruning.plan").out
    assert (
        "`nsadmin apply pruning.plan --max-deletes 12 --dry-run`" in run_on_lab("apply", "pruning.plan").err
    )
    result = run_on_lab("apply", file, "--prune", "--yes", "--max-deletes", "50")
    assert (result.code, {row["action"] for row in result.json}) == (0, {"update", "delete"})
    assert run_on_lab("topicList", "--no-system", "--filter", "topic!~^%").json == [{"topic": "orders"}]


def test_a_plan_that_was_kept_is_carried_out_or_refused(run_on_lab: Run) -> None:
    assert run_on_lab("plan", wanted(), "--out", "tonight.plan").code == 0
    run_on_lab("updateTopicPerm", "orders", "4", "-c", "cluster-a")
    refused = run_on_lab("apply", "tonight.plan", "--yes")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.splitlines() == [
        "nsadmin: nothing was applied: the cluster does not match tonight.plan now; make the plan again",
        f"nsadmin: topic orders on {A} has changed since the plan was made",
        f"nsadmin: topic orders on {B} has changed since the plan was made",
    ]
    run_on_lab("updateTopicPerm", "orders", "6", "-c", "cluster-a")
    # Its own steps may be done already, by a run that was interrupted.
    run_on_lab("updateTopic", "ratings", "-c", "cluster-a")
    assert run_on_lab("apply", "tonight.plan", "--yes").err.splitlines()[-1] == REFUSAL
    result = run_on_lab("apply", "tonight.plan", "--yes", "--allow-stranded")
    assert (result.code, {row["name"] for row in result.json}) == (
        0,
        {"orders", "DEPLOYMENT stage"},
    )
    assert run_on_lab("apply", "tonight.plan").json == []


def test_files_that_cannot_be_used(run_on_lab: Run) -> None:
    assert (
        run_on_lab("plan", "none.yaml").err == "nsadmin: cannot read none.yaml: No such file or directory\n"
    )
    Path("latin.yaml").write_bytes(b"cluster: \xe9")
    assert run_on_lab("apply", "latin.yaml").err == "nsadmin: latin.yaml is not UTF-8 text\n"
    bad = run_on_lab("plan", wanted("cluster: c\ntopics:\n  a: {perms: 6}\n  b: {perm: x}\n"))
    assert bad.code == 2
    assert bad.err.startswith('nsadmin: cluster.yaml:3: unknown key "topics.a.perms": did you mean "perm"?')
    assert 'nsadmin: cluster.yaml:4: topics.b.perm: invalid value "x": use' in bad.err
    worse = "".join(f"  t{at}: {{perm: x}}\n" for at in range(30))
    assert (
        run_on_lab("plan", wanted(f"cluster: c\ntopics:\n{worse}")).err.splitlines()[-1]
        == "nsadmin: ... and 20 more"
    )
    run_on_lab("plan", wanted(), "--out", "p")
    assert "p is already a plan: run nsadmin apply p" in run_on_lab("plan", "p").err
    assert "omit --prune" in run_on_lab("apply", "p", "--prune").err
    assert run_on_lab("plan", "cluster.yaml", "--out", "no/p").err.endswith(
        "cannot write no/p (--out): No such file or directory\n"
    )
    Path("p").write_text('{"nsadminPlan": 1')
    assert "malformed plan" in run_on_lab("apply", "p").err


def test_who_is_asked_sees_what_will_be_done(running_lab: Lab) -> None:
    file = wanted("cluster: cluster-a\ntopics: {ratings: }\n")
    code, out, terminal_text = on_terminal(b"y\n", "apply", file, "-n", running_lab.namesrv_addr, "--json")
    assert (code, json.loads(out)[0]["result"]) == (0, "done")
    assert b"create topic ratings: new: readQueueNums 8, writeQueueNums 8, perm rw-\r\n" in terminal_text
    assert b"cluster-a, 2 brokers and 2 name servers: 1 to create, 0 to update, 0 to delete;" in terminal_text
    code, out, _ = on_terminal(
        b"n\n", "apply", wanted(), "--allow-stranded", "-n", running_lab.namesrv_addr, "--json"
    )
    assert (code, out) == (1, b"")


def test_a_server_that_does_not_answer_is_a_row(run_on_lab: Run, running_lab: Lab, run: Run) -> None:
    file = wanted("cluster: cluster-a\nkv: {N: {k: v}}\n")
    result = run("apply", file, "-n", f"{running_lab.namesrv_addrs[0]};127.0.0.1:1", "--json")
    assert result.code == 3
    assert [(row["name"], row["result"]) for row in result.json] == [
        ("N k", "done"),
        (None, "unknown"),
    ]
    partly = run("export", "cluster-a", "-n", f"{running_lab.namesrv_addrs[0]};127.0.0.1:1")
    assert partly.code == 3
    assert (
        "connection refused, no server listens on this port; its settings are missing from this file"
        in partly.out
    )
    assert "its settings are missing from this file" in partly.err


def test_a_failure_is_counted(run_on_lab: Run) -> None:
    failed = run_on_lab("apply", wanted("cluster: cluster-a\ntopics: {x: {attributes: {no.such: 1}}}\n"))
    assert (failed.code, failed.err) == (
        1,
        'nsadmin: brokers up to 5.5.1 know no attribute "no.such" of a topic, and refuse it\n'
        "nsadmin: 2 of 2 changes failed: run the same command to retry them\n",
    )


def test_an_exit_code_says_whether_there_are_differences(
    run_on_lab: Run, running_lab: Lab, dead_addr: str
) -> None:
    file = wanted("cluster: cluster-a\ntopics: {ratings: {}}\n")
    assert run_on_lab("plan", file).code == 0
    assert run_on_lab("plan", file, "--exit-code").code == 2
    assert run_on_lab("apply", file).code == 0
    assert run_on_lab("plan", file, "--exit-code").code == 0
    wanted("cluster: cluster-a\ntopics: {ratings: {perms: 4}}\n")
    assert run_on_lab("plan", file).code == 2
    broken = run_on_lab("plan", file, "--exit-code")
    assert (broken.code, 'unknown key "topics.ratings.perms"' in broken.err) == (1, True)
    wanted("cluster: cluster-a\ntopics: {other: {}}\n")
    assert (
        run_on_lab("plan", file, "--exit-code", "-n", f"{running_lab.namesrv_addrs[0]};{dead_addr}").code == 3
    )


def test_queues_without_messages_shrink_without_consent(run_on_lab: Run) -> None:
    run_on_lab("updateTopic", "fresh", "-c", "cluster-a", "-r", "8", "-w", "8")
    result = run_on_lab("apply", wanted("cluster: cluster-a\ntopics: {fresh: {readQueueNums: 2}}\n"), "--yes")
    assert (result.code, {row["result"] for row in result.json}) == (0, {"done"})


def test_a_topic_whose_name_no_broker_takes_is_refused_by_the_plan(run_on_lab: Run) -> None:
    result = run_on_lab("plan", wanted(f"cluster: cluster-a\ntopics: {{{'x' * 200}: {{}}}}\n"))
    assert (result.code, "letters, digits and % | _ -, at most 127 characters" in result.out) == (3, True)


def test_a_saved_plan_waits_for_silent_servers(run_on_lab: Run, running_lab: Lab, dead_addr: str) -> None:
    servers = ("-n", f"{running_lab.namesrv_addrs[0]};{dead_addr}")
    run_on_lab("plan", wanted(), "--out", "tonight.plan", *servers)
    refused = run_on_lab("apply", "tonight.plan", "--yes", *servers)
    assert refused.code == 1
    *_, reason, detail = refused.err.splitlines()
    assert reason == (
        "nsadmin: nothing was applied, because servers do not answer: apply the plan again when they do"
    )
    assert detail.startswith(f"nsadmin: {dead_addr} does not answer: connection refused")


UNNAMED = (
    "nsadmin: attributes would be removed, because the file does not name them: topic orders (message.type); "
    "add them to the file, or pass --keep"
)


def test_what_the_file_does_not_name_is_kept_on_demand(run_on_lab: Run) -> None:
    file = wanted(
        "cluster: cluster-a\ntopics: {orders: {perm: 4}}\ngroups: {warehouse: {retryMaxTimes: 3}}\n"
    )
    run_on_lab(
        "updateTopic", "orders", "-a", "+message.type=FIFO", "-r", "9", "-w", "9", "-c", "cluster-a", "--yes"
    )
    for words in (("plan", file), ("apply", file, "--dry-run")):
        assert UNNAMED in run_on_lab(*words).err.splitlines()
    planned = run_on_lab("plan", file, "--keep", "--out", "kept.plan")
    assert "attributes" not in planned.err
    assert {row["name"]: row["changes"] for row in planned.json} == {
        "orders": "perm rw- -> r--", "warehouse": "retryMaxTimes 16 -> 3",
    }  # fmt: skip
    refused = run_on_lab("apply", "kept.plan", "--keep")
    assert (refused.code, "pass --keep to plan instead" in refused.err) == (2, True)
    applied = run_on_lab("apply", "kept.plan", "--yes", "--allow-stranded")
    assert (applied.code, {row["result"] for row in applied.json}) == (0, {"done"})
    assert run_on_lab("apply", file, "--keep").json == []
    [route, *_] = run_on_lab("topicRoute", "orders").json
    assert (route["readQueueNums"], route["perm"]) == (9, 4)
