"""Reads the data to export from the masters of a cluster or from one broker."""

from collections.abc import Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient, NotFound
from nsadmin.client.clusters import BrokerGroup
from nsadmin.client.connections import GroupConnections
from nsadmin.client.targets import NO_MASTER
from nsadmin.operations.exporting.configs import Config
from nsadmin.operations.exporting.metadata import Metadata, groups_of_users, topics_of_users
from nsadmin.operations.exporting.metrics import Measured

HALF_TOPIC, SCHEDULE_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC", "SCHEDULE_TOPIC_XXXX"

Errors = dict[str, RocketMQError | None]
"""The error of each broker, by name; None if it answered."""


class Place(NamedTuple):
    """A broker to ask; `master_addr` is None if it has no master now."""

    name: str
    addr: str | None


def masters(groups: Sequence[BrokerGroup]) -> list[Place]:
    return [Place(group.broker_name, group.master) for group in groups]


def configs(admin: AdminClient, places: Sequence[Place]) -> tuple[dict[str, Config], Errors]:
    """The settings by broker name, for brokers that answered, and the errors."""
    asked, errors = _reachable(places)
    found: dict[str, Config] = {}
    for name, (_, config, error) in zip(asked, admin.broker_configs.each(asked.values()), strict=True):
        errors[name] = error
        if config is not None:
            found[name] = config
    return found, errors


def metadata(admin: AdminClient, places: Sequence[Place], *, special: bool) -> tuple[list[Metadata], Errors]:
    """The user topics and groups of each broker that answered for both, and the errors."""
    asked, errors = _reachable(places)
    addrs, found = list(asked.values()), []
    answers = zip(
        admin.bulk.topics(addrs), admin.bulk.system_topics(addrs), admin.bulk.groups(addrs), strict=True
    )
    for name, (topics, own, groups) in zip(asked, answers, strict=True):
        errors[name] = topics.error or own.error or groups.error
        if topics.result is not None and own.result is not None and groups.result is not None:
            made = topics_of_users(topics.result.configs, own.result, special=special)
            found.append(Metadata(name, made, groups_of_users(groups.result)))
    return found, errors


def metrics(admin: AdminClient, places: Sequence[Place]) -> tuple[list[Measured], Errors]:
    """The metrics of each broker that answered with runtime info and settings, and the errors."""
    asked, errors = _reachable(places)
    addrs, found = list(asked.values()), []
    known, _ = metadata(admin, places, special=False)
    sizes = {one.broker_name: (len(one.topics), len(one.groups)) for one in known}
    online, _ = admin.consumers.online(addrs)
    answers = zip(
        admin.brokers.runtime_infos(addrs),
        admin.broker_configs.each(addrs),
        admin.put_counts.of_topic_each(addrs, HALF_TOPIC),
        admin.put_counts.of_topic_each(addrs, SCHEDULE_TOPIC),
        strict=True,
    )
    for name, (runtime, config, half, delayed) in zip(asked, answers, strict=True):
        errors[name] = runtime.error or config.error or half.error or delayed.error
        if runtime.result is None or config.result is None:
            continue
        topics, groups = sizes.get(name, (None, None))
        clients = _clients(online, asked[name])
        found.append(
            Measured(
                name, runtime.result, config.result, topics, groups, half.result, delayed.result, clients
            )
        )
    return found, errors


def _reachable(places: Sequence[Place]) -> tuple[dict[str, str], Errors]:
    """Addresses by broker name, and an error entry for each broker, in the order given."""
    errors: Errors = {place.name: NotFound(NO_MASTER) if place.addr is None else None for place in places}
    return {place.name: place.addr for place in places if place.addr is not None}, errors


def _clients(online: dict[str, GroupConnections], addr: str) -> frozenset[str] | None:
    """Language and version of the clients of this broker; None if it did not answer for all groups."""
    if any(group.errors.get(addr) is not None for group in online.values()):
        return None
    return frozenset(
        f"{client.language}%{client.version}"
        for group in online.values()
        for client in group.clients
        if addr in client.broker_addrs
    )
