"""What completions know of the commands."""

from nsadmin.command_line.declarations import Parameter
from nsadmin.command_line.parser import leading_parameters
from nsadmin.manual.command_descriptions import describe_all_commands
from nsadmin.manual.completion_scripts.command_shapes import COMMAND_SOURCE, CommandShapes, CompletionChoice
from nsadmin.registry import COMMAND_GROUPS, list_top_level_names
from nsadmin.registry import COMMANDS as REGISTRY


def test_every_command_and_group_has_a_shape_and_help_has_one(found: CommandShapes) -> None:
    assert sorted(shape.command_name for shape in found.command_shapes) == sorted(
        [*(entry.typed_name for entry in REGISTRY), *COMMAND_GROUPS, "help"]
    )
    by_name = {shape.command_name: shape for shape in found.command_shapes}
    assert by_name["help"].positional_choices == (CompletionChoice((), COMMAND_SOURCE, ""),)
    assert [place.flag_spec for place in by_name["updateTopicPerm"].positional_choices] == [
        "-t,--topic=topics",
        "-p,--perm=2|4|6",
    ]
    first, second = by_name["lab"].positional_choices
    assert first.flag_spec == "=up|run|list|"
    assert second.flag_spec.startswith("=acting-master|")


def test_the_commands_of_a_group_are_completed_after_its_name(found: CommandShapes) -> None:
    by_name = {shape.command_name: shape for shape in found.command_shapes}
    assert [place.flag_spec for place in by_name["kv"].positional_choices] == [
        "=get|list|diff|sync|export|import|"
    ]
    assert (by_name["kv"].family_name, by_name["kv get"].plain_name) == ("group", "kvget")
    assert {shape.command_name for shape in found.top_level_shapes} == {*list_top_level_names(), "help"}


def test_own_and_shared_options_are_all_options(found: CommandShapes) -> None:
    flags = {
        shape.command_name: {
            flag
            for option in (*shape.own_options, *found.choices_by_family[shape.family_name])
            for flag in option.flags
        }
        for shape in found.command_shapes
    }
    for command in describe_all_commands():
        assert flags[command.entry.typed_name] == {
            flag for option in command.options for flag in option.flags
        }


def test_what_is_shared_is_said_once(found: CommandShapes) -> None:
    flags = {name: {choice.flags for choice in choices} for name, choices in found.choices_by_family.items()}
    assert {("-n", "--namesrvAddr"), ("--columns",)} <= flags["read"]
    assert {("-n", "--namesrvAddr"), ("-y", "--yes")} <= flags["change"]
    assert ("--columns",) not in flags["change"]


def test_options_before_a_command_are_those_that_may_stand_there(found: CommandShapes) -> None:
    meant = {
        flag: item.value_type not in (bool, bool | None)
        for item in leading_parameters()
        for flag in flags_of(item)
    }
    flag_values = {
        flag: choice.value_source is not None for choice in found.leading_choices for flag in choice.flags
    }
    assert flag_values == meant


def flags_of(item: Parameter) -> list[str]:
    return [flag for pair in item.declaration.flags for flag in pair.split("/")]


def test_a_spec_tells_values_that_nobody_knows_from_none() -> None:
    assert CompletionChoice(("-v", "--value"), "", "").flag_spec == "-v,--value="
    assert CompletionChoice(("-y", "--yes"), None, "").flag_spec == "-y,--yes"
