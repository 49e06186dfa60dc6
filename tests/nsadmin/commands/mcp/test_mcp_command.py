"""mcp, as a command line and as a program that a client starts."""

import builtins
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from nsadmin.client.extras import describe_missing
from nsadmin.commands.mcp import mcp_server
from nsadmin.commands.mcp.served_content import ServedContent
from tests.nsadmin.conftest import Run
from tests.support.examples import list_cases_elsewhere, split_example
from tests.support.fake_servers import FakeNameServer
from tests.support.name_servers import ROOT

ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'cli'}"}


def test_wrong_options(run: Run, tmp_path: Path) -> None:
    no_folder = str(tmp_path / "none")
    for options, problem in (
        (("--time-limit", "1ms"), 'invalid time "1ms" for --time-limit'),
        (
            ("--contexts", ","),
            'invalid list "," for --contexts: write names separated by commas, such as A,B',
        ),
        (("--contexts", "nowhere"), 'no context "nowhere"'),
        (("--files", no_folder), f'no folder "{no_folder}" for --files'),
        (
            ("--tools", "topicRout"),
            'no tool "topicRout" for --tools: did you mean "topicRoute" or "topic',
        ),
        (("--max-calls", "0"), 'invalid value "0" for --max-calls'),
    ):
        result = run("mcp", *options, "-n", "127.0.0.1:1")
        assert (result.code, result.out) == (2, ""), result
        assert problem in result.err


def test_without_the_sdk_it_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def import_others(name: str, *args: Any) -> Any:
        if name == "mcp" or name.startswith("mcp."):
            raise ModuleNotFoundError("No module named 'mcp'", name="mcp")
        return real_import(name, *args)

    monkeypatch.setattr(builtins, "__import__", import_others)
    done = run("mcp", "-n", "127.0.0.1:1")
    assert done == (2, "", f"nsadmin: {describe_missing('mcp', 'mcp')}\n")


def test_its_examples(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[ServedContent] = []
    monkeypatch.setattr(mcp_server, "serve_stdio", served.append)
    for name in ("prod", "test"):
        assert run("context", "set", name, "-n", f"{name}:9876").code == 0
    run("context", "use", "prod")
    [case] = list_cases_elsewhere("mcp")
    for example in case.examples:
        assert run(*split_example(example)).code == 0
    plain, several, changing = served
    assert "topicRoute" in plain.tools
    assert several.tools["topicRoute"].input_schema["properties"]["context"]["enum"] == ["prod", "test"]
    assert changing.allows_changes
    assert "plan_updateTopic" in changing.tools


def test_a_client_starts_it_and_talks_to_it(first_server: FakeNameServer, tmp_path: Path) -> None:
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", "nsadmin", "-n", first_server.addr, "mcp", "--tools", "topicList"],
        env={**ENVIRONMENT, "NSADMIN_CONFIG": str(tmp_path / "config.yaml")},
    )

    async def talk() -> tuple[list[str], Any]:
        async with Client(program) as client:
            tools = (await client.list_tools()).tools
            return [tool.name for tool in tools], await client.call_tool("topicList", {})

    names, result = anyio.run(talk)
    assert names == ["topicList"]
    assert result.structured_content["rows"] == [{"topic": "T"}]


def test_sigterm_ends_it_with_the_commands_that_run(first_server: FakeNameServer, tmp_path: Path) -> None:
    """While its client keeps stdin open, and waits for a call."""
    requests = (
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "topicList", "arguments": {}}},
    )
    first_server.answer = lambda command: None  # type: ignore[method-assign]
    server = subprocess.Popen(
        [sys.executable, "-m", "nsadmin", "-n", first_server.addr, "--timeout", "60", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**ENVIRONMENT, "NSADMIN_CONFIG": str(tmp_path / "config.yaml")},
        text=True,
    )
    with server:
        assert server.stdin is not None
        assert server.stdout is not None
        for request in requests:
            print(json.dumps({"jsonrpc": "2.0", **request}), file=server.stdin, flush=True)
        assert '"id":1' in server.stdout.readline()
        deadline = time.monotonic() + 30
        while not first_server.asked and time.monotonic() < deadline:
            time.sleep(0.02)
        server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 128 + signal.SIGTERM
