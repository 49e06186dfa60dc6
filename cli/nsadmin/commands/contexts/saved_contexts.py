"""Owns context list, context show, context use and context delete, which manage the saved contexts."""

from collections.abc import Callable, Iterable
from typing import Annotated, NamedTuple, TypeVar

from typer import Argument

from nsadmin.client import NotFound
from nsadmin.client.connection.access_options import Credentials
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.servers import NAMESRV_ADDR
from nsadmin.console import contexts
from nsadmin.console.contexts import Context, Contexts, ContextTls, InvalidContextsError
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.session import Session

T = TypeVar("T")


class SavedContext(NamedTuple):
    name: str
    is_current: bool
    context: Context


NAME: Column[SavedContext] = Column("name", "name of the context", lambda c: c.name)
CURRENT: Column[SavedContext] = Column("current", "whether the context is in use", lambda c: c.is_current)
FIELD_COLUMNS: Columns[Context] = (
    NAMESRV_ADDR.of(lambda c: c.namesrv_addr),
    Column("configFile", "properties file that names the name servers", lambda c: c.config_file),
    Column("endpoint", "URL that returns the name servers", lambda c: c.endpoint),
    Column("bundle", "support bundle that is read in place of servers", lambda c: c.bundle),
    Column(
        "credentials",
        "source of the credentials for signatures; never a secret",
        lambda c: _describe_credentials(c),
    ),
    Column(
        "tls",
        "files and names for encrypted connections; null for plain text",
        lambda c: None if c.tls is None else _tls_cells(c.tls),
    ),
    Column("timeout", "timeout of each request on each server, in seconds", lambda c: c.timeout, wide=True),
    Column("retries", "number of retries for requests without an answer", lambda c: c.retries, wide=True),
    Column("concurrency", "number of servers asked at the same time", lambda c: c.concurrency, wide=True),
    Column("output", "default output format", lambda c: c.output, wide=True),
    Column(
        "addressMap",
        "replacement addresses of brokers, by their own address or network",
        lambda c: dict(c.address_map) or None,
        wide=True,
    ),
    Column("proxies", "remoting ports of the proxies", lambda c: list(c.proxies) or None, wide=True),
    Column("kube", "Kubernetes namespace, or CONTEXT/NAMESPACE, that connections lead to", lambda c: c.kube),
    Column("ssh", "SSH host that connections lead through", lambda c: c.ssh),
    Column(
        "journals",
        "folders with the journals of the name servers",
        lambda c: list(c.journals) or None,
        wide=True,
    ),
    Column("readOnly", "whether changes are refused", lambda c: c.read_only),
    Column("color", "color of the context's name on a terminal", lambda c: c.color),
)
CONTEXT_COLUMNS: Columns[SavedContext] = (NAME, CURRENT, *of_part(lambda c: c.context, FIELD_COLUMNS))
ContextNameArgument = Annotated[
    str, Argument(metavar="NAME", help="Name of a context."), Flags("--name"), Values("contexts")
]


@command(
    columns=CONTEXT_COLUMNS,
    agent_refusal="it shows contexts that the operator did not name",
    nothing="no contexts are saved",
)
def context_list(session: Session) -> ResultRows:
    """List the saved contexts, and mark the one in use.

    Run a command on all contexts with a pipe:

    `nsadmin context list --output name | xargs -I@ nsadmin clusterList --context @`

    Examples:
        # My saved clusters
        nsadmin context list
        # The names only, to run the same command on all contexts: every cluster, every customer
        nsadmin context list --output name
    """
    saved_contexts = _load_contexts()
    return context_rows(saved_contexts, sorted(saved_contexts.contexts_by_name), is_brief=True)


@command(columns=CONTEXT_COLUMNS, agent_refusal="it shows contexts that the operator did not name")
def context_show(
    session: Session,
    context_name: Annotated[
        str | None, Argument(metavar="NAME", help="Name of a context."), Flags("--name"), Values("contexts")
    ],
) -> ResultRows:
    """Show all fields of a context. Without a name, show the current context.

    nsadmin shows where secrets are stored, but not the secrets.

    Examples:
        # The current context
        nsadmin context show
        # One context, as JSON
        nsadmin context show prod --json
    """
    saved_contexts = _load_contexts()
    chosen_name = context_name or saved_contexts.current_name
    if chosen_name is None:
        raise NotFound(
            "no context is in use: run nsadmin context use NAME, or nsadmin context set NAME -n HOST:PORT"
        )
    call_with_config_errors(lambda: saved_contexts.require_context(chosen_name))
    return context_rows(saved_contexts, [chosen_name])


@command(columns=CONTEXT_COLUMNS, agent_refusal="it changes files of this account")
def context_use(
    session: Session,
    context_name: Annotated[
        str,
        Argument(metavar="NAME", help="Name of a context, or - for the previous one."),
        Flags("--name"),
        Values("contexts"),
    ],
) -> ResultRows:
    """Make a context the default for all commands.

    - selects the previous context. --context and environment variables take precedence.

    Examples:
        # Switch to the cluster of a context
        nsadmin context use prod
        # Return to the previous context
        nsadmin context use -
    """
    saved_contexts = save_context_change(lambda saved_contexts: saved_contexts.with_current(context_name))
    return context_rows(saved_contexts, [saved_contexts.current_name or ""], is_brief=True)


@command(columns=CONTEXT_COLUMNS, agent_refusal="it changes files of this account")
def context_delete(session: Session, context_name: ContextNameArgument) -> ResultRows:
    """Delete a saved context, and show the remaining ones. The cluster does not change.

    Examples:
        # Forget a saved cluster
        nsadmin context delete prod
    """
    saved_contexts = save_context_change(lambda saved_contexts: saved_contexts.without_context(context_name))
    session.write_remark(f'deleted the context "{context_name}"')
    return context_rows(saved_contexts, sorted(saved_contexts.contexts_by_name), is_brief=True)


def _load_contexts() -> Contexts:
    return call_with_config_errors(lambda: contexts.load_contexts(contexts.contexts_path()))


def save_context_change(apply_change: Callable[[Contexts], Contexts]) -> Contexts:
    """Apply a change to the contexts, save them, and return them."""
    return call_with_config_errors(lambda: contexts.change_contexts(contexts.contexts_path(), apply_change))


def call_with_config_errors(context_step: Callable[[], T]) -> T:
    """Call a function that uses the contexts file; a mistake in that file becomes a UsageError."""
    try:
        return context_step()
    except InvalidContextsError as error:
        raise UsageError(str(error)) from None


def context_rows(saved_contexts: Contexts, names: Iterable[str], *, is_brief: bool = False) -> ResultRows:
    """A row for each of these contexts; a table omits columns without a value, and if brief the wide ones."""
    records = [
        SavedContext(name, name == saved_contexts.current_name, saved_contexts.contexts_by_name[name])
        for name in names
    ]

    def is_shown(column: Column[SavedContext]) -> bool:
        has_value = any(column.read(record) not in (None, False) for record in records)
        return column in (NAME, CURRENT) or (has_value and not (is_brief and column.wide))

    columns = [c._replace(wide=not is_shown(c)) for c in CONTEXT_COLUMNS]
    return ResultRows.from_records(columns, records)


def _describe_credentials(context: Context) -> str | None:
    """Describe the source of a context's credentials, without the secrets."""
    credentials = context.credentials
    if not isinstance(credentials, Credentials):
        return credentials
    secrets = "secret key" if credentials.security_token is None else "secret key and security token"
    return f"access key {credentials.access_key}, {secrets} in the file of contexts"


def _tls_cells(tls: ContextTls) -> dict[str, object]:
    cells = {
        "caFile": tls.ca_file,
        "certFile": tls.cert_file,
        "keyFile": tls.key_file,
        "keyPassword": "in the file of contexts" if tls.key_password else tls.key_password_from,
        "serverName": tls.server_name,
        "verify": tls.verify,
    }
    return {key: value for key, value in cells.items() if value is not None}
