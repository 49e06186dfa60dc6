"""Calls of tools: reads, plans, executions."""

import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest

from namesrv_core.protocol.message_ids import build_offset_id
from nsadmin.client.connection.addresses import NameServerList
from nsadmin.commands.mcp import tool_calls
from nsadmin.commands.mcp.change_plans import PlanRefusedError
from nsadmin.commands.mcp.command_process import CommandOutcome
from nsadmin.commands.mcp.exposed_commands import list_exposed_commands
from nsadmin.commands.mcp.served_clusters import list_served_clusters
from nsadmin.commands.mcp.served_files import ServedFolder
from nsadmin.commands.mcp.tool_calls import CallLimits, ToolCaller, ToolResult
from nsadmin.commands.mcp.tool_schemas import build_tools
from nsadmin.commands.mcp.tool_words import InvalidArgumentsError
from nsadmin.console.session import Session, SharedOptions
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeBroker, FakeNameServer

TOOLS = build_tools(list_exposed_commands(with_changes=True), (), has_folder=True)
T = TypeVar("T")


def caller_of(server: FakeNameServer, tmp_path: Path, *, read_only: bool = False) -> ToolCaller:
    session = Session(
        SharedOptions(NameServerList((server.addr,), "command line"), read_only=read_only), may_change=False
    )
    session.shared_values = {"namesrv_addr": [server.addr]}
    return ToolCaller(
        TOOLS, list_served_clusters(session, None), ServedFolder(str(tmp_path)), CallLimits(30, 2)
    )


def complete(work: Callable[[], Awaitable[T]]) -> T:
    return anyio.run(work)


def call(caller: ToolCaller, name: str, arguments: dict[str, Any]) -> ToolResult:
    return complete(lambda: caller.call_tool(TOOLS[name], arguments))


@pytest.fixture
def caller(first_server: FakeNameServer, tmp_path: Path, run: Run) -> ToolCaller:
    return caller_of(first_server, tmp_path)


def plan_and_execute(
    caller: ToolCaller, between: Callable[[], object], command: str | None = None
) -> ToolResult:
    """Plan a value of the KV config, do something, and execute the plan."""
    arguments = {"namespace": "N", "key": "k", "value": "v"}
    plan = call(caller, "plan_updateKvConfig", arguments).structured
    between()
    token = plan["token"]
    return complete(lambda: caller.execute_plan(token, command or plan["command"], "mcp test 1"))


def test_a_read_returns_what_json_returns(caller: ToolCaller, run: Run, first_server: FakeNameServer) -> None:
    result = call(caller, "topicRoute", {"topic": "T"})
    assert result.structured["rows"] == run("topicRoute", "T", "-n", first_server.addr, "--json").json
    assert (result.structured["exitCode"], result.is_error) == (0, False)
    assert call(caller, "topicRoute", {"topic": "nothing"}).is_error


def test_the_environment_overrules_the_context_in_use_as_it_does_for_commands(
    first_server: FakeNameServer, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("context", "set", "prod", "-n", "127.0.0.1:1")
    run("context", "use", "prod")
    monkeypatch.setenv("NAMESRV_ADDR", first_server.addr)
    session = Session(SharedOptions(NameServerList((first_server.addr,), "NAMESRV_ADDR"), context="prod"))
    caller = ToolCaller(TOOLS, list_served_clusters(session, None), None, CallLimits(30, 2))
    run("context", "set", "other", "-n", "127.0.0.1:1")
    run("context", "use", "other")
    assert call(caller, "topicList", {}).structured["rows"] == [{"topic": "T"}]
    [row] = call(caller, "where", {}).structured["rows"]
    assert (row["namesrvAddr"], row["source"], row["context"]) == (first_server.addr, "NAMESRV_ADDR", "prod")


def test_a_command_of_the_machine_gets_no_connection_options(caller: ToolCaller) -> None:
    rows = call(caller, "mqadminMap", {"filter": ["mqadmin=topicRoute"]}).structured
    assert rows["exitCode"] == 0 or rows["messages"]
    assert "unknown option" not in str(rows["messages"])


def test_wrong_arguments_and_foreign_addresses_are_refused(caller: ToolCaller, broker: FakeBroker) -> None:
    foreign_id = build_offset_id(bytes((10, 0, 0, 9)), 10911, 77)
    for name, arguments, problem in (
        ("topicRoute", {}, "'topic' is a required property"),
        (
            "brokerStatus",
            {"broker": "10.0.0.9:10911"},
            '"10.0.0.9:10911" is not a broker of this cluster',
        ),
        ("brokerStatus", {"broker": "elsewhere"}, '"elsewhere" is not a broker of this cluster'),
        ("queryMsgById", {"topic": "T", "msgId": f"x,{foreign_id}"}, '"10.0.0.9:10911" is not a broker'),
        (
            "plan_copyAcl",
            {"fromBroker": "broker-a", "toBroker": "evil.example"},
            '"evil.example" is not a broker',
        ),
        ("backupShow", {"file": "/etc/passwd"}, 'no file "/etc/passwd"'),
    ):
        with pytest.raises(InvalidArgumentsError) as raised:
            call(caller, name, arguments)
        assert problem in str(raised.value)
    assert call(caller, "brokerStatus", {"broker": broker.addr}).structured["rows"]


def test_addresses_are_refused_if_no_name_server_answers(tmp_path: Path, dead_addr: str, run: Run) -> None:
    session = Session(SharedOptions(NameServerList((dead_addr,), "command line")), may_change=False)
    session.shared_values = {"namesrv_addr": [dead_addr]}
    caller = ToolCaller(TOOLS, list_served_clusters(session, None), None, CallLimits(30, 2))
    with pytest.raises(InvalidArgumentsError, match="cannot read the brokers of the cluster: "):
        call(caller, "brokerStatus", {"broker": "broker-a"})


def test_a_command_that_could_change_something_reads_as_a_dry_run(
    caller: ToolCaller, monkeypatch: pytest.MonkeyPatch
) -> None:
    words: list[str] = []

    async def keep_words(command_words: list[str], *_: object, **__: object) -> CommandOutcome:
        words.extend(command_words)
        return CommandOutcome("[]", "", 0)

    monkeypatch.setattr(tool_calls, "run_command_line", keep_words)
    call(caller, "orphans", {})
    assert "--dry-run" in words
    words.clear()
    call(caller, "topicList", {})
    assert "--dry-run" not in words


def test_a_planned_change_is_executed_once(
    caller: ToolCaller, first_server: FakeNameServer, tmp_path: Path
) -> None:
    result = plan_and_execute(caller, lambda: None)
    assert [row["result"] for row in result.structured["rows"]] == ["done"]
    assert first_server.kv == {"N": {"k": "v"}}
    [record] = map(json.loads, (tmp_path / "audit.jsonl").read_text().splitlines())
    assert record["origin"] == "mcp test 1"


def test_a_used_token_is_refused(caller: ToolCaller, first_server: FakeNameServer) -> None:
    plan = call(caller, "plan_updateKvConfig", {"namespace": "N", "key": "k", "value": "v"}).structured
    assert first_server.kv == {}
    complete(lambda: caller.execute_plan(plan["token"], plan["command"], "mcp"))
    first_server.kv.clear()
    with pytest.raises(PlanRefusedError, match="unknown, expired or used"):
        complete(lambda: caller.execute_plan(plan["token"], plan["command"], "mcp"))
    assert first_server.kv == {}


def test_a_plan_whose_dry_run_has_another_result_now_is_refused(
    caller: ToolCaller, first_server: FakeNameServer
) -> None:
    with pytest.raises(PlanRefusedError, match="the cluster has changed: a new dry run has another result"):
        plan_and_execute(caller, lambda: first_server.kv.update({"N": {"k": "other"}}))
    assert first_server.kv == {"N": {"k": "other"}}


def test_a_plan_for_a_cluster_with_other_brokers_is_refused(
    caller: ToolCaller, first_server: FakeNameServer, broker: FakeBroker
) -> None:
    with pytest.raises(PlanRefusedError, match="its name servers or brokers are not those of the plan"):
        plan_and_execute(
            caller, lambda: setattr(first_server, "clusters", {"D": {"broker-d": {0: broker.addr}}})
        )
    assert first_server.kv == {}


def test_a_token_for_another_command_is_refused(caller: ToolCaller, first_server: FakeNameServer) -> None:
    with pytest.raises(PlanRefusedError, match="the token belongs to another command"):
        plan_and_execute(caller, lambda: None, "nsadmin updateKvConfig --namespace=N --key=k --value=other")
    assert first_server.kv == {}


def test_a_read_only_context_plans_and_executes_nothing(
    first_server: FakeNameServer, tmp_path: Path, run: Run
) -> None:
    caller = caller_of(first_server, tmp_path, read_only=True)
    plan = call(caller, "plan_updateKvConfig", {"namespace": "N", "key": "k", "value": "v"}).structured
    assert "token" not in plan
    assert plan["refusal"] == "the context None is read-only"
    assert plan["rows"][0]["result"] == "dry-run"


def test_a_dry_run_that_fails_gives_no_token(caller: ToolCaller) -> None:
    plan = call(caller, "plan_deleteTopic", {"topic": "T", "cluster": "nowhere"}).structured
    assert "token" not in plan
    assert plan["refusal"] == "the dry run did not succeed"


def test_calls_end_when_the_server_stops(caller: ToolCaller, monkeypatch: pytest.MonkeyPatch) -> None:
    async def wait_forever(*_: object, **__: object) -> CommandOutcome:
        await anyio.sleep(60)
        raise AssertionError("not stopped")

    monkeypatch.setattr(tool_calls, "run_command_line", wait_forever)

    async def stop() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(caller.call_tool, TOOLS["topicList"], {})
            await anyio.sleep(0.1)
            await caller.stop_calls()

    began = time.monotonic()
    anyio.run(stop)
    assert time.monotonic() - began < 30


def test_no_more_commands_run_at_once_than_the_operator_allows(
    caller: ToolCaller, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, most = 0, 0

    async def count(*_: object, **__: object) -> CommandOutcome:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.sleep(0.02)
        running -= 1
        return CommandOutcome("[]", "", 0)

    monkeypatch.setattr(tool_calls, "run_command_line", count)

    async def call_many() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(caller.call_tool, TOOLS["topicList"], {})

    anyio.run(call_many)
    assert most == 2
