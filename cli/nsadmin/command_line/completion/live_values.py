"""Lists the values of a source, from servers or from the file of contexts, as lines for a shell.

A line is a value, or a value, a tab and a description. Lines contain names only and no secrets.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.brokers.targets import resolve_target
from nsadmin.client.results import is_not_found
from nsadmin.console import contexts
from nsadmin.console.contexts import InvalidContextsError
from nsadmin.console.guides import find_guides

T = TypeVar("T")

MAX_ASKED_BROKERS = 3
"""The number of brokers to ask for their settings until one of them answers."""


def ask_servers(value_source: str, admin: AdminClient, detail: str) -> list[str]:
    """Return all values, sorted; `detail` is the namespace or the broker on the line.

    Raises RocketMQError if no server answered.
    """
    value_lines = _LISTERS_BY_SOURCE[value_source](admin, detail)
    return sorted({value_line for value_line in value_lines if _is_printable(value_line)})


def list_local_values(value_source: str) -> list[str]:
    """Return guides, or contexts and their name servers: none if the file of contexts is invalid."""
    if value_source == "guides":
        return [f"{guide.name}\t{guide.title}" for guide in find_guides().values()]
    try:
        contexts_by_name = contexts.load_contexts(contexts.contexts_path()).contexts_by_name
    except InvalidContextsError:
        return []
    if value_source == "contexts":
        value_lines = [f"{n}\t{c.namesrv_addr or ''}".rstrip("\t") for n, c in contexts_by_name.items()]
    else:
        value_lines = [f"{c.namesrv_addr}\t{n}" for n, c in contexts_by_name.items() if c.namesrv_addr]
        value_lines += filter(None, [os.environ.get("NAMESRV_ADDR")])
    return sorted(value_line for value_line in value_lines if _is_printable(value_line))


def _is_printable(value_line: str) -> bool:
    """Whether a terminal shows the line unchanged: the name of a topic must not control the terminal."""
    value, _, description = value_line.partition("\t")
    return bool(value) and value.isprintable() and description.isprintable()


def _list_topics(admin: AdminClient, detail: str) -> Iterable[str]:
    return admin.topics.list_names()


def _list_clusters(admin: AdminClient, detail: str) -> Iterable[str]:
    return admin.clusters.get_info().cluster_names


def _list_brokers(admin: AdminClient, detail: str) -> Iterator[str]:
    return (f"{g.broker_name}\t{g.cluster_name}" for g in admin.clusters.get_info().broker_groups)


def _list_addresses(admin: AdminClient, detail: str) -> Iterator[str]:
    return (line for g in admin.clusters.get_info().broker_groups for line in _member_lines(g))


def _member_lines(broker_group: BrokerAddrGroup) -> Iterator[str]:
    for broker_id, broker_addr in broker_group.broker_addrs.items():
        member_name = (
            broker_group.broker_name
            if broker_id == MASTER_BROKER_ID
            else f"{broker_group.broker_name}:{broker_id}"
        )
        yield f"{member_name}\t{broker_addr}"
        yield f"{broker_addr}\t{broker_group.broker_name} {broker_id}"


def _list_groups(admin: AdminClient, detail: str) -> Iterator[str]:
    return (group for group_names in _require_answers(admin.groups.list_names()) for group in group_names)


def _list_producer_groups(admin: AdminClient, detail: str) -> Iterator[str]:
    producer_lists = _require_answers(admin.producers.list_all_producers())
    return (producer.producer_group for producers in producer_lists for producer in producers)


def _list_proxies(admin: AdminClient, detail: str) -> Iterator[str]:
    return (
        f"{h.proxy.remoting_addr}\tgRPC {h.proxy.grpc_addr}" for h in admin.proxies.get_heartbeats().latest
    )


def _list_kv_keys(admin: AdminClient, detail: str) -> Iterable[str]:
    kv_results = admin.kv.get_entries_each(detail)
    if all(is_not_found(kv_result.error) for kv_result in kv_results):
        return []
    return (kv_key for kv_table in _require_answers(kv_results) for kv_key in kv_table)


def _list_broker_keys(admin: AdminClient, detail: str) -> Iterable[str]:
    get_cluster_info = admin.clusters.get_info
    broker_addrs = (
        [resolve_target(detail, get_cluster_info).broker_addr]
        if detail
        else [broker_group.master_addr for broker_group in get_cluster_info().broker_groups]
    )
    config_results: list[ServerResult[dict[str, str]]] = []
    for broker_addr in list(filter(None, broker_addrs))[:MAX_ASKED_BROKERS]:
        config_results += admin.broker_configs.get_each([broker_addr])
        if config_results[-1].error is None:
            break
    return (config_key for broker_config in _require_answers(config_results) for config_key in broker_config)


def _list_namesrv_keys(admin: AdminClient, detail: str) -> Iterator[str]:
    return (key for config in _require_answers(admin.name_servers.get_config_each()) for key in config)


def _require_answers(server_results: Iterable[ServerResult[T]]) -> list[T]:
    """Return the answers; raise the first error if servers were asked and none of them answered."""
    server_results = list(server_results)
    answers = [server_result.result for server_result in server_results if server_result.result is not None]
    server_errors = [result.error for result in server_results if result.error is not None]
    if server_errors and not answers:
        raise server_errors[0]
    return answers


_LISTERS_BY_SOURCE: dict[str, Callable[[AdminClient, str], Iterable[str]]] = {
    "topics": _list_topics,
    "clusters": _list_clusters,
    "brokers": _list_brokers,
    "addresses": _list_addresses,
    "groups": _list_groups,
    "producer-groups": _list_producer_groups,
    "proxies": _list_proxies,
    "kv-keys": _list_kv_keys,
    "broker-keys": _list_broker_keys,
    "namesrv-keys": _list_namesrv_keys,
}
