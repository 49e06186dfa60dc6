"""From arguments of a client to a command line."""

from pathlib import Path
from typing import Any

import pytest

from nsadmin.command_line.typer_commands import SessionCommand, build_command
from nsadmin.commands.mcp.exposed_commands import list_exposed_commands
from nsadmin.commands.mcp.served_files import ServedFolder
from nsadmin.commands.mcp.tool_parameters import format_option
from nsadmin.commands.mcp.tool_schemas import build_tools
from nsadmin.commands.mcp.tool_words import (
    InvalidArgumentsError,
    build_command_words,
    describe_command,
    validate_arguments,
)

TOOLS = build_tools(list_exposed_commands(with_changes=True), (), has_folder=True)


def words(tool_name: str, arguments: dict[str, Any]) -> list[str]:
    with build_command_words(TOOLS[tool_name], arguments, None) as command:
        return command.words


def validate(tool_name: str, arguments: dict[str, Any]) -> None:
    validate_arguments(tool_name, TOOLS[tool_name].input_schema, arguments)


def test_the_words_of_a_reading_tool() -> None:
    assert words("topicRoute", {"topic": "T", "columns": "topic,perm", "filter": ["perm=6", "a~b"]}) == [
        "topicRoute", "--topic=T", "--columns=topic,perm", "--filter=perm=6", "--filter=a~b", "--output=json",
    ]  # fmt: skip
    assert words("checkLag", {"group": "g"}) == ["checkLag", "--group=g", "--format=json"]
    assert words("startMonitoring", {}) == ["startMonitoring", "--once", "--format=json"]
    assert words("updateOrderConf", {"topic": "T"}) == [
        "updateOrderConf",
        "--topic=T",
        "--method=get",
        "--output=json",
    ]


def test_a_client_cannot_ask_for_any_number_of_rows() -> None:
    """`consume` accepted a limit of 10^9, and without a limit read everything."""
    assert words("consume", {"topic": "T"}) == ["consume", "--topic=T", "--limit=200", "--output=json"]
    assert "--limit=7" in words("consume", {"topic": "T", "limit": 7})
    for tool_name, name in (
        ("consume", "limit"),
        ("printMsg", "limit"),
        ("consumeMessage", "limit"),
    ):
        validate(tool_name, {"topic": "T", name: 2000})
        with pytest.raises(InvalidArgumentsError, match=f'argument "{name}": 1000000000 is greater than'):
            validate(tool_name, {"topic": "T", name: 10**9})
    with pytest.raises(InvalidArgumentsError, match="less than the minimum"):
        validate("history", {"limit": 0})


def test_fixed_values_are_not_those_of_a_plan() -> None:
    assert words("plan_updateOrderConf", {"topic": "T", "method": "delete"}) == [
        "updateOrderConf", "--topic=T", "--method=delete", "--output=json",
    ]  # fmt: skip


def test_no_text_becomes_another_option() -> None:
    """The parser reads each text as the value of its own parameter, whatever it contains."""
    for tool in TOOLS.values():
        command = build_command(tool.exposed.entry, lambda _, values: values)
        unset = _parse(command, [])
        texts = [p for p in tool.parameters if p.schema["type"] in ("string", "array")]
        for hostile in ("--then=reboot", "-n", "--", "a b", "x --yes", "=", "", "ilter=x", "yes"):
            option_words = [word for text in texts for word in format_option(text.parameter, hostile)]
            given = {
                text.parameter.name: (hostile,) if text.schema["type"] == "array" else hostile
                for text in texts
            }
            assert _parse(command, option_words) == {**unset, **given}


def _parse(command: SessionCommand, words: list[str]) -> dict[str, Any]:
    """The values of the options; nothing has to be given."""
    with command.make_context("", list(words), resilient_parsing=True) as ctx:
        values = {
            name: tuple(value) if isinstance(value, list) else value for name, value in ctx.params.items()
        }
    assert not values.pop("words_")
    return values


@pytest.mark.parametrize(
    ("tool_name", "arguments", "problem"),
    [
        ("topicRoute", {}, "topicRoute: 'topic' is a required property"),
        ("topicRoute", {"topic": 7}, "topicRoute: argument \"topic\": 7 is not of type 'string'"),
        ("topicRoute", {"topic": "T", "then": "x"}, "topicRoute: Additional properties are not allowed"),
        ("topicRoute", {"topic": "a\0b"}, "topicRoute: an argument contains a NUL or invalid Unicode"),
        ("topicRoute", {"topic": "\ud800"}, "topicRoute: an argument contains a NUL or invalid Unicode"),
        ("topicRoute", {"topic": "x" * 5000}, 'topicRoute: argument "topic": '),
        ("topicRoute", {"topic": "T", "filter": ["a\0"]}, "topicRoute: an argument contains a NUL"),
        ("topicRoute", {"topic": "T", "maxRows": 10**9}, "topicRoute: argument \"maxRows\": 1000000000 is"),
        ("rebalancePlan", {"goal": "x"}, "rebalancePlan: argument \"goal\": 'x' is not one of"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(tool_name: str, arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidArgumentsError) as raised:
        validate(tool_name, arguments)
    assert str(raised.value).startswith(problem)
    assert len(str(raised.value)) < 400


def test_the_content_of_a_file_exists_only_during_the_call() -> None:
    with build_command_words(TOOLS["plan"], {"file": "cluster: größe\n"}, None) as command:
        file_word = command.words[1]
        path = Path(file_word.removeprefix("--file="))
        assert path.read_text(encoding="utf-8") == "cluster: größe\n"
        assert path.stat().st_mode & 0o077 == 0
        assert command.hide_paths(f"{path}:1: wrong") == "file:1: wrong"
    assert not path.exists()


def test_a_file_of_the_folder_becomes_its_path(tmp_path: Path) -> None:
    (tmp_path / "a.nsbackup.zip").write_text("")
    folder = ServedFolder(str(tmp_path))
    with build_command_words(TOOLS["backupShow"], {"file": "a.nsbackup.zip"}, folder) as command:
        assert command.words == ["backupShow", f"--file={tmp_path / 'a.nsbackup.zip'}", "--output=json"]
        assert command.hide_paths(str(tmp_path / "a.nsbackup.zip")) == "a.nsbackup.zip"
    for name in ("../a.nsbackup.zip", "/etc/passwd"):
        with (
            pytest.raises(InvalidArgumentsError, match=f'no file "{name}": use one of the resources'),
            build_command_words(TOOLS["backupShow"], {"file": name}, folder),
        ):
            pass


def test_a_command_is_described_as_an_operator_types_it() -> None:
    assert describe_command(TOOLS["plan_sendMessage"], {"topic": "T", "body": "a b; c"}) == (
        "nsadmin sendMessage --topic=T '--body=a b; c'"
    )
    assert describe_command(TOOLS["plan_apply"], {"file": "x" * 50, "prune": True}) == (
        "nsadmin apply '--file=(50 characters)' --prune"
    )
