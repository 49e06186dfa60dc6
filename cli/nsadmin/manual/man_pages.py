"""Man pages: nsadmin(1), and one for each command."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, starmap
from textwrap import wrap
from typing import Any

from nsadmin.command_line.declarations import Parameter
from nsadmin.command_line.docstrings import CommandExample
from nsadmin.command_line.registry import CommandEntry
from nsadmin.command_line.shared_options import OPTION_SECTIONS, to_parameters
from nsadmin.console.exit_codes import EXIT_CODE_MEANINGS, PLUGIN_CODE_MEANINGS, special_codes_of_command
from nsadmin.help_pages.shared_pages import ENVIRONMENT_VARIABLES, PRECEDENCE
from nsadmin.manual.command_descriptions import CommandDescription

# mandoc asks for at most 80 bytes, and escapes make lines longer.
_LINE_WIDTH = 70
_SHARED_HINT = "The page nsadmin(1) lists the options that most commands share."


def render_page(command: CommandDescription) -> str:
    command_name = command.entry.typed_name
    argument_words = _escape_roff(command.argument_words)
    synopsis_words = (f"\\fBnsadmin {_escape_roff(command_name)}\\fR", argument_words, "[\\fIoptions\\fR]")
    short_help = _lower_first_letter(command.entry.help)
    return _join_sections(
        _page_head(page_name(command.entry)),
        (".SH NAME", f"{_escape_roff(page_name(command.entry))} \\- {_escape_roff(short_help)}"),
        (".SH SYNOPSIS", " ".join(filter(None, synopsis_words))),
        (".SH DESCRIPTION", *_separate_paragraphs(command.text_paragraphs)),
        _option_section(command),
        _column_section(command.column_meanings),
        _example_section(command.examples),
        _exit_code_section(command.entry),
        (".SH SEE ALSO", ".BR nsadmin (1)"),
    )


def page_name(command_entry: CommandEntry) -> str:
    """The name of a command's page: nsadmin-kv-get, nsadmin-topicRoute."""
    return "-".join(("nsadmin", *command_entry.typed_name.split()))


def render_overview(template: str, commands: Iterable[CommandDescription]) -> str:
    """nsadmin(1): the page that people write, with what the commands say."""
    commands_by_group: dict[str, list[CommandDescription]] = {}
    for command in commands:
        commands_by_group.setdefault(command.entry.category.title, []).append(command)
    rendered: dict[str, Iterable[str]] = {
        "COMMANDS": chain.from_iterable(starmap(_group_section, commands_by_group.items())),
        "OPTIONS": chain.from_iterable(starmap(_shared_option_section, OPTION_SECTIONS.items())),
        "PRECEDENCE": _fill_lines(PRECEDENCE),
        "ENVIRONMENT": chain.from_iterable(
            _tagged_item(f"\\fB{name}\\fR", text) for name, text in ENVIRONMENT_VARIABLES
        ),
        "EXIT_STATUS": _exit_code_items(EXIT_CODE_MEANINGS),
    }
    for name, lines in rendered.items():
        template = template.replace(f"@{name}@", "\n".join(lines))
    return template


def _page_head(page_title: str) -> tuple[str, ...]:
    return (f'.TH "{_escape_roff(page_title.upper())}" 1 "" "nsadmin" "User Commands"', ".nh", ".ad l")


def _group_section(group_name: str, commands: Iterable[CommandDescription]) -> Iterator[str]:
    yield f".SS {_escape_roff(group_name)}"
    for command in commands:
        yield from _tagged_item(
            f"\\fB{_escape_roff(page_name(command.entry))}\\fR(1)", command.entry.help + "."
        )


def _shared_option_section(title: str, annotations: Mapping[str, Any]) -> Iterator[str]:
    yield f".SS {_escape_roff(title)}"
    yield from _option_items(to_parameters(annotations))


def _option_section(command: CommandDescription) -> tuple[str, ...]:
    """The options of the command itself; shared options are on the page nsadmin(1)."""
    shared_hint = () if command.entry.kind == "program" else (".PP", *_fill_lines(_SHARED_HINT))
    return (".SH OPTIONS", *_option_items(command.parameters), *shared_hint)


def _option_items(options: Iterable[Parameter]) -> Iterator[str]:
    for option in options:
        flag_text = ", ".join(f"\\fB{_escape_roff(flag)}\\fR" for flag in option.flag_names)
        metavar_text = f" \\fI{_escape_roff(option.metavar)}\\fR" if option.metavar else ""
        yield from _tagged_item((flag_text + metavar_text).strip(), option.help)


def _column_section(column_meanings: Mapping[str, str]) -> tuple[str, ...]:
    """The columns of a command's rows; empty for a command without rows."""
    if not column_meanings:
        return ()
    column_items = (
        line
        for column_name, text in column_meanings.items()
        for line in _tagged_item(f"\\fB{_escape_roff(column_name)}\\fR", _to_sentence(text))
    )
    return (".SH COLUMNS", *column_items)


def _example_section(examples: Iterable[CommandExample]) -> tuple[str, ...]:
    example_lines = [example_line for example in examples for example_line in _example_lines(example)]
    return (".SH EXAMPLES", *example_lines[1:])


def _example_lines(example: CommandExample) -> tuple[str, ...]:
    shown_lines = (".RS 4", ".nf", _escape_roff(example.command_line), ".fi", ".RE")
    return (".PP", *_fill_lines(f"{example.description}:"), ".PP", *shown_lines)


def _exit_code_section(command_entry: CommandEntry) -> tuple[str, ...]:
    """The codes that differ from those of other commands, or the page with the common ones."""
    special_codes = special_codes_of_command(command_entry.name, command_entry.kind)
    if not special_codes:
        return (".SH EXIT STATUS", *_fill_lines("The page nsadmin(1) lists the exit codes."))
    other_codes = (
        ()
        if special_codes is PLUGIN_CODE_MEANINGS
        else (".PP", *_fill_lines("All other exit codes are those of nsadmin(1)."))
    )
    return (".SH EXIT STATUS", *_exit_code_items(special_codes), *other_codes)


def _exit_code_items(code_meanings: Iterable[tuple[int, str]]) -> Iterator[str]:
    for exit_code, meaning in code_meanings:
        yield from _tagged_item(f"\\fB{exit_code:d}\\fR", _to_sentence(meaning))


def _tagged_item(item_term: str, text: str) -> Iterator[str]:
    yield from (".TP", item_term, *_fill_lines(text))


def _separate_paragraphs(texts: Iterable[str]) -> Iterator[str]:
    for paragraph_number, text in enumerate(texts):
        if paragraph_number:
            yield ".PP"
        yield from _fill_lines(text)


def _fill_lines(text: str) -> Iterator[str]:
    """Wrap running text, because mandoc warns about long lines."""
    for filled_line in wrap(text, _LINE_WIDTH, break_long_words=False, break_on_hyphens=False):
        yield _escape_roff(filled_line)


def _escape_roff(text: str) -> str:
    """Escape a text so that roff shows it unchanged."""
    escaped_text = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti").replace("^", "\\(ha")
    return f"\\&{escaped_text}" if escaped_text[:1] in (".", "'") else escaped_text


def _to_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _lower_first_letter(text: str) -> str:
    return text[:1].lower() + text[1:]


def _join_sections(*sections: tuple[str, ...]) -> str:
    return "\n".join(line for section in sections for line in section) + "\n"
