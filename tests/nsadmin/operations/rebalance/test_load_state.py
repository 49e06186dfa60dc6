"""The state of the search: loads, the lower bound, and the limits of changes."""

from nsadmin.operations.rebalance.load_state import LevelLimits, LoadState, TopicLoad


def make_state(*topic_loads: TopicLoad, removed: tuple[str, ...] = (), **limits: int) -> LoadState:
    return LoadState(topic_loads, ["a", "b"], (), removed, LevelLimits(**limits))  # type: ignore[arg-type]


def test_the_load_of_a_broker_is_its_part_of_the_write_queues() -> None:
    state = make_state(TopicLoad("T", 0.6, {"a": 8, "b": 4}), TopicLoad("U", 0.4, {"b": 4}))
    assert [round(load, 6) for load in state._broker_loads] == [0.4, 0.6]
    assert state._lower_bound == 0.5


def test_a_topic_that_must_stay_raises_the_lower_bound() -> None:
    state = make_state(TopicLoad("T", 0.7, {"a": 8}, is_fixed=True), TopicLoad("U", 0.3, {"a": 4}))
    assert state._lower_bound == 0.7


def test_what_stays_on_a_removed_broker_does_not_count() -> None:
    state = make_state(
        TopicLoad("T", 0.7, {"a": 8}, is_fixed=True), TopicLoad("U", 0.3, {"a": 4}), removed=("a",)
    )
    assert round(state._lower_bound, 6) == 0.3


def test_a_limit_of_topics_allows_further_changes_of_a_changed_topic_only() -> None:
    state = make_state(TopicLoad("T", 0.5, {"a": 8}), TopicLoad("U", 0.5, {"a": 8}), max_topics=1)
    state._change_topic(0, {1: 8})
    assert state._is_within_limits(0, {0: 4, 1: 4})
    assert not state._is_within_limits(1, {1: 8})
    state._change_topic(0, {0: 8})
    assert state._is_within_limits(1, {1: 8})
