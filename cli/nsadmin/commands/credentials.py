"""Owns contextLogin, which asks for the credentials of a context and stores them privately."""

from pathlib import Path
from typing import Annotated

from namesrv_core.errors import BadSettings
from nsadmin import contexts, diagnostics
from nsadmin.client.access import Credentials
from nsadmin.client.credentials import to_file, to_keyring
from nsadmin.commands.contexts import COLUMNS, Name, attempt, kept, rows_of
from nsadmin.commands.declared import Option, shows
from nsadmin.diagnostics import UsageError
from nsadmin.output import Rows
from nsadmin.session import Session


@shows(COLUMNS)
def context_login(
    session: Session,
    name: Name,
    file: Annotated[
        str | None, Option("--file", metavar="PATH", help="Store them in this file, for its owner alone.")
    ] = None,
) -> Rows:
    """Store the credentials of a context outside it: in the system's keyring, or in a file of their own.

    They are asked for on a terminal. Where there is none, standard input has the access key, the secret key
    and, if there is one, the security token, each in a line of its own. The keyring needs the package
    nsadmin[keyring].

    Examples:
        # Ask for access key and secret key, and keep them in a file
        nsadmin contextLogin prod --file prod.yml
    """
    attempt(lambda: contexts.load(contexts.path()).named(name))
    given = _given()
    if file is None:
        source = f"keyring:{name}"
        try:
            to_keyring(name, given)
        except BadSettings as error:
            raise UsageError(f"{error}; or keep them in a file: --file PATH") from None
    else:
        path = Path(file).expanduser().absolute()
        source = f"file:{path}"
        to_file(path, given)

    def change(found: contexts.Contexts) -> contexts.Contexts:
        return found.with_context(name, found.named(name)._replace(credentials=source))

    return rows_of(kept(change), [name])


def _given() -> Credentials:
    access_key = _answer(diagnostics.ask_text("access key"), "access key")
    secret_key = _answer(diagnostics.ask_secret("secret key"), "secret key")
    token = diagnostics.ask_secret("security token, if there is one").strip()
    return Credentials(access_key, secret_key, token or None)


def _answer(text: str, what: str) -> str:
    if not text.strip():
        raise UsageError(f"contextLogin: the {what} is empty; nothing was stored")
    return text.strip()
