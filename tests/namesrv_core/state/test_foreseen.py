"""What a registration will change, told before: the same as it then does change, or it does not hold."""

from collections.abc import Mapping

import pytest

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
    assert found.changes == (
        TopicChange("other", NARROW, WIDE),
        TopicChange("of b", None, WIDE),
        TopicChange("new", None, WIDE),
    )


@pytest.mark.parametrize("new_only", [False, True])
def test_what_is_applied_is_what_is_there(known: RouteTables, new_only: bool) -> None:
    found, _ = looked(known, configs("other", "new"))
    assert found is not None
    applied = found.apply(known, new_only=new_only)
    assert [change.topic for change in applied] == (["new"] if new_only else ["other", "new"])
    assert known.topics["other"]["a"] == (NARROW if new_only else WIDE)
    assert known.topics["new"] == {"a": WIDE}
    assert not found.holds(known, "a")


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
