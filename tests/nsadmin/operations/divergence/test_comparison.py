"""What differs between pictures, and their hashes."""

import pytest

from nsadmin.operations.divergence.comparison import (
    STATE_SECTIONS,
    ComparedItem,
    ItemDifference,
    compare_snapshots,
    hash_sections,
)
from tests.support.cluster_snapshots import make_broker_entry, make_cluster_snapshot, make_queue_entry


def items(*pictures: object, **options: object) -> list[ComparedItem]:
    return [difference.item for difference in compare_snapshots(pictures, **options).differences]  # type: ignore[arg-type]


def test_equal_ones_do_not_differ_whatever_the_order_of_what_they_know() -> None:
    first_snapshot = make_cluster_snapshot(
        "s:1",
        topics={"T": {"a": make_queue_entry(), "b": make_queue_entry()}, "U": {"a": make_queue_entry()}},
    )
    two = make_cluster_snapshot(
        "s:2",
        topics={"U": {"a": make_queue_entry()}, "T": {"b": make_queue_entry(), "a": make_queue_entry()}},
    )
    assert compare_snapshots([first_snapshot, two]) == (("s:1", "s:2"), (), {})
    assert hash_sections(first_snapshot) == hash_sections(two)
    assert compare_snapshots([]) == ((), (), {})


def test_each_member_of_a_broker_is_compared_by_itself() -> None:
    whole = {"a": {"clusterName": "c", "brokerAddrs": {"0": "x:1", "10": "z:1", "2": "y:1"}}}
    one, two = (
        make_cluster_snapshot("s:1", whole),
        make_cluster_snapshot("s:2", {"a": make_broker_entry("w:1")}),
    )
    differences = compare_snapshots([one, two]).differences
    assert [one.item for one in differences] == [
        ComparedItem("broker", "a", "0"), ComparedItem("broker", "a", "2"), ComparedItem("broker", "a", "10"),
    ]  # fmt: skip
    assert (differences[0].missing_servers, differences[0].differing_fields) == (
        (),
        (("brokerAddr", ("x:1", "w:1")),),
    )
    assert (differences[1].missing_servers, differences[1].differing_fields) == ((1,), ())
    assert differences[1].server_values == ({"clusterName": "c", "brokerAddr": "y:1"}, None)


def test_queues_are_compared_broker_by_broker_of_three_servers() -> None:
    usual, wiped = (
        {"a": make_queue_entry(), "b": make_queue_entry()},
        {"a": make_queue_entry(4), "b": make_queue_entry()},
    )
    brokers = {"a": make_broker_entry(), "b": make_broker_entry("y:1")}
    pictures = [
        make_cluster_snapshot("s:1", brokers, {"T": usual}),
        make_cluster_snapshot("s:2", brokers, {"T": wiped}),
        make_cluster_snapshot("s:3", brokers, {"T": {"a": make_queue_entry()}, "U": {}}),
    ]
    differences = compare_snapshots(pictures).differences
    assert [difference.item for difference in differences] == [
        ComparedItem("topic", "T", "a"),
        ComparedItem("topic", "T", "b"),
        ComparedItem("topic", "U"),
    ]
    assert differences[0].differing_fields == (("perm", (6, 4, 6)),)
    assert differences[1].missing_servers == (2,)
    assert differences[2].server_values == (None, None, {})


def test_topics_of_a_broker_that_is_not_there_are_implied() -> None:
    one = make_cluster_snapshot(
        "s:1",
        {"a": make_broker_entry(), "b": make_broker_entry("y:1")},
        {"T": {"a": make_queue_entry(), "b": make_queue_entry()}},
    )
    two = make_cluster_snapshot("s:2", {"a": make_broker_entry()}, {"T": {"a": make_queue_entry()}})
    comparison = compare_snapshots([one, two])
    assert [difference.item for difference in comparison.differences] == [ComparedItem("broker", "b", "0")]
    assert [difference.item for difference in comparison.implied_by_broker["b"]] == [
        ComparedItem("topic", "T", "b")
    ]
    # Where nobody compares brokers, it is a difference like any other.
    assert items(one, two, sections=["topic"]) == [ComparedItem("topic", "T", "b")]
    # The second one has other queues of it: that is no consequence.
    three = make_cluster_snapshot(
        "s:3", {"a": make_broker_entry()}, {"T": {"a": make_queue_entry(), "b": make_queue_entry(4)}}
    )
    assert ComparedItem("topic", "T", "b") in items(one, two, three)


def test_kv_and_settings() -> None:
    one = make_cluster_snapshot(
        "s:1", kv={"n": {"k": "v", "l": "v"}, "empty": {}}, settings={"a": "1", "listenPort": "1"}
    )
    two = make_cluster_snapshot(
        "s:2", kv={"n": {"k": "w", "m": "v"}}, settings={"a": "2", "listenPort": "2", "new": "3"}
    )
    differences = compare_snapshots([one, two], ["kv", "setting"]).differences
    assert [one.item for one in differences] == [
        ComparedItem("kv", "k", "n"), ComparedItem("kv", "l", "n"), ComparedItem("kv", "m", "n"),
        ComparedItem("setting", "a"),
    ]  # fmt: skip
    assert differences[0].differing_fields == (("", ("v", "w")),)
    assert (differences[1].missing_servers, differences[2].missing_servers) == ((1,), (0,))
    assert items(one, two, sections=["topic"]) == []


@pytest.mark.parametrize("section", STATE_SECTIONS)
def test_a_hash_tells_what_differs_and_places_are_in_none(section: str) -> None:
    other = {
        "broker": make_cluster_snapshot("s:2", {"a": make_broker_entry("y:1")}),
        "topic": make_cluster_snapshot("s:2", topics={"T": {"a": make_queue_entry(4)}}),
        "kv": make_cluster_snapshot("s:2", kv={"n": {"k": "v"}}),
        "setting": make_cluster_snapshot("s:2", settings={"orderMessageEnable": "true"}),
    }
    one, two = (
        hash_sections(make_cluster_snapshot("s:1", settings={"listenPort": "1"})),
        hash_sections(other[section]),
    )
    assert {name for name in STATE_SECTIONS if one[name] != two[name]} == {section}


def test_a_hash_is_the_same_everywhere() -> None:
    assert hash_sections(make_cluster_snapshot("s:1")) == {
        "broker": "6506b58030ba185d",
        "topic": "72959b1773284ec5",
        "kv": "44136fa355b3678a",
        "setting": "44136fa355b3678a",
    }
    # A name that is no UTF-8.
    assert hash_sections(make_cluster_snapshot("s:1", topics={"\udcff": {}}))["topic"] == "c605d589fb364329"


def test_a_difference_of_texts_where_one_is_missing() -> None:
    difference = ItemDifference(ComparedItem("kv", "k", "n"), ("v", None, "w"))
    assert (difference.missing_servers, difference.differing_fields) == ((1,), (("", ("v", None, "w")),))
