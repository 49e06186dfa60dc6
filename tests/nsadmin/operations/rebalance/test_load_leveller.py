"""The search for level load: constraints hold for any cluster, the result is level and always the same."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from nsadmin.operations.rebalance.load_leveller import level_load
from nsadmin.operations.rebalance.load_state import LevelLimits, LevelResult, TopicLoad

ALLOWED = (4, 8, 16)
BROKERS = ("a", "b", "c", "d", "e")


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[TopicLoad], list[str], list[str], list[str]]:
    """Topics with loads that sum up to 1, brokers, added brokers and removed brokers."""
    broker_names = list(BROKERS[: draw(st.integers(2, 5))])
    removed = draw(st.lists(st.sampled_from(broker_names), unique=True, max_size=len(broker_names) - 1))
    added = draw(
        st.lists(st.sampled_from(broker_names), unique=True, max_size=2).map(
            lambda names: [name for name in names if name not in removed]
        )
    )
    weights = draw(st.lists(st.integers(0, 1000), min_size=1, max_size=12))
    total_weight = sum(weights) or 1
    topic_loads = [
        TopicLoad(
            f"T{number:02d}",
            weight / total_weight,
            draw(st.dictionaries(st.sampled_from(broker_names), st.sampled_from((1, 4, 8, 24)), min_size=1)),
            draw(st.integers(0, 9)) == 0,
        )
        for number, weight in enumerate(weights)
    ]
    return topic_loads, broker_names, added, removed


def broker_loads(topic_loads: list[TopicLoad], result: LevelResult) -> dict[str, float]:
    loads: dict[str, float] = {}
    for topic_load in topic_loads:
        counts = result.queue_counts.get(topic_load.topic, topic_load.queue_counts)
        for broker_name, count in counts.items():
            part = topic_load.load * count / sum(counts.values())
            loads[broker_name] = loads.get(broker_name, 0.0) + part
    return loads


@settings(max_examples=100, deadline=None)
@given(clusters(), st.booleans(), st.one_of(st.none(), st.integers(1, 3)))
def test_every_constraint_holds_for_any_cluster(
    cluster: tuple[list[TopicLoad], list[str], list[str], list[str]],
    counts_queues: bool,
    max_topics: int | None,
) -> None:
    topic_loads, broker_names, added, removed = cluster
    limits = LevelLimits(ALLOWED, max_topics, counts_queues=counts_queues)
    result = level_load(topic_loads, broker_names, added, removed, limits)
    loads_by_topic = {load.topic: load for load in topic_loads}
    kept_count = len(broker_names) - len(removed)
    assert max_topics is None or len(result.queue_counts) <= max_topics
    for topic, counts in result.queue_counts.items():
        before = loads_by_topic[topic].queue_counts
        assert not loads_by_topic[topic].is_fixed
        assert counts
        assert dict(counts) != dict(before)
        assert not counts.keys() & set(removed)
        assert len(counts) >= min(2, len(before), kept_count)
        for broker_name, count in counts.items():
            assert count == before.get(broker_name) or count in ALLOWED
    for topic_load in topic_loads:
        is_left = topic_load.topic in result.left_topics
        counts = result.queue_counts.get(topic_load.topic, topic_load.queue_counts)
        assert is_left == bool(counts.keys() & set(removed))
        if is_left:
            assert topic_load.is_fixed or max_topics is not None
    assert result.largest_load >= result.lower_bound - 1e-9
    if max_topics is None and not counts_queues:
        kept_loads = [load for name, load in broker_loads(topic_loads, result).items() if name not in removed]
        assert abs(max(kept_loads, default=0.0) - result.largest_load) < 1e-9
        if not any(load.is_fixed for load in topic_loads):
            assert result.largest_load <= result.lower_bound * 1.05 + 1e-9


@settings(max_examples=30, deadline=None)
@given(clusters(), st.randoms(use_true_random=False))
def test_the_result_does_not_depend_on_the_order_of_the_input(
    cluster: tuple[list[TopicLoad], list[str], list[str], list[str]], shuffler: random.Random
) -> None:
    topic_loads, broker_names, added, removed = cluster
    result = level_load(topic_loads, broker_names, added, removed)
    for names in (topic_loads, broker_names, added, removed):
        shuffler.shuffle(names)
    assert level_load(topic_loads, broker_names, added, removed) == result


def test_a_level_cluster_stays_as_it_is() -> None:
    topic_loads = [TopicLoad("T", 0.6, {"a": 8, "b": 8}), TopicLoad("U", 0.4, {"a": 4, "b": 4})]
    assert level_load(topic_loads, ["a", "b"]).queue_counts == {}


def test_a_hot_topic_gets_queues_on_more_brokers() -> None:
    topic_loads = [TopicLoad("hot", 0.9, {"a": 8}), TopicLoad("cold", 0.1, {"a": 8, "b": 8})]
    result = level_load(topic_loads, ["a", "b", "c"])
    assert result.queue_counts["hot"].keys() == {"a", "b", "c"}
    assert result.largest_load <= result.lower_bound * 1.05


def test_a_new_broker_gets_a_full_part_though_the_others_are_not_too_full() -> None:
    brokers = [f"b{number}" for number in range(40)]
    topic_loads = [
        TopicLoad(f"T{number}", 1 / 400, {brokers[number % 40]: 8, brokers[(number + 1) % 40]: 8})
        for number in range(400)
    ]
    result = level_load(topic_loads, [*brokers, "new"], added=["new"])
    assert broker_loads(topic_loads, result)["new"] >= 0.9 / 41


def test_a_removed_broker_gives_its_queues_to_the_emptiest_brokers_and_keeps_their_number() -> None:
    topic_loads = [TopicLoad("T", 0.5, {"a": 8, "b": 8}), TopicLoad("U", 0.5, {"a": 4, "c": 4})]
    result = level_load(topic_loads, ["a", "b", "c"], removed=["a"])
    assert result.queue_counts == {"T": {"b": 8, "c": 8}, "U": {"b": 4, "c": 4}}
    assert result.left_topics == ()


def test_the_goal_queues_moves_whole_queues_only() -> None:
    topic_loads = [TopicLoad(f"T{number}", 0.1, {"a": 8, "b": 8}) for number in range(10)]
    result = level_load(topic_loads, ["a", "b", "c"], added=["c"], limits=LevelLimits(counts_queues=True))
    assert all(sum(counts.values()) == 16 for counts in result.queue_counts.values())
    assert result.largest_load <= 0.36


def test_max_share_limits_the_load_that_moves() -> None:
    topic_loads = [TopicLoad(f"T{number}", 0.05, {"a": 8, "b": 8}) for number in range(20)]
    result = level_load(topic_loads, ["a", "b", "c"], added=["c"], limits=LevelLimits(max_share=0.1))
    assert 0 < broker_loads(topic_loads, result)["c"] <= 0.1 + 1e-9


def test_a_hundred_brokers_with_ten_thousand_topics_are_level_within_5_percent() -> None:
    generator = random.Random(31)
    brokers = [f"broker-{number:03d}" for number in range(100)]
    weights = [1 / (number + 1) for number in range(10_000)]
    generator.shuffle(weights)
    topic_loads = [
        TopicLoad(
            f"topic-{number:05d}",
            weight / sum(weights),
            dict.fromkeys(generator.sample(brokers, generator.choice((2, 2, 4, 8))), 8),
        )
        for number, weight in enumerate(weights)
    ]
    result = level_load(topic_loads, brokers)
    assert result.largest_load <= 1.05 * result.lower_bound
