"""Owns the shared options, and parses a command line into a command's arguments and these options.

A parameter that is annotated with an `Argument` can be given by position or by mqadmin's flag.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

from nsadmin import settings
from nsadmin.commands import plain
from nsadmin.commands.declared import HELP, Option, Parameter, Word, parameter, parameters_of
from nsadmin.diagnostics import EXIT_CODES, PLUGIN_CODES, UsageError
from nsadmin.output import FORMATS
from nsadmin.registry import Entry
from nsadmin.session import Options


class Described(NamedTuple):
    """An option: its flags, the metavar of its value (None for a flag alone), its help text.

    `value_source` is copied from the declaration. `position_index` is the index of an option that can also be
    given by position, from 0.
    """

    flags: tuple[str, ...]
    metavar: str | None
    help: str
    values: str | None = None
    place: int | None = None


class Parsed(NamedTuple):
    """The result of parsing a command line; `shared_values` are the shared options as they were typed."""

    options: Options
    arguments: Mapping[str, Any]
    shared: Mapping[str, Any]


_CONNECTING: dict[str, Any] = {
    "context": Annotated[
        str | None,
        Option(
            "--context",
            metavar="NAME",
            help="The context to use; NSADMIN_CONTEXT if left out.",
            values="contexts",
        ),
    ],
    "namesrv_addr": Annotated[
        list[str] | None,
        Option(
            "-n",
            "--namesrvAddr",
            metavar="LIST",
            help="Name servers, as HOST:PORT;HOST:PORT. Repeatable.",
            values="name-servers",
        ),
    ],
    "config_file": Annotated[
        str | None,
        Option(
            "--configFile",
            metavar="FILE",
            help="A properties file that names them: namesrvAddr, rocketmq.namesrv.addr or .domain.",
        ),
    ],
    "endpoint": Annotated[
        str | None,
        Option(
            "--endpoint", metavar="URL", help="Where HTTP tells them: a URL, or a domain as Java's clients."
        ),
    ],
    "address_map": Annotated[
        list[str] | None,
        Option(
            "--addressMap",
            metavar="FROM=TO",
            help="Where to reach brokers, such as 10.0.0.0/8=gateway:10911. Repeatable.",
        ),
    ],
    "credentials": Annotated[
        str | None,
        Option(
            "--credentials",
            metavar="SOURCE",
            help="Where those are that requests are signed with: env, file:PATH, tools:PATH, keyring:NAME; "
            "or none.",
        ),
    ],
    "tls": Annotated[bool | None, Option("--tls/--no-tls", help="Encrypted connections, or plain ones.")],
    "tls_ca": Annotated[
        str | None, Option("--tlsCa", metavar="FILE", help="Authorities to trust (PEM), not the system's.")
    ],
    "tls_cert": Annotated[
        str | None, Option("--tlsCert", metavar="FILE", help="This client's own certificate (PEM).")
    ],
    "tls_key": Annotated[
        str | None,
        Option("--tlsKey", metavar="FILE", help="Its key (PEM); NSADMIN_KEY_PASSWORD opens it."),
    ],
    "tls_server_name": Annotated[
        str | None,
        Option("--tlsServerName", metavar="NAME", help="What servers' certificates have to name."),
    ],
    "insecure": Annotated[
        bool, Option("--insecure", help="TLS with whoever answers: certificates are not checked.")
    ],
    "timeout": Annotated[
        float | None,
        Option("--timeout", metavar="SECONDS", help="For each request on each server; 3 if left out."),
    ],
    "retries": Annotated[
        int | None,
        Option(
            "--retries",
            metavar="N",
            help="Ask again so often what got no answer and changes nothing: N + 1 times --timeout in all,"
            " and pauses of 0.1 s and more, at most N s.",
        ),
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
}
_SELECTING: dict[str, Any] = {
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
_FOR_CHECKS: dict[str, Any] = {
    "format_": Annotated[
        str | None,
        Option(
            "--format",
            metavar="text|nagios|json|prometheus",
            help="For people, for a monitoring system that runs plugins, or for programs; text if left out.",
        ),
    ],
    "json_": Annotated[bool, Option("--json", help="Short for --format json.")],
    "output_file": Annotated[
        str | None,
        Option(
            "--output-file",
            metavar="FILE",
            help="Write to this file, whole or not at all, and nothing to stdout.",
        ),
    ],
    "wait_until_ok": Annotated[
        str | None,
        Option(
            "--wait-until-ok",
            metavar="TIME",
            help="Look again and again until all is well, but no longer than that: 90s, 5m, 1h.",
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
}


_WAYS = ("namesrv_addr", "config_file", "endpoint")
_TLS = ("tls", "tls_ca", "tls_cert", "tls_key", "tls_server_name", "insecure")
_FORMAT = ("output", "json_", "format_")
_SETTLED = ((("context",), _WAYS), (_WAYS, _WAYS), (_TLS, _TLS), (_FORMAT, _FORMAT))
"""Pairs: if a line of a batch sets an option on the left, it inherits none on the right from the batch.

A context brings its own name servers. But `-n` on a line keeps the context of the batch in force, because
that context may be read-only.
"""


def parse(
    entry: Entry, function: Callable[..., Any], args: list[str], batch: Mapping[str, Any] | None = None
) -> Parsed:
    """Parse the command line of one command.

    `batch_values` are the shared options of the batch that the line belongs to. They apply where the line
    sets no value itself.

    Raises:
        UsageError: The line is wrong; the message is one line.
        HelpRequested: The line asks for help.
    """
    own, shared = parameters_of(function), shared_by(entry)
    words = _words(own)
    values, positional = _line(entry, function, [*own, *shared], plain.in_full([*own, *shared], args))
    arguments = {item.name: values[item.name] for item in own}
    arguments.update(_filled(entry, words, values, positional))
    said = {item.name: values[item.name] for item in shared}
    if batch:
        said = _completed(entry, said, batch)
    return Parsed(settings.resolve(said, connects=entry.kind != "local"), arguments, said)


def _completed(entry: Entry, said: Mapping[str, Any], batch: Mapping[str, Any]) -> dict[str, Any]:
    """The shared options of a line, completed with those of its batch where the line sets none."""
    if batch.get("dry_run") and entry.kind == "local":
        raise UsageError(f"{entry.name} knows no --dry-run: leave it out of this batch")
    own = {item.name for item in shared_by(entry) if said[item.name] is not item.default}
    settled = {name for saying, names in _SETTLED if not own.isdisjoint(saying) for name in names}
    return {name: value if name in own | settled else batch.get(name, value) for name, value in said.items()}


def _line(
    entry: Entry, function: Callable[..., Any], parameters: list[Parameter], args: list[str]
) -> plain.Line:
    found = plain.parse(parameters, args)
    if found is not None:
        return found
    # Typer takes 50 ms to load, so only lines that the fast parser rejects load it.
    from nsadmin.commands import with_typer

    doc, usage = function.__doc__ or "", _usage(_words(parameters))
    codes = PLUGIN_CODES if entry.kind == "check" else EXIT_CODES
    return with_typer.parse(entry.name, doc, usage, parameters, args, codes)


def describe(entry: Entry, function: Callable[..., Any]) -> tuple[str, list[Described]]:
    """The usage text of a command's positional arguments, and its options."""
    own = parameters_of(function)
    words = _words(own)
    options = [_described(item, list(words)) for item in (*own, *shared_by(entry), HELP)]
    return _usage(words), options


def _described(item: Parameter, words: list[str]) -> Described:
    names = [flag.split("/") for flag in item.declared.flags]
    flags = (*(each[0] for each in names), *(off for each in names for off in each[1:]))
    is_alone = item.type in (bool, bool | None)
    metavar = None if is_alone else item.declared.metavar
    place = words.index(item.name) if item.name in words else None
    return Described(flags, metavar, item.declared.help, item.declared.values, place)


def _words(parameters: list[Parameter]) -> dict[str, Word]:
    return {item.name: item.declared for item in parameters if isinstance(item.declared, Word)}


def shared_by(entry: Entry) -> list[Parameter]:
    """The shared options of commands of this kind."""
    connecting = {} if entry.kind == "local" else _CONNECTING
    if entry.kind == "check":
        return _declared({**connecting, **_FOR_CHECKS, **_ALWAYS})
    if entry.kind == "screen":
        # A screen prints no rows, so it has no options for their format.
        return _declared({**connecting, **_ALWAYS})
    own = {
        "change": _FOR_CHANGES,
        "delete": _FOR_CHANGES,
        "batch": _FOR_CHANGES,
        # These commands can change servers, and --watch would repeat the change. So they do not have it.
        "mixed": {**_SELECTING, **_FOR_CHANGES},
    }.get(entry.kind, {**_FOR_READS, **_SELECTING})
    return _declared({**connecting, **_SHARED, **own, **_ALWAYS})


def as_words(said: Mapping[str, Any]) -> list[str]:
    """The words of connection options with which another command line reaches the same servers."""
    words: list[str] = []
    for item in _declared(_CONNECTING):
        value, flag = said.get(item.name), item.declared.flags[0]
        if isinstance(value, bool):
            on, _, off = flag.partition("/")
            words += [on if value else off] if value or off else []
        elif value is not None:
            words += [
                part for each in (value if isinstance(value, list) else [value]) for part in (flag, str(each))
            ]
    return words


def before_commands() -> list[Parameter]:
    """The options that are also allowed before a command's name: all shared options."""
    tables = (_CONNECTING, _SHARED, _FOR_READS, _SELECTING, _FOR_CHANGES, _ALWAYS)
    shared = _declared({name: annotation for table in tables for name, annotation in table.items()})
    return [*shared, HELP, Parameter("version", bool, Option("--version"), False)]


def _declared(rows: Mapping[str, Any]) -> list[Parameter]:
    return [
        parameter(name, annotation, False if annotation.__origin__ is bool else None)
        for name, annotation in rows.items()
    ]


def _usage(words: Mapping[str, Word]) -> str:
    return " ".join(word.metavar if word.required else f"[{word.metavar}]" for word in words.values())


def _filled(
    entry: Entry, words: Mapping[str, Word], values: Mapping[str, Any], positional: list[str]
) -> dict[str, str | None]:
    """The text of every argument: values of flags first, then positional words in order."""
    filled: dict[str, str | None] = {name: values[name] for name in words}
    positional = list(positional)
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
