"""Owns credentials and TLS. Secrets come from files and the environment, never from the command line."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from namesrv_core import operator_files
from nsadmin.client.connection import credentials as readers
from nsadmin.client.connection.access_options import Credentials, Tls
from nsadmin.client.connection.credentials import FoundCredentials
from nsadmin.console.contexts import ContextTls
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.settings.context_choice import NO_CONTEXT, ChosenContext
from nsadmin.console.stderr import write_stderr_line

KEY_PASSWORD_VARIABLE = "NSADMIN_KEY_PASSWORD"
TLS_VARIABLES = (
    "NSADMIN_TLS", "NSADMIN_TLS_CA", "NSADMIN_TLS_CERT", "NSADMIN_TLS_KEY", "NSADMIN_TLS_SERVER_NAME",
)  # fmt: skip
"""NSADMIN_TLS is 1 or 0; each of the others implies 1."""
_TLS_FILE_OPTIONS = (("tls_ca", "ca_file"), ("tls_cert", "cert_file"), ("tls_key", "key_file"))


def find_credentials(
    values: Mapping[str, Any], chosen: ChosenContext, write_warning: Callable[[str], None] = write_stderr_line
) -> FoundCredentials | None:
    """Find the credentials and their source; None without credentials.

    Precedence: command line, `--context`, environment, context in use, mqadmin's tools.yml. RocketMQError for
    a source without credentials.
    """
    found = _choose_credentials(values, chosen)
    if found is not None and found.warning:
        write_warning(found.warning)
    return found


def _choose_credentials(values: Mapping[str, Any], chosen: ChosenContext) -> FoundCredentials | None:
    given_source = values.get("credentials")
    if given_source is not None:
        return None if given_source == "none" else readers.from_source(given_source)
    if chosen.is_named and chosen.context.credentials is not None:
        return _credentials_of_context(chosen)
    environment_credentials = readers.from_environment()
    if environment_credentials is not None:
        return FoundCredentials(environment_credentials, "env")
    return (
        readers.find_credentials() if chosen.context.credentials is None else _credentials_of_context(chosen)
    )


def _credentials_of_context(chosen: ChosenContext) -> FoundCredentials:
    own_credentials = chosen.context.credentials
    if isinstance(own_credentials, Credentials):
        return FoundCredentials(own_credentials, f"context {chosen.name}")
    assert own_credentials is not None
    found = readers.from_source(own_credentials, base_folder=chosen.config_folder)
    return found._replace(source=f"context {chosen.name} ({found.source})")


def resolve_tls(
    values: Mapping[str, Any], chosen: ChosenContext, write_warning: Callable[[str], None] = write_stderr_line
) -> Tls | None:
    """Return the TLS settings; None for plain connections.

    Those of a named context, then the environment's, then those of the context in use; each field overridden
    by the command line.
    """
    given_fields: dict[str, Any] = {
        field_name: NO_CONTEXT.resolve_path(values[option_name])
        for option_name, field_name in _TLS_FILE_OPTIONS
        if values.get(option_name)
    }
    if values.get("tls_server_name"):
        given_fields["server_name"] = values["tls_server_name"]
    if values.get("insecure"):
        given_fields["verify"] = False
    wants_tls = values.get("tls")
    if wants_tls is False:
        if given_fields:
            raise UsageError("--no-tls excludes the other TLS options: pass only one of them")
        return None
    base_tls = _choose_tls(chosen)
    if base_tls is None and not given_fields and not wants_tls:
        return None
    resolved_tls = (base_tls or _tls_of_context(ContextTls(), chosen))._replace(**given_fields)
    if not resolved_tls.verify:
        write_warning(
            "INSECURE: certificates are not verified, so an attacker can answer in a server's place"
        )
    return resolved_tls


def _choose_tls(chosen: ChosenContext) -> Tls | None:
    context_tls = chosen.context.tls
    if context_tls is not None and chosen.is_named:
        return _tls_of_context(context_tls, chosen)
    environment_tls = _tls_of_environment(os.environ)
    if environment_tls is not None or context_tls is None:
        return environment_tls
    return _tls_of_context(context_tls, chosen)


def _tls_of_environment(environment: Mapping[str, str]) -> Tls | None:
    """Return the TLS settings of the environment; None without any of its variables."""
    texts = [environment.get(variable_name, "").strip() for variable_name in TLS_VARIABLES]
    if not any(texts):
        return None
    switch_text, *file_texts, server_name = texts
    if switch_text not in ("", "0", "1"):
        raise UsageError(f"invalid {TLS_VARIABLES[0]} {switch_text!r}: use 1 or 0")
    if switch_text == "0":
        return None
    ca_file, cert_file, key_file = (NO_CONTEXT.resolve_path(text) if text else None for text in file_texts)
    key_password = environment.get(KEY_PASSWORD_VARIABLE) or None
    return Tls(ca_file, cert_file, key_file, key_password, server_name or None)


def check_signing(
    values: Mapping[str, Any], chosen: ChosenContext, found: FoundCredentials | None, tls: Tls | None
) -> None:
    """Raise UsageError if requests would be signed for unverified servers, without `--insecure`.

    An attacker in a server's place can send a signed request to a real server again, as another request. The
    signature covers only the values of the fields and the body (`AclUtils#combineRequestContent`). Plain text
    stays possible: without TLS, clients do not expect to verify the server, and most clusters have no TLS.
    `allows_unverified` has the effect of `--insecure` for other contexts than that of the command line.
    """
    if found is None or tls is None or tls.verify:
        return
    if values.get("insecure") or values.get("allows_unverified"):
        return
    raise UsageError(
        f"nothing was sent: requests would be signed with {found.source}, and context {chosen.name} does not "
        f"verify certificates. Pass --insecure to sign anyway, pass --credentials none, or run nsadmin "
        f"context set {chosen.name} --verify --tlsCa FILE"
    )


def _tls_of_context(tls: ContextTls, chosen: ChosenContext) -> Tls:
    ca_file, cert_file, key_file = (
        None if path_text is None else chosen.resolve_path(path_text)
        for path_text in (tls.ca_file, tls.cert_file, tls.key_file)
    )
    key_password = tls.key_password or _read_key_password(tls.key_password_from, chosen)
    return Tls(ca_file, cert_file, key_file, key_password, tls.server_name, tls.verify)


def _read_key_password(password_source: str | None, chosen: ChosenContext) -> str | None:
    """Read it from env:NAME or from the first line of file:PATH, by default from NSADMIN_KEY_PASSWORD."""
    if password_source is None:
        return os.environ.get(KEY_PASSWORD_VARIABLE) or None
    setting_place = f"context {chosen.name}: tls.keyPasswordFrom"
    source_kind, _, source_name = password_source.partition(":")
    if source_kind == "env" and source_name:
        password_text = os.environ.get(source_name, "")
    elif source_kind == "file" and source_name:
        try:
            password_text = chosen.resolve_path(source_name).read_text().partition("\n")[0]
        except (OSError, UnicodeDecodeError) as error:
            reason = operator_files.explain_unreadable(source_name, error)
            raise UsageError(f"{setting_place}: {reason}") from None
    else:
        # The error does not quote the value, because it may be the password itself.
        raise UsageError(f"invalid value for {setting_place}: write env:NAME or file:PATH")
    if not password_text:
        raise UsageError(f"{password_source} ({setting_place}) is empty: set the key's password")
    return password_text
