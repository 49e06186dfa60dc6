"""What completions know of the commands."""

from nsadmin.command_line.declarations import Parameter
from nsadmin.command_line.parser import leading_parameters
from nsadmin.manual.completion.shapes import COMMANDS, Choice, Shapes
from nsadmin.manual.describe import commands
from nsadmin.registry import COMMANDS as REGISTRY


def test_every_command_has_a_shape_and_help_has_one(found: Shapes) -> None:
    assert sorted(shape.name for shape in found.commands) == sorted(
        [*(entry.name for entry in REGISTRY), "help"]
    )
    by_name = {shape.name: shape for shape in found.commands}
    assert by_name["help"].places == (Choice((), COMMANDS, ""),)
    assert [place.spec for place in by_name["updateTopicPerm"].places] == [
        "-t,--topic=topics",
        "-p,--perm=2|4|6",
    ]
    first, second = by_name["lab"].places
    assert first.spec == "=up|run|list|"
    assert second.spec.startswith("=acting-master|")


def test_own_and_shared_options_are_all_options(found: Shapes) -> None:
    flags = {
        shape.name: {
            flag for option in (*shape.options, *found.families[shape.family]) for flag in option.flags
        }
        for shape in found.commands
    }
    for command in commands():
        assert flags[command.entry.name] == {flag for option in command.options for flag in option.flags}


def test_what_is_shared_is_said_once(found: Shapes) -> None:
    flags = {name: {choice.flags for choice in choices} for name, choices in found.families.items()}
    assert {("-n", "--namesrvAddr"), ("--columns",)} <= flags["read"]
    assert {("-n", "--namesrvAddr"), ("-y", "--yes")} <= flags["change"]
    assert ("--columns",) not in flags["change"]


def test_options_before_a_command_are_those_that_may_stand_there(found: Shapes) -> None:
    meant = {
        flag: item.value_type not in (bool, bool | None)
        for item in leading_parameters()
        for flag in flags_of(item)
    }
    told = {flag: choice.source is not None for choice in found.front for flag in choice.flags}
    assert told == meant


def flags_of(item: Parameter) -> list[str]:
    return [flag for pair in item.declaration.flags for flag in pair.split("/")]


def test_a_spec_tells_values_that_nobody_knows_from_none() -> None:
    assert Choice(("-v", "--value"), "", "").spec == "-v,--value="
    assert Choice(("-y", "--yes"), None, "").spec == "-y,--yes"
