"""docs/commands.md: every command with its options."""

from collections.abc import Iterable

from nsadmin.manual.describe import Command

_HEAD = """\
# Commands

Rendered from the registry of commands by `make generate`. Options that all commands have are listed once,
below; they may stand before the command or behind it.
"""
_SHARED = (
    "--namesrvAddr",
    "--output",
    "--json",
    "--timeout",
    "--no-headers",
    "--no-color",
    "--debug",
    "--help",
)
_READS = ("--watch", "--columns", "--sort", "--filter")
_CHANGES = ("--dry-run", "--yes")


def reference(commands: Iterable[Command]) -> str:
    """The page, in Markdown."""
    found = list(commands)
    parts, group = [_HEAD, _shared(found)], ""
    for command in found:
        if command.entry.group != group:
            group = command.entry.group
            parts.append(f"## {group}\n")
        parts.append(_section(command))
    return "\n".join(parts)


def _shared(commands: Iterable[Command]) -> str:
    lines = {}
    for command in commands:
        for option in command.options:
            if command.entry.kind != "program" and _is_shared(option.flags):
                lines[option.flags] = _line(option.flags, option.metavar, option.help)
    return "| option of all | |\n|---|---|\n" + "\n".join(lines.values()) + "\n"


def _is_shared(flags: Iterable[str]) -> bool:
    return any(flag in (*_SHARED, *_READS, *_CHANGES) for flag in flags)


def _section(command: Command) -> str:
    entry = command.entry
    options = [o for o in command.options if entry.kind == "program" or not _is_shared(o.flags)]
    words = f" {command.words}" if command.words else ""
    lines = [f"### {entry.name}\n", f"`nsadmin {entry.name}{words}`\n", "\n\n".join(command.text) + "\n"]
    if options:
        lines.append("| option | |\n|---|---|")
        lines += [_line(option.flags, option.metavar, option.help) for option in options]
        lines.append("")
    return "\n".join(lines)


def _line(flags: Iterable[str], metavar: str | None, text: str) -> str:
    behind = f" {metavar}" if metavar else ""
    return f"| `{', '.join(flags)}{behind}` | {text} |".replace("|LIST", "\\|LIST")
