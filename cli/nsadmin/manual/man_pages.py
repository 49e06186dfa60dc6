"""Man pages: nsadmin(1), and one for each command."""

from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap

from nsadmin.command_line.docstrings import CommandExample
from nsadmin.command_line.parser import OptionDescription
from nsadmin.exit_codes import EXIT_CODE_MEANINGS, PLUGIN_CODE_MEANINGS
from nsadmin.manual.command_descriptions import CommandDescription
from nsadmin.registry import CommandEntry

# Escapes make lines longer; 80 bytes are what mandoc asks for.
_LINE_WIDTH = 70

ENVIRONMENT_VARIABLES = (
    ("NAMESRV_ADDR", "The name servers, where no -n is given; else the context's, else 127.0.0.1:9876."),
    ("NSADMIN_ACCESS_KEY", "Who signs requests, where no --credentials are given; else the context's."),
    ("NSADMIN_SECRET_KEY", "The secret key that belongs to it."),
    ("NSADMIN_SECURITY_TOKEN", "The security token that belongs to it, if there is one."),
    ("NSADMIN_KEY_PASSWORD", "What opens the key of --tlsKey, if the context does not say."),
    ("NSADMIN_TLS", "1 turns TLS on, where no option does; 0 ignores the variables NSADMIN_TLS_*."),
    ("NSADMIN_TLS_CA", "The file for --tlsCa. It turns TLS on, as do the next three."),
    ("NSADMIN_TLS_CERT", "The file for --tlsCert."),
    ("NSADMIN_TLS_KEY", "The file for --tlsKey."),
    ("NSADMIN_TLS_SERVER_NAME", "The name for --tlsServerName."),
    ("NSADMIN_CONTEXT", "The context, where no --context is given; else that of `context use`."),
    ("NSADMIN_CONFIG", "The file of contexts; else nsadmin/config.yaml in ~/.config."),
    ("NSADMIN_OUTPUT", "The format, where no --output is given; else table."),
    ("XDG_CACHE_HOME", "The folder where nsadmin keeps what endpoints said last; else ~/.cache."),
    ("NO_COLOR", "No colours."),
)


def render_page(command: CommandDescription) -> str:
    """nsadmin-COMMAND(1)."""
    command_name = command.entry.typed_name
    argument_words = _escape_roff(command.argument_words)
    synopsis = f"\\fBnsadmin {_escape_roff(command_name)}\\fR [\\fIoptions\\fR] {argument_words}".rstrip()
    short_help = _lower_first_letter(command.entry.help)
    return _join_sections(
        _page_head(page_name(command.entry)),
        (
            ".SH NAME",
            f"{_escape_roff(page_name(command.entry))} \\- {_escape_roff(short_help)}",
        ),
        (".SH SYNOPSIS", synopsis),
        (".SH DESCRIPTION", *_separate_paragraphs(command.text_paragraphs)),
        *_option_sections(command),
        _column_section(command.column_meanings),
        _example_section(command.examples),
        (
            ".SH EXIT STATUS",
            *_exit_code_items(PLUGIN_CODE_MEANINGS if command.entry.kind == "check" else EXIT_CODE_MEANINGS),
        ),
        (".SH SEE ALSO", ".BR nsadmin (1)"),
    )


def page_name(command_entry: CommandEntry) -> str:
    """The name of a command's page: nsadmin-kv-get, nsadmin-topicRoute."""
    return "-".join(("nsadmin", *command_entry.typed_name.split()))


def render_overview(commands: Iterable[CommandDescription]) -> str:
    """nsadmin(1)."""
    commands_by_group: dict[str, list[CommandDescription]] = {}
    for command in commands:
        commands_by_group.setdefault(command.entry.category.title, []).append(command)
    return _join_sections(
        _page_head("nsadmin"),
        (".SH NAME", "nsadmin \\- operate Apache RocketMQ name servers and brokers"),
        (".SH SYNOPSIS", "\\fBnsadmin\\fR [\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]"),
        (
            ".SH DESCRIPTION",
            *_separate_paragraphs(
                [
                    "The commands have mqadmin's names, in any case and with or without dashes between their "
                    "words. They work with the name servers and brokers of RocketMQ 4.9 and 5.x. Data goes "
                    "to stdout, everything else to stderr.",
                    "Options that all commands have may stand before the command or behind it.",
                    "Each setting counts by itself: what was given, then what the context of --context says, "
                    "then the environment, then the context in use, then a default. nsadmin where shows what "
                    "came of it.",
                    "The examples of the pages below go with the cluster that this starts: nsadmin lab up "
                    "--namesrv-port 9876 --broker-port 10911. Keys and ids of messages are made up; to "
                    "send one takes a real broker.",
                ]
            ),
        ),
        (
            ".SH COMMANDS",
            *(
                line
                for group_name, group_commands in commands_by_group.items()
                for line in _group_section(group_name, group_commands)
            ),
        ),
        (
            ".SH ENVIRONMENT",
            *(
                line
                for variable_name, variable_text in ENVIRONMENT_VARIABLES
                for line in _tagged_item(f"\\fB{variable_name}\\fR", variable_text)
            ),
        ),
        (
            ".SH EXIT STATUS",
            *_exit_code_items(EXIT_CODE_MEANINGS),
            ".PP",
            *_fill_lines("Checks have other ones, those of plugins of monitoring systems; see their pages."),
        ),
    )


def _page_head(page_title: str) -> tuple[str, ...]:
    return (f'.TH "{_escape_roff(page_title.upper())}" 1 "" "nsadmin" "User Commands"', ".nh", ".ad l")


def _group_section(group_name: str, commands: Iterable[CommandDescription]) -> Iterator[str]:
    yield f".SS {_escape_roff(group_name)}"
    for command in commands:
        yield from _tagged_item(
            f"\\fB{_escape_roff(page_name(command.entry))}\\fR(1)", command.entry.help + "."
        )


def _option_sections(command: CommandDescription) -> Iterator[tuple[str, ...]]:
    """Those of the command, or of each part that it has."""
    if not command.program_parts:
        yield (".SH OPTIONS", *_option_items(command.options))
        return
    yield (".SH COMMANDS",)
    for program_part in command.program_parts:
        yield (
            f".SS {_escape_roff(f'{program_part.part_name} {program_part.argument_words}'.rstrip())}",
            *_fill_lines(_to_sentence(program_part.help_text)),
        )
        yield tuple(_option_items(program_part.options))


def _option_items(options: Iterable[OptionDescription]) -> Iterator[str]:
    for option in options:
        flag_text = ", ".join(f"\\fB{_escape_roff(flag)}\\fR" for flag in option.flags)
        metavar_text = f" \\fI{_escape_roff(option.metavar)}\\fR" if option.metavar else ""
        yield from _tagged_item((flag_text + metavar_text).strip(), option.help)


def _column_section(column_meanings: Mapping[str, str]) -> tuple[str, ...]:
    """What the rows have; nothing for a command without rows."""
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
    """Running text, in lines that other tools read gladly too."""
    for filled_line in wrap(text, _LINE_WIDTH, break_long_words=False, break_on_hyphens=False):
        yield _escape_roff(filled_line)


def _escape_roff(text: str) -> str:
    """Text as roff shows it as it is."""
    escaped_text = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti").replace("^", "\\(ha")
    return f"\\&{escaped_text}" if escaped_text[:1] in (".", "'") else escaped_text


def _to_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _lower_first_letter(text: str) -> str:
    return text[:1].lower() + text[1:]


def _join_sections(*sections: tuple[str, ...]) -> str:
    return "\n".join(line for section in sections for line in section) + "\n"
