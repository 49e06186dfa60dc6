"""Differences that are alike as one, their ages, and the verdict."""

from nsadmin.client.snapshots import ClusterSnapshot
from nsadmin.operations.divergence.causes import DivergenceCause
from nsadmin.operations.divergence.comparison import ComparedItem, ItemDifference, compare_snapshots
from nsadmin.operations.divergence.verdict import (
    COMMAND_SETTLE_MS,
    DEFAULT_SETTLE_MS,
    DifferenceAges,
    DriftFinding,
    build_findings,
    bundle_differences,
    decide_verdict,
    describe_difference,
    format_item_name,
    map_by_server,
)
from tests.support.cluster_snapshots import make_broker_entry, make_cluster_snapshot, make_queue_entry

CAUSE = DivergenceCause("kind", "text", "advice")


def found(
    pictures: list[ClusterSnapshot], *looks: tuple[list[ClusterSnapshot], int], now: int = DEFAULT_SETTLE_MS
) -> list[DriftFinding]:
    """What a look at `now` finds after looks at other times, all with one cause."""
    ages = DifferenceAges()
    for seen, at in looks:
        ages.observe_comparison(compare_snapshots(seen), at)
    comparison = compare_snapshots(pictures)
    ages.observe_comparison(comparison, now)
    return build_findings(bundle_differences(comparison), comparison, ages, now, lambda _: CAUSE)


def wiped(count: int) -> list[ClusterSnapshot]:
    names = [f"T{number}" for number in range(count)]
    return [
        make_cluster_snapshot(
            f"s:{perm}",
            topics={name: {"a": make_queue_entry(perm), "b": make_queue_entry()} for name in names},
        )
        for perm in (6, 4)
    ]


def test_400_topics_of_one_broker_are_one() -> None:
    pictures = wiped(400)
    [finding] = found(pictures, (pictures, 0))
    assert (finding.section_name, finding.parent_name, len(finding.differences)) == ("topic", "a", 400)
    assert (finding.state, finding.age_ms, finding.cause) == ("drift", DEFAULT_SETTLE_MS, CAUSE)
    assert finding.item_names[:2] == ("T0", "T1")


def test_those_that_differ_in_another_way_stand_by_themselves() -> None:
    one, two = wiped(2)
    two = two._replace(
        topics={**two.topics, "T1": {"a": make_queue_entry(4, 16), "b": make_queue_entry(6, 16)}}
    )
    assert [(item.parent_name, item.item_names) for item in found([one, two])] == [
        ("a", ("T0",)),
        ("a", ("T1",)),
        ("b", ("T1",)),
    ]


def test_brokers_with_one_cause_are_one_and_their_topics_go_with_them() -> None:
    brokers = {name: make_broker_entry(f"{name}:1") for name in "abc"}
    topics = {"T": {name: make_queue_entry() for name in "abc"}, "U": {"b": make_queue_entry()}}
    one, two = (
        make_cluster_snapshot("s:1", brokers, topics),
        make_cluster_snapshot("s:2", {"a": make_broker_entry("a:1")}, {"T": {"a": make_queue_entry()}}),
    )
    for later in "cb":
        seen = two._replace(brokers={**two.brokers, later: brokers[later]})
        [finding] = found([one, two], ([one, seen], 0), now=10_000)
        assert (finding.item_names, finding.parent_name, finding.age_ms) == (("b:0", "c:0"), "", 10_000)
    assert [item.item for item in finding.implied_topics] == [
        ComparedItem("topic", "T", "b"), ComparedItem("topic", "U", "b"), ComparedItem("topic", "T", "c"),
    ]  # fmt: skip


def test_what_is_younger_than_two_heartbeats_is_new() -> None:
    one, two = wiped(2)
    half = two._replace(topics={**two.topics, "T1": one.topics["T1"]})
    # T1 differs since 10 s, T0 since 60.
    old, new = found([one, two], ([one, half], 0), ([one, two], 50_000))
    assert (old.state, old.item_names, old.age_ms) == ("drift", ("T0",), DEFAULT_SETTLE_MS)
    assert (new.state, new.item_names, new.age_ms) == ("new", ("T1",), 10_000)


def test_what_was_equal_in_between_is_new_again() -> None:
    pictures = wiped(1)
    [finding] = found(pictures, (pictures, 0), ([pictures[0], pictures[0]], 30_000))
    assert (finding.state, finding.age_ms) == ("new", 0)


def test_what_no_broker_makes_equal_need_not_be_waited_for() -> None:
    pictures = [make_cluster_snapshot("s:1", kv={"n": {"k": "v"}}), make_cluster_snapshot("s:2")]
    [finding] = found(pictures, (pictures, 0), now=COMMAND_SETTLE_MS)
    assert (finding.section_name, finding.parent_name, finding.state) == ("kv", "n", "drift")
    [finding] = found(pictures, (pictures, 0), now=COMMAND_SETTLE_MS - 1)
    assert finding.state == "new"


def test_without_patience_everything_is_drift_at_once() -> None:
    ages, comparison = DifferenceAges(0), compare_snapshots(wiped(1))
    ages.observe_comparison(comparison, 7)
    assert ages.state_of(comparison.differences[0].item, 7) == "drift"
    assert ages.list_undecided_ms(7) == []


def test_what_is_left_until_it_is_clear() -> None:
    ages = DifferenceAges()
    ages.observe_comparison(compare_snapshots([*wiped(1)]), 0)
    assert ages.list_undecided_ms(10_000) == [DEFAULT_SETTLE_MS - 10_000]
    assert ages.list_undecided_ms(DEFAULT_SETTLE_MS - 1) == [1]
    assert ages.list_undecided_ms(DEFAULT_SETTLE_MS) == []


def test_the_verdict() -> None:
    drift = found(wiped(1), (wiped(1), 0))
    new = found(wiped(1))
    assert decide_verdict(2, 2, []) == "agree"
    assert decide_verdict(2, 2, new) == "converging"
    assert decide_verdict(2, 2, drift) == "diverge"
    assert decide_verdict(3, 2, []) == "partial"
    assert decide_verdict(3, 2, new) == "partial"
    # That they diverge is known, whatever the third one says.
    assert decide_verdict(3, 2, drift) == "diverge"
    assert decide_verdict(2, 1, []) == "unknown"
    assert decide_verdict(1, 1, []) == "unknown"


SERVERS = ("s:1", "s:2", "s:3")


def test_in_words() -> None:
    item = ComparedItem("topic", "T", "a")
    assert describe_difference(
        ItemDifference(item, (make_queue_entry(), make_queue_entry(4), None)), SERVERS
    ) == ("on s:1 s:2, not on s:3; perm: rw- on s:1, r-- on s:2")
    assert (
        describe_difference(ItemDifference(ComparedItem("kv", "k", "n"), ("v", "", "v")), SERVERS)
        == "v on s:1 s:3, '' on s:2"
    )
    mapped = {**make_queue_entry(), "mappingEpoch": 7}
    assert describe_difference(ItemDifference(item, (make_queue_entry(), mapped, mapped)), SERVERS) == (
        "mappingEpoch: nothing on s:1, 7 on s:2 s:3"
    )


def test_secrets_are_told_apart_and_not_told() -> None:
    for section in ("kv", "setting"):
        difference = ItemDifference(ComparedItem(section, "password", "n"), ("hunter2", None, "other"))
        words = describe_difference(difference, SERVERS)
        assert words == "on s:1 s:3, not on s:2; secret 1 on s:1, secret 2 on s:3"
        assert map_by_server(difference, SERVERS) == {"s:1": "secret 1", "s:2": None, "s:3": "secret 2"}


def test_names() -> None:
    assert format_item_name(ComparedItem("broker", "a", "0")) == "a:0"
    assert format_item_name(ComparedItem("topic", "T", "a")) == "T"
    assert format_item_name(ComparedItem("kv", "k", "n")) == "n k"
    assert format_item_name(ComparedItem("setting", "k")) == "k"
