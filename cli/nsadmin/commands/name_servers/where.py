"""Owns where, which shows the name servers that commands use, their source, and whether they answer."""

from collections.abc import Iterator

from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.addresses import NameServerList
from nsadmin.client.results import error_text
from nsadmin.command_line.declarations import command
from nsadmin.console.output import FineDurationMillis, ResultRows
from nsadmin.console.session import Session, SharedOptions

WHERE_COLUMNS = (
    "namesrvAddr", "source", "context", "reachable", "latencyMillis", "version", "signed", "tls",
    "readOnly", "error",
)  # fmt: skip
_SOURCE_WORDS = {"given": "-n", "environment": "NAMESRV_ADDR", "default": "default"}


@command(columns=WHERE_COLUMNS)
def where(session: Session) -> ResultRows:
    """Show the name servers that commands use, their source, and whether they answer.

    `source` is the source with the highest precedence: -n, NAMESRV_ADDR, a context, a file, an endpoint,
    Kubernetes or the default. `latencyMillis` is the time of a small request over an open connection, in ms.
    `signed` is the source of the credentials. Lines on stderr show unused sources and the security of
    connections.

    Examples:
        # All name servers
        nsadmin where
        # Addresses of name servers that answer, for a script
        nsadmin where --filter reachable=true --columns namesrvAddr --output csv
    """
    session_options = session.options
    common_cells = {
        "context": session_options.context,
        "signed": session_options.credentials_source,
        "tls": session_options.access.tls is not None,
        "readOnly": session_options.read_only,
    }
    try:
        name_servers = session.admin.addresses
    except CallError as error:
        endpoint_row = {
            "source": f"endpoint {error.addr}",
            **common_cells,
            "reachable": False,
            "error": error_text(error),
        }
        return ResultRows(
            WHERE_COLUMNS,
            [{"namesrvAddr": None, **endpoint_row}],
            [error],
            list(_connection_notes(session_options)),
        )
    common_cells["source"] = _describe_source(name_servers)
    results = session.admin.name_servers.get_pulse_each()
    server_rows = [
        {
            "namesrvAddr": namesrv_addr,
            **common_cells,
            "reachable": error is None,
            "latencyMillis": None if pulse is None else FineDurationMillis(round(pulse.latency_ms, 3)),
            "version": None if pulse is None else pulse.version,
            "error": None if error is None else error_text(error),
        }
        for namesrv_addr, pulse, error in results
    ]
    return ResultRows(
        WHERE_COLUMNS,
        server_rows,
        [pulse_result.error for pulse_result in results],
        list(_connection_notes(session_options)),
    )


def _describe_source(name_servers: NameServerList) -> str:
    return _SOURCE_WORDS.get(name_servers.source) or f"{name_servers.source} {name_servers.origin}"


def _connection_notes(session_options: SharedOptions) -> Iterator[str]:
    for overruled_source in session_options.overruled_sources:
        yield f"name servers not used: {overruled_source}"
    if session_options.read_only:
        yield f"context {session_options.context} is read-only: nsadmin refuses every change"
    yield (
        f"requests are signed with the credentials of {session_options.credentials_source}"
        if session_options.credentials_source
        else "requests are not signed"
    )
    tls = session_options.access.tls
    if tls is None:
        yield "connections are not encrypted"
    else:
        trusted_authorities = (
            f"the authorities of {tls.ca_file}" if tls.ca_file else "the system's authorities"
        )
        yield f"TLS, trusting {trusted_authorities if tls.verify else 'any certificate (--insecure)'}"
    if session_options.access.tunnel is not None:
        yield f"connections lead through {session_options.access.tunnel}"
    if session_options.access.proxies:
        yield f"proxies: {', '.join(session_options.access.proxies)}"
    for source_network, target_addr in session_options.access.address_map:
        yield f"brokers at {source_network} are reached through {target_addr}"
