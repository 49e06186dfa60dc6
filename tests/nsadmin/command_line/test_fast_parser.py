"""The plain parser says what Typer says, or nothing; and it does say something of plain lines."""

from importlib import import_module
from typing import Annotated, Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from nsadmin.command_line.fast_parser import ParameterValues
from nsadmin.command_line.parser import list_shared_parameters

from nsadmin.command_line import fast_parser, typer_parser
from nsadmin.command_line.declarations import Argument, Option, Parameter, build_parameter, command_parameters
from nsadmin.exit_codes import UsageError
from nsadmin.registry import COMMANDS, CommandEntry

ENTRIES = [entry for entry in COMMANDS if entry.kind != "program"]
ODD = [
    "",
    "-",
    "--",
    "=",
    "-=",
    "--=x",
    "---",
    "-1",
    "-5x",
    "0",
    "7",
    "1.5",
    "nan",
    "1e3",
    "1_0",
    " 2 ",
    "-h",
    "x=y",
]
ODD += ["true", "name", "näme", "a b", "@file", "/x", "+y", "--no-such", "-zz"]


def parameters(entry: CommandEntry) -> list[Parameter]:
    module = import_module(f"nsadmin.commands.{entry.module_name}")
    return [*command_parameters(getattr(module, entry.function_name)), *list_shared_parameters(entry)]


def flags_of(items: list[Parameter]) -> list[str]:
    return [flag for item in items for pair in item.declaration.flags for flag in pair.split("/")]


def arguments(items: list[Parameter]) -> st.SearchStrategy[list[str]]:
    """Lines of such flags, alone, cut short, put together and with values; and of words."""
    flag = st.sampled_from(flags_of(items))
    text = st.one_of(st.sampled_from(ODD), st.text("ab-=1. ", max_size=4))
    one = st.one_of(
        flag,
        text,
        st.builds("{}={}".format, flag, text),
        st.builds("{}{}".format, flag, text),
        st.builds(lambda whole, end: whole[:end], flag, st.integers(1, 6)),
        st.builds(lambda first, second: first + second.lstrip("-"), flag, flag),
    )
    return st.lists(one, max_size=6)


def typer_line(items: list[Parameter], args: list[str]) -> ParameterValues | str:
    try:
        return typer_parser.parse_with_typer("command", "nsadmin command", items, args)
    except UsageError as error:
        return str(error)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_typer_says_the_same_of_every_line_that_is_plain(data: st.DataObject) -> None:
    items = parameters(data.draw(st.sampled_from(ENTRIES)))
    args = data.draw(arguments(items))
    line = fast_parser.parse_plain_line(items, args)
    event("plain" if line else "left to Typer")
    if line is not None:
        assert repr(line) == repr(typer_line(items, args))


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.name for entry in ENTRIES])
def test_each_option_of_each_command_is_plain(entry: CommandEntry) -> None:
    items = [item for item in parameters(entry) if not isinstance(item.declaration, Argument)]
    lines = [line for item in items for line in spellings(item)]
    parsed_lines = [
        fast_parser.parse_plain_line(parameters(entry), [*words_of(entry), *line]) for line in lines
    ]
    assert [line for line, parsed_line in zip(lines, parsed_lines, strict=True) if parsed_line is None] == []


def words_of(entry: CommandEntry) -> list[str]:
    """A value for each parameter that has to be given."""
    return [
        argument
        for item in parameters(entry)
        if item.default is not None and not isinstance(item.default, (bool, int, float, str))
        for argument in (item.declaration.flags[0], "7")
    ]


def spellings(item: Parameter) -> list[list[str]]:
    flags = flags_of([item])
    if item.value_type in (bool, bool | None):
        return [[flag] for flag in flags]
    # What is attached to a flag of several letters, as to -lo, is for Typer to say.
    minimum = item.declaration.minimum if isinstance(item.declaration, Option) else None
    value = str(max(7, minimum or 0))
    attached = [f"{flag}={value}" for flag in flags if flag.startswith("--")]
    attached += [f"{flag}{value}" for flag in flags if len(flag) == 2]
    return [*([flag, value] for flag in flags), *([argument] for argument in attached)]


ITEMS = [
    build_parameter("word", Annotated[str, Argument(("-t", "--topic"), "TOPIC", "")], None),
    build_parameter("count", Annotated[int | None, Option("-i", "--count", minimum=0)], None),
    build_parameter("share", Annotated[float | None, Option("-lo", "--share")], None),
    build_parameter("names", Annotated[list[str] | None, Option("-n", "--name")], None),
    build_parameter("shown", Annotated[bool, Option("-s/-q", "--shown/--hidden")], True),
]


def values(**changed: Any) -> dict[str, Any]:
    return {"word": None, "count": None, "share": None, "names": None, "shown": True, **changed}


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ([], ParameterValues(values(), [])),
        (["a", "--hidden", "b"], ParameterValues(values(shown=False), ["a", "b"])),
        (["-q", "-s"], ParameterValues(values(), [])),
        (["-t", "-q"], ParameterValues(values(word="-q"), [])),
        (["-t=x"], ParameterValues(values(word="=x"), [])),
        (["--topic=", "-i0"], ParameterValues(values(word="", count=0), [])),
        (["-lo=1", "-lo", "2.5"], ParameterValues(values(share=2.5), [])),
        (["-n", "a", "-nb", "--name=c=d"], ParameterValues(values(names=["a", "b", "c=d"]), [])),
        (["--", "-q", "--"], ParameterValues(values(), ["-q", "--"])),
        (["-", ""], ParameterValues(values(), ["-", ""])),
    ],
)
def test_plain_lines(args: list[str], line: ParameterValues) -> None:
    assert fast_parser.parse_plain_line(ITEMS, args) == typer_line(ITEMS, args) == line


@pytest.mark.parametrize(
    "args",
    [
        ["-h"],
        ["--help"],
        ["-x"],
        ["-sq"],
        ["-sx"],
        ["--shown=1"],
        ["-i"],
        ["-i", "x"],
        ["-i", "-1"],
        ["--cou", "1"],
    ],
)
def test_what_is_left_to_typer(args: list[str]) -> None:
    assert fast_parser.parse_plain_line(ITEMS, args) is None


@pytest.mark.parametrize(
    ("args", "asks"),
    [
        (["-h"], True),
        (["word", "--shown", "--help"], True),
        (["--no-such", "--help"], True),
        (["-t", "-h"], False),
        (["--topic", "--help"], False),
        (["--", "--help"], False),
        (["word"], False),
    ],
)
def test_help_is_asked_for_unless_it_is_a_value(args: list[str], asks: bool) -> None:
    assert fast_parser.asks_for_help(ITEMS, args) is asks


def test_a_missing_option_is_left_to_typer() -> None:
    needed = command_parameters(needing)
    assert fast_parser.parse_plain_line(needed, []) is None
    assert fast_parser.parse_plain_line(needed, ["-k", "v"]) == ParameterValues({"key": "v"}, [])


@pytest.mark.parametrize(
    ("args", "end"),
    [
        ([], 0),
        (["word", "-s"], 0),
        (["-s", "-q", "word"], 2),
        (["-n", "word", "--name=a", "-nb", "word"], 4),
        (["-n", "-s", "-s", "--", "word"], 3),
        (["-s", "--other", "word"], 1),
        (["-n"], 2),
    ],
)
def test_where_the_options_end_that_stand_first(args: list[str], end: int) -> None:
    assert fast_parser.find_options_end(ITEMS, args) == end


def needing(session: object, key: Annotated[str, Option("-k")]) -> None:
    """A command with an option that has to be given."""


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("-topic T -r 1", "--topic T -r 1"),
        ("-topic=T", "--topic=T"),
        ("-t -topic -topic -t", "-t -topic --topic -t"),
        ("--topic -topic", "--topic -topic"),
        ("-- -topic", "-- -topic"),
        ("-tT -topics t -yes -", "-tT -topics t --yes -"),
        ("t topic -r -1 r", "t topic -r -1 r"),
    ],
)
def test_long_names_with_one_dash(line: str, meant: str) -> None:
    parameters = [
        Parameter("topic", str, Argument(("-t", "--topic"), "TOPIC", "A topic."), ""),
        Parameter("number", int, Option("-r", "--number"), 0),
        Parameter("yes", bool, Option("--yes"), False),
    ]
    assert fast_parser.expand_single_dashes(parameters, line.split()) == meant.split()
