"""Owns context list, context show, context use and context delete, which manage the saved contexts."""

from collections.abc import Callable, Iterable
from typing import Annotated, TypeVar

from typer import Argument

from nsadmin.client import NotFound
from nsadmin.client.connection.access_options import Credentials
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.console import contexts
from nsadmin.console.contexts import Context, Contexts, ContextTls, InvalidContextsError
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

T = TypeVar("T")

CONTEXT_COLUMNS = (
    "name", "current", "namesrvAddr", "configFile", "endpoint", "bundle", "credentials", "tls", "timeout",
    "retries", "concurrency", "output", "addressMap", "proxies", "kube", "ssh", "journals", "readOnly",
    "color",
)  # fmt: skip
_BRIEF_COLUMNS = (*CONTEXT_COLUMNS[:8], "kube", "ssh", "readOnly", "color")

ContextNameArgument = Annotated[
    str, Argument(metavar="NAME", help="Name of a context."), Flags("--name"), Values("contexts")
]


@command(columns=CONTEXT_COLUMNS, agent_refusal="it shows contexts that the operator did not name")
def context_list(session: Session) -> ResultRows:
    """List the saved contexts, and mark the one in use.

    Examples:
        # All contexts
        nsadmin context list
    """
    saved_contexts = _load_contexts()
    return context_rows(saved_contexts, sorted(saved_contexts.contexts_by_name), _BRIEF_COLUMNS)


@command(columns=CONTEXT_COLUMNS, agent_refusal="it shows contexts that the operator did not name")
def context_show(
    session: Session,
    context_name: Annotated[
        str | None, Argument(metavar="NAME", help="Name of a context."), Flags("--name"), Values("contexts")
    ],
) -> ResultRows:
    """Show all fields of a context. Without a name, show the context in use.

    nsadmin shows where secrets are stored, but not the secrets.

    Examples:
        # The context in use
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
        # Use a context from now on
        nsadmin context use prod
        # Return to the previous context
        nsadmin context use -
    """
    saved_contexts = save_context_change(lambda saved_contexts: saved_contexts.with_current(context_name))
    return context_rows(saved_contexts, [saved_contexts.current_name or ""], _BRIEF_COLUMNS)


@command(columns=CONTEXT_COLUMNS, agent_refusal="it changes files of this account")
def context_delete(session: Session, context_name: ContextNameArgument) -> ResultRows:
    """Delete a saved context. The cluster does not change.

    Examples:
        # Delete a context
        nsadmin context delete prod
    """
    contexts_before = _load_contexts()
    save_context_change(lambda saved_contexts: saved_contexts.without_context(context_name))
    return context_rows(contexts_before, [context_name], _BRIEF_COLUMNS)


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


def context_rows(
    saved_contexts: Contexts, context_names: Iterable[str], table_columns: Iterable[str] = CONTEXT_COLUMNS
) -> ResultRows:
    """A row for each of these contexts; a table omits columns without a value."""
    rows_in_order = [_context_row(saved_contexts, context_name) for context_name in context_names]
    shown_columns = [
        column_name
        for column_name in table_columns
        if column_name in CONTEXT_COLUMNS[:2]
        or any(row[column_name] not in (None, False) for row in rows_in_order)
    ]
    return ResultRows(CONTEXT_COLUMNS, rows_in_order, table_columns=shown_columns)


def _context_row(saved_contexts: Contexts, context_name: str) -> ResultRow:
    context = saved_contexts.contexts_by_name[context_name]
    return {
        "name": context_name,
        "current": context_name == saved_contexts.current_name,
        "namesrvAddr": context.namesrv_addr,
        "configFile": context.config_file,
        "endpoint": context.endpoint,
        "bundle": context.bundle,
        "credentials": _describe_credentials(context),
        "tls": None if context.tls is None else _tls_cells(context.tls),
        "timeout": context.timeout,
        "retries": context.retries,
        "concurrency": context.concurrency,
        "output": context.output,
        "addressMap": dict(context.address_map) or None,
        "proxies": list(context.proxies) or None,
        "kube": context.kube,
        "ssh": context.ssh,
        "journals": list(context.journals) or None,
        "readOnly": context.read_only,
        "color": context.color,
    }


def _describe_credentials(context: Context) -> str | None:
    """Describe the source of a context's credentials, without the secrets."""
    context_credentials = context.credentials
    if not isinstance(context_credentials, Credentials):
        return context_credentials
    secret_kinds = (
        "secret key" if context_credentials.security_token is None else "secret key and security token"
    )
    return f"access key {context_credentials.access_key}, {secret_kinds} in the file of contexts"


def _tls_cells(context_tls: ContextTls) -> dict[str, object]:
    password_source = "in the file of contexts" if context_tls.key_password else context_tls.key_password_from
    tls_cells = {
        "caFile": context_tls.ca_file,
        "certFile": context_tls.cert_file,
        "keyFile": context_tls.key_file,
        "keyPassword": password_source,
        "serverName": context_tls.server_name,
        "verify": context_tls.verify,
    }
    return {
        field_name: field_value for field_name, field_value in tls_cells.items() if field_value is not None
    }
