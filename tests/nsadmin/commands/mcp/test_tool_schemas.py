"""Descriptions and schemas of tools."""

from jsonschema import Draft202012Validator

from nsadmin.commands.mcp.exposed_commands import list_exposed_commands
from nsadmin.commands.mcp.tool_schemas import build_result_schema, build_tools, describe_exit_code

EXPOSED = list_exposed_commands(with_changes=True)
TOOLS = build_tools(EXPOSED, ("prod", "test"), has_folder=True)


def test_all_schemas_are_valid_and_have_names_that_clients_accept() -> None:
    for tool in TOOLS.values():
        for schema in (tool.input_schema, tool.output_schema):
            Draft202012Validator.check_schema(schema)
        assert all(
            name.replace("_", "").replace("-", "").isalnum()
            for name in (tool.name, *tool.input_schema["properties"])
        )
        assert len(tool.name) <= 64
        assert tool.input_schema["additionalProperties"] is False


def test_no_two_properties_of_a_tool_have_the_same_name() -> None:
    for tool in TOOLS.values():
        names = [parameter.property_name for parameter in tool.parameters]
        added = ["maxRows", "context", *(("columns", "sort", "filter") if tool.selects_rows else ())]
        assert len({*names, *added}) == len(names) + len(added) == len(tool.input_schema["properties"])


def test_a_tool_describes_its_command_with_exit_codes_and_examples() -> None:
    description = TOOLS["whatIf"].description
    assert description.startswith("nsadmin whatIf: Predict the losses of topics")
    assert "Exit codes: 0: nothing stops; 1: a topic, group or client stops; 3: " in description
    assert (
        "If broker-a-0 stops, dies or is lost: here some topics would stop (exit code 1): nsadmin whatIf"
        in description
    )
    properties = TOOLS["topicRoute"].output_schema["properties"]["rows"]["items"]["properties"]
    assert properties["brokerName"] == {"description": "name of the broker"}


def test_a_planning_tool_says_that_it_changes_nothing() -> None:
    tool = TOOLS["plan_deleteTopic"]
    assert tool.description.startswith("Plan this change and return a token. Nothing changes.")
    assert "token" in tool.output_schema["properties"]
    assert "token" not in TOOLS["topicRoute"].output_schema["properties"]
    assert tool.input_schema["required"] == ["topic", "cluster"]


def test_a_client_chooses_only_among_several_contexts() -> None:
    assert TOOLS["topicList"].input_schema["properties"]["context"]["enum"] == ["prod", "test"]
    alone = build_tools(EXPOSED, (), has_folder=True)
    assert "context" not in alone["topicList"].input_schema["properties"]


def test_tools_about_files_need_a_folder() -> None:
    missing = TOOLS.keys() - build_tools(EXPOSED, (), has_folder=False).keys()
    assert missing == {
        "backupDiff", "backupShow", "bundleDiff", "bundleShow", "checkBackup", "plan_backupRestore",
        "snapshotShow",
    }  # fmt: skip


def test_the_schema_of_a_result_accepts_results_only() -> None:
    validator = Draft202012Validator(build_result_schema({}))
    result = {
        "rows": [{"a": 1}], "exitCode": 0, "exitMeaning": "done", "messages": [], "unreachable": [],
        "moreRows": 0, "untrusted": True,
    }  # fmt: skip
    assert validator.is_valid(result)
    assert not validator.is_valid({**result, "untrusted": False})
    assert not validator.is_valid({**result, "token": "x"})


def test_exit_codes_have_the_meaning_of_their_command() -> None:
    assert describe_exit_code("whatIf", "read", 1) == "a topic, group or client stops"
    assert describe_exit_code("checkLag", "check", 2) == "critical"
    assert describe_exit_code("topicRoute", "read", 5).startswith("the named topic")
    assert describe_exit_code("topicRoute", "read", 77) == "the command failed"
