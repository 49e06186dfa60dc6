"""The reading commands of the registry, run on a cluster and on a bundle of it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from io import BytesIO, StringIO, TextIOWrapper
from typing import Any

import pytest

from nsadmin.app import main
from nsadmin.command_line.declarations import Argument, command_parameters
from nsadmin.registry import COMMANDS, CommandEntry

NOT_COMPARED = {
    "bundleCreate": "it reads a cluster",
    "collect": "it records until it is stopped",
    "consume": "a bundle has no messages",
    "consumeMessage": "a bundle has no messages",
    "delayedList": "a bundle has no messages",
    "dlqShow": "a bundle has no messages",
    "exporter": "it serves until it is stopped",
    "history": "it reads journals",
    "printMsg": "a bundle has no messages",
    "routeAt": "it reads journals",
    "routeDiff": "it reads journals",
    "snapshotSave": "it writes a file",
    "startMonitoring": "it repeats until it is stopped",
    "where": "it shows the source of the name servers",
}
"""Reading commands that are not compared, and why."""
_VALUES = {"clusters": "DefaultCluster", "brokers": "broker-a", "users": "planted"}


def list_reading_lines(topic: str, group: str) -> Iterator[list[str]]:
    """One line of each reading command whose required arguments are a topic, a group or a server."""
    values = {**_VALUES, "topics": topic, "groups": group}
    for entry in COMMANDS:
        if entry.kind in ("read", "check") and entry.name not in NOT_COMPARED:
            arguments = _required_values(entry, values)
            if arguments is not None:
                yield [*entry.typed_name.split(), *arguments]


def _required_values(entry: CommandEntry, values: Mapping[str, str]) -> list[str] | None:
    function = getattr(import_module(f"nsadmin.commands.{entry.module_name}"), entry.function_name)
    required = [
        parameter.declaration
        for parameter in command_parameters(function)
        if isinstance(parameter.declaration, Argument) and parameter.declaration.required
    ]
    known_values = [values.get(argument.value_source or "") for argument in required]
    return None if None in known_values else [value for value in known_values if value is not None]


def run_lines(
    lines: Sequence[Sequence[str]], servers: Sequence[str], env: Mapping[str, str]
) -> list[tuple[int, Any]]:
    """Run lines in this process; return the exit code and the rows of each."""
    results = []
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**env, "NSADMIN_INVENTORY": "off"}.items():
            patch.setenv(name, value)
        for line in lines:
            written = BytesIO()
            with TextIOWrapper(written, "utf-8") as out, redirect_stdout(out), redirect_stderr(StringIO()):
                code = main([*line, *servers, "--json"])
                out.flush()
                text = written.getvalue().decode()
            try:
                rows = json.loads(text or "null")
            except ValueError:
                rows = text
            results.append((int(code), rows))
    return results


def is_equal_where_steady(found: Any, expected: Any, again: Any) -> bool:
    """Whether a value is as expected, in all parts that did not change between two live runs."""
    if isinstance(expected, dict) and isinstance(found, dict) and isinstance(again, dict):
        return found.keys() == expected.keys() and all(
            is_equal_where_steady(found[name], expected[name], again.get(name)) for name in expected
        )
    if (
        isinstance(expected, (list, tuple))
        and isinstance(again, (list, tuple))
        and len(expected) == len(again)
    ):
        return len(found) == len(expected) and all(map(is_equal_where_steady, found, expected, again))
    return bool(found == expected or expected != again)
