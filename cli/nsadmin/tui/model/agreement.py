"""The comparison of name servers: whether their last polls report the same tables. Pure."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import ObservedNameServer

TextByObject = dict[str, object]


class AgreementVerdict(NamedTuple):
    """The outcome of a comparison.

    Outcomes: "agree", "diverge", "unknown" (not all were asked yet), "single" (one name server), "partial"
    (some name servers do not answer, the others do not differ) and "silent" (none answers).
    `reasons` are the aspects that nsadmin did not compare, those that differ, or the silent name servers.
    """

    outcome: str
    reasons: tuple[str, ...] = ()


class NameServerDifference(NamedTuple):
    """An object that name servers report differently, with the text that each address reports."""

    aspect_name: str
    object_name: str
    text_by_server: dict[str, str]


_ABSENT_TEXT = "absent"


def _broker_texts(server: ObservedNameServer) -> TextByObject:
    groups = server.last_poll.groups if server.last_poll else {}
    return {
        broker_name: "  ".join(
            f"{broker_id}={broker_addr}"
            for broker_id, broker_addr in sorted(broker_group.broker_addrs.items())
        )
        for broker_name, broker_group in groups.items()
    }


def _perm_texts(server: ObservedNameServer) -> TextByObject:
    perms = server.last_poll.perms if server.last_poll else {}
    return {broker_name: "written" if perm & 2 else "wiped" for broker_name, perm in perms.items()}


def _topic_texts(server: ObservedNameServer) -> TextByObject:
    return dict.fromkeys(server.topic_set, "known")


def _kv_texts(server: ObservedNameServer) -> TextByObject:
    return {
        f"{namespace} {key}": value
        for namespace, entries in server.kv_tables.items()
        for key, value in entries.items()
    }


class ComparedAspect(NamedTuple):
    """One aspect of a name server's tables that nsadmin compares.

    `poll_field` is its key in `NameServerPolled.unreported`. `extract_texts` formats it. `extract_raw`
    returns the values before formatting: if they are equal, no text is needed.
    """

    aspect_name: str
    extract_texts: Callable[[ObservedNameServer], TextByObject]
    poll_field: str
    extract_raw: Callable[[ObservedNameServer], object]

    def filter_reporting(self, servers: Sequence[ObservedNameServer]) -> list[ObservedNameServer]:
        """The name servers that report this aspect."""
        return [server for server in servers if self.poll_field not in server.unreported]

    def are_equal(self, servers: Sequence[ObservedNameServer]) -> bool:
        raw_values = [self.extract_raw(server) for server in servers]
        return _are_equal(raw_values) or _are_equal([self.extract_texts(server) for server in servers])


COMPARED_ASPECTS = (
    ComparedAspect(
        "brokers", _broker_texts, "groups", lambda server: server.last_poll and server.last_poll.groups
    ),
    ComparedAspect(
        "permissions", _perm_texts, "perms", lambda server: server.last_poll and server.last_poll.perms
    ),
    ComparedAspect("topics", _topic_texts, "topics", lambda server: server.topic_set),
    ComparedAspect("KV config", _kv_texts, "kv", lambda server: server.kv_tables),
)


def find_differences(
    servers: Sequence[ObservedNameServer], aspect_name: str | None = None
) -> Iterator[NameServerDifference]:
    """The differences between these servers. A server that does not report an aspect is left out of it."""
    for compared_aspect in COMPARED_ASPECTS:
        if aspect_name in (None, compared_aspect.aspect_name):
            yield from _compare_aspect(compared_aspect, compared_aspect.filter_reporting(servers))


def _compare_aspect(
    aspect: ComparedAspect, servers: Sequence[ObservedNameServer]
) -> Iterator[NameServerDifference]:
    if aspect.are_equal(servers):
        return
    texts_by_server = {server.namesrv_addr: aspect.extract_texts(server) for server in servers}
    for object_name in sorted(set().union(*texts_by_server.values())):
        differing_texts = {
            namesrv_addr: str(text_by_object[object_name]) if object_name in text_by_object else _ABSENT_TEXT
            for namesrv_addr, text_by_object in texts_by_server.items()
        }
        if len(set(differing_texts.values())) > 1:
            yield NameServerDifference(aspect.aspect_name, object_name, differing_texts)


def _are_equal(compared_values: Sequence[object]) -> bool:
    return all(compared_value == compared_values[0] for compared_value in compared_values[1:])


def judge_agreement(model: ClusterModel) -> AgreementVerdict:
    """Compare all name servers.

    If a name server does not answer, the outcome is "partial", unless others differ.
    """
    fresh_servers = model.list_fresh_servers()
    differing_aspects = [
        aspect.aspect_name
        for aspect in COMPARED_ASPECTS
        if not aspect.are_equal(aspect.filter_reporting(fresh_servers))
    ]
    if differing_aspects:
        return AgreementVerdict("diverge", tuple(differing_aspects))
    silent_addrs = [server.namesrv_addr for server in model.name_servers.values() if not server.is_fresh]
    if silent_addrs or not fresh_servers:
        are_all_known = all(server.last_poll or server.error_text for server in model.name_servers.values())
        is_any_known = any(server.last_poll or server.error_text for server in model.name_servers.values())
        outcome = "partial" if fresh_servers and are_all_known else "unknown"
        return AgreementVerdict(
            "silent" if is_any_known and not fresh_servers else outcome,
            tuple(f"{namesrv_addr} does not answer" for namesrv_addr in silent_addrs),
        )
    if len(fresh_servers) == 1:
        return AgreementVerdict("single")
    uncompared_aspects = [
        f"{aspect.aspect_name} not compared"
        for aspect in COMPARED_ASPECTS
        if len(aspect.filter_reporting(fresh_servers)) < 2
    ]
    return AgreementVerdict("agree", tuple(uncompared_aspects))


def count_pairwise_differences(servers: Sequence[ObservedNameServer]) -> dict[tuple[str, str], int]:
    """The number of differences of each pair of servers, by both addresses and in both orders."""
    pair_counts: dict[tuple[str, str], int] = {}
    for server_index, first_server in enumerate(servers):
        for second_server in servers[server_index + 1 :]:
            difference_count = sum(1 for _ in find_differences((first_server, second_server)))
            pair_counts[first_server.namesrv_addr, second_server.namesrv_addr] = pair_counts[
                second_server.namesrv_addr, first_server.namesrv_addr
            ] = difference_count
    return pair_counts
