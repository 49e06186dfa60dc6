"""The table of command of mqadmins, and that each of them is here with each of its flags.

The commands and flags are those of the released tools; that the table has no other is seen in tests/interop.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from nsadmin.command_line import registry
from nsadmin.command_line.declarations import command_parameters
from nsadmin.command_line.shared_options import list_shared_parameters
from nsadmin.commands.mqadmin.known_commands import KNOWN_COMMANDS
from tests.nsadmin.conftest import Run

NAMES = [item.name for item in KNOWN_COMMANDS]
RELEASES = json.loads((Path(__file__).parents[3] / "golden" / "mqadmin" / "options.json").read_text())
"""Of 5.5.0 all commands, of 4.9.7 those that 5.5.0 has no more: of each flag its short and long name, and
whether a value follows."""
FLAGS: dict[str, list[tuple[str | None, str | None, bool]]] = {
    name: [(short, long, takes) for short, long, takes in flags]
    for release in RELEASES.values()
    for name, flags in release.items()
}

REFUSED = {
    ("clusterRT", "--machine room"): "--machineRoom",
    ("clusterRT", "--print log"): "--print",
    (
        "exportPopRecord",
        "-d",
    ): "-d has the opposite meaning in mqadmin: pass --dry-run for a preview, or omit it to move the records",
    (
        "exportPopRecord",
        "--dryRun",
    ): "-d has the opposite meaning in mqadmin: pass --dry-run for a preview, or omit it to move the records",
    ("listUser", "--filter"): "name~abc",
    ("printMsgByQueue", "--print msg"): "--print",
}
"""Flags that are not taken, and what is said instead. Names with a space have a short one, and one without
it; exportPopRecord's means the opposite of what it says; --filter takes conditions, in every command, and
listUser's -f is as in mqadmin."""


def test_each_command_is_there_once_in_the_order_of_the_alphabet() -> None:
    assert sorted(NAMES, key=str.lower) == NAMES
    assert [name for name, count in Counter(map(str.lower, NAMES)).items() if count > 1] == []
    assert Counter("to" in item.since_release for item in KNOWN_COMMANDS) == {False: 96, True: 5}


def test_each_has_a_note_and_no_substitute_that_is_not_here() -> None:
    assert all(item.note and item.since_release[0] in "45" for item in KNOWN_COMMANDS)
    for item in KNOWN_COMMANDS:
        assert item.replacement_name is None or registry.find_command(item.replacement_name), item.name
        # What is here under its own name needs no other.
        assert item.replacement_name is None or registry.find_command(item.name) is None, item.name


def test_the_table_is_that_of_the_released_tools() -> None:
    assert {release: len(commands) for release, commands in RELEASES.items()} == {"5.5.0": 96, "4.9.7": 5}
    assert set(NAMES) == set(FLAGS)
    gone = {item.name for item in KNOWN_COMMANDS if "to" in item.since_release}
    assert gone == set(RELEASES["4.9.7"])


def test_each_command_is_here_under_its_name_with_each_of_its_flags() -> None:
    for name in FLAGS:
        entry = registry.find_command(name)
        assert entry is not None
        assert entry.name == name
        parameters = [*command_parameters(entry.load_function()), *list_shared_parameters(entry)]
        here = {flag: item for item in parameters for flag in item.flag_names}
        meant: dict[str, Any] = {}
        for short, long, takes in (*FLAGS[name], ("n", "namesrvAddr", True)):
            typed = [flag for flag in (short and f"-{short}", long and f"--{long}") if flag]
            for flag in typed:
                if (name, flag) not in REFUSED:
                    assert flag in here, f"{name} {flag} is not understood"
                    # None takes the next word for a value that mqadmin does not.
                    assert (here[flag].metavar is not None) == takes, (
                        f"{name} {flag}: is there a value behind it?"
                    )
                    meant.setdefault(typed[0], here[flag])
                    assert meant[typed[0]] is here[flag], f"{name}: {' and '.join(typed)} are not the same"


@pytest.mark.parametrize(("name", "flag"), REFUSED)
def test_what_is_refused_is_said_with_what_to_type(run: Run, name: str, flag: str) -> None:
    assert flag in {
        f"{dash}{text}" for one in FLAGS[name] for dash, text in zip(("-", "--"), one[:2], strict=True)
    }
    where = ("-b", "127.0.0.1:1") if name in ("listUser", "exportPopRecord") else ("-n", "127.0.0.1:1")
    result = run(name, flag, "true", *where)
    assert (result.code, result.out) == (2, "")
    assert REFUSED[name, flag] in result.err
    assert result.err.count("\n") == 1
