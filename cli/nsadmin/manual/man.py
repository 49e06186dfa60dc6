"""Man pages: nsadmin(1), and one for each command."""

from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap

from nsadmin.command_line.docstrings import CommandExample
from nsadmin.command_line.parser import OptionDescription
from nsadmin.diagnostics import EXIT_CODES, PLUGIN_CODES
from nsadmin.manual.describe import Command

# Escapes make lines longer; 80 bytes are what mandoc asks for.
_WIDTH = 70

ENVIRONMENT = (
    ("NAMESRV_ADDR", "The name servers, where no -n is given; else the context's, else 127.0.0.1:9876."),
    ("NSADMIN_ACCESS_KEY", "Who signs requests, where no --credentials are given; else the context's."),
    ("NSADMIN_SECRET_KEY", "The secret key that belongs to it."),
    ("NSADMIN_SECURITY_TOKEN", "The security token that belongs to it, if there is one."),
    ("NSADMIN_KEY_PASSWORD", "What opens the key of --tlsKey, if the context does not say."),
    ("NSADMIN_CONTEXT", "The context, where no --context is given; else that of contextUse."),
    ("NSADMIN_CONFIG", "The file of contexts; else nsadmin/config.yaml in ~/.config."),
    ("NSADMIN_OUTPUT", "The format, where no --output is given; else table."),
    ("XDG_CACHE_HOME", "The folder where nsadmin keeps what endpoints said last; else ~/.cache."),
    ("NO_COLOR", "No colours."),
)


def page(command: Command) -> str:
    """nsadmin-COMMAND(1)."""
    name = command.entry.name
    synopsis = f"\\fBnsadmin {_plain(name)}\\fR [\\fIoptions\\fR] {_plain(command.words)}".rstrip()
    return _joined(
        _head(f"nsadmin-{name}"),
        (".SH NAME", f"nsadmin\\-{_plain(name)} \\- {_plain(_lowered(command.entry.help))}"),
        (".SH SYNOPSIS", synopsis),
        (".SH DESCRIPTION", *_paragraphs(command.text)),
        *_own_options(command),
        _columns(command.columns),
        _examples(command.examples),
        (".SH EXIT STATUS", *_exit_codes(PLUGIN_CODES if command.entry.kind == "check" else EXIT_CODES)),
        (".SH SEE ALSO", ".BR nsadmin (1)"),
    )


def overview(commands: Iterable[Command]) -> str:
    """nsadmin(1)."""
    groups: dict[str, list[Command]] = {}
    for command in commands:
        groups.setdefault(command.entry.group, []).append(command)
    return _joined(
        _head("nsadmin"),
        (".SH NAME", "nsadmin \\- operate Apache RocketMQ name servers and brokers"),
        (".SH SYNOPSIS", "\\fBnsadmin\\fR [\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]"),
        (
            ".SH DESCRIPTION",
            *_paragraphs(
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
        (".SH COMMANDS", *(line for group, found in groups.items() for line in _group(group, found))),
        (".SH ENVIRONMENT", *(line for name, text in ENVIRONMENT for line in _item(f"\\fB{name}\\fR", text))),
        (
            ".SH EXIT STATUS",
            *_exit_codes(EXIT_CODES),
            ".PP",
            *_filled("Checks have other ones, those of plugins of monitoring systems; see their pages."),
        ),
    )


def _head(title: str) -> tuple[str, ...]:
    return (f'.TH "{_plain(title.upper())}" 1 "" "nsadmin" "User Commands"', ".nh", ".ad l")


def _group(group: str, commands: Iterable[Command]) -> Iterator[str]:
    yield f".SS {_plain(group)}"
    for command in commands:
        yield from _item(f"\\fBnsadmin\\-{_plain(command.entry.name)}\\fR(1)", command.entry.help + ".")


def _own_options(command: Command) -> Iterator[tuple[str, ...]]:
    """Those of the command, or of each part that it has."""
    if not command.parts:
        yield (".SH OPTIONS", *_options(command.options))
        return
    yield (".SH COMMANDS",)
    for part in command.parts:
        yield (f".SS {_plain(f'{part.name} {part.words}'.rstrip())}", *_filled(_sentence(part.help)))
        yield tuple(_options(part.options))


def _options(options: Iterable[OptionDescription]) -> Iterator[str]:
    for option in options:
        flags = ", ".join(f"\\fB{_plain(flag)}\\fR" for flag in option.flags)
        behind = f" \\fI{_plain(option.metavar)}\\fR" if option.metavar else ""
        yield from _item((flags + behind).strip(), option.help)


def _columns(meanings: Mapping[str, str]) -> tuple[str, ...]:
    """What the rows have; nothing for a command without rows."""
    if not meanings:
        return ()
    items = (
        line for name, text in meanings.items() for line in _item(f"\\fB{_plain(name)}\\fR", _sentence(text))
    )
    return (".SH COLUMNS", *items)


def _examples(examples: Iterable[CommandExample]) -> tuple[str, ...]:
    lines = [line for example in examples for line in _example(example)]
    return (".SH EXAMPLES", *lines[1:])


def _example(example: CommandExample) -> tuple[str, ...]:
    shown = (".RS 4", ".nf", _plain(example.command_line), ".fi", ".RE")
    return (".PP", *_filled(f"{example.description}:"), ".PP", *shown)


def _exit_codes(codes: Iterable[tuple[int, str]]) -> Iterator[str]:
    for code, meaning in codes:
        yield from _item(f"\\fB{code:d}\\fR", _sentence(meaning))


def _item(term: str, text: str) -> Iterator[str]:
    yield from (".TP", term, *_filled(text))


def _paragraphs(texts: Iterable[str]) -> Iterator[str]:
    for number, text in enumerate(texts):
        if number:
            yield ".PP"
        yield from _filled(text)


def _filled(text: str) -> Iterator[str]:
    """Running text, in lines that other tools read gladly too."""
    for line in wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False):
        yield _plain(line)


def _plain(text: str) -> str:
    """Text as roff shows it as it is."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti").replace("^", "\\(ha")
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def _joined(*sections: tuple[str, ...]) -> str:
    return "\n".join(line for section in sections for line in section) + "\n"
