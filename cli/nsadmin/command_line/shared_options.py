"""The options that every command has, or every command of a kind, and which of them a command has."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any

from typer import Option

from nsadmin.command_line.declarations import (
    Parameter,
    Values,
    build_parameter,
    command_parameters,
    declaration_of,
)
from nsadmin.command_line.registry import CommandEntry
from nsadmin.console.output import OUTPUT_FORMATS

CONNECTION_OPTIONS: dict[str, Any] = {
    "context": Annotated[
        str | None,
        Option(
            "--context",
            metavar="NAME",
            help="Use the name servers, TLS settings and credentials of this context.",
        ),
        Values("contexts"),
    ],
    "bundle": Annotated[
        str | None,
        Option(
            "--bundle",
            metavar="FILE",
            help="Read this support bundle (nsadmin bundle create) instead of the servers.",
        ),
    ],
    "namesrv_addr": Annotated[
        list[str] | None,
        Option("-n", "--namesrvAddr", metavar="ADDRS", help="Name servers: HOST:PORT;HOST:PORT. Repeatable."),
        Values("name-servers"),
    ],
    "config_file": Annotated[
        str | None,
        Option(
            "--configFile",
            metavar="FILE",
            help="Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.",
        ),
    ],
    "endpoint": Annotated[
        str | None,
        Option(
            "--endpoint",
            metavar="URL",
            help="Get the name servers from this URL, or from a domain as Java clients do.",
        ),
    ],
    "address_map": Annotated[
        list[str] | None,
        Option(
            "--addressMap",
            metavar="FROM=TO",
            help="Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.",
        ),
    ],
    "proxies": Annotated[
        list[str] | None,
        Option(
            "--proxies",
            metavar="ADDRS",
            help="Also ask these proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.",
        ),
        Values("proxies"),
    ],
    "kube": Annotated[
        str | None,
        Option(
            "--kube",
            metavar="[CONTEXT/]NAMESPACE",
            help="Reach servers in this Kubernetes namespace through kubectl.",
        ),
    ],
    "ssh": Annotated[
        str | None,
        Option(
            "--ssh",
            metavar="HOST",
            help="Reach servers through this SSH host: USER@HOST, USER@HOST:PORT or an alias of ssh_config.",
        ),
    ],
    "credentials": Annotated[
        str | None,
        Option(
            "--credentials",
            metavar="SOURCE",
            help="Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. "
            "none: do not sign.",
        ),
    ],
    "tls": Annotated[bool | None, Option("--tls/--no-tls", help="Use TLS, or plain connections.")],
    "tls_ca": Annotated[
        str | None,
        Option("--tlsCa", metavar="FILE", help="Trust these CA certificates (PEM) instead of the system's."),
    ],
    "tls_cert": Annotated[str | None, Option("--tlsCert", metavar="FILE", help="Client certificate (PEM).")],
    "tls_key": Annotated[
        str | None,
        Option(
            "--tlsKey",
            metavar="FILE",
            help="Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.",
        ),
    ],
    "tls_server_name": Annotated[
        str | None,
        Option("--tlsServerName", metavar="NAME", help="Name that certificates of servers must contain."),
    ],
    "insecure": Annotated[
        bool,
        Option("--insecure", help="Do not verify certificates, and sign requests anyway. Implies --tls."),
    ],
    "timeout": Annotated[
        float | None, Option("--timeout", metavar="SECONDS", help="Time limit of each request. Default: 3.")
    ],
    "retries": Annotated[
        int | None,
        Option(
            "--retries",
            metavar="N",
            help="Repeat a read up to N times if a server does not answer, after growing pauses. Default: 0.",
        ),
    ],
    "concurrency": Annotated[
        int | None,
        Option("--concurrency", metavar="N", help="Number of servers to ask at the same time. Default: 64."),
    ],
}


FORMAT_OPTIONS: dict[str, Any] = {
    "output": Annotated[
        str | None,
        Option(
            "--output", metavar="FORMAT", help=f"Output format: {', '.join(OUTPUT_FORMATS)}. Default: table."
        ),
    ],
    "json_": Annotated[bool, Option("--json", help="Short for --output json.")],
    "no_headers": Annotated[bool, Option("--no-headers", help="Print tables, CSV and TSV without headings.")],
    "no_color": Annotated[bool, Option("--no-color", help="Print no colours.")],
}


WATCH_OPTIONS: dict[str, Any] = {
    "watch": Annotated[
        float | None,
        Option("--watch", metavar="SECONDS", help="Repeat the command at this interval until Ctrl-C."),
    ]
}


SELECTION_OPTIONS: dict[str, Any] = {
    "columns": Annotated[
        str | None, Option("--columns", metavar="A,B", help="Print only these columns, in this order.")
    ],
    "sort": Annotated[
        str | None,
        Option(
            "--sort", metavar="A,-B", help="Sort by these columns. Prefix one with - for descending order."
        ),
    ],
    "filters": Annotated[
        list[str] | None,
        Option(
            "--filter",
            metavar="CONDITION",
            help="Print only rows such as perm!=6, inTps>100 or topic~^order. Operators: = != < <= > >= ~ !~."
            " groups= finds empty values; of times, <30m is older than 30 minutes. Repeatable.",
        ),
    ],
    "row_limit": Annotated[
        int | None, Option("--limit", metavar="N", help="Print only the first N rows, after --sort.", min=1)
    ],
}


CHECK_OPTIONS: dict[str, Any] = {
    "format_": Annotated[
        str | None,
        Option(
            "--format",
            metavar="text|cron|nagios|json|prometheus",
            help="Output format. Default: text. cron is one line, and nothing if OK. nagios is for plugins, "
            "prometheus for a textfile collector.",
        ),
    ],
    "json_": Annotated[bool, Option("--json", help="Short for --format json.")],
    "output_file": Annotated[
        str | None,
        Option(
            "--out",
            metavar="FILE",
            help="Write the result to this file, atomically, and nothing to stdout.",
        ),
    ],
    "wait_until_ok": Annotated[
        str | None,
        Option(
            "--wait-until-ok",
            metavar="DURATION",
            help="Repeat the check until it is OK, at most for this time: 90s, 5m, 1h.",
        ),
    ],
}


CHANGE_OPTIONS: dict[str, Any] = {
    "dry_run": Annotated[bool, Option("--dry-run", help="Show what would change, and change nothing.")],
    "yes": Annotated[
        bool,
        Option(
            "-y",
            "--yes",
            help="Change without asking. Without a terminal, only a change that deletes or skips something "
            "needs it.",
        ),
    ],
}


DIAGNOSTIC_OPTIONS: dict[str, Any] = {
    "quiet": Annotated[bool, Option("--quiet", help="On stderr, print only errors.")],
    "debug": Annotated[bool, Option("--debug", help="Print each request, and tracebacks, on stderr.")],
}


OPTION_SECTIONS = {
    "Which servers": CONNECTION_OPTIONS,
    "Output": FORMAT_OPTIONS,
    "Rows, for commands that print a table": SELECTION_OPTIONS,
    "Repetition, for commands that read": WATCH_OPTIONS,
    "Confirmation, for commands that change something": CHANGE_OPTIONS,
    "Checks (nsadmin check), instead of --output": CHECK_OPTIONS,
    "Diagnosis": DIAGNOSTIC_OPTIONS,
}
"""All tables above with their headings, in the order of `nsadmin help options`."""


def to_parameters(annotations: Mapping[str, Any]) -> list[Parameter]:
    """The parameters of a table of shared options; the same objects each time."""
    return [_shared_parameter(name, annotation) for name, annotation in annotations.items()]


@cache
def _shared_parameter(name: str, annotation: Any) -> Parameter:
    return build_parameter(name, annotation, False if annotation.__origin__ is bool else None)


_EXPLAINING_COMMANDS = ("guide", "errors", "mqadminMap")
"""They ignore connection options, which an alias such as `nsadmin --context prod` contains."""


def list_shared_parameters(entry: CommandEntry) -> list[Parameter]:
    """The shared options of this command; a program has none."""
    if entry.kind == "program":
        return []
    has_no_connection = entry.kind == "local" and entry.name not in _EXPLAINING_COMMANDS
    connection_options = {} if has_no_connection else CONNECTION_OPTIONS
    if entry.kind == "check":
        return to_parameters({**connection_options, **CHECK_OPTIONS, **DIAGNOSTIC_OPTIONS})
    if entry.kind == "screen":
        # A screen prints no rows, so it has no options for their format.
        return to_parameters({**connection_options, **DIAGNOSTIC_OPTIONS})
    function = entry.load_function()
    # A command without columns prints no rows.
    row_options = SELECTION_OPTIONS if declaration_of(function).columns else {}
    kind_options = {
        "change": CHANGE_OPTIONS,
        "delete": CHANGE_OPTIONS,
        "batch": CHANGE_OPTIONS,
        # These commands can change servers, and --watch would repeat the change. So they do not have it.
        "mixed": {**row_options, **CHANGE_OPTIONS},
    }.get(entry.kind, {**WATCH_OPTIONS, **row_options})
    shared = to_parameters({**connection_options, **FORMAT_OPTIONS, **kind_options, **DIAGNOSTIC_OPTIONS})
    own_flags = {flag for parameter in command_parameters(function) for flag in parameter.flag_names}
    # A --limit of its own bounds what a command asks for.
    return [parameter for parameter in shared if own_flags.isdisjoint(parameter.flag_names)]


def leading_parameters() -> list[Parameter]:
    """The options that are also allowed before a command's name: all but those of checks."""
    tables = (options for options in OPTION_SECTIONS.values() if options is not CHECK_OPTIONS)
    return [parameter for options in tables for parameter in to_parameters(options)]


def connection_words(shared_values: Mapping[str, Any]) -> list[str]:
    """The words of connection options with which another command line reaches the same servers."""
    return option_words(to_parameters(CONNECTION_OPTIONS), shared_values)


def option_words(parameters: Iterable[Parameter], values: Mapping[str, Any]) -> list[str]:
    """The words of a command line that give these values to the parameters."""
    words: list[str] = []
    for parameter in parameters:
        value, flag = values.get(parameter.name, parameter.default), parameter.flags[0]
        if value == parameter.default:
            continue
        if isinstance(value, bool):
            on_flag, _, off_flag = flag.partition("/")
            words.append(on_flag if value else off_flag)
        else:
            items = value if isinstance(value, list) else [value]
            words += [word for item in items for word in (flag, str(item))]
    return words
