"""The list of brokers: all brokers that at least one name server lists."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nsadmin.client import AdminClient
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.results import NotFound, error_text

if TYPE_CHECKING:
    from nsadmin.operations.inventory.keeper import InventoryKeeper

NO_ANSWER = "no name server answered"
"""Why a run of all checks has left out a check that depends on what name servers list."""


class BrokerListing(NamedTuple):
    """All broker groups, with the addresses that at least one name server lists.

    `groups_by_server` has the groups of each name server that answered, `silence_reasons` the errors of the
    others. `gone_names` are the broker names of the inventory that no name server lists any more.
    """

    broker_groups: Sequence[BrokerAddrGroup]
    groups_by_server: Mapping[str, Sequence[BrokerAddrGroup]]
    silence_reasons: Mapping[str, str]
    gone_names: Sequence[str] = ()

    @property
    def broker_names(self) -> dict[str, str]:
        return name_brokers(self.broker_groups)

    def of_cluster(self, cluster_name: str | None) -> "BrokerListing":
        """The part of the listing about one cluster; all of it for None."""

        def select(groups: Sequence[BrokerAddrGroup]) -> list[BrokerAddrGroup]:
            return [group for group in groups if cluster_name in (None, group.cluster_name)]

        return self._replace(
            broker_groups=select(self.broker_groups),
            groups_by_server={addr: select(groups) for addr, groups in self.groups_by_server.items()},
        )

    @property
    def missing_addrs(self) -> dict[str, list[str]]:
        """The addresses that a name server does not list although another one does, by name server."""
        listed = {addr: name_brokers(groups) for addr, groups in self.groups_by_server.items()}
        missing = {addr: [a for a in self.broker_names if a not in names] for addr, names in listed.items()}
        return {addr: addrs for addr, addrs in missing.items() if addrs}

    @property
    def master_addrs(self) -> dict[str, str]:
        """The address of each master, by broker name."""
        return {g.broker_name: g.master_addr for g in self.broker_groups if g.master_addr is not None}

    @property
    def masterless_lines(self) -> list[str]:
        """One line for each broker name without a master, of which a check of masters sees nothing."""
        return [
            *(
                f"{g.broker_name} has no master, so it was not examined"
                for g in self.broker_groups
                if g.master_addr is None
            ),
            *self.gone_lines,
        ]

    @property
    def gone_lines(self) -> list[str]:
        """One line for each broker name that left all name servers, so that no check sees its messages."""
        return [f"{name} left all name servers, so it was not examined" for name in self.gone_names]

    def explain_nothing(self, text: str) -> str:
        """Return why nothing is known of any broker: `text` if name servers list brokers."""
        if not self.groups_by_server:
            return NO_ANSWER
        return text if self.broker_groups else "no broker is registered"

    @property
    def failure_lines(self) -> list[str]:
        """One line for each name server that does not answer."""
        return [f"name server {addr}: {reason}" for addr, reason in self.silence_reasons.items()]


def name_brokers(groups: Iterable[BrokerAddrGroup]) -> dict[str, str]:
    """A display name, such as "broker-a 0 at HOST:PORT", for each broker address."""
    return {
        addr: f"{group.broker_name} {broker_id} at {addr}"
        for group in groups
        for broker_id, addr in group.broker_addrs.items()
    }


def observe_listing(
    admin: AdminClient, cluster_name: str | None = None, inventory: "InventoryKeeper | None" = None
) -> BrokerListing:
    """Ask each name server which brokers it lists, of one cluster or of all, and `inventory` which are gone.

    Raises:
        NotFound: Name servers answered, and none of them lists the cluster.
    """
    cluster_results = admin.clusters.get_info_each()
    groups_by_server = {addr: info.broker_groups for addr, info, _ in cluster_results if info is not None}
    listing = BrokerListing(
        merge_groups([group for groups in groups_by_server.values() for group in groups]),
        groups_by_server,
        {addr: error_text(error) for addr, _, error in cluster_results if error is not None},
    )
    known_clusters = sorted({group.cluster_name for group in listing.broker_groups})
    if cluster_name is not None and groups_by_server and cluster_name not in known_clusters:
        known = ", ".join(known_clusters) or "none"
        raise NotFound(f'no cluster "{cluster_name}": name servers list {known}')
    if inventory is not None and groups_by_server:
        gone_names = {
            missing.broker.broker_name
            for missing in inventory.observe_brokers(listing.broker_groups)
            if missing.is_group_gone and missing.broker.may_be_in(cluster_name)
        }
        listing = listing._replace(gone_names=sorted(gone_names))
    return listing.of_cluster(cluster_name)


def merge_groups(groups: Sequence[BrokerAddrGroup]) -> list[BrokerAddrGroup]:
    """Merge equal groups and their addresses. If addresses of one broker differ, the first one counts."""
    addrs_by_group: dict[tuple[str, str], dict[int, str]] = {}
    for broker_group in groups:
        merged_addrs = addrs_by_group.setdefault((broker_group.cluster_name, broker_group.broker_name), {})
        for broker_id, broker_addr in broker_group.broker_addrs.items():
            merged_addrs.setdefault(broker_id, broker_addr)
    return [
        BrokerAddrGroup(*key, dict(sorted(addrs_by_group[key].items()))) for key in sorted(addrs_by_group)
    ]


def explain_brokers(broker_addrs: Iterable[str]) -> tuple[str, ...]:
    """The remedies of details about these brokers."""
    return tuple(f"`{quote_command('broker', 'explain', addr)}`" for addr in broker_addrs)
