"""Owns the choice of a support bundle, and the surroundings of a command that reads one."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nsadmin.client import wall_clock
from nsadmin.client.bundles import bundle_state
from nsadmin.client.connection.access_options import DEFAULT_ACCESS, Access, Credentials, Tls
from nsadmin.client.connection.addresses import NameServerFinder, NameServerList, choose_name_servers
from nsadmin.exit_codes import UsageError
from nsadmin.session import SharedOptions

if TYPE_CHECKING:
    from nsadmin.client.bundles.bundle_file import SupportBundle

BUNDLE_VARIABLE = "NSADMIN_BUNDLE"


def open_chosen_bundle(option_values: Mapping[str, Any]) -> "SupportBundle | None":
    """Open the bundle of --bundle, else that of NSADMIN_BUNDLE; None without both.

    Raises UsageError if the file cannot be read, and InvalidBundleError if it is no bundle.
    """
    given_path = option_values.get("bundle")
    bundle_path = given_path or os.environ.get(BUNDLE_VARIABLE)
    if not bundle_path:
        return None
    from pathlib import Path

    from nsadmin.client.bundles.bundle_file import SupportBundle

    try:
        return SupportBundle(Path(bundle_path).expanduser())
    except OSError as error:
        source_name = "--bundle" if given_path else BUNDLE_VARIABLE
        raise UsageError(
            f'cannot read the bundle "{bundle_path}" ({source_name}): {error.strerror}'
        ) from None


def make_bundle_access(bundle: "SupportBundle", option_values: Mapping[str, Any]) -> Access:
    """Return an access that reads the bundle, as the client that made it: signed or not, with TLS or not."""
    from nsadmin.client.bundles.bundle_answers import BundleAnswers

    signing, _, encryption = bundle.manifest.identity.partition(" ")
    return DEFAULT_ACCESS._replace(
        concurrency=option_values.get("concurrency") or DEFAULT_ACCESS.concurrency,
        credentials=Credentials("bundle", "") if signing == "signed" else None,
        tls=None if encryption == "plain" else Tls(verify=encryption == "tls"),
        answers=BundleAnswers(bundle),
    )


def make_bundle_finder(bundle: "SupportBundle", option_values: Mapping[str, Any]) -> NameServerFinder:
    """Return a function that finds the name servers of the bundle, or those of -n."""
    given_addrs = option_values.get("namesrv_addr")
    if given_addrs:
        given_list = choose_name_servers(given_addrs)
        return lambda: given_list._replace(origin="-n")
    return lambda: NameServerList(bundle.manifest.name_servers, "bundle", str(bundle.path))


@contextmanager
def enter_bundle(shared_options: SharedOptions) -> Iterator[SharedOptions]:
    """Let the clock, the state folder and the journals be those of the bundle, if there is one."""
    bundle = shared_options.bundle
    if bundle is None:
        yield shared_options
        return
    wall_clock.freeze(bundle.manifest.created_ms / 1000)
    try:
        with bundle_state.enter_folder(bundle) as journal_folders:
            yield shared_options._replace(journal_folders=journal_folders)
    finally:
        wall_clock.freeze(None)
        bundle.close()
