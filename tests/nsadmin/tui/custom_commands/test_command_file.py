"""The file of own commands: what it may have, and one line with file and line for each mistake."""

from pathlib import Path

import pytest

from nsadmin.tui.actions.key_bindings import list_taken_keys
from nsadmin.tui.custom_commands.command_file import (
    CustomCommands,
    Plugin,
    load_custom_commands,
    normalize_key,
)
from nsadmin.tui.navigation.root_views import SCREEN_NAMES
from tests.support.hostile_yaml import HOSTILE_YAML

PLUGIN = "plugins:\n  p:\n    key: f2\n    "


def loaded(tmp_path: Path, text: str) -> CustomCommands:
    file = tmp_path / "tui-commands.yaml"
    file.write_text(text)
    return load_custom_commands(str(file), SCREEN_NAMES, list_taken_keys({}))


def test_it_need_not_be_there(tmp_path: Path) -> None:
    assert load_custom_commands(str(tmp_path / "none.yaml"), (), {}) == CustomCommands()
    assert loaded(tmp_path, "") == CustomCommands(plugins=[], error_lines=[])
    assert loaded(tmp_path, "aliases:\nplugins:\n").error_lines == []


def test_aliases_hotkeys_and_plugins(tmp_path: Path) -> None:
    text = """\
aliases:
  pay: ":topics /payments"
hotkeys:
  f2: groups /payments
  Ctrl-T: theme nord
plugins:
  logs:
    key: shift+p
    scopes: [brokers, drains]
    command: ssh "{broker}" tail -n 50 '{{x}} y'
    description: The log of a broker
    confirm: true
    background: true
    readOnly: true
  owner: {key: P, scopes: topics, command: [owner, "{topic}"]}
"""
    assert loaded(tmp_path, text) == CustomCommands(
        {"pay": "topics /payments"},
        {"f2": "groups /payments", "ctrl+t": "theme nord"},
        [
            Plugin(
                "logs", "P", ["ssh", "{broker}", "tail", "-n", "50", "{{x}} y"], ["brokers", "drains"],
                "The log of a broker", True, True, True,
            ),
            Plugin("owner", "P", ["owner", "{topic}"], ["topics"]),
        ],
        [],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("aliases:\n  topics: groups", 2, 'alias "topics" is already a screen'),
        ("aliases:\n  q: groups", 2, 'alias "q" is already a command of the screen'),
        ("aliases:\n  topicRoute: groups", 2, 'alias "topicRoute" is already a command of nsadmin'),
        ("aliases:\n  kv: groups", 2, 'alias "kv" is already a screen'),
        ("aliases:\n  a b: groups", 2, 'invalid alias "a b": use letters, digits, - and _'),
        ("aliases:\n  pay: [a]", 2, "alias pay must be a text"),
        ("aliases:\n  pay: a\n  pay: b", 3, 'aliases has "pay" twice'),
        ("aliases: {}\naliases: {}", 2, 'the file has "aliases" twice'),
        ("{P}command: x\n    command: y", 5, 'plugin p has "command" twice'),
        ("{P}command: x\n    <<: true", 3, "plugin p << must be a map, or a list of maps"),
        ("aliases: 7", 1, "aliases must be a map"),
        ("\nscreens: {}", 2, 'unknown key "screens": use aliases, hotkeys, plugins'),
        ("- a", 1, "the file must be a map"),
        ("hotkeys:\n  s: groups", 2, 'key "s" is taken by "sort"'),
        ("hotkeys:\n  k: groups", 2, 'key "k" is taken by "up"'),
        ("hotkeys:\n  ctrl+#: groups", 2, 'invalid key "ctrl+#": use a letter, f1 to f20'),
        ("hotkeys:\n  f2: groups\n  F2: topics", 3, 'key "F2" is used twice'),
        ("plugins:\n  p: {key: f2}", 2, "plugin p needs command"),
        ("plugins:\n  p: {command: x}", 2, "plugin p needs key"),
        ("plugins:\n  p: x", 2, "plugin p must be a map"),
        (
            "{P}cmd: x", 4,
            'plugin p: unknown key "cmd": use key, command, scopes, description, confirm',
        ),
        ("{P}command: x 'y", 4, "plugin p: command: no closing quotation"),
        ("{P}command: x {to}", 4, "command: unknown placeholder {to}: use {topic}"),
        ("{P}command: '{topic} x'", 4, "the program itself cannot be"),
        ("{P}command: x\n    confirm: maybe", 5, "confirm must be true or false"),
        ("{P}command: x\n    scopes: topic", 5, 'plugin p: unknown scope "topic"'),
        (
            "plugins:\n  p: {key: f2, command: x}\n  r: {key: f2, command: y, scopes: topics}", 3,
            'key "f2" is used twice',
        ),
        ("plugins: {p: [", 1, "while parsing"),
    ],
)  # fmt: skip
def test_a_mistake_is_a_line_with_file_and_line(text: str, line: int, problem: str, tmp_path: Path) -> None:
    [error_line] = loaded(tmp_path, text.replace("{P}", PLUGIN)).error_lines
    if problem != "while parsing":
        assert error_line.startswith(f"{tmp_path / 'tui-commands.yaml'}:{line}: ")
        assert problem in error_line
    assert "\n" not in error_line


def test_each_mistake_has_a_line_and_the_rest_is_used(tmp_path: Path) -> None:
    commands = loaded(tmp_path, "aliases:\n  topics: a\n  pay: b\nhotkeys:\n  s: c\n  f3: d\n")
    assert [error_line.split(":")[1] for error_line in commands.error_lines] == ["2", "5"]
    assert (commands.aliases, commands.hotkeys) == ({"pay": "b"}, {"f3": "d"})


def test_a_value_of_the_wrong_kind_leaves_its_neighbours(tmp_path: Path) -> None:
    commands = loaded(tmp_path, "aliases:\n  a: [b]\n  pay: b\n  ? [c]\n  : d\nhotkeys: 7\n")
    assert [line.partition(".yaml:")[2] for line in commands.error_lines] == [
        "2: alias a must be a text",
        "4: a key of aliases must be a text",
        "6: hotkeys must be a map",
    ]
    assert commands.aliases == {"pay": "b"}


def test_a_key_that_preferences_have_freed_can_be_used(tmp_path: Path) -> None:
    file = tmp_path / "tui-commands.yaml"
    file.write_text("hotkeys: {s: groups, f5: topics}")
    commands = load_custom_commands(str(file), SCREEN_NAMES, list_taken_keys({"sort": "f5"}))
    assert list(commands.hotkeys) == ["s"]
    assert len(commands.error_lines) == 1


@pytest.mark.parametrize(
    ("text", "key"),
    [("P", "P"), ("p", "p"), ("shift-p", "P"), ("Ctrl-T", "ctrl+t"), ("F5", "f5"), ("alt+x", "alt+x"),
     ("shift+f5", "shift+f5"), ("f21", None), ("", None), ("fly", None), ("9", None)],
)  # fmt: skip
def test_names_of_keys(text: str, key: str | None) -> None:
    assert normalize_key(text) == key


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    [error_line] = load_custom_commands(str(tmp_path), (), {}).error_lines
    assert error_line.startswith(f"{tmp_path}:1: {tmp_path} is a folder")


@pytest.mark.parametrize("name", HOSTILE_YAML)
def test_hostile_yaml_is_refused(tmp_path: Path, name: str) -> None:
    assert loaded(tmp_path, HOSTILE_YAML[name]).error_lines
