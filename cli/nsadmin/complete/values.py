"""Values: what servers and the file of contexts say that a source has, as lines for a shell.

A line is a value, or a value, a tab and what it is. Only names are asked for, nothing that may be secret.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin import contexts
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.brokers.targets import resolve_target
from nsadmin.client.results import is_not_found
from nsadmin.contexts import BadConfig

T = TypeVar("T")

MOST_ASKED = 3
"""Brokers that are asked for their settings until one answers."""


def of_servers(source: str, admin: AdminClient, detail: str) -> list[str]:
    """All values, in order; `detail` is the namespace or the broker that is on the line.

    RocketMQError where no server could tell.
    """
    found = _ASKED[source](admin, detail)
    return sorted({line for line in found if _is_fit(line)})


def of_this_machine(source: str) -> list[str]:
    """Contexts and their name servers, which no server has to be asked for; nothing if the file is wrong."""
    try:
        known = contexts.load(contexts.path()).by_name
    except BadConfig:
        return []
    if source == "contexts":
        lines = [f"{name}\t{context.namesrv_addr or ''}".rstrip("\t") for name, context in known.items()]
    else:
        lines = [f"{context.namesrv_addr}\t{name}" for name, context in known.items() if context.namesrv_addr]
        lines += filter(None, [os.environ.get("NAMESRV_ADDR")])
    return sorted(line for line in lines if _is_fit(line))


def _is_fit(line: str) -> bool:
    """Whether a terminal shows it as it is: whoever names a topic does not get to move the cursor."""
    value, _, text = line.partition("\t")
    return bool(value) and value.isprintable() and text.isprintable()


def _topics(admin: AdminClient, detail: str) -> Iterable[str]:
    return admin.topics.list_names()


def _clusters(admin: AdminClient, detail: str) -> Iterable[str]:
    return admin.clusters.get_info().cluster_names


def _brokers(admin: AdminClient, detail: str) -> Iterator[str]:
    return (f"{group.broker_name}\t{group.cluster_name}" for group in admin.clusters.get_info().broker_groups)


def _addresses(admin: AdminClient, detail: str) -> Iterator[str]:
    return (line for group in admin.clusters.get_info().broker_groups for line in _members(group))


def _members(group: BrokerAddrGroup) -> Iterator[str]:
    for broker_id, addr in group.broker_addrs.items():
        own = group.broker_name if broker_id == MASTER_BROKER_ID else f"{group.broker_name}/{broker_id}"
        yield f"{own}\t{addr}"
        yield f"{addr}\t{group.broker_name} {broker_id}"


def _groups(admin: AdminClient, detail: str) -> Iterator[str]:
    return (name for names in _answered(admin.groups.list_names()) for name in names)


def _producer_groups(admin: AdminClient, detail: str) -> Iterator[str]:
    answers = _answered(admin.producers.list_all_producers())
    return (producer.producer_group for producers in answers for producer in producers)


def _kv_keys(admin: AdminClient, detail: str) -> Iterable[str]:
    results = admin.kv.get_entries_each(detail)
    if all(is_not_found(found.error) for found in results):
        return []
    return (key for table in _answered(results) for key in table)


def _broker_keys(admin: AdminClient, detail: str) -> Iterable[str]:
    info = admin.clusters.get_info
    addrs = (
        [resolve_target(detail, info).broker_addr]
        if detail
        else [group.master_addr for group in info().broker_groups]
    )
    results: list[ServerResult[dict[str, str]]] = []
    for addr in list(filter(None, addrs))[:MOST_ASKED]:
        results += admin.broker_configs.get_each([addr])
        if results[-1].error is None:
            break
    return (key for config in _answered(results) for key in config)


def _namesrv_keys(admin: AdminClient, detail: str) -> Iterator[str]:
    return (key for config in _answered(admin.name_servers.get_config_each()) for key in config)


def _answered(results: Iterable[ServerResult[T]]) -> list[T]:
    """What those said that answered; if there are some and none did, the error of the first."""
    results = list(results)
    answers = [found.result for found in results if found.result is not None]
    errors = [found.error for found in results if found.error is not None]
    if errors and not answers:
        raise errors[0]
    return answers


_ASKED: dict[str, Callable[[AdminClient, str], Iterable[str]]] = {
    "topics": _topics,
    "clusters": _clusters,
    "brokers": _brokers,
    "addresses": _addresses,
    "groups": _groups,
    "producer-groups": _producer_groups,
    "kv-keys": _kv_keys,
    "broker-keys": _broker_keys,
    "namesrv-keys": _namesrv_keys,
}
