"""What a registration will change, told before: the same as it then does change, or it does not hold."""

from collections import Counter
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.events import QueueData, TopicChanges, group_topic_changes
from namesrv_core.protocol.registration_codec import RegisteredTopicConfig
from namesrv_core.state import registration_preview, route_tables
from namesrv_core.state.registration_preview import RegistrationPreview, preview_registration
from namesrv_core.state.route_tables import RouteTables

WIDE, NARROW = QueueData("a", 16, 16, 6, 0), QueueData("a", 4, 4, 6, 0)


def looked(
    known: RouteTables, topics: Mapping[str, RegisteredTopicConfig], name: str = "a"
) -> tuple[RegistrationPreview | None, int]:
    """What is foreseen for a broker, and the number of steps that took."""
    steps, pauses = preview_registration(known, name, topics), 0
    try:
        while True:
            next(steps)
            pauses += 1
    except StopIteration as ended:
        preview_result: RegistrationPreview | None = ended.value
        return preview_result, pauses


def configs(*names: str) -> dict[str, RegisteredTopicConfig]:
    return {name: RegisteredTopicConfig(name) for name in names}


@pytest.fixture
def known_tables() -> RouteTables:
    tables = RouteTables()
    tables.set_queue("same", WIDE)
    tables.set_queue("other", NARROW)
    tables.set_queue("of b", QueueData("b", 16, 16, 6, 0))
    return tables


def test_only_what_differs_will_change(known_tables: RouteTables) -> None:
    preview, _ = looked(known_tables, configs("same", "other", "of b", "new"))
    assert preview is not None
    assert preview.apply_to_tables(known_tables, new_only=False) == (
        TopicChanges(("other",), NARROW, WIDE),
        TopicChanges(("of b", "new"), None, WIDE),
    )


@pytest.mark.parametrize("new_only", [False, True])
def test_what_is_applied_is_what_is_there(known_tables: RouteTables, new_only: bool) -> None:
    preview, _ = looked(known_tables, configs("other", "new"))
    assert preview is not None
    applied = preview.apply_to_tables(known_tables, new_only=new_only)
    assert [change.topics for change in applied] == ([("new",)] if new_only else [("other",), ("new",)])
    assert known_tables.queues_of_topic("other")["a"] == (NARROW if new_only else WIDE)
    assert known_tables.queues_of_topic("new") == {"a": WIDE}
    assert not preview.is_current(known_tables, "a")


def test_who_brings_or_drops_the_same_topics_meanwhile_loses_nothing(known_tables: RouteTables) -> None:
    preview, _ = looked(known_tables, configs("new", "newer", "of b"))
    assert preview is not None
    new = QueueData("b", 1, 1, 6, 0)
    known_tables.set_queue("new", new)
    known_tables.drop_queue("of b", "b")
    assert preview.is_current(known_tables, "a")
    preview.apply_to_tables(known_tables, new_only=False)
    assert known_tables.queues_of_topic("new") == {"b": new, "a": WIDE}
    assert known_tables.queues_of_topic("newer") == known_tables.queues_of_topic("of b") == {"a": WIDE}


def test_a_topic_that_goes_and_comes_back_meanwhile_is_put_where_it_is(known_tables: RouteTables) -> None:
    preview, _ = looked(known_tables, configs("of b"))
    assert preview is not None
    known_tables.drop_queue("of b", "b")
    known_tables.set_queue("of b", QueueData("c", 1, 1, 6, 0))
    preview.apply_to_tables(known_tables, new_only=False)
    assert known_tables.queues_of_topic("of b").keys() == {"c", "a"}


def test_topics_stand_in_the_order_they_were_brought_in(known_tables: RouteTables) -> None:
    preview, _ = looked(
        known_tables,
        {"new": RegisteredTopicConfig("new"), "y": RegisteredTopicConfig("y", 1), **configs("of b", "z")},
    )
    assert preview is not None
    preview.apply_to_tables(known_tables, new_only=False)
    assert list(known_tables.placements_by_topic) == ["same", "other", "of b", "new", "y", "z"]


def test_a_new_topic_keeps_its_queues_if_all_topics_that_had_such_queues_change_before_it() -> None:
    tables = RouteTables()
    look_and_put(tables, "a", {"T": RegisteredTopicConfig("T", 4)})
    look_and_put(tables, "a", {"T": RegisteredTopicConfig("T", 8), "U": RegisteredTopicConfig("U", 4)})
    assert tables.queues_of_topic("T") == {"a": QueueData("a", 8, 16, 6, 0)}
    assert tables.queues_of_topic("U") == {"a": QueueData("a", 4, 16, 6, 0)}


def test_topics_that_are_all_placed_alike_and_change_alike_stay_together(known_tables: RouteTables) -> None:
    for number in range(100):
        known_tables.set_queue(f"t{number}", NARROW)
    place = known_tables.placements_by_topic["t7"]
    preview, _ = looked(known_tables, configs("other", *(f"t{number}" for number in range(100))))
    assert preview is not None
    preview.apply_to_tables(known_tables, new_only=False)
    assert known_tables.placements_by_topic["t7"] is known_tables.placements_by_topic["other"] is place
    assert (place.broker_queues, place.topic_count) == ({"a": WIDE}, 101)


def look_and_put(known: RouteTables, name: str, topics: Mapping[str, RegisteredTopicConfig]) -> None:
    preview, _ = looked(known, topics, name)
    assert preview is not None
    preview.apply_to_tables(known, new_only=False)


def put_one_by_one(known: RouteTables, name: str, topics: Mapping[str, RegisteredTopicConfig]) -> None:
    for topic, config in topics.items():
        known.set_queue(topic, QueueData(name, config.readQueueNums, 16, 6, 0))


def wiped(queue: QueueData) -> QueueData | None:
    return queue._replace(perm=4)


def gone(queue: QueueData) -> QueueData | None:
    return None


def change_one_by_one(
    known: RouteTables, name: str, change: Callable[[QueueData], QueueData | None]
) -> tuple[TopicChanges, ...]:
    changes = []
    for topic in known.topics_of_broker(name):
        after = change(known.queues_of_topic(topic)[name])
        changes.append(known.drop_queue(topic, name) if after is None else known.set_queue(topic, after))
    return group_topic_changes(changes)


def told(changes: tuple[TopicChanges, ...]) -> dict[tuple[QueueData | None, QueueData | None], list[str]]:
    """The names in no order."""
    return {(before, after): sorted(topics) for topics, before, after in changes}


def contents(known: RouteTables) -> dict[str, list[tuple[str, QueueData]]]:
    """The queues of each topic in their order."""
    for placement, count in Counter(known.placements_by_topic.values()).items():
        assert placement.topic_count == count
    return {
        topic: list(placement.broker_queues.items()) for topic, placement in known.placements_by_topic.items()
    }


def drawn(data: st.DataObject) -> dict[str, RegisteredTopicConfig]:
    names = data.draw(st.lists(st.sampled_from("TUVWXYZ"), unique=True))
    return {name: RegisteredTopicConfig(name, data.draw(st.sampled_from([4, 8]))) for name in names}


@given(st.data())
def test_what_is_put_at_once_is_what_is_put_one_after_the_other(data: st.DataObject) -> None:
    """Others do what they like between the look and the putting."""
    at_once, one_by_one = RouteTables(), RouteTables()
    for name in data.draw(st.lists(st.sampled_from("abc"))):
        topics = drawn(data)
        look_and_put(at_once, name, topics)
        put_one_by_one(one_by_one, name, topics)
    topics = drawn(data)
    found, _ = looked(at_once, topics)
    assert found is not None
    for what in data.draw(st.lists(st.sampled_from(["put", "drop", "register", "wipe", "unregister"]))):
        topic, name = data.draw(st.sampled_from("TUVWXYZ")), data.draw(st.sampled_from("bc"))
        for made in (at_once, one_by_one):
            if what == "put":
                made.set_queue(topic, QueueData(name, 8, 8, 6, 0))
            elif what == "drop":
                made.drop_queue(topic, name)
        if what == "register":
            others = drawn(data)
            look_and_put(at_once, name, others)
            put_one_by_one(one_by_one, name, others)
        elif what in ("wipe", "unregister"):
            change = wiped if what == "wipe" else gone
            assert told(at_once.change_all_queues(name, change)) == told(
                change_one_by_one(one_by_one, name, change)
            )
    assert found.is_current(at_once, "a")
    found.apply_to_tables(at_once, new_only=False)
    put_one_by_one(one_by_one, "a", topics)
    assert contents(at_once) == contents(one_by_one)


def test_it_holds_until_queues_of_that_broker_change(known_tables: RouteTables) -> None:
    preview, _ = looked(known_tables, configs("new"))
    assert preview is not None
    assert not preview.is_current(known_tables, "b")
    known_tables.set_queue("new", QueueData("b", 1, 1, 6, 0))
    known_tables.set_queue("same", WIDE)
    assert preview.is_current(known_tables, "a")
    known_tables.drop_queue("same", "a")
    assert not preview.is_current(known_tables, "a")


def test_it_does_not_hold_where_it_is_not_known_any_more(
    known_tables: RouteTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(route_tables, "_MAX_MOVED_BROKERS", 3)
    strange = RouteTables()
    preview, _ = looked(strange, configs("new"))
    assert preview is not None
    for name in "abcd":
        strange.set_queue("T", QueueData(name, 1, 1, 6, 0))
    assert len(strange._last_moves) <= 3
    assert not preview.is_current(strange, "a")


def test_a_topic_under_another_name_is_not_foreseen(known_tables: RouteTables) -> None:
    assert looked(known_tables, {"x": RegisteredTopicConfig("y")})[0] is None
    assert looked(known_tables, {"x": RegisteredTopicConfig(None)})[0] is None


def test_many_topics_take_steps(known_tables: RouteTables) -> None:
    names = [f"t{number}" for number in range(3 * registration_preview._TOPICS_PER_STEP)]
    assert looked(known_tables, configs(*names))[1] == 3
