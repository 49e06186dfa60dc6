"""Resolves the connection of a client from a context and the environment, as commands do."""

import warnings
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any, NamedTuple

from namesrv_core.errors import BadSettings
from nsadmin.client.connection.access_options import Access, Credentials, Tls
from nsadmin.client.connection.addresses import NameServerFinder
from nsadmin.client.connection.credentials import FoundCredentials
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.settings import (
    bundle_choice,
    connection_security,
    context_choice,
    name_server_discovery,
    option_resolver,
)


class ContextConnection(NamedTuple):
    """The connection that a context and the environment describe.

    `find_name_servers` asks an HTTP endpoint if one is configured. `context_name` is None without a context.
    """

    find_name_servers: NameServerFinder
    access: Access
    is_read_only: bool
    context_name: str | None


def resolve_connection(
    context_name: str | None,
    *,
    namesrv_addr: str | None = None,
    bundle: str | PathLike[str] | None = None,
    timeout: float | None = None,
    credentials: Credentials | str | None = None,
    tls: Tls | bool | None = None,
    kube: str | None = None,
    ssh: str | None = None,
) -> ContextConnection:
    """Resolve each setting from the arguments, a named context, the environment, or the current context."""
    values: dict[str, Any] = {
        "namesrv_addr": None if namesrv_addr is None else (namesrv_addr,),
        "bundle": None if bundle is None else fspath(bundle),
        "timeout": timeout,
        "kube": kube,
        "ssh": ssh,
        "credentials": credentials if isinstance(credentials, str) else None,
        "tls": tls if isinstance(tls, bool) else None,
    }
    try:
        chosen_context = (
            context_choice.choose_context(context_name, _warn_caller)
            if bundle is None
            else context_choice.NO_CONTEXT
        )
        chosen_bundle = bundle_choice.open_chosen_bundle(values, chosen_context)
        if chosen_bundle is not None:
            return _connect_bundle(chosen_bundle, values)
        found_credentials = (
            FoundCredentials(credentials, "the credentials argument")
            if isinstance(credentials, Credentials)
            else connection_security.find_credentials(values, chosen_context, _warn_caller)
        )
        if isinstance(tls, Tls):
            # Checks of the context's TLS settings do not apply to those of the caller.
            values["tls"] = False
        access = option_resolver.resolve_access(values, chosen_context, found_credentials, _warn_caller)
        if isinstance(tls, Tls):
            access = access._replace(tls=tls)
        discovery_choice = name_server_discovery.choose_discovery(values, chosen_context, access.timeout)
    except UsageError as error:
        raise BadSettings(str(error)) from None
    return ContextConnection(
        discovery_choice.find_name_servers, access, chosen_context.context.read_only, chosen_context.name
    )


def _connect_bundle(
    chosen_bundle: bundle_choice.ChosenBundle, option_values: Mapping[str, Any]
) -> ContextConnection:
    bundle, context = chosen_bundle
    return ContextConnection(
        bundle_choice.make_bundle_finder(bundle, option_values),
        bundle_choice.make_bundle_access(bundle, option_values),
        True,
        context.name,
    )


def _warn_caller(warning_text: str) -> None:
    # The frames between are those of this module, of `settings` and of AdminClient.from_context.
    warnings.warn(warning_text, RuntimeWarning, stacklevel=5)
