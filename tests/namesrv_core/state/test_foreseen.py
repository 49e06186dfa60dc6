"""What a registration will change, told before: the same as it then does change, or it does not hold."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.events import QueueData, TopicChange
from namesrv_core.protocol.registration import TopicConfig
from namesrv_core.state import foreseen, tables
from namesrv_core.state.foreseen import Foreseen, foresee
from namesrv_core.state.tables import RouteTables

WIDE, NARROW = QueueData("a", 16, 16, 6, 0), QueueData("a", 4, 4, 6, 0)


def looked(known: RouteTables, topics: Mapping[str, TopicConfig]) -> tuple[Foreseen | None, int]:
    """What is foreseen for broker "a", and the number of steps that took."""
    steps, pauses = foresee(known, "a", topics), 0
    try:
        while True:
            next(steps)
            pauses += 1
    except StopIteration as ended:
        found: Foreseen | None = ended.value
        return found, pauses


def configs(*names: str) -> dict[str, TopicConfig]:
    return {name: TopicConfig(name) for name in names}


@pytest.fixture
def known() -> RouteTables:
    made = RouteTables()
    made.set_queue("same", WIDE)
    made.set_queue("other", NARROW)
    made.set_queue("of b", QueueData("b", 16, 16, 6, 0))
    return made


def test_only_what_differs_will_change(known: RouteTables) -> None:
    found, _ = looked(known, configs("same", "other", "of b", "new"))
    assert found is not None
    assert found.changes == [
        TopicChange("other", NARROW, WIDE),
        TopicChange("of b", None, WIDE),
        TopicChange("new", None, WIDE),
    ]


@pytest.mark.parametrize("new_only", [False, True])
def test_what_is_applied_is_what_is_there(known: RouteTables, new_only: bool) -> None:
    found, _ = looked(known, configs("other", "new"))
    assert found is not None
    applied = found.apply(known, new_only=new_only)
    assert [change.topic for change in applied] == (["new"] if new_only else ["other", "new"])
    assert known.topics["other"]["a"] == (NARROW if new_only else WIDE)
    assert known.topics["new"] == {"a": WIDE}
    assert not found.holds(known, "a")


def test_who_brings_or_drops_the_same_topics_meanwhile_loses_nothing(known: RouteTables) -> None:
    found, _ = looked(known, configs("new", "newer", "of b"))
    assert found is not None
    new = QueueData("b", 1, 1, 6, 0)
    known.set_queue("new", new)
    known.drop_queue("of b", "b")
    assert found.holds(known, "a")
    found.apply(known, new_only=False)
    assert known.topics["new"] == {"b": new, "a": WIDE}
    assert known.topics["newer"] == known.topics["of b"] == {"a": WIDE}


def test_a_topic_that_goes_and_comes_back_meanwhile_is_put_where_it_is(known: RouteTables) -> None:
    found, _ = looked(known, configs("of b"))
    assert found is not None
    known.drop_queue("of b", "b")
    known.set_queue("of b", QueueData("c", 1, 1, 6, 0))
    found.apply(known, new_only=False)
    assert known.topics["of b"].keys() == {"c", "a"}


def in_order(known: RouteTables) -> list[object]:
    return [(topic, list(brokers.items())) for topic, brokers in known.topics.items()]


def test_topics_stand_in_the_order_they_were_brought_in_whatever_went_meanwhile(known: RouteTables) -> None:
    found, _ = looked(known, configs("of b", "new"))
    assert found is not None
    known.drop_queue("of b", "b")
    found.apply(known, new_only=False)
    assert list(known.topics) == ["same", "other", "of b", "new"]


@given(st.data())
def test_what_is_put_at_once_is_what_is_put_one_after_the_other(data: st.DataObject) -> None:
    """Others do what they like between the look and the putting."""
    names, brokers = st.sampled_from("TUVWX"), st.sampled_from("bc")
    at_once, one_by_one = RouteTables(), RouteTables()
    before = data.draw(st.lists(st.tuples(names, st.sampled_from("abc"))))
    meanwhile = data.draw(st.lists(st.tuples(st.booleans(), names, brokers)))
    for topic, broker in before:
        for made in (at_once, one_by_one):
            made.set_queue(topic, QueueData(broker, 4, 4, 6, 0))
    topics = configs(*data.draw(st.lists(names, unique=True)))
    found, _ = looked(at_once, topics)
    assert found is not None
    for made in (at_once, one_by_one):
        for comes, topic, broker in meanwhile:
            if comes:
                made.set_queue(topic, QueueData(broker, 8, 8, 6, 0))
            else:
                made.drop_queue(topic, broker)
    assert found.holds(at_once, "a")
    found.apply(at_once, new_only=False)
    for topic in topics:
        one_by_one.set_queue(topic, WIDE)
    assert in_order(at_once) == in_order(one_by_one)


def test_it_holds_until_queues_of_that_broker_change(known: RouteTables) -> None:
    found, _ = looked(known, configs("new"))
    assert found is not None
    assert not found.holds(known, "b")
    known.set_queue("new", QueueData("b", 1, 1, 6, 0))
    known.set_queue("same", WIDE)
    assert found.holds(known, "a")
    known.drop_queue("same", "a")
    assert not found.holds(known, "a")


def test_it_does_not_hold_where_it_is_not_known_any_more(
    known: RouteTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_MOVED", 3)
    strange = RouteTables()
    found, _ = looked(strange, configs("new"))
    assert found is not None
    for name in "abcd":
        strange.set_queue("T", QueueData(name, 1, 1, 6, 0))
    assert len(strange._moved) <= 3
    assert not found.holds(strange, "a")


def test_a_topic_under_another_name_is_not_foreseen(known: RouteTables) -> None:
    assert looked(known, {"x": TopicConfig("y")})[0] is None
    assert looked(known, {"x": TopicConfig(None)})[0] is None


def test_many_topics_take_steps(known: RouteTables) -> None:
    names = [f"t{number}" for number in range(3 * foreseen._AT_ONCE)]
    assert looked(known, configs(*names))[1] == 3
