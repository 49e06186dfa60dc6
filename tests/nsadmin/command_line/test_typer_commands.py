"""How Typer reads the parameters of a command: by position, by flag, in mqadmin's form; and its mistakes."""

from typing import Annotated, Any, NamedTuple

import pytest
from typer import Argument, Option

from nsadmin.command_line.declarations import Flags, Parameter, RequiredUnless, command
from nsadmin.command_line.registry import CATEGORIES, COMMANDS, CommandEntry
from nsadmin.command_line.typer_commands import HelpRequested, build_command, parse_command_line
from nsadmin.console.exit_codes import CheckUsageError, UsageError


@command()
def do_it(
    session: object,
    topic: Annotated[str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topic")],
    conf: Annotated[str | None, Argument(metavar="CONF", help="What."), Flags("-v", may_be_empty=True)],
    key: Annotated[str, Option("-k", "--key", metavar="KEY", help="Its key.")],
    queues: Annotated[int, Option("-q", "--queues", metavar="N", help="How many.", min=1)] = 8,
    share: Annotated[float | None, Option("-lo", "--share", help="Which share.")] = None,
    names: Annotated[list[str] | None, Option("-n", "--name", help="Its names.")] = None,
    shown: Annotated[bool, Option("--shown/--hidden", help="Whether to show it.")] = True,
    force: Annotated[bool, Option("-f", "--force", help="Whatever happens.")] = False,
) -> None:
    """Do it."""


@command()
def reset(
    session: object,
    group: Annotated[str, Argument(metavar="GROUP", help="A group."), Flags("-g", example="billing")],
    time: Annotated[str | None, Option("-s", metavar="TIME"), RequiredUnless("offset", "to_end")] = None,
    offset: Annotated[int | None, Option("-o", metavar="OFFSET")] = None,
    to_end: Annotated[bool, Option("--to-end")] = False,
) -> None:
    """Reset it."""


ENTRY = CommandEntry("doIt", "nowhere", CATEGORIES[0], "program", "Do it")
CHECK = ENTRY._replace(name="checkIt", kind="check", group="check")


@pytest.fixture(autouse=True)
def _functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        CommandEntry, "load_function", lambda entry: reset if entry.name == "reset" else do_it
    )


def parse(line: str, entry: CommandEntry = ENTRY) -> dict[str, Any]:
    words = ["" if word == "''" else word for word in line.split()]
    return dict(parse_command_line(entry, words).arguments)


def values(**changed: Any) -> dict[str, Any]:
    return {
        "topic": "T", "conf": None, "key": "k", "queues": 8, "share": None, "names": None, "shown": True,
        "force": False, **changed,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("T -k k", values()),
        ("-k k T C", values(conf="C")),
        ("-v C T -k k", values(conf="C")),
        ("-k k -t T C", values(conf="C")),
        ("C -t T -k k", values(conf="C")),
        ("--topic=T --key=k --hidden", values(shown=False)),
        ("-topic T -key k -queues 3", values(queues=3)),
        ("-topic=T -key=k -hidden -shown", values()),
        ("-tT -kk -q3", values(queues=3)),
        ("-k -topic -topic -t", values(key="-topic", topic="-t")),
        ("T -lo 2.5 -k k", values(share=2.5)),
        ("T -k k -n a -nb --name=c=d", values(names=["a", "b", "c=d"])),
        ("-k k -- -q --", values(topic="-q", conf="--")),
        ("- '' -k k", values(topic="-", conf="")),
        ("T -fk k", values(force=True)),
        ("T -k -5", values(key="-5")),
    ],
)
def test_a_line_gives_values(line: str, expected: dict[str, Any]) -> None:
    assert parse(line) == expected


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("T -k x -q 0", 'invalid value "0" for -q: expected a whole number of at least 1'),
        ("T -k x -q y", 'invalid value "y" for -q: expected a whole number of at least 1'),
        ("T -k x --share y", 'invalid value "y" for -lo: expected a number'),
        ("--kez x", 'unknown option "--kez": did you mean "--key"?'),
        ("-z", 'unknown option "-z": usage: nsadmin doIt TOPIC [CONF] -k KEY'),
        ("--cou 1", 'unknown option "--cou": usage: nsadmin doIt TOPIC [CONF] -k KEY'),
        ("T -k x -z", 'unknown option "-z": nsadmin doIt --help lists the options'),
        ("T", "missing option -k KEY: usage: nsadmin doIt TOPIC [CONF] -k KEY"),
        ("-k x", "missing argument TOPIC: usage: nsadmin doIt TOPIC [CONF] -k KEY"),
        ("'' -k x", "missing argument TOPIC: usage: nsadmin doIt TOPIC [CONF] -k KEY"),
        ("T C D -k x", 'unexpected argument "D": usage: nsadmin doIt TOPIC [CONF] -k KEY'),
        ("-k", "missing value for -k: write -k KEY"),
        ("-k x --force=1", "--force takes no value: write --force alone"),
    ],
)
def test_a_mistake_is_one_line_in_our_words(line: str, text: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse(line)
    assert str(raised.value) == text
    assert not isinstance(raised.value, CheckUsageError)


def test_a_mistake_in_the_line_of_a_check_is_one_of_a_plugin() -> None:
    with pytest.raises(CheckUsageError):
        parse("T", CHECK)


def test_one_of_several_parameters_is_needed() -> None:
    entry = ENTRY._replace(name="reset")
    assert parse("G -o 0", entry)["offset"] == 0
    assert parse("G --to-end", entry)["to_end"]
    usage = "usage: nsadmin reset GROUP (-s TIME | -o OFFSET | --to-end)"
    with pytest.raises(UsageError) as raised:
        parse("G", entry)
    assert str(raised.value) == f"missing option -s TIME or -o OFFSET or --to-end: {usage}"
    with pytest.raises(UsageError, match="missing argument GROUP, for example billing: usage: "):
        parse("", entry)


@pytest.mark.parametrize("line", ["-h", "T --shown --help", "--help T U V"])
def test_help_is_asked_for(line: str) -> None:
    with pytest.raises(HelpRequested) as raised:
        parse(line)
    assert raised.value.entry == ENTRY


@pytest.mark.parametrize("line", ["-t -h -k k", "--topic --help -k k", "-k k -- --help"])
def test_help_can_be_a_value(line: str) -> None:
    assert parse(line)["topic"] in ("-h", "--help")


def test_each_flag_of_each_command_gives_its_parameter_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    for entry in COMMANDS:
        command = build_command(entry, lambda _, values: values)
        spellings = {p.name: list_spellings(p) for p in (*command.own_parameters, *command.shared_parameters)}
        # One line gives each parameter a value, in its first spelling, and so on.
        for number in range(max(map(len, spellings.values()), default=0)):
            chosen = {name: all_of_it[number % len(all_of_it)] for name, all_of_it in spellings.items()}
            words = [word for spelling in chosen.values() for word in spelling.words]
            with command.make_context(entry.name, words, resilient_parsing=True) as ctx:
                given_values = ctx.params
            for name, spelling in chosen.items():
                value = given_values[name]
                given = value[-1] if isinstance(value, (list, tuple)) else value
                assert str(given) in (spelling.value, f"{spelling.value}.0"), (entry.name, words, value)


class Spelling(NamedTuple):
    words: list[str]
    value: str


def list_spellings(parameter: Parameter) -> list[Spelling]:
    """Each way to give the parameter a value, and that value."""
    off_flags = [pair.partition("/")[2] for pair in parameter.flags]
    number = str(max(7, int(parameter.minimum or 0)))
    spellings = []
    for flag in parameter.flag_names:
        words = [[flag]] if parameter.is_flag else [[flag, number]]
        if flag.startswith("--"):
            words.append([flag[1:], *words[0][1:]])
            words += [] if parameter.is_flag else [[f"{flag}={number}"]]
        value = str(flag not in off_flags) if parameter.is_flag else number
        spellings += [Spelling(spelling, value) for spelling in words]
    return spellings
