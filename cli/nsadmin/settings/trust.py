"""How connections are secured. Secrets come from files and the environment, never from the command line."""

import os
from collections.abc import Mapping
from typing import Any

from nsadmin.client.connection import credentials as readers
from nsadmin.client.connection.access_options import Credentials, Tls
from nsadmin.client.connection.credentials import FoundCredentials
from nsadmin.contexts import ContextTls
from nsadmin.diagnostics import UsageError, say
from nsadmin.settings.chosen import NONE, Chosen

KEY_PASSWORD_VARIABLE = "NSADMIN_KEY_PASSWORD"
_FILES = (("tls_ca", "ca_file"), ("tls_cert", "cert_file"), ("tls_key", "key_file"))


def credentials(values: Mapping[str, Any], chosen: Chosen) -> FoundCredentials | None:
    """Who signs, and where that is from; None for nobody.

    What was given, then a named context's, then the environment's, then those of the context in use, then
    those of mqadmin's tools.yml. RocketMQError for a source that has none.
    """
    found = _found(values, chosen)
    if found is not None and found.warning:
        say(found.warning)
    return found


def _found(values: Mapping[str, Any], chosen: Chosen) -> FoundCredentials | None:
    given = values.get("credentials")
    if given is not None:
        return None if given == "none" else readers.from_source(given)
    if chosen.by_name and chosen.context.credentials is not None:
        return _credentials_of(chosen)
    of_environment = readers.from_environment()
    if of_environment is not None:
        return FoundCredentials(of_environment, "env")
    return readers.find_credentials() if chosen.context.credentials is None else _credentials_of(chosen)


def _credentials_of(chosen: Chosen) -> FoundCredentials:
    own = chosen.context.credentials
    if isinstance(own, Credentials):
        return FoundCredentials(own, f"context {chosen.name}")
    assert own is not None
    found = readers.from_source(own, base_folder=chosen.folder)
    return found._replace(source=f"context {chosen.name} ({found.source})")


def tls(values: Mapping[str, Any], chosen: Chosen) -> Tls | None:
    """TLS as the context has it, with what was given in its place; None for plain connections."""
    given: dict[str, Any] = {name: NONE.path(values[option]) for option, name in _FILES if values.get(option)}
    if values.get("tls_server_name"):
        given["server_name"] = values["tls_server_name"]
    if values.get("insecure"):
        given["verify"] = False
    wanted = values.get("tls")
    if wanted is False:
        if given:
            raise UsageError("--no-tls and other options of TLS exclude each other: leave one out")
        return None
    of_context = chosen.context.tls
    if of_context is None and not given and not wanted:
        return None
    found = _of_context(of_context or ContextTls(), chosen)._replace(**given)
    if not found.verify:
        say("INSECURE: certificates are not checked, anybody may answer in a server's place")
    return found


def _of_context(tls: ContextTls, chosen: Chosen) -> Tls:
    ca_file, cert_file, key_file = (
        None if text is None else chosen.path(text) for text in (tls.ca_file, tls.cert_file, tls.key_file)
    )
    password = tls.key_password or _key_password(tls.key_password_from, chosen)
    return Tls(ca_file, cert_file, key_file, password, tls.server_name, tls.verify)


def _key_password(source: str | None, chosen: Chosen) -> str | None:
    """From env:NAME or file:PATH, whose first line counts; from NSADMIN_KEY_PASSWORD where none is named."""
    if source is None:
        return os.environ.get(KEY_PASSWORD_VARIABLE) or None
    where = f"context {chosen.name}: tls.keyPasswordFrom"
    kind, _, name = source.partition(":")
    if kind == "env" and name:
        text = os.environ.get(name, "")
    elif kind == "file" and name:
        try:
            text = chosen.path(name).read_text().partition("\n")[0]
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{where} {source} cannot be read: {error}") from None
    else:
        # It is not repeated: somebody may have put the password itself there.
        raise UsageError(f"{where} cannot be: write env:NAME or file:PATH")
    if not text:
        raise UsageError(f"{where} {source} is empty")
    return text
