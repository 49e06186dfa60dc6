"""Owns the choice of a support bundle, and the surroundings of a command that reads one."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from namesrv_core import operator_files
from nsadmin.client import wall_clock
from nsadmin.client.bundles import bundle_state
from nsadmin.client.connection.access_options import DEFAULT_ACCESS, Access, Credentials, Tls
from nsadmin.client.connection.addresses import (
    ENVIRONMENT_VARIABLE,
    NameServerFinder,
    NameServerList,
    choose_name_servers,
)
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.session import SharedOptions
from nsadmin.console.settings.context_choice import NO_CONTEXT, ChosenContext
from nsadmin.console.settings.name_server_discovery import DISCOVERY_OPTIONS

if TYPE_CHECKING:
    from nsadmin.client.bundles.bundle_file import SupportBundle

BUNDLE_VARIABLE = "NSADMIN_BUNDLE"


class ChosenBundle(NamedTuple):
    """An open bundle, and the context that names it; NO_CONTEXT if no context does."""

    bundle: "SupportBundle"
    context: ChosenContext


def open_chosen_bundle(values: Mapping[str, Any], chosen: ChosenContext = NO_CONTEXT) -> ChosenBundle | None:
    """Open the bundle of --bundle, the named context, NSADMIN_BUNDLE or the context in use; None without one.

    Raises UsageError if the file cannot be read, and InvalidBundleError if it is no bundle.
    """
    name, bundle_path, context = next(
        (source for source in _sources_by_rank(values, chosen) if source[1]), ("", "", NO_CONTEXT)
    )
    if not bundle_path:
        return None
    from nsadmin.client.bundles.bundle_file import SupportBundle

    try:
        return ChosenBundle(SupportBundle(context.resolve_path(bundle_path)), context)
    except OSError as error:
        reason = operator_files.explain_unreadable(bundle_path, error)
        raise UsageError(f"{name}: {reason}") from None


def _sources_by_rank(
    values: Mapping[str, Any], chosen: ChosenContext
) -> Iterator[tuple[str, str | None, ChosenContext]]:
    """The possible bundles by precedence: source, path (None for none), and the context that has it.

    Name servers on the command line replace the bundle of a context; those in the environment replace that
    of the context in use.
    """
    yield "--bundle", values.get("bundle"), NO_CONTEXT
    context_bundle = chosen.context.bundle
    if any(values.get(option_name) for option_name, _ in DISCOVERY_OPTIONS):
        context_bundle = None
    context_source = (f"context {chosen.name}", context_bundle, chosen)
    if chosen.is_named:
        yield context_source
    yield BUNDLE_VARIABLE, os.environ.get(BUNDLE_VARIABLE), NO_CONTEXT
    if not os.environ.get(ENVIRONMENT_VARIABLE, "").strip():
        yield context_source


def make_bundle_access(bundle: "SupportBundle", values: Mapping[str, Any]) -> Access:
    """Return an access that reads the bundle, as the client that made it: signed or not, with TLS or not."""
    from nsadmin.client.bundles.bundle_answers import BundleAnswers

    signing, _, encryption = bundle.manifest.identity.partition(" ")
    return DEFAULT_ACCESS._replace(
        concurrency=values.get("concurrency") or DEFAULT_ACCESS.concurrency,
        credentials=Credentials("bundle", "") if signing == "signed" else None,
        tls=None if encryption == "plain" else Tls(verify=encryption == "tls"),
        proxies=bundle.manifest.proxies,
        answers=BundleAnswers(bundle),
    )


def make_bundle_finder(bundle: "SupportBundle", values: Mapping[str, Any]) -> NameServerFinder:
    """Return a function that finds the name servers of the bundle, or those of -n."""
    given_addrs = values.get("namesrv_addr")
    if given_addrs:
        given_list = choose_name_servers(given_addrs)
        return lambda: given_list._replace(origin="-n")
    return lambda: NameServerList(bundle.manifest.namesrv_addrs, "bundle", str(bundle.path))


@contextmanager
def enter_bundle(shared_options: SharedOptions) -> Iterator[SharedOptions]:
    """If a bundle is read, use its clock, its state folder and its journals."""
    bundle = shared_options.bundle
    if bundle is None:
        yield shared_options
        return
    wall_clock.freeze_clock(bundle.manifest.created_ms / 1000)
    try:
        with bundle_state.enter_folder(bundle) as journal_folders:
            yield shared_options._replace(journal_folders=journal_folders)
    finally:
        wall_clock.freeze_clock(None)
        bundle.close()
