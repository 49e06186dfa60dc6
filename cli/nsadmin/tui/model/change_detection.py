"""The detection of changes between two polls, described in words, for servers without a journal. Pure."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nsadmin.console.phrases import abbreviate_names
from nsadmin.tui.model.server_states import BrokerProcessKey, ObservedBroker, ObservedNameServer
from nsadmin.tui.polling.poll_records import BrokerPolled, NameServerPolled

_MAX_LISTED_TOPICS = 3


class ChangeNotice(NamedTuple):
    """A change: the server that showed it, its kind, its description, and the objects that it concerns.

    If `is_from_journal` is False, two polls differ, and more may have happened between them.
    """

    at_ms: int
    server_addr: str
    event_kind: str
    description: str
    object_names: tuple[str, ...] = ()
    is_from_journal: bool = False


def detect_name_server_changes(
    name_server: ObservedNameServer, poll: NameServerPolled
) -> Iterator[ChangeNotice]:
    """The changes between the last poll of a name server and this one. The first poll has none."""
    if poll.error is not None:
        if name_server.error_text is None:
            yield ChangeNotice(poll.at, name_server.addr, "NameServerSilent", poll.error)
        return
    if name_server.error_text is not None and name_server.silent_since_ms is not None:
        seconds = (poll.at - name_server.silent_since_ms) / 1000
        yield ChangeNotice(
            poll.at, name_server.addr, "NameServerBack", f"answers again after {seconds:.0f} s"
        )
    if name_server.last_poll is None:
        return
    yield from _detect_broker_changes(name_server, poll)
    yield from _detect_perm_changes(name_server.last_poll.perms, poll)
    yield from _detect_topic_changes(name_server, poll)
    if poll.settings is not None:
        yield from _detect_entry_changes(
            name_server.addr, poll.at, "SettingsChanged", "", name_server.settings, poll.settings
        )
    for namespace, entries in (poll.kv or {}).items():
        previous_entries = name_server.kv_tables.get(namespace, {})
        yield from _detect_entry_changes(
            name_server.addr, poll.at, "KvChanged", f"{namespace} ", previous_entries, entries
        )


def _detect_broker_changes(name_server: ObservedNameServer, poll: NameServerPolled) -> Iterator[ChangeNotice]:
    assert name_server.last_poll is not None
    if poll.groups == name_server.last_poll.groups:
        return
    keys_before = _process_keys_of_poll(name_server.last_poll)
    keys_after = _process_keys_of_poll(poll)
    for key in sorted(keys_after - keys_before):
        yield ChangeNotice(
            poll.at, name_server.addr, "BrokerRegistered", f"new: {_format_process(key)}", (key.name,)
        )
    for key in sorted(keys_before - keys_after):
        yield ChangeNotice(
            poll.at, name_server.addr, "BrokerUnregistered", f"gone: {_format_process(key)}", (key.name,)
        )


def _process_keys_of_poll(poll: NameServerPolled) -> set[BrokerProcessKey]:
    return {
        BrokerProcessKey(name, broker_id, addr)
        for name, group in poll.groups.items()
        for broker_id, addr in group.broker_addrs.items()
    }


def _format_process(key: BrokerProcessKey) -> str:
    return f"{key.name} {key.id}={key.addr}"


def _detect_perm_changes(perms_before: Mapping[str, int], poll: NameServerPolled) -> Iterator[ChangeNotice]:
    for name, perm in poll.perms.items():
        previous_perm = perms_before.get(name)
        if previous_perm is not None and (previous_perm ^ perm) & 2:
            event_kind, description = (
                ("WritePermAdded", "has write permission again")
                if perm & 2
                else ("WritePermWiped", "lost the write permission")
            )
            yield ChangeNotice(poll.at, poll.addr, event_kind, f"{name} {description}", (name,))


def _detect_topic_changes(name_server: ObservedNameServer, poll: NameServerPolled) -> Iterator[ChangeNotice]:
    if poll.topics is None or not name_server.topic_set or poll.topics == name_server.reported_topics:
        return
    topics_after = frozenset(poll.topics)
    for change_word, changed in (
        ("new", topics_after - name_server.topic_set),
        ("gone", name_server.topic_set - topics_after),
    ):
        if changed:
            topics = sorted(changed)
            description = f"{change_word}: {abbreviate_names(topics, _MAX_LISTED_TOPICS)}"
            yield ChangeNotice(
                poll.at, name_server.addr, "TopicsChanged", description, tuple(topics[:_MAX_LISTED_TOPICS])
            )


def _detect_entry_changes(
    addr: str,
    at_ms: int,
    event_kind: str,
    description_prefix: str,
    entries_before: Mapping[str, str | None],
    entries_after: Mapping[str, str | None],
) -> Iterator[ChangeNotice]:
    for key in sorted(entries_before.keys() | entries_after.keys()) if entries_before else ():
        old_value, new_value = entries_before.get(key), entries_after.get(key)
        if old_value != new_value:
            change = (
                f"new: {new_value}"
                if old_value is None
                else f"gone: {old_value}"
                if new_value is None
                else f"{old_value} -> {new_value}"
            )
            yield ChangeNotice(at_ms, addr, event_kind, f"{description_prefix}{key}: {change}", (key,))


def detect_broker_changes(broker: ObservedBroker, poll: BrokerPolled) -> Iterator[ChangeNotice]:
    """Whether a broker stopped answering, answers again, or was restarted."""
    broker_name, broker_id, addr = broker.key
    broker_label = f"{broker_name} {broker_id}"
    if poll.table is None:
        if broker.is_fresh:
            yield ChangeNotice(poll.at, addr, "BrokerSilent", f"{broker_label}: {poll.error}", (broker_name,))
        return
    if broker.error_text is not None and broker.silent_since_ms is not None and broker.last_poll is not None:
        seconds = (poll.at - broker.silent_since_ms) / 1000
        yield ChangeNotice(
            poll.at,
            addr,
            "BrokerAnswers",
            f"{broker_label} answers again after {seconds:.0f} s",
            (broker_name,),
        )
    boot_time, previous_boot_time = poll.table.get("bootTimestamp"), broker.read_text("bootTimestamp")
    if previous_boot_time is not None and boot_time is not None and boot_time != previous_boot_time:
        yield ChangeNotice(poll.at, addr, "BrokerRestarted", f"{broker_label} restarted", (broker_name,))


def notice_gone_broker(broker: ObservedBroker, at_ms: int) -> ChangeNotice:
    """The notice that no name server lists a broker any more."""
    name, broker_id, addr = broker.key
    return ChangeNotice(at_ms, addr, "BrokerGone", f"no name server lists {name} {broker_id}", (name,))


def notice_returned_broker(broker: ObservedBroker, at_ms: int) -> ChangeNotice:
    name, broker_id, addr = broker.key
    return ChangeNotice(at_ms, addr, "BrokerBack", f"{name} {broker_id} is listed again", (name,))
