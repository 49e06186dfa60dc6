"""where: shows the name servers that commands use, where they are configured, and if they answer."""

from collections.abc import Iterator

from namesrv_core.transport.calls import CallError
from nsadmin.client.addresses import NameServers
from nsadmin.client.results import error_text
from nsadmin.commands.declared import shows
from nsadmin.output import FineMillis, Rows
from nsadmin.session import Options, Session

COLUMNS = (
    "namesrvAddr", "source", "context", "reachable", "latencyMillis", "version", "signed", "tls", "error",
)  # fmt: skip
_IN_WORDS = {"given": "-n", "environment": "NAMESRV_ADDR", "default": "default"}


@shows(COLUMNS)
def where(session: Session) -> Rows:
    """Show which name servers commands ask, what says so, and whether each of them answers.

    `source` is what won: -n, NAMESRV_ADDR, a context, a file, an endpoint or the default. `latencyMillis`
    is the time in ms that one small request takes over a connection that is open. `signed` is where the
    credentials are from. What was overruled is told on stderr.

    Examples:
        # Who is asked, and do they answer?
        nsadmin where
        # Those that answer, for a script
        nsadmin where --filter reachable=true --columns namesrvAddr --output csv
    """
    options = session.options
    common = {
        "context": options.context,
        "signed": options.signed_from,
        "tls": options.access.tls is not None,
    }
    try:
        found = session.admin.addresses
    except CallError as error:
        row = {"source": f"endpoint {error.addr}", **common, "reachable": False, "error": error_text(error)}
        return Rows(COLUMNS, [{"namesrvAddr": None, **row}], [error], list(_notes(options)))
    common["source"] = _source(found)
    results = session.admin.name_servers.pulse_each()
    rows = [
        {
            "namesrvAddr": addr,
            **common,
            "reachable": error is None,
            "latencyMillis": None if pulse is None else FineMillis(round(pulse.latency_millis, 3)),
            "version": None if pulse is None else pulse.version,
            "error": None if error is None else error_text(error),
        }
        for addr, pulse, error in results
    ]
    return Rows(COLUMNS, rows, [result.error for result in results], list(_notes(options)))


def _source(found: NameServers) -> str:
    return _IN_WORDS.get(found.source) or f"{found.source} {found.origin}"


def _notes(options: Options) -> Iterator[str]:
    for words in options.overruled:
        yield f"not asked: {words}"
    yield (
        f"requests are signed with the credentials of {options.signed_from}"
        if (options.signed_from)
        else "requests are not signed"
    )
    tls = options.access.tls
    if tls is None:
        yield "connections are not encrypted"
    else:
        trust = f"the authorities of {tls.ca_file}" if tls.ca_file else "the system's authorities"
        yield f"TLS, trusting {trust if tls.verify else 'whoever answers'}"
    for source, target in options.access.address_map:
        yield f"brokers at {source} are reached at {target}"
