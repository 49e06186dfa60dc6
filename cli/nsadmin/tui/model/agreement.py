"""The comparison of name servers: whether their last polls report the same tables. Pure."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
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


def _broker_texts(server: ObservedNameServer) -> TextByObject:
    groups = server.last_poll.groups if server.last_poll else {}
    return {
        name: "  ".join(f"{broker_id}={addr}" for broker_id, addr in sorted(group.broker_addrs.items()))
        for name, group in groups.items()
    }


def _perm_texts(server: ObservedNameServer) -> TextByObject:
    perms = server.last_poll.perms if server.last_poll else {}
    return {name: "written" if perm & 2 else "wiped" for name, perm in perms.items()}


def _topic_texts(server: ObservedNameServer) -> TextByObject:
    return dict.fromkeys(server.topic_set, "known")


def _kv_texts(server: ObservedNameServer) -> TextByObject:
    tables = server.kv_tables.items()
    return {f"{namespace} {key}": value for namespace, entries in tables for key, value in entries.items()}


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
        return [server for server in servers if self.poll_field not in server.unreported]

    def are_equal(self, servers: Sequence[ObservedNameServer]) -> bool:
        value_lists = (list(map(extract, servers)) for extract in (self.extract_raw, self.extract_texts))
        return any(all(value == values[0] for value in values[1:]) for values in value_lists)


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
    for aspect in COMPARED_ASPECTS:
        reporting = aspect.filter_reporting(servers)
        if aspect_name not in (None, aspect.aspect_name) or aspect.are_equal(reporting):
            continue
        texts_by_server = {server.addr: aspect.extract_texts(server) for server in reporting}
        for name in sorted(set().union(*texts_by_server.values())):
            texts = {addr: str(texts.get(name, "absent")) for addr, texts in texts_by_server.items()}
            if len(set(texts.values())) > 1:
                yield NameServerDifference(aspect.aspect_name, name, texts)


def judge_agreement(model: ClusterModel) -> AgreementVerdict:
    """Compare all name servers.

    If a name server does not answer, the outcome is "partial", unless others differ.
    """
    servers, fresh = model.name_servers.values(), model.list_fresh_servers()
    reporting = {aspect: aspect.filter_reporting(fresh) for aspect in COMPARED_ASPECTS}
    differing = [a.aspect_name for a, reporters in reporting.items() if not a.are_equal(reporters)]
    if differing:
        return AgreementVerdict("diverge", tuple(differing))
    silent = [server.addr for server in servers if not server.is_fresh]
    if silent or not fresh:
        are_known = [bool(server.last_poll or server.error_text) for server in servers]
        outcome = "partial" if fresh and all(are_known) else "unknown"
        if any(are_known) and not fresh:
            outcome = "silent"
        return AgreementVerdict(outcome, tuple(f"{addr} does not answer" for addr in silent))
    if len(fresh) == 1:
        return AgreementVerdict("single")
    uncompared = [f"{a.aspect_name} not compared" for a, reporters in reporting.items() if len(reporters) < 2]
    return AgreementVerdict("agree", tuple(uncompared))


def count_pairwise_differences(servers: Sequence[ObservedNameServer]) -> dict[tuple[str, str], int]:
    """The number of differences of each pair of servers, by both addresses and in both orders."""
    counts: dict[tuple[str, str], int] = {}
    for first, second in combinations(servers, 2):
        count = sum(1 for _ in find_differences((first, second)))
        counts[first.addr, second.addr] = counts[second.addr, first.addr] = count
    return counts
