"""ClusterBundles, support bundles of clusters: `admin.bundles.create_bundle(...)`."""

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path

from namesrv_core.errors import BadSettings
from nsadmin.client import wall_clock
from nsadmin.client.admin import AdminClient
from nsadmin.client.bundles.bundle_file import BundleManifest
from nsadmin.client.connection.access_options import Access
from nsadmin.console import audit
from nsadmin.operations.bundles import bundle_builder
from nsadmin.operations.bundles.bundle_builder import DEFAULT_SINCE_SECONDS, BundleOrder
from nsadmin.operations.bundles.collector import DEFAULT_MAX_DETAILS, CollectionPlan, list_namespaces
from nsadmin.operations.bundles.pseudonyms import choose_kinds
from nsadmin.operations.state_folder import find_state_home


class ClusterBundles:
    """Support bundles (`admin.bundles`). `AdminClient.from_context(bundle=FILE)` reads one.

    Args:
        admin: The client.
        access: The connection options of the client.
        open_client: Opens a client of the same name servers with other connection options. It only reads.
        pause_seconds: Waits, and raises ClientClosed if the client is closed.
    """

    def __init__(
        self,
        admin: AdminClient,
        access: Access,
        open_client: Callable[[Access], AdminClient],
        pause_seconds: Callable[[float], None],
    ) -> None:
        self._admin, self._access, self._open_client = admin, access, open_client
        self._pause_seconds = pause_seconds

    def create_bundle(
        self,
        path: str | PathLike[str],
        *,
        namespaces: Sequence[str] = (),
        journal_folders: Iterable[str | PathLike[str]] = (),
        since_seconds: float = DEFAULT_SINCE_SECONDS,
        anonymise: bool = False,
        anonymise_names: bool = False,
        requests_per_second: int | None = None,
        max_details: int = DEFAULT_MAX_DETAILS,
        on_step: Callable[[str], object] = lambda step_name: None,
    ) -> BundleManifest:
        """Save the answers of a cluster in one file, without secrets and messages, like `bundle create`.

        Args:
            path: The file, which is replaced. Only its owner can read it.
            namespaces: KV namespaces to include, besides that of order configurations.
            journal_folders: Journals of name servers, or folders of `nsadmin collect`.
            since_seconds: Include journals and the audit log of this last time, in seconds. Default: 6 hours.
            anonymise: Replace host names and addresses by pseudonyms.
            anonymise_names: Also replace names of topics, groups, brokers, clusters and users.
            requests_per_second: The limit of requests to one server. Default: 5000, or 20000 for name
                servers.
            max_details: The limit of requests about single topics, groups and clients.
            on_step: Called with the name of each step before it.

        Returns:
            The manifest. `left_out` lists the gaps of the bundle, with the reasons.

        Raises:
            BadSettings: The client reads a bundle, or a limit is too small.
            NoneReachable: No name server answers.
            OSError: The file cannot be written.
        """
        if self._admin.is_static:
            raise BadSettings("a bundle cannot be made of a bundle: use a client that reads servers")
        for limit_name, limit, minimum in (
            ("requests_per_second", requests_per_second, 1),
            ("max_details", max_details, 0),
            ("since_seconds", since_seconds, 1),
        ):
            if limit is not None and limit < minimum:
                raise BadSettings(f"invalid {limit_name} {limit}: use a number from {minimum}")
        order = BundleOrder(
            Path(path),
            CollectionPlan(list_namespaces(namespaces), max_details),
            bundle_builder.choose_rates(requests_per_second),
            int((wall_clock.time() - since_seconds) * 1000),
            tuple(str(folder) for folder in journal_folders),
            audit.audit_path(),
            find_state_home(),
            choose_kinds(anonymise=anonymise, anonymise_names=anonymise_names),
        )
        with bundle_builder.create_bundle(
            self._open_client, self._access, self._admin.addresses.addrs, order, on_step, self._pause_seconds
        ) as bundle:
            return bundle.manifest
