"""How a command's parameters become Typer options, with the options that all commands share.

A parameter annotated with a Word can be given by position or by mqadmin's flag.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple, get_args

import typer
from typer.main import get_command

from nsadmin import settings
from nsadmin.commands.declared import Option, Word
from nsadmin.diagnostics import EXIT_CODES, UsageError
from nsadmin.output import FORMATS
from nsadmin.registry import Entry
from nsadmin.session import Options

# BadParameter is the public one of the errors that parsing raises.
ParseError: Any = typer.BadParameter.__base__


class Help(Exception):
    """Help was asked for; the text is the argument."""


class Described(NamedTuple):
    """An option: its flags, what stands behind them (None: nothing), what it is for."""

    flags: tuple[str, ...]
    metavar: str | None
    help: str


class Parsed(NamedTuple):
    """A command line that has been understood."""

    options: Options
    arguments: Mapping[str, Any]


def _show_help(context: typer.Context, value: bool) -> None:
    if value:
        raise Help(context.get_help())


_CONNECTING: dict[str, Any] = {
    "context": Annotated[
        str | None,
        Option("--context", metavar="NAME", help="The context to use; NSADMIN_CONTEXT if left out."),
    ],
    "namesrv_addr": Annotated[
        list[str] | None,
        Option(
            "-n", "--namesrvAddr", metavar="LIST", help="Name servers, as HOST:PORT;HOST:PORT. Repeatable."
        ),
    ],
    "timeout": Annotated[
        float | None,
        Option("--timeout", metavar="SECONDS", help="For each request on each server; 3 if left out."),
    ],
    "retries": Annotated[
        int | None,
        Option("--retries", metavar="N", help="Ask again so often what got no answer and changes nothing."),
    ],
    "concurrency": Annotated[
        int | None, Option("--concurrency", metavar="N", help="Servers asked at a time; 64 if left out.")
    ],
}
_SHARED: dict[str, Any] = {
    "output": Annotated[
        str | None,
        Option("--output", metavar="FORMAT", help=f"{', '.join(FORMATS)}; NSADMIN_OUTPUT if left out."),
    ],
    "json_": Annotated[bool, Option("--json", help="Short for --output json.")],
    "no_headers": Annotated[bool, Option("--no-headers", help="No names above tables, CSV and TSV.")],
    "no_color": Annotated[bool, Option("--no-color", help="No colours (nor with NO_COLOR set).")],
}
_FOR_READS: dict[str, Any] = {
    "watch": Annotated[
        float | None,
        Option("--watch", metavar="SECONDS", help="Again and again, until Ctrl-C; a table in place."),
    ],
    "columns": Annotated[
        str | None, Option("--columns", metavar="A,B", help="Only these columns, in this order.")
    ],
    "sort": Annotated[
        str | None, Option("--sort", metavar="A,-B", help="By these columns; - turns one round.")
    ],
    "filters": Annotated[
        list[str] | None,
        Option(
            "--filter",
            metavar="CONDITION",
            help="Only rows such as perm!=6, inTps>100 or topic~^order; = != < <= > >= ~ !~. Repeatable.",
        ),
    ],
}
_FOR_CHANGES: dict[str, Any] = {
    "dry_run": Annotated[bool, Option("--dry-run", help="Only show what would be done, and where.")],
    "yes": Annotated[bool, Option("-y", "--yes", help="Do not ask.")],
}
_ALWAYS: dict[str, Any] = {
    "quiet": Annotated[bool, Option("--quiet", help="Nothing on stderr but errors.")],
    "debug": Annotated[bool, Option("--debug", help="Show each request on stderr, and tracebacks.")],
    "help_": Annotated[
        bool, typer.Option("-h", "--help", is_eager=True, callback=_show_help, help="Show this and exit.")
    ],
}
_DEFAULTS: dict[str, Any] = dict.fromkeys(
    (
        "context",
        "namesrv_addr",
        "timeout",
        "retries",
        "concurrency",
        "output",
        "watch",
        "columns",
        "sort",
        "filters",
    )
)
_POSITIONAL = "words_"


def parse(entry: Entry, function: Callable[..., Any], args: list[str]) -> Parsed:
    """The command line of one command; UsageError with one line, or Help."""
    own = _own(function)
    words = _words(own)
    shared = _shared(entry)
    command = _typer_command(entry, function, own, words, shared)
    try:
        values = command.main(args, f"nsadmin {entry.name}", standalone_mode=False)
    except ParseError as error:
        raise UsageError(
            f"{entry.name}: {error.format_message()} (see: nsadmin {entry.name} --help)"
        ) from error
    arguments = {name: values[name] for name in own}
    arguments.update(_filled(entry, words, values))
    given = {name: values[name] for name in shared}
    return Parsed(settings.resolve(given, connects=entry.kind != "local"), arguments)


def describe(entry: Entry, function: Callable[..., Any]) -> tuple[str, list[Described]]:
    """What may stand behind a command's name by position, and its options."""
    own = _own(function)
    words = _words(own)
    command = _typer_command(entry, function, own, words, _shared(entry))
    options = [
        Described((*item.opts, *item.secondary_opts), None if item.is_flag else item.metavar, item.help or "")
        for item in command.params
        if hasattr(item, "is_flag")
    ]
    return _usage(words), options


def _own(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """A command's parameters, but for the session."""
    return dict(list(inspect.signature(function, eval_str=True).parameters.items())[1:])


def _words(own: Mapping[str, inspect.Parameter]) -> dict[str, Word]:
    return {name: word for name, item in own.items() if (word := _word_of(item)) is not None}


def _word_of(item: inspect.Parameter) -> Word | None:
    return next((extra for extra in get_args(item.annotation)[1:] if isinstance(extra, Word)), None)


def _shared(entry: Entry) -> dict[str, Any]:
    connecting = {} if entry.kind == "local" else _CONNECTING
    own = _FOR_CHANGES if entry.kind in ("change", "delete") else _FOR_READS
    return {**connecting, **_SHARED, **own, **_ALWAYS}


def _typer_command(
    entry: Entry,
    function: Callable[..., Any],
    own: Mapping[str, inspect.Parameter],
    words: Mapping[str, Word],
    shared: Mapping[str, Any],
) -> Any:
    """A Typer command that returns its values instead of doing anything with them."""
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        _typed(item.replace(kind=kind)) if name not in words else _as_option(name, words[name])
        for name, item in own.items()
    ]
    if words:
        many = Annotated[list[str] | None, typer.Argument(metavar=_usage(words), show_default=False)]
        parameters.append(inspect.Parameter(_POSITIONAL, kind, default=None, annotation=many))
    parameters += [
        _typed(inspect.Parameter(name, kind, default=_DEFAULTS.get(name, False), annotation=annotation))
        for name, annotation in shared.items()
    ]

    def values(**given: Any) -> dict[str, Any]:
        return given

    values.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    values.__annotations__ = {item.name: item.annotation for item in parameters}
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(
        entry.name,
        help=inspect.getdoc(function),
        epilog=_epilog(),
        context_settings={"help_option_names": [], "max_content_width": 100},
    )(values)
    return get_command(app)


def _typed(item: inspect.Parameter) -> inspect.Parameter:
    """The same parameter, with Typer's own option in the place of ours."""
    kind, *extras = get_args(item.annotation)
    declared = next((extra for extra in extras if isinstance(extra, Option)), None)
    if declared is None:
        return item
    option = typer.Option(*declared.flags, metavar=declared.metavar, help=declared.help, min=declared.minimum)
    return item.replace(annotation=Annotated[kind, option])


def _as_option(name: str, word: Word) -> inspect.Parameter:
    option = typer.Option(*word.flags, metavar=word.metavar, help=word.help, show_default=False)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, option]
    )


def _usage(words: Mapping[str, Word]) -> str:
    return " ".join(word.metavar if word.required else f"[{word.metavar}]" for word in words.values())


def _epilog() -> str:
    return "Exit codes: " + ", ".join(f"{code:d} {meaning}" for code, meaning in EXIT_CODES) + "."


def _filled(entry: Entry, words: Mapping[str, Word], values: Mapping[str, Any]) -> dict[str, str | None]:
    """Every word's text: flags first, then what stands by position, in order."""
    filled: dict[str, str | None] = {name: values[name] for name in words}
    positional = list(values.get(_POSITIONAL) or ())
    for name in words:
        if filled[name] is None and positional:
            filled[name] = positional.pop(0)
    if positional:
        raise UsageError(f"{entry.name}: {positional[0]!r} is one too many; type: {_example(entry, words)}")
    for name, word in words.items():
        if (word.required and filled[name] is None) or (filled[name] == "" and not word.may_be_empty):
            raise UsageError(f"{entry.name}: {word.metavar} is missing; type: {_example(entry, words)}")
    return filled


def _example(entry: Entry, words: Mapping[str, Word]) -> str:
    by_flag = " ".join(f"{word.flags[0]} {word.metavar}" for word in words.values())
    return f"nsadmin {entry.name} {_usage(words)}, or: {by_flag}"
