"""Shows once what several brokers have, and names the brokers of a cluster that differ."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.console.output import AnyColumn, Column
from nsadmin.console.phrases import abbreviate_names
from nsadmin.console.session import Session

T = TypeVar("T")
BROKERS: AnyColumn = Column(
    "brokers", "the brokers that have exactly this: names, or addresses of unknown names", lambda r: r[0]
)
PASSWORD = "password"
"""The setting whose values are not shown."""

Settings = Mapping[str, str | None]


def list_holders(targets: Sequence[BrokerTarget], things: Sequence[Iterable[T]]) -> dict[T, list[str]]:
    """Each thing with the names of the targets that have it."""
    holders: dict[T, list[str]] = {}
    for target, own_things in zip(targets, things, strict=True):
        for thing in own_things:
            holders.setdefault(thing, []).append(_name_process(target))
    return holders


def describe_differences(
    session: Session, targets: Sequence[BrokerTarget], things: Sequence[Mapping[str, Settings] | None]
) -> list[str]:
    """A note for each thing that differs between the brokers of a cluster.

    `things` are those of each target by name, with their settings; None if the target did not tell them. What
    no broker of a cluster has does not differ there.
    """
    clusters_by_addr = {
        addr: group.cluster_name
        for group in session.admin.clusters.list_latest_groups()
        for addr in group.broker_addrs.values()
    }
    brokers_by_cluster: dict[str | None, dict[str, Mapping[str, Settings]]] = {}
    for target, own_things in zip(targets, things, strict=True):
        if own_things is not None:
            cluster = clusters_by_addr.get(target.broker_addr or "")
            brokers_by_cluster.setdefault(cluster, {})[_name_process(target)] = own_things
    return [
        f"{thing}{f' in {cluster}' if len(brokers_by_cluster) > 1 else ''}: {difference}"
        for cluster, things_by_broker in brokers_by_cluster.items()
        for thing in sorted(set().union(*things_by_broker.values()))
        if (difference := _describe_difference({b: own.get(thing) for b, own in things_by_broker.items()}))
    ]


def _describe_difference(settings_by_broker: Mapping[str, Settings | None]) -> str:
    present = {broker: settings for broker, settings in settings_by_broker.items() if settings is not None}
    lacking = [broker for broker in settings_by_broker if broker not in present]
    texts = [f"not on {abbreviate_names(lacking, 3)}"] if lacking else []
    for key in dict.fromkeys(key for settings in present.values() for key in settings):
        holders: dict[str | None, list[str]] = {}
        for broker, settings in present.items():
            holders.setdefault(settings.get(key), []).append(broker)
        if len(holders) == 1:
            continue
        # The odd ones come first. The names of many that agree say nothing.
        *odd, (most_value, most) = sorted(holders.items(), key=lambda item: len(item[1]))
        places = {value: abbreviate_names(brokers, 3) for value, brokers in odd}
        places[most_value] = f"{len(most)} others" if len(most) > 2 else ", ".join(most)
        texts.append(
            f"the password differs between {' and '.join(places.values())}"
            if key == PASSWORD
            else f"{key} {', '.join(f'{value} on {place}' for value, place in places.items())}".lstrip()
        )
    return "; ".join(texts)


def _name_process(target: BrokerTarget) -> str:
    if target.broker_name is None:
        return str(target.broker_addr)
    return f"{target.broker_name}:{target.broker_id}" if target.broker_id else target.broker_name
