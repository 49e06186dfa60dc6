"""The parts of a program, read from its parser."""

from argparse import SUPPRESS, ArgumentParser

from nsadmin.help_pages.program_parts import (
    flag_options,
    positional_options,
    positional_words,
    required_flags,
)


def parser() -> ArgumentParser:
    flags = ArgumentParser("prog", add_help=False)
    flags.add_argument("kind", choices=("a", "b"), help="the kind")
    flags.add_argument("--level", choices=("low", "high"), help="at 5%%")
    flags.add_argument("--key", required=True, metavar="KEY", help="the key")
    group = flags.add_mutually_exclusive_group(required=True)
    group.add_argument("--dir", metavar="DIR", help="the folder")
    group.add_argument("--output", metavar="DIR", help=SUPPRESS)
    return flags


def test_options_have_choices_as_metavar_and_hidden_ones_are_left_out() -> None:
    options = flag_options(parser())
    assert [(option.flags, option.metavar, option.help) for option in options] == [
        (("--level",), "low|high", "at 5%"),
        (("--key",), "KEY", "the key"),
        (("--dir",), "DIR", "the folder"),
    ]


def test_required_options_and_arguments_make_the_usage() -> None:
    assert required_flags(parser()) == ["--key KEY", "--dir DIR"]
    assert positional_words(positional_options(parser())) == "a|b"
