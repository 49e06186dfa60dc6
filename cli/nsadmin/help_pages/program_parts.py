"""Reads the arguments, options and subcommands of a program from its own parser."""

from argparse import SUPPRESS, ArgumentParser, _SubParsersAction
from typing import Any, NamedTuple

from nsadmin.command_line.parser import OptionDescription


class ProgramPart(NamedTuple):
    """A subcommand of a program, such as `lab run`.

    `argument_words` are its positional arguments; `options` has them, too, without flags.
    """

    part_name: str
    argument_words: str
    help_text: str
    options: list[OptionDescription]


def positional_words(arguments: list[OptionDescription]) -> str:
    """Return the metavars of positional arguments, for the usage."""
    return " ".join(argument.metavar or "" for argument in arguments)


def list_subcommands(parser: ArgumentParser) -> list[tuple[str, ArgumentParser, str]]:
    """Return the subcommands: name, parser, help."""
    return [
        (subcommand_name, action.choices[subcommand_name], choice_action.help or "")
        for action in parser._actions
        if isinstance(action, _SubParsersAction)
        for subcommand_name, choice_action in zip(action.choices, action._choices_actions, strict=True)
    ]


def describe_parts(parser: ArgumentParser, program_name: str) -> list[ProgramPart]:
    """Describe the subcommands; empty for a program without any."""
    return [
        ProgramPart(
            f"{program_name} {subcommand_name}",
            _optional_words(subcommand_parser),
            help_text,
            [*positional_options(subcommand_parser), *flag_options(subcommand_parser)],
        )
        for subcommand_name, subcommand_parser, help_text in list_subcommands(parser)
    ]


def _optional_words(parser: ArgumentParser) -> str:
    """Return the positional arguments; brackets mark those that can be left out."""
    positional_actions = [action for action in parser._actions if not action.option_strings]
    return " ".join(
        f"[{positional_action.metavar}]" if positional_action.nargs == "?" else str(positional_action.metavar)
        for positional_action in positional_actions
    )


def positional_options(parser: ArgumentParser) -> list[OptionDescription]:
    """Return the positional arguments as options without flags."""
    return [
        OptionDescription(
            (),
            "|".join(action.choices or ()) or str(action.metavar or action.dest.upper()),
            action.help or "",
            _choice_source(action),
        )
        for action in parser._actions
        if not action.option_strings
    ]


def _choice_source(action: Any) -> str:
    """Return the choices of an argument as a value source; a single choice ends with a bar, too."""
    return "".join(f"{choice}|" for choice in action.choices or getattr(action, "values", ()))


def flag_options(parser: ArgumentParser) -> list[OptionDescription]:
    """Return the options; options without help are former names, which stay hidden."""
    descriptions = []
    for action in parser._actions:
        if action.option_strings and action.help != SUPPRESS:
            metavar = action.metavar if isinstance(action.metavar, str) else None
            # The ADDR of a server to start is not the address of a broker.
            choice_source = None if metavar in ("FILE", "DIR") else _choice_source(action)
            if metavar is None and action.choices:
                metavar = "|".join(action.choices)
            # argparse formats help texts with %, so a percent sign is written twice.
            help_text = (action.help or "").replace("%%", "%")
            descriptions.append(
                OptionDescription(tuple(action.option_strings), metavar, help_text, choice_source)
            )
    return descriptions


def required_flags(parser: ArgumentParser) -> list[str]:
    """Return the required options with their metavars, for the usage."""
    group_actions = [group._group_actions[0] for group in parser._mutually_exclusive_groups if group.required]
    required_actions = [action for action in parser._actions if action.option_strings and action.required]
    return [f"{action.option_strings[0]} {action.metavar}" for action in (*required_actions, *group_actions)]
