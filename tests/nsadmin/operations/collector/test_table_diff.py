"""Which events lead from one poll to the next: whatever was seen, the tables are those afterwards."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.events import (
    BrokerChanged,
    BrokerRegistered,
    BrokerUnregistered,
    Event,
    Group,
    KvDeleted,
    KvPut,
    MappingChange,
    MappingInfo,
    MappingsChanged,
    Member,
    QueueData,
    SettingChange,
    SettingsChanged,
    Snapshot,
    TopicChange,
    TopicsChanged,
    group_topic_changes,
)
from namesrv_core.history.record_lines import encode_record_line, parse_record_line
from namesrv_core.history.records import RecordOrigin, event_of_record
from namesrv_core.history.replay import JournalReplay
from nsadmin.client.name_servers.name_server_tables import NameServerListing, TopicQueues
from nsadmin.operations.collector.name_server_poller import PollObservation
from nsadmin.operations.collector.table_diff import build_snapshot, derive_events

SIX, FOUR = QueueData("a", 8, 8, 6), QueueData("a", 8, 8, 4)


def group(
    name: str, addrs: dict[int, str], cluster: str = "C", acting: bool = False, zone: str | None = None
) -> Group:
    return Group(cluster, name, acting, zone, tuple(Member(*pair) for pair in sorted(addrs.items())))


def seen(
    *groups: Group,
    topics: dict[str, TopicQueues] | None = None,
    kv: Any = None,
    settings: Any = None,
    clusters: dict[str, tuple[str, ...]] | None = None,
) -> PollObservation:
    if clusters is None:
        clusters = {}
        for broker_group in groups:
            clusters[broker_group.cluster_name] = (
                *clusters.get(broker_group.cluster_name, ()),
                broker_group.broker_name,
            )
    topics = topics or {}
    listed = NameServerListing(
        clusters,
        {broker_group.broker_name: broker_group for broker_group in groups},
        tuple(topics),
        settings or {},
        kv or {},
    )
    return PollObservation(listed, topics, {})


def between(before: PollObservation, after: PollObservation) -> list[Event]:
    known = JournalReplay()
    derive_events(known, before)
    return derive_events(known, after)


def on_a(queue: QueueData) -> TopicQueues:
    return TopicQueues({"a": queue}, {})


def test_a_broker_came_and_went() -> None:
    one, none = seen(group("a", {0: "h:1"}), topics={"T": on_a(SIX)}), seen()
    came = BrokerRegistered("C", "a", 0, "h:1", 1, info=None)
    assert between(none, one) == [
        came,
        TopicsChanged("a", "poll", group_topic_changes([TopicChange("T", None, SIX)])),
    ]
    assert between(one, none) == [
        BrokerUnregistered("C", "a", 0, "h:1", "poll", None),
        TopicsChanged("a", "poll", group_topic_changes([TopicChange("T", SIX, None)])),
    ]


def test_a_broker_came_from_another_address_a_slave_took_over_and_two_changed_places() -> None:
    pair = seen(group("a", {0: "h:1", 1: "h:2"}))
    assert between(pair, seen(group("a", {0: "h:3", 1: "h:2"}))) == [
        BrokerRegistered("C", "a", 0, "h:3", 0, "h:1", info=None)
    ]
    assert between(pair, seen(group("a", {0: "h:2"}))) == [
        BrokerRegistered("C", "a", 0, "h:2", 0, "h:1", info=None)
    ]
    assert [type(event) for event in between(pair, seen(group("a", {0: "h:2", 1: "h:1"})))] == [
        BrokerRegistered,
        BrokerRegistered,
    ]


def test_what_a_group_is_changed() -> None:
    [event] = between(seen(group("a", {0: "h:1"})), seen(group("a", {0: "h:1"}, acting=True, zone="z")))
    assert event == BrokerChanged("C", "a", 0, "h:1", 0, True, "z", info=None)


def test_a_group_moved_and_is_listed_twice() -> None:
    here, there = group("a", {0: "h:1"}), group("a", {0: "h:1"}, "D")
    assert [type(event) for event in between(seen(here), seen(there))] == [
        BrokerUnregistered,
        BrokerRegistered,
    ]
    twice = seen(here, clusters={"C": ("a",), "D": ("a",)})
    assert [type(event) for event in between(seen(here), twice)] == [BrokerChanged]
    assert [type(event) for event in between(twice, seen(here))] == [BrokerUnregistered, BrokerRegistered]


def test_a_wipe_is_a_change_of_all_topics_and_nobodys_doing() -> None:
    before = seen(topics={"T": on_a(SIX), "U": on_a(SIX)})
    after = seen(topics={"T": on_a(FOUR), "U": on_a(FOUR)})
    changes = group_topic_changes(TopicChange(topic, SIX, FOUR) for topic in ("T", "U"))
    assert between(before, after) == [TopicsChanged("a", "poll", changes)]


def test_values_settings_and_static_topics() -> None:
    info = MappingInfo("T", total_queues=1, bname="a")
    before = seen(kv={"N": {"k": "1", "l": None}}, settings={"s": "1", "t": "1"})
    after = seen(kv={"M": {"k": None}}, settings={"s": "2"}, topics={"T": TopicQueues({}, {"a": info})})
    events = between(before, after)
    assert MappingsChanged("a", (MappingChange("T", "a", None, info),)) in events
    assert {KvDeleted("N", "k", "1"), KvDeleted("N", "l", None), KvPut("M", "k", None, None)} <= set(events)
    assert events[-1] == SettingsChanged((SettingChange("s", "1", "2"), SettingChange("t", "1", None)))
    assert between(after, after) == []
    assert MappingsChanged("a", (MappingChange("T", "a", info, None),)) in between(after, seen())


def test_what_no_events_lead_to_is_a_snapshot() -> None:
    # An address in two places of one group, as no name server should have it.
    events = between(seen(), seen(group("a", {0: "h:1", 1: "h:1"})))
    assert isinstance(events[-1], Snapshot)
    assert events[-1].groups == (group("a", {0: "h:1", 1: "h:1"}),)


NAMES = st.sampled_from("abc")
ADDRS = st.dictionaries(st.integers(0, 2), st.sampled_from(["h:1", "h:2", "h:3"]), min_size=1)
GROUPS = st.dictionaries(
    NAMES, st.tuples(ADDRS, st.sampled_from("CD"), st.booleans(), st.sampled_from([None, "z"])), max_size=3
)
QUEUES = st.dictionaries(NAMES, st.sampled_from([4, 6]), max_size=3)
ROUTES = st.dictionaries(st.sampled_from("TUV"), QUEUES, max_size=3)
VALUES = st.dictionaries(st.sampled_from("kl"), st.sampled_from(["1", "2", None]), max_size=2)


@st.composite
def looks(draw: st.DrawFn) -> PollObservation:
    groups = [group(name, *parts) for name, parts in draw(GROUPS).items()]
    topics = {
        topic: TopicQueues({name: QueueData(name, 8, 8, perm) for name, perm in queues.items()}, {})
        for topic, queues in draw(ROUTES).items()
    }
    settings = {key: value for key, value in draw(VALUES).items() if value is not None}
    return seen(
        *groups, topics=topics, kv=draw(st.dictionaries(NAMES, VALUES, max_size=2)), settings=settings
    )


@given(st.lists(looks(), min_size=1, max_size=5))
def test_whatever_was_seen_the_records_give_it_again(polls: list[PollObservation]) -> None:
    known, replay, number = JournalReplay(), JournalReplay(), 0
    replay.apply_event(build_snapshot(known, "start"))
    for poll in polls:
        for event in derive_events(known, poll):
            number += 1
            again = event_of_record(
                parse_record_line(
                    encode_record_line(number, "s", RecordOrigin(1, "collector", None, "collector"), event)
                )
            )
            assert again == event
            assert again is not None
            replay.apply_event(again)
        assert replay.table_contents() == known.table_contents()
        assert {name: set(found) for name, found in replay.queues_by_topic.items()} == {
            topic: set(found.queues) for topic, found in poll.changed_queues.items() if found.queues
        }
        assert {name: one.broker_addrs for name, one in replay.broker_groups.items()} == {
            name: dict(one.members) for name, one in poll.server_listing.groups.items()
        }
        assert replay.settings == poll.server_listing.settings
    snapshot = JournalReplay()
    snapshot.apply_event(build_snapshot(known, "interval"))
    assert {**snapshot.table_contents(), "kv": {}} == {**known.table_contents(), "kv": {}}
