"""Owns context login, which asks for the credentials of a context and stores them privately."""

from pathlib import Path
from typing import Annotated

from typer import Option

from namesrv_core.errors import BadSettings
from nsadmin.client.connection.access_options import Credentials
from nsadmin.client.connection.credentials import save_to_file, save_to_keyring
from nsadmin.command_line.declarations import command
from nsadmin.commands.contexts.saved_contexts import (
    CONTEXT_COLUMNS,
    ContextNameArgument,
    call_with_config_errors,
    context_rows,
    save_context_change,
)
from nsadmin.console import confirmation, contexts
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRows
from nsadmin.console.session import Session


@command(columns=CONTEXT_COLUMNS, agent_refusal="it needs a secret, which the client would see")
def context_login(
    session: Session,
    context_name: ContextNameArgument,
    credentials_file: Annotated[
        str | None,
        Option(
            "--file",
            metavar="PATH",
            help="Store the credentials in this file, which only its owner can read.",
        ),
    ] = None,
) -> ResultRows:
    """Store the credentials of a context in the system's keyring, or in a separate file.

    nsadmin asks for them on a terminal. Without a terminal, it reads them from standard input, each on its
    own line: the access key, the secret key, and optionally the security token. The keyring needs the package
    nsadmin[keyring].

    Examples:
        # Ask for access key and secret key, and store them in a file
        nsadmin context login prod --file prod.yml
    """
    call_with_config_errors(
        lambda: contexts.load_contexts(contexts.contexts_path()).require_context(context_name)
    )
    credentials = _prompt_credentials()
    if credentials_file is None:
        source = f"keyring:{context_name}"
        try:
            save_to_keyring(context_name, credentials)
        except BadSettings as error:
            raise UsageError(f"{error}; or store them in a file: --file PATH") from None
    else:
        file_path = Path(credentials_file).expanduser().absolute()
        source = f"file:{file_path}"
        save_to_file(file_path, credentials)

    def set_source(saved_contexts: contexts.Contexts) -> contexts.Contexts:
        context = saved_contexts.require_context(context_name)
        return saved_contexts.with_context(context_name, context._replace(credentials=source))

    return context_rows(save_context_change(set_source), [context_name])


def _prompt_credentials() -> Credentials:
    access_key = _require_answer(confirmation.ask_text("access key"), "access key")
    secret_key = _require_answer(confirmation.ask_secret("secret key"), "secret key")
    security_token = confirmation.ask_secret("security token (optional)").strip()
    return Credentials(access_key, secret_key, security_token or None)


def _require_answer(answer_text: str, answer_name: str) -> str:
    if not answer_text.strip():
        raise UsageError(f"the {answer_name} is empty, nothing was stored: enter it, or pipe it in")
    return answer_text.strip()
