"""contextList, contextShow, contextUse, contextSet, contextDelete: clusters that are known by name."""

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

from nsadmin import contexts
from nsadmin.client.addresses import parse_addrs
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.contexts import BadConfig, Context, Contexts
from nsadmin.diagnostics import UsageError
from nsadmin.output import FORMATS, Row, Rows
from nsadmin.session import Session

T = TypeVar("T")

COLUMNS = ("name", "current", "namesrvAddr", "timeout", "output", "readOnly")

Name = Annotated[str, Word(("--name",), "NAME", "Name of a context.", values="contexts")]


@shows(COLUMNS)
def context_list(session: Session) -> Rows:
    """List the contexts; one of them may be in use.

    Examples:
        # All contexts
        nsadmin contextList
    """
    found = _load()
    return _rows(found, sorted(found.by_name))


@shows(COLUMNS)
def context_show(
    session: Session,
    name: Annotated[
        str | None, Word(("--name",), "NAME", "Name of a context.", required=False, values="contexts")
    ],
) -> Rows:
    """Show one context, or the one that is in use.

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
    _attempt(lambda: found.named(chosen))
    return _rows(found, [chosen])


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
    found = _kept(lambda: _load().using(name))
    return _rows(found, [found.current or ""])


@shows(COLUMNS)
def context_set(
    session: Session,
    name: Name,
    namesrv_addr: Annotated[
        list[str] | None,
        Option(
            "-n", "--namesrvAddr", metavar="LIST", help="Its name servers. Repeatable.", values="name-servers"
        ),
    ] = None,
    timeout: Annotated[
        float | None, Option("--timeout", metavar="SECONDS", help="For each request on each server.")
    ] = None,
    default_output: Annotated[
        str | None, Option("--defaultOutput", metavar="FORMAT", help="How to write rows.")
    ] = None,
    read_only: Annotated[
        bool | None, Option("--readOnly/--writable", help="Whether every change is refused.")
    ] = None,
) -> Rows:
    """Make a context, or change of it what is named. The first one is in use at once.

    Examples:
        # A cluster whose settings nobody changes by mistake
        nsadmin contextSet prod -n "127.0.0.1:9876;127.0.0.1:9877" --readOnly
        # Give it a longer time-out
        nsadmin contextSet prod --timeout 10
    """
    if default_output not in (None, *FORMATS):
        raise UsageError(f"--defaultOutput {default_output} is unknown; there are: {', '.join(FORMATS)}")
    if timeout is not None and not 0 < timeout <= 3600:
        raise UsageError(f"--timeout {timeout:g} cannot be: give seconds, more than 0")
    if name == "-":
        raise UsageError('contextSet: "-" cannot be a name: it is the context of before')
    addrs = ";".join(parse_addrs(namesrv_addr)) if namesrv_addr else None
    named = (addrs, timeout, default_output, read_only)

    def change() -> Contexts:
        found = _load()
        context = _merged(found.by_name.get(name, Context()), named)
        if context.namesrv_addr is None:
            raise UsageError(
                f"contextSet: {name} needs name servers; type: nsadmin contextSet {name} -n HOST:PORT"
            )
        changed = found.with_context(name, context)
        return changed if changed.current else changed.using(name)

    return _rows(_kept(change), [name])


def _merged(context: Context, named: Sequence[object]) -> Context:
    """The context with what is named, in its own order; None leaves it as it is."""
    return Context._make(old if new is None else new for old, new in zip(context, named, strict=True))


@shows(COLUMNS)
def context_delete(session: Session, name: Name) -> Rows:
    """Forget a context. Nothing happens to the cluster.

    Examples:
        # Forget a context
        nsadmin contextDelete prod
    """
    before = _load()
    _kept(lambda: _load().without(name))
    return _rows(before, [name])


def _load() -> Contexts:
    return _attempt(lambda: contexts.load(contexts.path()))


def _kept(change: Callable[[], Contexts]) -> Contexts:
    def step() -> Contexts:
        changed = change()
        contexts.save(contexts.path(), changed)
        return changed

    return _attempt(step)


def _attempt(step: Callable[[], T]) -> T:
    try:
        return step()
    except BadConfig as error:
        raise UsageError(str(error)) from None


def _rows(found: Contexts, names: list[str]) -> Rows:
    return Rows(COLUMNS, [_row(found, name) for name in names])


def _row(found: Contexts, name: str) -> Row:
    context = found.by_name[name]
    return {
        "name": name,
        "current": name == found.current,
        "namesrvAddr": context.namesrv_addr,
        "timeout": context.timeout,
        "output": context.output,
        "readOnly": context.read_only,
    }
