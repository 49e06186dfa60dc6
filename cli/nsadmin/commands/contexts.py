"""contextList, contextShow, contextUse, contextDelete: manage the saved contexts."""

from collections.abc import Callable, Iterable
from typing import Annotated, TypeVar

from nsadmin import contexts
from nsadmin.client.access import Credentials
from nsadmin.commands.declared import Word, shows
from nsadmin.contexts import BadConfig, Context, Contexts, ContextTls
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

T = TypeVar("T")

COLUMNS = (
    "name", "current", "namesrvAddr", "configFile", "endpoint", "credentials", "tls", "timeout", "retries",
    "concurrency", "output", "addressMap", "journals", "readOnly", "color",
)  # fmt: skip
_BRIEF = (*COLUMNS[:7], "readOnly", "color")

Name = Annotated[str, Word(("--name",), "NAME", "Name of a context.", values="contexts")]


@shows(COLUMNS)
def context_list(session: Session) -> Rows:
    """List the contexts; one of them may be in use.

    Examples:
        # All contexts
        nsadmin contextList
    """
    found = _load()
    return rows_of(found, sorted(found.by_name), _BRIEF)


@shows(COLUMNS)
def context_show(
    session: Session,
    name: Annotated[
        str | None, Word(("--name",), "NAME", "Name of a context.", required=False, values="contexts")
    ],
) -> Rows:
    """Show one context, or the one that is in use: all that is set in it.

    Of secrets only where they are is shown, never what they are.

    Examples:
        # The one in use
        nsadmin contextShow
        # One by its name, as JSON
        nsadmin contextShow prod --json
    """
    found = _load()
    chosen = name or found.current
    if chosen is None:
        raise UsageError("contextShow: no context is in use; nsadmin contextUse NAME chooses one")
    attempt(lambda: found.named(chosen))
    return rows_of(found, [chosen])


@shows(COLUMNS)
def context_use(
    session: Session,
    name: Annotated[str, Word(("--name",), "NAME", 'Name of a context, or "-".', values="contexts")],
) -> Rows:
    """Use a context where no command says otherwise; "-" is the one of before.

    Examples:
        # Use a context from now on
        nsadmin contextUse prod
        # Go back to the one before
        nsadmin contextUse -
    """
    found = kept(lambda found: found.using(name))
    return rows_of(found, [found.current or ""], _BRIEF)


@shows(COLUMNS)
def context_delete(session: Session, name: Name) -> Rows:
    """Forget a context. Nothing happens to the cluster.

    Examples:
        # Forget a context
        nsadmin contextDelete prod
    """
    before = _load()
    kept(lambda found: found.without(name))
    return rows_of(before, [name], _BRIEF)


def _load() -> Contexts:
    return attempt(lambda: contexts.load(contexts.path()))


def kept(change: Callable[[Contexts], Contexts]) -> Contexts:
    """Apply a change to the contexts, save them, and return them."""
    return attempt(lambda: contexts.change(contexts.path(), change))


def attempt(step: Callable[[], T]) -> T:
    """Call a function that uses the contexts file; a mistake in that file becomes a UsageError."""
    try:
        return step()
    except BadConfig as error:
        raise UsageError(str(error)) from None


def rows_of(found: Contexts, names: Iterable[str], in_table: Iterable[str] = COLUMNS) -> Rows:
    """A row for each of these contexts; a table omits columns that none of them has a value for."""
    rows = [_row(found, name) for name in names]
    shown = [
        key for key in in_table if key in COLUMNS[:2] or any(row[key] not in (None, False) for row in rows)
    ]
    return Rows(COLUMNS, rows, in_table=shown)


def _row(found: Contexts, name: str) -> Row:
    context = found.by_name[name]
    return {
        "name": name,
        "current": name == found.current,
        "namesrvAddr": context.namesrv_addr,
        "configFile": context.config_file,
        "endpoint": context.endpoint,
        "credentials": _credentials(context),
        "tls": None if context.tls is None else _tls(context.tls),
        "timeout": context.timeout,
        "retries": context.retries,
        "concurrency": context.concurrency,
        "output": context.output,
        "addressMap": dict(context.address_map) or None,
        "journals": list(context.journals) or None,
        "readOnly": context.read_only,
        "color": context.color,
    }


def _credentials(context: Context) -> str | None:
    """Describe where a context's credentials are, without the secrets."""
    own = context.credentials
    if not isinstance(own, Credentials):
        return own
    what = "secret key" if own.security_token is None else "secret key and security token"
    return f"access key {own.access_key}, {what} in the file of contexts"


def _tls(tls: ContextTls) -> dict[str, object]:
    password = "in the file of contexts" if tls.key_password else tls.key_password_from
    shown = {
        "caFile": tls.ca_file,
        "certFile": tls.cert_file,
        "keyFile": tls.key_file,
        "keyPassword": password,
        "serverName": tls.server_name,
        "verify": tls.verify,
    }
    return {key: value for key, value in shown.items() if value is not None}
