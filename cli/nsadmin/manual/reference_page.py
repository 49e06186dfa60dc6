"""The reference of commands: reference/commands.md, and in its folder a page for each category."""

from collections.abc import Iterable, Mapping, Sequence

from nsadmin.command_line.declarations import Parameter
from nsadmin.command_line.registry import CATEGORIES, Category
from nsadmin.command_line.shared_options import OPTION_SECTIONS, to_parameters
from nsadmin.console import exit_codes
from nsadmin.manual.command_descriptions import CommandDescription

INDEX_PAGE = "reference/commands.md"
CATEGORY_FOLDER = "reference/commands"

_INDEX_HEAD = """\
# Commands

`nsadmin help COMMAND` prints the same on a terminal.

Names can be written in any case and with hyphens: `topic-route`. The two words of a command can be joined:
`kvGet`.
"""

_SHARED_OPTIONS_HEAD = """\
## Shared options

Write these options before or after the command. [Contexts](contexts.md) explains their precedence, and
[exit codes](exit-codes.md) lists the exit codes.
"""

_CATEGORY_HEAD = """\
The examples use the cluster of `nsadmin lab up --namesrv-port 9876 --broker-port 10911`. Keys and ids of
messages are made up. [Shared options](../commands.md#shared-options) are on a separate page.
"""


def render_pages(commands: Sequence[CommandDescription]) -> dict[str, str]:
    commands_by_category: dict[Category, list[CommandDescription]] = {
        c: [command for command in commands if command.entry.category == c] for c in CATEGORIES
    }
    return {
        INDEX_PAGE: _render_index(commands_by_category),
        **{
            f"{CATEGORY_FOLDER}/{category.handle}.md": _render_category(category, category_commands)
            for category, category_commands in commands_by_category.items()
        },
    }


def _render_index(commands_by_category: Mapping[Category, Sequence[CommandDescription]]) -> str:
    page_parts = [_INDEX_HEAD]
    for category, category_commands in commands_by_category.items():
        page_parts += [
            f"## {category.title}\n",
            *_contents_list(category_commands, f"commands/{category.handle}.md"),
            "",
        ]
    page_parts.append(_SHARED_OPTIONS_HEAD)
    for title, annotations in OPTION_SECTIONS.items():
        page_parts += _option_list(f"### {title}", to_parameters(annotations))
    return "\n".join(page_parts).rstrip() + "\n"


def _render_category(category: Category, commands: Sequence[CommandDescription]) -> str:
    page_parts = [
        f"# {category.title}\n",
        f"{category.help}.\n",
        *_contents_list(commands, ""),
        "",
        _CATEGORY_HEAD,
        *map(_command_section, commands),
    ]
    return "\n".join(page_parts).rstrip() + "\n"


def _contents_list(commands: Iterable[CommandDescription], page_path: str) -> list[str]:
    return [
        f"- [`{command.entry.typed_name}`]({page_path}#{_anchor_of(command.entry.typed_name)}):"
        f" {command.entry.help[:1].lower()}{command.entry.help[1:]}"
        for command in commands
    ]


def _anchor_of(heading: str) -> str:
    return heading.replace(" ", "-").lower()


def _command_section(command: CommandDescription) -> str:
    command_entry = command.entry
    section_lines = [
        f"## {command_entry.typed_name}\n",
        f"```text\nnsadmin {command_entry.typed_name} {command.argument_words}".rstrip() + "\n```\n",
        "\n\n".join(command.text_paragraphs) + "\n",
    ]
    section_lines += _option_list("Options:", command.parameters)
    section_lines += _column_list(command.column_meanings)
    section_lines += _exit_code_lines(command)
    if command.examples:
        section_lines += [
            "```sh",
            *(f"# {example.description}\n{example.command_line}" for example in command.examples),
            "```\n",
        ]
    return "\n".join(section_lines)


def _column_list(column_meanings: Mapping[str, str]) -> list[str]:
    column_lines = [f"- `{column_name}`: {text}" for column_name, text in column_meanings.items()]
    return ["Columns:\n", *column_lines, ""] if column_lines else []


def _exit_code_lines(command: CommandDescription) -> list[str]:
    special_codes = exit_codes.special_codes_of_command(command.entry.name, command.entry.kind)
    code_texts = [f"{code:d} {meaning}" for code, meaning in special_codes]
    return [f"Exit codes: {'; '.join(code_texts)}.\n"] if code_texts else []


def _option_list(title: str, options: Sequence[Parameter]) -> list[str]:
    """A list, no table: option values such as `true|false` would end the cell of a table."""
    return [f"{title}\n", *map(_option_line, options), ""] if options else []


def _option_line(option: Parameter) -> str:
    metavar_text = f" {option.metavar}" if option.metavar else ""
    return f"- `{(', '.join(option.flag_names) + metavar_text).strip()}`: {option.help}"
