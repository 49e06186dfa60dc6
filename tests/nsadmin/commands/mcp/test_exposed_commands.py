"""Which commands an MCP client can use."""

from nsadmin.command_line.registry import COMMANDS
from nsadmin.commands.mcp.exposed_commands import (
    CHANGING_MIXED_COMMANDS,
    CHANGING_PARAMETERS,
    FIXED_ARGUMENTS,
    agent_refusal,
    has_changing_tool,
    has_reading_tool,
    list_exposed_commands,
)

TOOL_KINDS = ("read", "change", "delete", "mixed", "local", "check")


def test_each_command_is_a_tool_or_has_a_reason_why_not() -> None:
    without_tool = {
        entry.name
        for entry in COMMANDS
        if entry.kind in TOOL_KINDS and not has_reading_tool(entry) and not has_changing_tool(entry)
    }
    assert without_tool == {entry.name for entry in COMMANDS if agent_refusal(entry)}


def test_commands_that_read_have_reading_tools_and_changes_have_planning_tools() -> None:
    names = [exposed.tool_name for exposed in list_exposed_commands(with_changes=True)]
    assert len(names) == len(set(names))
    assert {"topicRoute", "checkLag", "orphans", "plan_orphans", "plan_updateTopic"} <= set(names)
    assert "updateTopic" not in names
    assert "plan_queryMsgById" not in names


def test_without_changes_no_tool_is_about_a_change() -> None:
    exposed_commands = list_exposed_commands(with_changes=False)
    assert not any(exposed.is_change for exposed in exposed_commands)
    assert {exposed.entry.kind for exposed in exposed_commands} == {"read", "local", "check", "mixed"}


def test_each_table_names_commands_that_exist() -> None:
    names = {entry.name for entry in COMMANDS}
    for table in (FIXED_ARGUMENTS, CHANGING_PARAMETERS, CHANGING_MIXED_COMMANDS):
        assert set(table) <= names


def test_each_command_that_may_change_says_with_which_parameters() -> None:
    mixed_tools = {entry.name for entry in COMMANDS if entry.kind == "mixed" and has_reading_tool(entry)}
    assert mixed_tools == CHANGING_PARAMETERS.keys()
