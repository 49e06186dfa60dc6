"""The options that every command has, or every command of a kind."""

from typing import Annotated, Any

from nsadmin.command_line.declarations import (
    Option,
)
from nsadmin.output import OUTPUT_FORMATS

CONNECTION_OPTIONS: dict[str, Any] = {
    "context": Annotated[
        str | None,
        Option(
            "--context",
            metavar="NAME",
            help="The context to use; NSADMIN_CONTEXT if left out.",
            value_source="contexts",
        ),
    ],
    "namesrv_addr": Annotated[
        list[str] | None,
        Option(
            "-n",
            "--namesrvAddr",
            metavar="LIST",
            help="Name servers, as HOST:PORT;HOST:PORT. Repeatable.",
            value_source="name-servers",
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
        bool,
        Option("--insecure", help="Do not verify certificates, and sign requests anyway. Implies --tls."),
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


FORMAT_OPTIONS: dict[str, Any] = {
    "output": Annotated[
        str | None,
        Option(
            "--output", metavar="FORMAT", help=f"{', '.join(OUTPUT_FORMATS)}; NSADMIN_OUTPUT if left out."
        ),
    ],
    "json_": Annotated[bool, Option("--json", help="Short for --output json.")],
    "no_headers": Annotated[bool, Option("--no-headers", help="No names above tables, CSV and TSV.")],
    "no_color": Annotated[bool, Option("--no-color", help="No colours (nor with NO_COLOR set).")],
}


WATCH_OPTIONS: dict[str, Any] = {
    "watch": Annotated[
        float | None,
        Option("--watch", metavar="SECONDS", help="Again and again, until Ctrl-C; a table in place."),
    ],
}


SELECTION_OPTIONS: dict[str, Any] = {
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


CHECK_OPTIONS: dict[str, Any] = {
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


CHANGE_OPTIONS: dict[str, Any] = {
    "dry_run": Annotated[bool, Option("--dry-run", help="Only show what would be done, and where.")],
    "yes": Annotated[bool, Option("-y", "--yes", help="Do not ask.")],
}


DIAGNOSTIC_OPTIONS: dict[str, Any] = {
    "quiet": Annotated[bool, Option("--quiet", help="Nothing on stderr but errors.")],
    "debug": Annotated[bool, Option("--debug", help="Show each request on stderr, and tracebacks.")],
}
