"""Which parameters an MCP client can set, and how they become words of a command line."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nsadmin.command_line.declarations import Parameter, command_parameters
from nsadmin.commands.mcp.exposed_commands import (
    CHANGING_PARAMETERS,
    FIXED_ARGUMENTS,
    ExposedCommand,
    list_exposed_commands,
)
from nsadmin.commands.mcp.tool_parameters import (
    CLIENT_FILES,
    FOLDER_FILES,
    LEFT_OUT_PARAMETERS,
    find_choices,
    find_parameter_kind,
    format_option,
    is_refused,
    list_tool_parameters,
)

GOLDEN = Path(__file__).parents[3] / "golden" / "mcp" / "tools.txt"
EXPOSED = list_exposed_commands(with_changes=True)


def exposed(tool_name: str) -> ExposedCommand:
    [exposed] = [item for item in EXPOSED if item.tool_name == tool_name]
    return exposed


def parameter(tool_name: str, name: str) -> Parameter:
    [item] = [item for item in command_parameters(exposed(tool_name).function) if item.name == name]
    return item


def left_out() -> Iterator[tuple[ExposedCommand, Parameter]]:
    for exposed in EXPOSED:
        for item in command_parameters(exposed.function):
            if find_parameter_kind(exposed, item) is None:
                yield exposed, item


def test_each_parameter_is_a_property_or_has_a_reason_why_not() -> None:
    """A new kind of value fails here: decide whether a client may choose it."""
    for exposed, item in left_out():
        name = exposed.entry.name
        assert (
            is_refused(item)
            or f"{name}.{item.name}" in LEFT_OUT_PARAMETERS
            or item.name in CHANGING_PARAMETERS.get(name, ())
            or item.name in FIXED_ARGUMENTS.get(name, {})
        ), f"{name}.{item.name} with metavar {item.declaration.metavar}"


def test_the_properties_of_tools_that_change_something_are_those_that_were_agreed() -> None:
    """A new option of such a command fails here: look at it, and add it to tests/golden/mcp/tools.txt."""
    lines = [
        " ".join(
            (
                exposed.tool_name,
                *(item.property_name for item in list_tool_parameters(exposed, has_folder=True)),
            )
        )
        for exposed in EXPOSED
        if exposed.is_change
    ]
    assert lines == GOLDEN.read_text().splitlines()


def test_a_check_without_options_of_its_own_has_limits_and_the_cluster_at_most() -> None:
    plain_checks = [exposed for exposed in EXPOSED if exposed.entry.module_name == "checks.plain_checks"]
    assert len(plain_checks) >= 4
    for exposed in plain_checks:
        names = [item.property_name for item in list_tool_parameters(exposed, has_folder=True)]
        assert names in (["warning", "critical"], ["cluster", "warning", "critical"])


def test_no_property_takes_a_file_a_folder_a_command_or_an_address() -> None:
    for exposed in EXPOSED:
        for item in list_tool_parameters(exposed, has_folder=True):
            metavar = item.parameter.declaration.metavar or ""
            is_path = any(word in metavar for word in ("FILE", "DIR", "PATH"))
            assert not is_path or item.kind in ("folder-file", "client-file") or metavar == "PATH=VALUE"
            assert metavar not in ("COMMAND", "URL", "ADDRS", "HOST:PORT", "WHAT")
            assert metavar != "ADDR" or item.kind == "broker"
            assert metavar != "MSGID" or item.kind == "message-id"


def test_no_property_of_a_reading_tool_makes_its_command_change_something() -> None:
    for exposed in EXPOSED:
        names = {item.parameter.name for item in list_tool_parameters(exposed, has_folder=True)}
        assert exposed.is_change or names.isdisjoint(CHANGING_PARAMETERS.get(exposed.entry.name, ()))


def test_no_secret_is_a_property() -> None:
    for exposed in EXPOSED:
        for item in list_tool_parameters(exposed, has_folder=True):
            assert "secret" not in item.property_name.lower()
            assert "passw" not in item.property_name.lower()
            assert "stdin" not in item.property_name.lower()


def test_each_table_names_parameters_that_exist() -> None:
    places = {
        f"{exposed.entry.name}.{item.name}"
        for exposed in EXPOSED
        for item in command_parameters(exposed.function)
    }
    for table in (LEFT_OUT_PARAMETERS, FOLDER_FILES, CLIENT_FILES):
        assert set(table) <= places


def test_required_parameters_of_a_tool_can_be_set() -> None:
    for exposed in EXPOSED:
        properties = {item.parameter.name for item in list_tool_parameters(exposed, has_folder=True)}
        for item in command_parameters(exposed.function):
            is_required = getattr(item.declaration, "required", False)
            fixed = FIXED_ARGUMENTS.get(exposed.entry.name, {})
            assert not is_required or item.name in properties or item.name in fixed


def test_schemas_have_types_choices_and_defaults() -> None:
    schemas = {
        item.property_name: item.schema
        for item in list_tool_parameters(exposed("rebalancePlan"), has_folder=False)
    }
    assert schemas["goal"]["enum"] == ["load", "queues", "disk"]
    assert schemas["goal"]["default"] == "load"
    assert schemas["add"]["type"] == "array"
    assert schemas["max-topics"]["type"] == "integer"
    [perm] = [
        item
        for item in list_tool_parameters(exposed("plan_updateTopic"), has_folder=False)
        if item.property_name == "perm"
    ]
    assert perm.schema["enum"] == [2, 4, 6]
    [decode] = [
        item
        for item in list_tool_parameters(exposed("dlqShow"), has_folder=False)
        if item.property_name == "decode"
    ]
    assert decode.schema["items"]["enum"] == ["base64", "gzip", "json", "hex"]


def test_a_parameter_that_only_others_replace_is_required_if_there_are_none() -> None:
    required = {
        item.property_name
        for item in list_tool_parameters(exposed("whatIf"), has_folder=False)
        if item.is_required
    }
    assert required == {"down"}
    [cluster] = [
        item
        for item in list_tool_parameters(exposed("exportMetadata"), has_folder=False)
        if item.property_name == "cluster"
    ]
    assert not cluster.is_required
    assert cluster.schema["description"].endswith(" Required without broker.")


@pytest.mark.parametrize(
    ("tool_name", "name", "value", "words"),
    [
        ("topicRoute", "topic", "--namesrvAddr=x", ["--topic=--namesrvAddr=x"]),
        ("topicList", "include_system", False, ["--no-system"]),
        ("topicList", "with_groups", True, ["--clusterModel"]),
        ("topicList", "with_groups", False, []),
        ("listUser", "name_filter", "a b", ["-f", "a b"]),
        ("dlqShow", "keys", ["a", "b"], ["--key=a", "--key=b"]),
        ("plan_updateTopic", "order_text", True, ["--order=true"]),
        ("plan_updateTopic", "perm_bits", 6, ["--perm=6"]),
    ],
)
def test_a_value_belongs_to_its_flag(tool_name: str, name: str, value: object, words: list[str]) -> None:
    assert format_option(parameter(tool_name, name), value) == words


def test_choices_come_from_the_metavar_or_the_values_that_tab_offers() -> None:
    assert find_choices(parameter("updateOrderConf", "method_name")) == ("get", "put", "delete")
    assert find_choices(parameter("history", "subject_kind")) == ("topic", "broker", "cluster", "kv")
    assert find_choices(parameter("topicRoute", "topic")) == ()
    assert is_refused(parameter("clusterList", "expectation"))
