"""Flags that are wrong."""

import pytest

from namesrv_core.flag_parser import FlagParser


def test_a_wrong_flag_is_one_line_that_says_where_help_is(capsys: pytest.CaptureFixture[str]) -> None:
    flags = FlagParser("nsadmin x", "It does something.")
    flags.add_argument("--port", type=int)
    with pytest.raises(SystemExit) as ended:
        flags.parse_args(["--port", "x"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        'nsadmin: invalid value "x" for --port: expected a whole number: nsadmin x --help lists the options\n'
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x --share much", 'invalid value "much" for --share: expected a number'),
        ("x --share", "missing value for --share"),
        ("x --once=1", "--once takes no value"),
        ("y", 'invalid value "y" for KIND: expected x: '),
        ("", "missing argument KIND"),
        ("x", "missing option --dir"),
        ("x --dir d --foo=1", 'unknown option "--foo"'),
        ("x --dir d now", 'unexpected argument "now"'),
    ],
)
def test_mistakes_have_the_words_of_the_commands(
    line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = FlagParser("nsadmin prog", "It does something.")
    flags.add_argument("kind", metavar="KIND", choices=("x",))
    flags.add_argument("--share", type=float)
    flags.add_argument("--once", action="store_true")
    flags.add_mutually_exclusive_group(required=True).add_argument("--dir")
    with pytest.raises(SystemExit):
        flags.parse_args(line.split())
    assert capsys.readouterr().err.startswith(f"nsadmin: {said}")


def test_help_has_that_of_each_command_too() -> None:
    flags = FlagParser("prog", "It does something.")
    commands = flags.add_subparsers(dest="command", metavar="run|list")
    commands.add_parser("run", help="run it").add_argument("--speed", help="how fast")
    commands.add_parser("list", help="list them")
    help_text = flags.format_help()
    assert "usage: prog run [-h] [--speed SPEED]" in help_text
    assert "how fast" in help_text
    assert "usage: prog list [-h]" in help_text


def test_an_abbreviated_flag_is_unknown() -> None:
    flags = FlagParser("prog", "It does something.")
    flags.add_argument("--port", type=int)
    with pytest.raises(SystemExit):
        flags.parse_args(["--po", "1"])
