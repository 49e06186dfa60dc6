"""docs/reference/commands.md: every command with its options, columns and examples."""

from collections.abc import Container, Iterable, Sequence

from nsadmin.command_line.parser import OptionDescription
from nsadmin.manual.command_descriptions import CommandDescription

_PAGE_HEAD = """\
# Commands

Rendered from the registry of commands by `make generate`. Options that all commands have are listed once,
below; they may stand before the command or behind it. Only checks have `--format`, `--output-file` and
`--wait-until-ok`, and no tables.

The examples go with the cluster of `nsadmin lab up --namesrv-port 9876 --broker-port 10911`. Keys and ids
of messages are made up; to send one takes a real broker.
"""


def render_reference(commands: Iterable[CommandDescription]) -> str:
    """The page, in Markdown."""
    command_list = list(commands)
    shared_options = _shared_options(command_list)
    shared_table = "\n".join(
        ["| option of all | |\n|---|---|", *(_option_row(option) for option in shared_options)]
    )
    page_parts, current_group = [_PAGE_HEAD, shared_table + "\n"], ""
    for command in command_list:
        if command.entry.category.title != current_group:
            current_group = command.entry.category.title
            page_parts.append(f"## {current_group}\n")
        page_parts.append(_command_section(command, shared_options))
    return "\n".join(page_parts)


def _shared_options(commands: Sequence[CommandDescription]) -> list[OptionDescription]:
    """What all commands have that read, all that change something, or all checks."""
    shared_options: dict[OptionDescription, None] = {}
    for command_kind in ("read", "change", "check"):
        first_options, *other_options = [
            command.options for command in commands if command.entry.kind == command_kind
        ]
        shared_options |= {
            option: None for option in first_options if all(option in options for options in other_options)
        }
    return list(shared_options)


def _command_section(command: CommandDescription, shared_options: Container[OptionDescription]) -> str:
    command_entry = command.entry
    own_options = _own_options(command)
    listed_options = [option for option in own_options if option not in shared_options]
    argument_words = f" {command.argument_words}" if command.argument_words else ""
    section_lines = [
        f"### {command_entry.typed_name}\n",
        f"`nsadmin {command_entry.typed_name}{argument_words}`\n",
        "\n\n".join(command.text_paragraphs) + "\n",
    ]
    section_lines += _option_table(listed_options)
    for program_part in command.program_parts:
        part_options = [option for option in program_part.options if option not in own_options]
        usage_words = f"{program_part.part_name} {program_part.argument_words}".rstrip()
        section_lines.append(f"#### {program_part.part_name}\n\n`nsadmin {usage_words}`\n")
        section_lines += [
            f"{program_part.help_text[:1].upper()}{program_part.help_text[1:]}.\n",
            *_option_table(part_options),
        ]
    if command.column_meanings:
        section_lines.append("| column | |\n|---|---|")
        section_lines += [
            f"| `{column_name}` | {text} |" for column_name, text in command.column_meanings.items()
        ]
        section_lines.append("")
    if command.examples:
        section_lines += [
            "```sh",
            *(f"# {example.description}\n{example.command_line}" for example in command.examples),
            "```\n",
        ]
    return "\n".join(section_lines)


def _own_options(command: CommandDescription) -> list[OptionDescription]:
    """The options of a command itself, without those of its parts that it does not have."""
    part_options = [option for program_part in command.program_parts for option in program_part.options]
    return [
        option
        for option in command.options
        if option not in part_options
        or all(option in program_part.options for program_part in command.program_parts)
    ]


def _option_table(options: Sequence[OptionDescription]) -> list[str]:
    return ["| option | |\n|---|---|", *map(_option_row, options), ""] if options else []


def _option_row(option: OptionDescription) -> str:
    metavar_text = f" {option.metavar}" if option.metavar else ""
    return f"| `{(', '.join(option.flags) + metavar_text).strip()}` | {option.help} |"
