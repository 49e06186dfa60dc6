"""Owns where, which shows the name servers that commands use, their source, and whether they answer."""

from collections.abc import Iterator

from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client import ServerResult
from nsadmin.client.connection.addresses import NameServerList
from nsadmin.client.name_servers.name_server_configs import NameServerPulse
from nsadmin.command_line.declarations import command
from nsadmin.commands.columns.brokers import VERSION
from nsadmin.commands.columns.servers import ERROR, NAMESRV_ADDR
from nsadmin.console.output import AnyColumn, Column, Columns, ResultRows
from nsadmin.console.output.quantities import to_fine_millis
from nsadmin.console.session import Session, SharedOptions

SOURCE: AnyColumn = Column(
    "source",
    "source of the address: -n, NAMESRV_ADDR, a context, a file, an endpoint, Kubernetes, or the default",
    lambda r: r.source,
)
CONTEXT: AnyColumn = Column("context", "the context in force; null for none", lambda r: r.context)
SIGNED: AnyColumn = Column(
    "signed",
    "source of the credentials for signatures; null if requests are not signed",
    lambda r: r.credentials_source,
)
TLS: AnyColumn = Column("tls", "whether connections are encrypted", lambda r: r.access.tls is not None)
READ_ONLY: AnyColumn = Column("readOnly", "whether changes are refused", lambda r: r.read_only)
COMMON_COLUMNS = (CONTEXT, SIGNED, TLS, READ_ONLY)
"""Columns of the options of a session."""
WHERE_COLUMNS: Columns[ServerResult[NameServerPulse]] = (
    NAMESRV_ADDR,
    SOURCE,
    CONTEXT,
    Column("reachable", "whether the name server answered", lambda r: r.error is None),
    Column(
        "latencyMillis",
        "time of a small request over an open connection, in ms",
        lambda r: r.result and to_fine_millis(round(r.result.latency_ms, 3)),
    ),
    VERSION.of(lambda r: r.result and r.result.version),
    SIGNED,
    TLS,
    READ_ONLY,
    ERROR,
)
_SOURCE_WORDS = {"given": "-n", "environment": "NAMESRV_ADDR", "default": "default"}


@command(columns=WHERE_COLUMNS)
def where(session: Session) -> ResultRows:
    """Show the name servers that commands use, their source, and whether they answer.

    `source` is the source with the highest precedence: -n, NAMESRV_ADDR, a context, a file, an endpoint,
    Kubernetes or the default. `latencyMillis` is the time of a small request over an open connection, in ms.
    `signed` is the source of the credentials. Lines on stderr show unused sources and the security of
    connections.

    Examples:
        # Which name servers nsadmin talks to, and whether they answer
        nsadmin where
        # Addresses of name servers that answer, for a script
        nsadmin where --filter reachable=true --columns namesrvAddr --output csv
    """
    options = session.options
    common = {column: column.read(options) for column in COMMON_COLUMNS}
    notes = list(_connection_notes(options))
    try:
        common[SOURCE] = _describe_source(session.admin.addresses)
    except CallError as error:
        common |= {NAMESRV_ADDR: None, SOURCE: f"endpoint {error.addr}"}
        unknown = ServerResult[NameServerPulse]("", None, error)
        return ResultRows.from_records(WHERE_COLUMNS, [unknown], [error], notes, common=common)
    results = session.admin.name_servers.get_pulse_each()
    return ResultRows.from_records(WHERE_COLUMNS, results, [r.error for r in results], notes, common=common)


def _describe_source(name_servers: NameServerList) -> str:
    return _SOURCE_WORDS.get(name_servers.source) or f"{name_servers.source} {name_servers.origin}"


def _connection_notes(session_options: SharedOptions) -> Iterator[str]:
    for overruled_source in session_options.overruled_sources:
        yield f"not used, because another source comes first: {overruled_source}"
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
        yield f"TLS, trusting {trusted_authorities if tls.verify else 'any certificate, without a check'}"
    if session_options.access.tunnel is not None:
        yield f"connections lead through {session_options.access.tunnel}"
    if session_options.access.proxies:
        yield f"proxies: {', '.join(session_options.access.proxies)}"
    for source_network, target_addr in session_options.access.address_map:
        yield f"brokers at {source_network} are reached through {target_addr}"
