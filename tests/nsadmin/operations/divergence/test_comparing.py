"""What differs between pictures, and their hashes."""

import pytest

from nsadmin.operations.divergence.comparing import SECTIONS, Difference, Item, compare, hashes
from tests.support.pictures import knowing, member, queues


def items(*pictures: object, **options: object) -> list[Item]:
    return [one.item for one in compare(pictures, **options).differences]  # type: ignore[arg-type]


def test_equal_ones_do_not_differ_whatever_the_order_of_what_they_know() -> None:
    one = knowing("s:1", topics={"T": {"a": queues(), "b": queues()}, "U": {"a": queues()}})
    two = knowing("s:2", topics={"U": {"a": queues()}, "T": {"b": queues(), "a": queues()}})
    assert compare([one, two]) == (("s:1", "s:2"), (), {})
    assert hashes(one) == hashes(two)
    assert compare([]) == ((), (), {})


def test_each_member_of_a_broker_is_compared_by_itself() -> None:
    whole = {"a": {"clusterName": "c", "brokerAddrs": {"0": "x:1", "10": "z:1", "2": "y:1"}}}
    one, two = knowing("s:1", whole), knowing("s:2", {"a": member("w:1")})
    found = compare([one, two]).differences
    assert [one.item for one in found] == [
        Item("broker", "a", "0"), Item("broker", "a", "2"), Item("broker", "a", "10"),
    ]  # fmt: skip
    assert (found[0].missing, found[0].fields) == ((), (("brokerAddr", ("x:1", "w:1")),))
    assert (found[1].missing, found[1].fields) == ((1,), ())
    assert found[1].values == ({"clusterName": "c", "brokerAddr": "y:1"}, None)


def test_queues_are_compared_broker_by_broker_of_three_servers() -> None:
    usual, wiped = {"a": queues(), "b": queues()}, {"a": queues(4), "b": queues()}
    brokers = {"a": member(), "b": member("y:1")}
    pictures = [
        knowing("s:1", brokers, {"T": usual}),
        knowing("s:2", brokers, {"T": wiped}),
        knowing("s:3", brokers, {"T": {"a": queues()}, "U": {}}),
    ]
    found = compare(pictures).differences
    assert [one.item for one in found] == [
        Item("topic", "T", "a"),
        Item("topic", "T", "b"),
        Item("topic", "U"),
    ]
    assert found[0].fields == (("perm", (6, 4, 6)),)
    assert found[1].missing == (2,)
    assert found[2].values == (None, None, {})


def test_topics_of_a_broker_that_is_not_there_are_implied() -> None:
    one = knowing("s:1", {"a": member(), "b": member("y:1")}, {"T": {"a": queues(), "b": queues()}})
    two = knowing("s:2", {"a": member()}, {"T": {"a": queues()}})
    comparison = compare([one, two])
    assert [found.item for found in comparison.differences] == [Item("broker", "b", "0")]
    assert [found.item for found in comparison.implied["b"]] == [Item("topic", "T", "b")]
    # Where nobody compares brokers, it is a difference like any other.
    assert items(one, two, sections=["topic"]) == [Item("topic", "T", "b")]
    # The second one has other queues of it: that is no consequence.
    three = knowing("s:3", {"a": member()}, {"T": {"a": queues(), "b": queues(4)}})
    assert Item("topic", "T", "b") in items(one, two, three)


def test_kv_and_settings() -> None:
    one = knowing("s:1", kv={"n": {"k": "v", "l": "v"}, "empty": {}}, settings={"a": "1", "listenPort": "1"})
    two = knowing("s:2", kv={"n": {"k": "w", "m": "v"}}, settings={"a": "2", "listenPort": "2", "new": "3"})
    found = compare([one, two], ["kv", "setting"]).differences
    assert [one.item for one in found] == [
        Item("kv", "k", "n"), Item("kv", "l", "n"), Item("kv", "m", "n"), Item("setting", "a"),
    ]  # fmt: skip
    assert found[0].fields == (("", ("v", "w")),)
    assert (found[1].missing, found[2].missing) == ((1,), (0,))
    assert items(one, two, sections=["topic"]) == []


@pytest.mark.parametrize("section", SECTIONS)
def test_a_hash_tells_what_differs_and_places_are_in_none(section: str) -> None:
    other = {
        "broker": knowing("s:2", {"a": member("y:1")}),
        "topic": knowing("s:2", topics={"T": {"a": queues(4)}}),
        "kv": knowing("s:2", kv={"n": {"k": "v"}}),
        "setting": knowing("s:2", settings={"orderMessageEnable": "true"}),
    }
    one, two = hashes(knowing("s:1", settings={"listenPort": "1"})), hashes(other[section])
    assert {name for name in SECTIONS if one[name] != two[name]} == {section}


def test_a_hash_is_the_same_everywhere() -> None:
    assert hashes(knowing("s:1")) == {
        "broker": "6506b58030ba185d",
        "topic": "72959b1773284ec5",
        "kv": "44136fa355b3678a",
        "setting": "44136fa355b3678a",
    }


def test_a_difference_of_texts_where_one_is_missing() -> None:
    found = Difference(Item("kv", "k", "n"), ("v", None, "w"))
    assert (found.missing, found.fields) == ((1,), (("", ("v", None, "w")),))
