"""Flags that are wrong."""

import pytest

from namesrv_core.flag_parser import FlagParser


def test_a_wrong_flag_is_one_line_that_says_where_help_is(capsys: pytest.CaptureFixture[str]) -> None:
    flags = FlagParser("prog", "It does something.")
    flags.add_argument("--port", type=int)
    with pytest.raises(SystemExit) as ended:
        flags.parse_args(["--port", "x"])
    assert ended.value.code == 2
    line = "prog: argument --port: invalid int value: 'x'; prog --help lists the flags\n"
    assert capsys.readouterr().err == line


def test_help_has_that_of_each_command_too() -> None:
    flags = FlagParser("prog", "It does something.")
    commands = flags.add_subparsers(dest="command", metavar="run|list")
    commands.add_parser("run", help="run it").add_argument("--speed", help="how fast")
    commands.add_parser("list", help="list them")
    said = flags.format_help()
    assert "usage: prog run [-h] [--speed SPEED]" in said
    assert "how fast" in said
    assert "usage: prog list [-h]" in said


def test_an_abbreviated_flag_is_unknown() -> None:
    flags = FlagParser("prog", "It does something.")
    flags.add_argument("--port", type=int)
    with pytest.raises(SystemExit):
        flags.parse_args(["--po", "1"])
