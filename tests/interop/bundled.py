"""The reading commands of the registry, run on a cluster and on a bundle of it."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nsadmin.app import main
from nsadmin.command_line.declarations import command_parameters
from nsadmin.command_line.registry import COMMANDS, CommandEntry

_NO_MESSAGES, _FILE = "a bundle has no messages", "it compares with a file, or writes one"
_LITE_TOPICS = "a bundle has no details of lite topics"
NOT_COMPARED = {
    "getBrokerConfig": "a bundle has no passwords",
    "getAclConfig": "a bundle has no access keys",
    "getUser": "a bundle has no answer about a single user",
    "getAcl": "a bundle has no answer about a single user",
    "backupCreate": _FILE,
    "backupDiff": _FILE,
    "brokerExplain": "it looks at a broker for two seconds",
    "bundleCreate": "it reads a cluster",
    "checkBackup": _FILE,
    "checkClocks": "a bundle does not tell when its brokers answered",
    "checkNamesrv": "it measures how fast name servers answer",
    "checkRocksdbCqWriteProgress": "bundle create does not ask for it, because it makes the broker work",
    "collect": "it records until it is stopped",
    "consume": _NO_MESSAGES,
    "consumeMessage": _NO_MESSAGES,
    "delayedList": _NO_MESSAGES,
    "dlqShow": _NO_MESSAGES,
    "dumpCompactionLog": _FILE,
    "exporter": "it serves until it is stopped",
    "exportMetadataInRocksDB": _FILE,
    "getLiteClientInfo": _LITE_TOPICS,
    "getLiteGroupInfo": _LITE_TOPICS,
    "getLiteTopicInfo": _LITE_TOPICS,
    "getParentTopicInfo": _LITE_TOPICS,
    "history": "it reads journals",
    "inventoryForget": "the inventory is that of this machine",
    "inventoryPin": "the inventory is that of this machine",
    "messagesExport": _NO_MESSAGES,
    "messageTrack": _NO_MESSAGES,
    "plan": _FILE,
    "printMsg": _NO_MESSAGES,
    "printMsgByQueue": _NO_MESSAGES,
    "queryCq": "a bundle has no consume queues",
    "queryMsgByKey": _NO_MESSAGES,
    "queryMsgByOffset": _NO_MESSAGES,
    "queryMsgTraceById": _NO_MESSAGES,
    "routeAt": "it reads journals",
    "routeDiff": "it reads journals",
    "snapshotSave": "it writes a file",
    "startMonitoring": "it repeats until it is stopped",
    "transferVerify": "it compares two clusters",
    "where": "it shows the source of the name servers",
}
"""Reading commands that are not compared, and why. Every other one of the registry is."""
_OPTIONS = {"checkAll": ["--skip", "clocks"]}
_FIXED_VALUES = {
    "CLUSTER": "DefaultCluster",
    "CLIENTS": "10.0.0.1,10.0.0.2",
    "NAME": "planted",
    "SUBJECT": "User:planted",
}


class Subjects(NamedTuple):
    """The required arguments of commands. `namespace` is a KV namespace, and `key` one of its keys."""

    topic: str
    group: str
    broker_addr: str
    namespace: str
    key: str


def list_reading_lines(subjects: Subjects) -> list[list[str]]:
    """One line of each reading command that is not in NOT_COMPARED.

    Raises KeyError for a new kind of argument: give it a value, or name the command in NOT_COMPARED.
    """
    values = {
        **_FIXED_VALUES,
        "TOPIC": subjects.topic,
        "GROUP": subjects.group,
        "ADDR": subjects.broker_addr,
        "NAMESPACE": subjects.namespace,
        "KEY": subjects.key,
    }
    return [
        [*_begin_line(entry), *(values[metavar] for metavar in _list_required(entry))]
        for entry in _list_compared()
    ]


def list_plain_lines() -> list[list[str]]:
    """One line of each of these commands that needs no argument."""
    return [_begin_line(entry) for entry in _list_compared() if not _list_required(entry)]


def _begin_line(entry: CommandEntry) -> list[str]:
    return [*entry.typed_name.split(), *_OPTIONS.get(entry.name, ())]


def _list_compared() -> list[CommandEntry]:
    entries = [entry for entry in COMMANDS if entry.kind in ("read", "check")]
    assert NOT_COMPARED.keys() <= {entry.name for entry in entries}
    return [entry for entry in entries if entry.name not in NOT_COMPARED]


def _list_required(entry: CommandEntry) -> list[str]:
    """The kinds of the required arguments of a command, such as TOPIC."""
    function = entry.load_function()
    return [
        parameter.metavar or ""
        for parameter in command_parameters(function)
        if parameter.position is not None and parameter.is_required
    ]


def find_differences(
    lines: Sequence[Sequence[str]],
    namesrv_addr: str,
    make_bundle: Callable[[], Path],
    env: Mapping[str, str],
) -> list[tuple[str, Any, Any]]:
    """Run lines on a cluster and on a bundle of it; return the lines with different results.

    Parts that differ between the live runs before and after the bundle are left out. A figure can also change
    just while the bundle is made, so differing lines are compared with up to two more bundles.
    """
    differences: list[tuple[str, Any, Any]] = []
    for _ in range(3):
        first = run_lines(lines, ("-n", namesrv_addr), env)
        bundle_path = make_bundle()
        replayed = run_lines(lines, ("--bundle", str(bundle_path)), env)
        second = run_lines(lines, ("-n", namesrv_addr), env)
        differences = [
            (" ".join(line), recorded_answer, expected)
            for line, recorded_answer, expected, again in zip(lines, replayed, first, second, strict=True)
            if not is_equal_where_steady(recorded_answer, expected, again)
        ]
        if not differences:
            break
        lines = [line.split() for line, _, _ in differences]
    return differences


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
                # A command that an answer advises has these options, too.
                text = re.sub(r" (-n|--bundle|--ssh|--kube) [^ \"]+", "", written.getvalue().decode())
            try:
                rows = json.loads(text or "null")
            except ValueError:
                rows = text
            results.append((int(code), rows))
    return results


def is_equal_where_steady(found: Any, expected: Any, again: Any) -> bool:
    """Whether a value is as expected, in all parts that did not change between two live runs.

    Rates only have to be there: a request of the comparison itself changes them for ten seconds.
    """
    if isinstance(expected, dict) and isinstance(found, dict) and isinstance(again, dict):
        return found.keys() == expected.keys() and all(
            (found[name] is None) == (expected[name] is None)
            if _is_rate(expected, name)
            else is_equal_where_steady(found[name], expected[name], again.get(name))
            for name in expected
        )
    if (
        isinstance(expected, (list, tuple))
        and isinstance(again, (list, tuple))
        and len(expected) == len(again)
    ):
        return len(found) == len(expected) and all(map(is_equal_where_steady, found, expected, again))
    return bool(found == expected or expected != again)


def _is_rate(row: Mapping[str, Any], name: str) -> bool:
    """Whether a figure is a rate, by the name of its column, or by the key of a row of `key` and `value`."""
    figure_name = str(row.get("key", "")) if name == "value" else name
    return figure_name.lower().endswith("tps") and not isinstance(row[name], (dict, list))
