"""The page of `nsadmin COMMAND --help`, rendered from the command's signature and docstring."""

import re
from collections.abc import Iterable, Sequence

from nsadmin.command_line import registry
from nsadmin.command_line.declarations import Parameter, command_parameters, declaration_of
from nsadmin.command_line.docstrings import EXAMPLES_TITLE, CommandExample, parse_docstring
from nsadmin.command_line.registry import CommandEntry
from nsadmin.command_line.shared_options import list_shared_parameters
from nsadmin.command_line.usage import format_usage
from nsadmin.console import exit_codes
from nsadmin.console.guides import find_guide_of_command
from nsadmin.console.phrases import reading_width
from nsadmin.help_pages.text_layout import format_list, join_sections, wrap_paragraph

_MAX_RELATED = 3
_NAMED_SHARED_FLAGS = (
    "--dry-run", "--yes", "-n", "--context", "--output", "--format", "--columns", "--sort",
    "--filter", "--limit", "--watch", "--wait-until-ok", "--timeout",
)  # fmt: skip
"""The shared options that a page names; `nsadmin help options` explains all."""


def command_text(entry: CommandEntry) -> str:
    command_function = entry.load_function()
    width = reading_width()
    aliases = [f"nsadmin {alias}" for alias in registry.list_aliases(entry)]
    own_parameters = command_parameters(command_function)
    docstring = parse_docstring(command_function)
    column_names = declaration_of(command_function).column_names
    arguments = [parameter for parameter in own_parameters if parameter.position is not None]
    options = [parameter for parameter in own_parameters if parameter.position is None]
    return join_sections(
        (
            [
                *wrap_paragraph(f"Usage: {format_usage(entry, own_parameters)} [OPTIONS]", width),
                *([f"Also: {', '.join(aliases)}"] if aliases else []),
            ],
            *(wrap_paragraph(paragraph, width) for paragraph in docstring.paragraphs),
            _parameter_section("Arguments, by position or as options:", arguments, width),
            _parameter_section("Options:", options, width),
            [EXAMPLES_TITLE, *example_lines(docstring.examples)] if docstring.examples else (),
            _column_section(column_names, width),
            _reference_section(entry, bool(column_names), width),
        )
    )


def example_lines(examples: Iterable[CommandExample]) -> list[str]:
    """Each example, with its description as a comment."""
    return [line for e in examples for line in (f"  # {e.description}", f"  {e.command_line}")]


def columns_text(entry: CommandEntry) -> str:
    """The text of `nsadmin help columns COMMAND`: what each column means."""
    column_meanings = declaration_of(entry.load_function()).column_meanings
    if not column_meanings:
        return f"{entry.typed_name} prints no table."
    return join_sections(
        (
            (
                f"Columns of nsadmin {entry.typed_name}, for --columns, --sort and --filter:",
                *format_list(column_meanings.items(), reading_width()),
            ),
        )
    )


def _parameter_section(title: str, parameters: Iterable[Parameter], width: int) -> list[str]:
    parameter_lines = format_list(map(_parameter_item, parameters), width)
    return [title, *parameter_lines] if parameter_lines else []


def _parameter_item(parameter: Parameter) -> tuple[str, str]:
    metavar_text = f" {parameter.metavar}" if parameter.metavar else ""
    has_default = isinstance(parameter.default, (str, int, float)) and not isinstance(parameter.default, bool)
    help_text = parameter.help
    if has_default and parameter.default != "" and "default" not in help_text.lower():
        help_text = f"{help_text} Default: {parameter.default}."
    return ", ".join(parameter.flag_names) + metavar_text, help_text


def _column_section(column_names: Sequence[str], width: int) -> list[str]:
    return wrap_paragraph(f"Columns: {', '.join(column_names)}", width) if column_names else []


def _reference_section(entry: CommandEntry, has_columns: bool, width: int) -> list[str]:
    shared_flags = {flag for parameter in list_shared_parameters(entry) for flag in parameter.flags}
    named_flags = [flag_name for flag_name in _NAMED_SHARED_FLAGS if flag_name in shared_flags]
    further_pages = [f"nsadmin help columns {entry.typed_name}"] if has_columns else []
    further_pages.append("nsadmin help exit-codes")
    guide_name = find_guide_of_command(entry.typed_name)
    return [
        *exit_code_section(entry, width),
        *(
            wrap_paragraph(f"Shared options: nsadmin help options ({', '.join(named_flags)}, ...)", width)
            if named_flags
            else ()
        ),
        *([f"Guide: nsadmin guide {guide_name}"] if guide_name else []),
        *wrap_paragraph(f"Related commands: {', '.join(related_commands(entry))}", width),
        f"See also: {', '.join(further_pages)}",
    ]


def related_commands(entry: CommandEntry) -> list[str]:
    """The commands that its help names, then its neighbours in module and registry."""
    docstring = entry.load_function().__doc__ or ""
    others = [e for e in registry.list_category_members(entry.category) if e is not entry]
    position = registry.COMMANDS.index(entry)
    near = (
        *(e for e in registry.COMMANDS if re.search(rf"(?:nsadmin |`){e.typed_name}(?![\w-])", docstring)),
        *(e for e in others if e.module_name == entry.module_name),
        *sorted(others, key=lambda e: abs(registry.COMMANDS.index(e) - position)),
    )
    return [e.typed_name for e in dict.fromkeys(near) if e is not entry][:_MAX_RELATED]


def exit_code_section(entry: CommandEntry, width: int) -> list[str]:
    """The exit codes that differ from those of other commands; empty for most commands."""
    special_codes = exit_codes.special_codes_of_command(entry.name, entry.kind)
    if not special_codes:
        return []
    code_texts = (f"{code:d} {meaning}" for code, meaning in special_codes)
    return wrap_paragraph(f"Exit codes: {'; '.join(code_texts)}.", width)
