"""The detection of changes between two polls, described in words, for servers without a journal. Pure."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple

from nsadmin.console.phrases import abbreviate_names
from nsadmin.tui.model.server_states import BrokerProcessKey, ObservedBroker, ObservedNameServer
from nsadmin.tui.polling.poll_records import BrokerPolled, NameServerPolled

_MAX_LISTED_TOPICS = 3


class ChangeNotice(NamedTuple):
    """A change: the server that showed it, its kind, its description, and the objects that it concerns.

    If `is_from_journal` is False, two polls differ, and more may have happened between them. A row for a
    storm of events has the time of the first one in `storm_begin_ms`.
    """

    at_ms: int
    server_addr: str
    event_kind: str
    description: str
    object_names: tuple[str, ...] = ()
    is_from_journal: bool = False
    storm_begin_ms: int | None = None


def detect_name_server_changes(server: ObservedNameServer, poll: NameServerPolled) -> Iterator[ChangeNotice]:
    """The changes between the last poll of a name server and this one. The first poll has none."""
    notice, previous = partial(ChangeNotice, poll.at, server.addr), server.last_poll
    if poll.error is not None:
        if server.error_text is None:
            yield notice("NameServerSilent", poll.error)
        return
    if server.error_text is not None and server.silent_since_ms is not None:
        seconds = (poll.at - server.silent_since_ms) / 1000
        yield notice("NameServerBack", f"answers again after {seconds:.0f} s")
    if previous is None:
        return
    if poll.groups != previous.groups:
        keys_before, keys_after = list_processes(previous), list_processes(poll)
        for key in sorted(keys_after.keys() - keys_before.keys()):
            yield notice("BrokerRegistered", f"new: {key.name} {key.id}={key.addr}", (key.name,))
        for key in sorted(keys_before.keys() - keys_after.keys()):
            yield notice("BrokerUnregistered", f"gone: {key.name} {key.id}={key.addr}", (key.name,))
    for name, perm in poll.perms.items():
        if name in previous.perms and (previous.perms[name] ^ perm) & 2:
            if perm & 2:
                yield notice("WritePermAdded", f"{name} has write permission again", (name,))
            else:
                yield notice("WritePermWiped", f"{name} lost the write permission", (name,))
    yield from _detect_topic_changes(server, poll)
    if poll.settings is not None:
        for setting, text in _compare_entries(server.settings, poll.settings):
            yield notice("SettingsChanged", text, (setting,))
    for namespace, entries in (poll.kv or {}).items():
        for kv_key, text in _compare_entries(server.kv_tables.get(namespace, {}), entries):
            yield notice("KvChanged", f"{namespace} {text}", (kv_key,))


def list_processes(poll: NameServerPolled) -> dict[BrokerProcessKey, str]:
    """The cluster of each broker process that a name server lists."""
    return {
        BrokerProcessKey(name, broker_id, addr): group.cluster_name
        for name, group in poll.groups.items()
        for broker_id, addr in group.broker_addrs.items()
    }


def _detect_topic_changes(server: ObservedNameServer, poll: NameServerPolled) -> Iterator[ChangeNotice]:
    if poll.topics is None or not server.topic_set or poll.topics == server.reported_topics:
        return
    topics_after = frozenset(poll.topics)
    gained, lost = topics_after - server.topic_set, server.topic_set - topics_after
    for word, changed in (("new", gained), ("gone", lost)):
        if changed:
            topics = sorted(changed)
            text = f"{word}: {abbreviate_names(topics, _MAX_LISTED_TOPICS)}"
            names = tuple(topics[:_MAX_LISTED_TOPICS])
            yield ChangeNotice(poll.at, server.addr, "TopicsChanged", text, names)


def _compare_entries(
    before: Mapping[str, str | None], after: Mapping[str, str | None]
) -> Iterator[tuple[str, str]]:
    """The keys whose values differ, and the change in words. Without former entries, nothing has changed."""
    for key in sorted(before.keys() | after.keys()) if before else ():
        old, new = before.get(key), after.get(key)
        if old is None and new is not None:
            yield key, f"{key}: new: {new}"
        elif new is None and old is not None:
            yield key, f"{key}: gone: {old}"
        elif old != new:
            yield key, f"{key}: {old} -> {new}"


def detect_broker_changes(broker: ObservedBroker, poll: BrokerPolled) -> Iterator[ChangeNotice]:
    """Whether a broker stopped answering, answers again, or was restarted."""
    label = f"{broker.key.name} {broker.key.id}"
    notice = partial(notice_broker, broker, poll.at)
    if poll.table is None:
        if broker.is_fresh:
            yield notice("BrokerSilent", f"{label}: {poll.error}")
        return
    if broker.error_text is not None and broker.silent_since_ms is not None and broker.last_poll is not None:
        seconds = (poll.at - broker.silent_since_ms) / 1000
        yield notice("BrokerAnswers", f"{label} answers again after {seconds:.0f} s")
    boot_time, previous_boot_time = poll.table.get("bootTimestamp"), broker.read_text("bootTimestamp")
    if previous_boot_time is not None and boot_time is not None and boot_time != previous_boot_time:
        yield notice("BrokerRestarted", f"{label} restarted")


def notice_broker(broker: ObservedBroker, at_ms: int, event_kind: str, text: str) -> ChangeNotice:
    return ChangeNotice(at_ms, broker.key.addr, event_kind, text, (broker.key.name,))
