"""Differences that are alike as one, their ages, and the verdict."""

from nsadmin.client.pictures import Picture
from nsadmin.operations.divergence.causes import Cause
from nsadmin.operations.divergence.comparing import Difference, Item, compare
from nsadmin.operations.divergence.findings import (
    MOMENT,
    PATIENCE,
    Ages,
    Finding,
    bundles,
    by_server,
    findings,
    in_words,
    name_of,
    verdict,
)
from tests.support.pictures import knowing, member, queues

CAUSE = Cause("kind", "text", "advice")


def found(pictures: list[Picture], *looks: tuple[list[Picture], int], now: int = PATIENCE) -> list[Finding]:
    """What a look at `now` finds after looks at other times, all with one cause."""
    ages = Ages()
    for seen, at in looks:
        ages.observe(compare(seen), at)
    comparison = compare(pictures)
    ages.observe(comparison, now)
    return findings(bundles(comparison), comparison, ages, now, lambda _: CAUSE)


def wiped(count: int) -> list[Picture]:
    names = [f"T{number}" for number in range(count)]
    return [
        knowing(f"s:{perm}", topics={name: {"a": queues(perm), "b": queues()} for name in names})
        for perm in (6, 4)
    ]


def test_400_topics_of_one_broker_are_one() -> None:
    pictures = wiped(400)
    [finding] = found(pictures, (pictures, 0))
    assert (finding.what, finding.place, len(finding.differences)) == ("topic", "a", 400)
    assert (finding.state, finding.age, finding.cause) == ("drift", PATIENCE, CAUSE)
    assert finding.names[:2] == ("T0", "T1")


def test_those_that_differ_in_another_way_stand_by_themselves() -> None:
    one, two = wiped(2)
    two = two._replace(topics={**two.topics, "T1": {"a": queues(4, 16), "b": queues(6, 16)}})
    assert [(item.place, item.names) for item in found([one, two])] == [
        ("a", ("T0",)),
        ("a", ("T1",)),
        ("b", ("T1",)),
    ]


def test_brokers_with_one_cause_are_one_and_their_topics_go_with_them() -> None:
    brokers = {name: member(f"{name}:1") for name in "abc"}
    topics = {"T": {name: queues() for name in "abc"}, "U": {"b": queues()}}
    one, two = knowing("s:1", brokers, topics), knowing("s:2", {"a": member("a:1")}, {"T": {"a": queues()}})
    [finding] = found([one, two])
    assert finding.names == ("b:0", "c:0")
    assert [item.item for item in finding.implied] == [
        Item("topic", "T", "b"), Item("topic", "U", "b"), Item("topic", "T", "c"),
    ]  # fmt: skip


def test_what_is_younger_than_two_heartbeats_is_new() -> None:
    one, two = wiped(2)
    half = two._replace(topics={**two.topics, "T1": one.topics["T1"]})
    # T1 differs since 10 s, T0 since 60.
    old, new = found([one, two], ([one, half], 0), ([one, two], 50_000))
    assert (old.state, old.names, old.age) == ("drift", ("T0",), PATIENCE)
    assert (new.state, new.names, new.age) == ("new", ("T1",), 10_000)


def test_what_was_equal_in_between_is_new_again() -> None:
    pictures = wiped(1)
    [finding] = found(pictures, (pictures, 0), ([pictures[0], pictures[0]], 30_000))
    assert (finding.state, finding.age) == ("new", 0)


def test_what_no_broker_makes_equal_need_not_be_waited_for() -> None:
    pictures = [knowing("s:1", kv={"n": {"k": "v"}}), knowing("s:2")]
    [finding] = found(pictures, (pictures, 0), now=MOMENT)
    assert (finding.what, finding.place, finding.state) == ("kv", "n", "drift")
    [finding] = found(pictures, (pictures, 0), now=MOMENT - 1)
    assert finding.state == "new"


def test_without_patience_everything_is_drift_at_once() -> None:
    ages, comparison = Ages(0), compare(wiped(1))
    ages.observe(comparison, 7)
    assert ages.state(comparison.differences[0].item, 7) == "drift"
    assert ages.undecided(7) == []


def test_what_is_left_until_it_is_clear() -> None:
    ages = Ages()
    ages.observe(
        compare(
            [
                *wiped(1),
            ]
        ),
        0,
    )
    assert ages.undecided(10_000) == [PATIENCE - 10_000]
    assert ages.undecided(PATIENCE) == []


def test_the_verdict() -> None:
    drift = found(wiped(1), (wiped(1), 0))
    new = found(wiped(1))
    assert verdict(2, 2, []) == "agree"
    assert verdict(2, 2, new) == "converging"
    assert verdict(2, 2, drift) == "diverge"
    assert verdict(3, 2, []) == "partial"
    assert verdict(3, 2, new) == "partial"
    # That they diverge is known, whatever the third one says.
    assert verdict(3, 2, drift) == "diverge"
    assert verdict(2, 1, []) == "unknown"
    assert verdict(1, 1, []) == "unknown"


SERVERS = ("s:1", "s:2", "s:3")


def test_in_words() -> None:
    item = Item("topic", "T", "a")
    assert in_words(Difference(item, (queues(), queues(4), None)), SERVERS) == (
        "on s:1 s:2, not on s:3; perm: rw- on s:1, r-- on s:2"
    )
    assert in_words(Difference(Item("kv", "k", "n"), ("v", "", "v")), SERVERS) == "v on s:1 s:3, '' on s:2"
    mapped = {**queues(), "mappingEpoch": 7}
    assert in_words(Difference(item, (queues(), mapped, mapped)), SERVERS) == (
        "mappingEpoch: nothing on s:1, 7 on s:2 s:3"
    )


def test_secrets_are_told_apart_and_not_told() -> None:
    difference = Difference(Item("kv", "password", "n"), ("hunter2", None, "other"))
    words = in_words(difference, SERVERS)
    assert words == "on s:1 s:3, not on s:2; secret 1 on s:1, secret 2 on s:3"
    assert by_server(difference, SERVERS) == {"s:1": "secret 1", "s:2": None, "s:3": "secret 2"}


def test_names() -> None:
    assert name_of(Item("broker", "a", "0")) == "a:0"
    assert name_of(Item("topic", "T", "a")) == "T"
    assert name_of(Item("kv", "k", "n")) == "n k"
    assert name_of(Item("setting", "k")) == "k"
