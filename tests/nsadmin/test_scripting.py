"""docs/how-to/write-scripts.md: each script as it stands there, run as a program against a lab."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from nsadmin import AdminClient, TopicPatch
from nsadmin.command_line.registry import take_command
from tests.support.fake_servers import closed_port
from tests.support.lab import Lab, start_lab
from tests.support.name_servers import ROOT, ServerProgram

PAGE = (ROOT / "docs" / "how-to" / "write-scripts.md").read_text()
SCRIPTS = {
    block.split(maxsplit=1)[0].strip('"').rstrip(":"): block
    for block in re.findall(r"```python\n(\"\"\".*?)```", PAGE, re.S)
}
Script = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def running_lab(tmp_path: Path) -> Iterator[Lab]:
    """Two name servers that know the same brokers. Its clients soon see that one is wiped."""
    with start_lab(tmp_path / "lab", name_servers=2, producer_period=0.2) as running:
        yield running


@pytest.fixture
def script(running_lab: Lab, tmp_path: Path) -> Script:
    def run(name: str, *args: str) -> subprocess.CompletedProcess[str]:
        file = tmp_path / name
        file.write_text(SCRIPTS[name])
        environment = ServerProgram.make_environment() | {"NAMESRV_ADDR": running_lab.namesrv_addr}
        return subprocess.run(
            [sys.executable, file, *args],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture
def admin(running_lab: Lab) -> Iterator[AdminClient]:
    with AdminClient(running_lab.namesrv_addr) as client:
        yield client


def test_there_are_eight_of_a_readable_length() -> None:
    assert sorted(SCRIPTS) == [
        "apply_reviewed.py",
        "compare_configs.py",
        "create_topics.py",
        "move_order_conf.py",
        "nightly_report.py",
        "no_writable_queue.py",
        "restart_broker.py",
        "slow_brokers.py",
    ]
    assert all(20 <= len(text.splitlines()) <= 50 for text in SCRIPTS.values())


def test_each_method_of_a_command_exists() -> None:
    table = PAGE.partition("## Find the method of a command")[2].partition("\n## ")[0]
    calls = [
        node
        for code in re.findall(r"`([^`]*admin\.[^`]+)`", table)
        for node in ast.walk(ast.parse(code, mode="eval"))
        if isinstance(node, ast.Call)
    ]
    assert len(calls) >= 30
    with AdminClient("127.0.0.1:1") as admin:
        for call in calls:
            method = eval(ast.unparse(call.func), {"admin": admin})
            signature(method).bind(*call.args, **{str(k.arg): k.value for k in call.keywords})
    for command in re.findall(r"^\| `(.+?)` \|", table, re.M):
        assert take_command(command.split())[0] is not None, command


def test_the_first_lines_collect_the_lag_of_all_groups(running_lab: Lab) -> None:
    [lines] = re.findall(r"```python\n(from nsadmin .*?)```", PAGE.partition("## Rules")[0], re.S)
    names: dict[str, Any] = {}
    exec(lines.replace("ns-a:9876;ns-b:9876", running_lab.namesrv_addr), names)
    lags = {row["group"]: row["lag"] for row in names["rows"]}
    assert lags.keys() > {"analytics", "warehouse"}
    assert max(lags, key=lags.__getitem__) == "analytics"
    assert {row["clients"] for row in names["rows"]} == {3}


def test_they_are_as_clean_as_the_rest(tmp_path: Path) -> None:
    for name, text in SCRIPTS.items():
        (tmp_path / name).write_text(text)
    for words in (["check", "-q"], ["format", "-q", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *words, "--config", str(ROOT / "pyproject.toml"), str(tmp_path)]
        result = subprocess.run(ruff, capture_output=True, text=True, check=False)
        assert (result.returncode, result.stdout) == (0, ""), result


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_a_script_says_in_one_line_that_nobody_answers(name: str, tmp_path: Path) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    (tmp_path / "topics.csv").write_text("topic,queues,type\n")
    args = {
        "move_order_conf.py": [dead, dead],
        "create_topics.py": [str(tmp_path / "topics.csv"), "c"],
        "restart_broker.py": ["broker-a-0", "true"],
        "apply_reviewed.py": [str(tmp_path / "cluster.yaml")],
    }
    (tmp_path / "cluster.yaml").write_text("cluster: c\n")
    file = tmp_path / name
    file.write_text(SCRIPTS[name])
    result = subprocess.run(
        [sys.executable, file, *args.get(name, [])],
        env=ServerProgram.make_environment() | {"NAMESRV_ADDR": dead},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stdout) == (1, "")
    assert "no name server answered" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_topics_that_nobody_can_write_to(script: Script, admin: AdminClient) -> None:
    assert script("no_writable_queue.py").stdout.splitlines() == [
        "orders-history (broker-a-0, broker-a-1, broker-a-2, broker-b-0, broker-b-1, broker-b-2)"
    ]
    masters = [addr for name in ("cluster-a", "cluster-b") for addr in admin.clusters.list_masters(name)]
    assert all(
        c.error is None for c in admin.topic_configs.update_topic(masters, "payments", TopicPatch(perm=4))
    )
    result = script("no_writable_queue.py")
    assert [line.partition(" ")[0] for line in result.stdout.splitlines()] == ["orders-history", "payments"]
    assert (result.returncode, result.stderr) == (0, "")


def test_the_order_configuration_moves(script: Script, running_lab: Lab) -> None:
    old, new = running_lab.namesrv_addrs
    with AdminClient(old) as source, AdminClient(new) as goal:
        source.order_confs.put_conf("payments", "broker-a-0:8")
        source.order_confs.put_conf("refunds", "broker-a-0:4")
        goal.order_confs.delete_conf("orders")
        goal.order_confs.put_conf("refunds", "broker-a-1:4")
        result = script("move_order_conf.py", old, new)
        assert result.returncode == 1
        assert "3 of 3 topics are on" in result.stdout
        assert f"payments: broker-a-0:8 on {new}: written" in result.stdout
        assert f"refunds: left alone, {new} has broker-a-1:4" in result.stderr
        assert "set orderMessageEnable" in result.stderr
        assert goal.order_confs.list_all() == {**source.order_confs.list_all(), "refunds": "broker-a-1:4"}
        goal.order_confs.put_conf("refunds", "broker-a-0:4")
        goal.name_servers.update_item("orderMessageEnable", "true")
    result = script("move_order_conf.py", old, new)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"3 of 3 topics are on {new}\n", "")


def test_configurations_are_compared(script: Script, running_lab: Lab, admin: AdminClient) -> None:
    assert (script("compare_configs.py").stdout, script("compare_configs.py", "cluster-a").returncode) == (
        "",
        0,
    )
    admin.broker_configs.update_item([running_lab.brokers["broker-a-1", 0]], "fileReservedTime", "24")
    result = script("compare_configs.py", "cluster-a")
    assert result.stdout.splitlines() == [
        "fileReservedTime = 72: broker-a-0:0 broker-a-0:1 broker-a-1:1 broker-a-2:0 broker-a-2:1",
        "fileReservedTime = 24: broker-a-1:0",
    ]
    assert 'no cluster "nope"' in script("compare_configs.py", "nope").stderr


def test_topics_are_created_from_a_csv_and_only_once(
    script: Script, running_lab: Lab, admin: AdminClient, tmp_path: Path
) -> None:
    file = tmp_path / "topics.csv"
    file.write_text("topic,queues,type\nvouchers,4,FIFO\npayments,16,TRANSACTION\n")
    dry = script("create_topics.py", str(file), "cluster-a", "--dry-run")
    assert "vouchers broker-a-0: changed" in dry.stdout
    assert "vouchers" not in admin.topics.list_names()
    result = script("create_topics.py", str(file), "cluster-a")
    assert (result.returncode, result.stdout) == (0, dry.stdout)
    for addr, config, error in admin.topic_configs.get_each(
        admin.clusters.list_masters("cluster-a"), "vouchers"
    ):
        assert (error, config and config.write_queue_nums) == (None, 4), addr
        assert config
        assert dict(config.attributes) == {"message.type": "FIFO"}
    assert {queue.broker_name for queue in admin.topics.get_route("vouchers").queues} == {
        f"broker-a-{n}" for n in range(3)
    }
    again = script("create_topics.py", str(file), "cluster-a").stdout.splitlines()
    assert len(again) == 6
    assert all(line.endswith(": unchanged") for line in again)
    file.write_text("topic,queues,type\nbad name,4,FIFO\nvouchers,many,FIFO\n")
    broken = script("create_topics.py", str(file), "cluster-a")
    assert broken.returncode == 1
    assert "invalid topic name" in broken.stdout
    assert broken.stderr.startswith("create_topics: ValueError")


def test_the_nightly_report(script: Script, running_lab: Lab, admin: AdminClient) -> None:
    admin.topic_configs.update_topic(admin.clusters.list_masters("cluster-a"), "vouchers", TopicPatch())
    result = script("nightly_report.py")
    assert (result.returncode, result.stderr) == (0, "")
    parts = dict(re.findall(r"## (.+)\n\n((?:.+\n)+)", result.stdout))
    assert result.stdout.startswith("# RocketMQ, 20")
    assert "12 brokers, 7 groups" in result.stdout.splitlines()[0]
    assert parts["Brokers"] == parts["Groups without a client"] == "Nothing.\n"
    assert re.fullmatch(r"- analytics: \d+ messages\n", parts["Groups that are behind"])
    assert parts["Topics without traffic"] == "- vouchers\n"


def test_the_nightly_report_of_a_night_with_a_dead_broker(script: Script, running_lab: Lab) -> None:
    running_lab.kill("broker-a-1", 0)
    result = script("nightly_report.py", "10")
    assert result.returncode == 1
    parts = dict(re.findall(r"## (.+)\n\n((?:.+\n)+)", result.stdout))
    assert parts["Brokers"] == "- broker-a-1 has no master\n"
    assert len(parts["Groups that are behind"].splitlines()) == 7


def test_brokers_that_answer_in_time_are_not_slow(script: Script) -> None:
    result = script("slow_brokers.py", "60")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_brokers_that_have_no_time_to_answer_are_slow(script: Script, running_lab: Lab) -> None:
    result = script("slow_brokers.py", "0")
    assert (result.returncode, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    assert len(lines) == len(running_lab.brokers)
    assert "broker-a-1:0: no answer within 0 s" in lines


def test_a_broker_is_restarted_while_no_client_writes_to_it(
    script: Script, admin: AdminClient, tmp_path: Path
) -> None:
    text = SCRIPTS["restart_broker.py"].replace(
        "settle_seconds=30", "settle_seconds=0.2, interval_seconds=0.1"
    )
    before = [result.value() for result in admin.broker_routes.get_topic_permissions("broker-a-0")]
    SCRIPTS["restart_quickly.py"] = text.replace(
        "on_event=report_event,", "on_event=report_event, force=True, max_messages=9999,"
    )
    try:
        command_result = script("restart_quickly.py", "broker-a-0", "touch", str(tmp_path / "restarted"))
    finally:
        del SCRIPTS["restart_quickly.py"]
    assert command_result.returncode == 0, command_result.stderr
    assert (tmp_path / "restarted").exists()
    assert [line.split(": ")[1].split(" ", 1)[1] for line in command_result.stdout.splitlines()] == [
        "topics as before"
    ] * 2
    assert "waiting for" in command_result.stderr
    assert [result.value() for result in admin.broker_routes.get_topic_permissions("broker-a-0")] == before
    refused = script("restart_broker.py", "broker-a-0", "false")
    assert refused.returncode == 1
    assert "on all brokers of cluster-a with `nsadmin spread " in refused.stderr


def test_a_reviewed_file_is_applied_to_a_healthy_cluster(
    script: Script, running_lab: Lab, admin: AdminClient, tmp_path: Path
) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text("cluster: cluster-a\ntopics:\n  vouchers: {}\n")
    script_result = script("apply_reviewed.py", str(file))
    assert (script_result.returncode, script_result.stderr) == (0, "")
    assert [line for line in script_result.stdout.splitlines() if "vouchers" in line] == [
        f"create topic vouchers on broker-a-{n}" for n in range(3)
    ]
    assert "vouchers" not in admin.topics.list_names()
    result = script("apply_reviewed.py", str(file), "--apply")
    assert (result.returncode, result.stdout) == (0, script_result.stdout)
    assert "vouchers" in admin.topics.list_names()
    assert "vouchers" not in admin.backups.load_snapshot(f"{file}.before.zst").topics
    file.write_text("cluster: cluster-a\ntopiks: {}\n")
    assert script("apply_reviewed.py", str(file)).stderr.startswith("apply_reviewed: ")
