"""The name servers that each broker reaches, by what they can know of the broker."""

from collections.abc import Container, Iterable, Sequence

from namesrv_core.lab.lab_cluster import LabBroker, LabCluster


def group_by_listeners(
    lab_cluster: LabCluster, brokers: Iterable[LabBroker]
) -> dict[tuple[str, ...], list[LabBroker]]:
    """Group brokers by the name servers that they reach now."""
    brokers_by_listeners: dict[tuple[str, ...], list[LabBroker]] = {}
    for broker in brokers:
        listener_names = tuple(n for n in lab_cluster.name_servers if lab_cluster.can_hear(n, broker))
        brokers_by_listeners.setdefault(listener_names, []).append(broker)
    return brokers_by_listeners


def list_deaf_servers(
    lab_cluster: LabCluster, listener_names: Sequence[str], brokers: Iterable[LabBroker]
) -> tuple[str, ...]:
    """The other running name servers in the lists of brokers. What they record depends on their own fault."""
    listed_names = {server_name for broker in brokers for server_name in broker.listed_servers}
    return tuple(
        name
        for name, server in lab_cluster.name_servers.items()
        if name not in listener_names and name in listed_names and server.run_state != "down"
    )


def split_by_certainty(
    server_names: Sequence[str], certain_names: Container[str]
) -> list[tuple[tuple[str, ...], bool]]:
    """Split name servers into those with a certain outcome and those without."""
    certainty_parts = [
        (
            tuple(n for n in server_names if (n in certain_names) is is_certain),
            is_certain,
        )
        for is_certain in (True, False)
    ]
    return [(part_names, is_certain) for part_names, is_certain in certainty_parts if part_names]


def format_broker_ids(brokers: Iterable[LabBroker]) -> tuple[str, ...]:
    return tuple(f"{broker.broker_spec.broker_name}:{broker.broker_spec.broker_id}" for broker in brokers)
