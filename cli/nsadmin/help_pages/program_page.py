"""The page of `nsadmin PROGRAM --help`, rendered from the program's own parser and docstring."""

from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from nsadmin.command_line.docstrings import parse_docstring
from nsadmin.command_line.parser import OptionDescription
from nsadmin.help_pages.command_page import example_section, exit_code_section
from nsadmin.help_pages.program_parts import (
    ProgramPart,
    describe_parts,
    flag_options,
    positional_options,
    positional_words,
    required_flags,
)
from nsadmin.help_pages.text_layout import format_list, help_width, join_sections, wrap_paragraph
from nsadmin.registry import CommandEntry


def program_text(
    entry: CommandEntry,
    program_function: Callable[..., Any],
    flag_parser: ArgumentParser,
    program_words: Sequence[str],
) -> str:
    """The page of a program, or of the subcommand that is among its words."""
    program_parts = describe_parts(flag_parser, entry.typed_name)
    for program_part in program_parts:
        if program_part.part_name.rpartition(" ")[2] in program_words:
            return _part_text(program_part)
    width = help_width()
    arguments = [] if program_parts else positional_options(flag_parser)
    usage_words = (
        ["COMMAND [ARGUMENTS]"]
        if program_parts
        else [positional_words(arguments), *required_flags(flag_parser)]
    )
    docstring = parse_docstring(program_function)
    return join_sections(
        (
            [" ".join(filter(None, ("Usage: nsadmin", entry.typed_name, *usage_words, "[OPTIONS]")))],
            *(wrap_paragraph(paragraph, width) for paragraph in docstring.paragraphs),
            _part_section(program_parts, width),
            _option_section("Arguments:", arguments, width),
            _option_section("Options:", _without_help(flag_options(flag_parser)), width),
            example_section(docstring.examples),
            exit_code_section(entry, width),
            [f"Help for one command: nsadmin {entry.typed_name} COMMAND --help"] if program_parts else [],
        )
    )


def _part_text(program_part: ProgramPart) -> str:
    width = help_width()
    usage_words = ("Usage: nsadmin", program_part.part_name, program_part.argument_words, "[OPTIONS]")
    arguments = [option for option in program_part.options if not option.flags]
    options = [option for option in program_part.options if option.flags]
    return join_sections(
        (
            [" ".join(filter(None, usage_words))],
            wrap_paragraph(f"{program_part.help_text[:1].upper()}{program_part.help_text[1:]}.", width),
            _option_section("Arguments:", arguments, width),
            _option_section("Options:", _without_help(options), width),
        )
    )


def _part_section(program_parts: Iterable[ProgramPart], width: int) -> list[str]:
    part_lines = format_list(
        (
            (f"{program_part.part_name} {program_part.argument_words}".rstrip(), program_part.help_text)
            for program_part in program_parts
        ),
        width,
    )
    return ["Commands:", *part_lines] if part_lines else []


def _option_section(title: str, options: Iterable[OptionDescription], width: int) -> list[str]:
    option_lines = format_list(
        ((f"{', '.join(option.flags)} {option.metavar or ''}".strip(), option.help) for option in options),
        width,
    )
    return [title, *option_lines] if option_lines else []


def _without_help(options: Iterable[OptionDescription]) -> list[OptionDescription]:
    return [option for option in options if "--help" not in option.flags]
