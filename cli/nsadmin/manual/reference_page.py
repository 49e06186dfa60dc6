"""The reference of commands: reference/commands.md, and in its folder a page for each category."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

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
messages are made up. Another page explains the [shared options](../commands.md#shared-options), the
[common options](../commands.md#common-options), and the [common columns](../commands.md#common-columns): all
columns without a line below a command.
"""

_COMMON_OPTIONS_HEAD = """\
## Common options

Many commands have these options. Pages that name one without a text mean:
"""

_COMMON_COLUMNS_HEAD = """\
## Common columns

Many commands have these columns. `nsadmin help columns COMMAND` explains all columns of a command.
"""

_FEWEST_USES = 4


class _CommonTexts(NamedTuple):
    """The options and columns that are explained once, each with its most frequent text."""

    options: dict[str, str]
    columns: dict[str, str]


def _find_common_texts(commands: Iterable[CommandDescription]) -> _CommonTexts:
    return _CommonTexts(
        _find_most_frequent(
            (_option_words(option), option.help) for c in commands for option in c.parameters
        ),
        _find_most_frequent(column for c in commands for column in c.column_meanings.items()),
    )


def _find_most_frequent(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for (name, text), count in Counter(pairs).most_common():
        if count >= _FEWEST_USES:
            texts.setdefault(name, text)
    return dict(sorted(texts.items()))


def render_pages(commands: Sequence[CommandDescription]) -> dict[str, str]:
    common = _find_common_texts(commands)
    commands_by_category: dict[Category, list[CommandDescription]] = {
        c: [command for command in commands if command.entry.category == c] for c in CATEGORIES
    }
    return {
        INDEX_PAGE: _render_index(commands_by_category, common),
        **{
            f"{CATEGORY_FOLDER}/{category.handle}.md": _render_category(category, category_commands, common)
            for category, category_commands in commands_by_category.items()
        },
    }


def _render_index(
    commands_by_category: Mapping[Category, Sequence[CommandDescription]], common: _CommonTexts
) -> str:
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
    for head, texts in ((_COMMON_OPTIONS_HEAD, common.options), (_COMMON_COLUMNS_HEAD, common.columns)):
        page_parts += [head, *(f"- `{name}`: {text}" for name, text in texts.items()), ""]
    return "\n".join(page_parts).rstrip() + "\n"


def _render_category(category: Category, commands: Sequence[CommandDescription], common: _CommonTexts) -> str:
    page_parts = [
        f"# {category.title}\n",
        f"{category.help}.\n",
        *_contents_list(commands, ""),
        "",
        _CATEGORY_HEAD,
        *(_command_section(command, common) for command in commands),
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


def _command_section(command: CommandDescription, common: _CommonTexts) -> str:
    command_entry = command.entry
    section_lines = [
        f"## {command_entry.typed_name}\n",
        f"```text\nnsadmin {command_entry.typed_name} {command.argument_words}".rstrip() + "\n```\n",
        "\n\n".join(command.text_paragraphs) + "\n",
    ]
    section_lines += _command_options(command.parameters, common.options)
    section_lines += _column_list(command.column_meanings, common.columns)
    section_lines += _exit_code_lines(command)
    if command.examples:
        section_lines += [
            "```sh",
            *(f"# {example.description}\n{example.command_line}" for example in command.examples),
            "```\n",
        ]
    return "\n".join(section_lines)


def _command_options(options: Sequence[Parameter], common: Mapping[str, str]) -> list[str]:
    is_common = {o: common.get(_option_words(o)) == o.help for o in options}
    names = [f"`{_option_words(option)}`" for option in options if is_common[option]]
    return [
        *_option_list("Options:", [option for option in options if not is_common[option]]),
        *([f"Common options: {', '.join(names)}.\n"] if names else []),
    ]


def _column_list(column_meanings: Mapping[str, str], common: Mapping[str, str]) -> list[str]:
    if not column_meanings:
        return []
    own = [f"- `{name}`: {text}" for name, text in column_meanings.items() if common.get(name) != text]
    names = ", ".join(f"`{name}`" for name in column_meanings)
    return [f"Columns: {names}.\n", *own, *([""] if own else [])]


def _exit_code_lines(command: CommandDescription) -> list[str]:
    special_codes = exit_codes.special_codes_of_command(command.entry.name, command.entry.kind)
    code_texts = [f"{code:d} {meaning}" for code, meaning in special_codes]
    return [f"Exit codes: {'; '.join(code_texts)}.\n"] if code_texts else []


def _option_list(title: str, options: Sequence[Parameter]) -> list[str]:
    """A list, no table: option values such as `true|false` would end the cell of a table."""
    return [f"{title}\n", *map(_option_line, options), ""] if options else []


def _option_line(option: Parameter) -> str:
    return f"- `{_option_words(option)}`: {option.help}"


def _option_words(option: Parameter) -> str:
    metavar_text = f" {option.metavar}" if option.metavar else ""
    return (", ".join(option.flag_names) + metavar_text).strip()
