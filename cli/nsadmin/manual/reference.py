"""docs/commands.md: every command with its options, columns and examples."""

from collections.abc import Container, Iterable, Sequence

from nsadmin.command_line.parser import OptionDescription
from nsadmin.manual.describe import Command

_HEAD = """\
# Commands

Rendered from the registry of commands by `make generate`. Options that all commands have are listed once,
below; they may stand before the command or behind it. Only checks have `--format`, `--output-file` and
`--wait-until-ok`, and no tables.

The examples go with the cluster of `nsadmin lab up --namesrv-port 9876 --broker-port 10911`. Keys and ids
of messages are made up; to send one takes a real broker.
"""


def reference(commands: Iterable[Command]) -> str:
    """The page, in Markdown."""
    found = list(commands)
    shared = _shared(found)
    table = "\n".join(["| option of all | |\n|---|---|", *(_line(option) for option in shared)])
    parts, group = [_HEAD, table + "\n"], ""
    for command in found:
        if command.entry.group != group:
            group = command.entry.group
            parts.append(f"## {group}\n")
        parts.append(_section(command, shared))
    return "\n".join(parts)


def _shared(commands: Sequence[Command]) -> list[OptionDescription]:
    """What all commands have that read, all that change something, or all checks."""
    shared: dict[OptionDescription, None] = {}
    for kind in ("read", "change", "check"):
        first, *others = [command.options for command in commands if command.entry.kind == kind]
        shared |= {option: None for option in first if all(option in options for options in others)}
    return list(shared)


def _section(command: Command, shared: Container[OptionDescription]) -> str:
    entry = command.entry
    shown = _own(command)
    options = [option for option in shown if option not in shared]
    words = f" {command.words}" if command.words else ""
    lines = [f"### {entry.name}\n", f"`nsadmin {entry.name}{words}`\n", "\n\n".join(command.text) + "\n"]
    lines += _table(options)
    for part in command.parts:
        own = [option for option in part.options if option not in shown]
        lines.append(f"#### {part.name}\n\n`nsadmin {f'{part.name} {part.words}'.rstrip()}`\n")
        lines += [f"{part.help[:1].upper()}{part.help[1:]}.\n", *_table(own)]
    if command.columns:
        lines.append("| column | |\n|---|---|")
        lines += [f"| `{name}` | {text} |" for name, text in command.columns.items()]
        lines.append("")
    if command.examples:
        lines += [
            "```sh",
            *(f"# {example.description}\n{example.command_line}" for example in command.examples),
            "```\n",
        ]
    return "\n".join(lines)


def _own(command: Command) -> list[OptionDescription]:
    """The options of a command itself, without those of its parts that it does not have."""
    of_parts = [option for part in command.parts for option in part.options]
    return [
        option
        for option in command.options
        if option not in of_parts or all(option in part.options for part in command.parts)
    ]


def _table(options: Sequence[OptionDescription]) -> list[str]:
    return ["| option | |\n|---|---|", *map(_line, options), ""] if options else []


def _line(option: OptionDescription) -> str:
    behind = f" {option.metavar}" if option.metavar else ""
    return f"| `{(', '.join(option.flags) + behind).strip()}` | {option.help} |"
