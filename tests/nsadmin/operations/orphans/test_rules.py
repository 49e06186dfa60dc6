"""Which topics have lost what they belong to."""

from typing import Any

from nsadmin.client import NotFound
from nsadmin.operations.orphans.rules import Orphan, TopicFacts, find_orphans

FACTS = TopicFacts(
    topics_by_server={
        "s:1": {"T": frozenset({"a", "b"}), "U": frozenset({"a"})},
        "s:2": {"T": frozenset({"a", "b"}), "U": frozenset({"a"})},
    },
    masters={"s:1": frozenset({"a", "b"}), "s:2": frozenset({"a", "b"})},
    held_topics={"a": frozenset({"T", "U"}), "b": frozenset({"T"})},
    silent=frozenset(),
    group_names=frozenset({"G"}),
    clusters_by_broker={"a": "C", "b": "C"},
    errors_by_server={},
)


def facts(**more: Any) -> TopicFacts:
    return FACTS._replace(**more)


def route_facts(topic: str, *brokers: str) -> dict[str, Any]:
    """FACTS with one more topic on each name server."""
    return {
        "topics_by_server": {
            addr: {**topics, topic: frozenset(brokers)} for addr, topics in FACTS.topics_by_server.items()
        }
    }


def test_where_all_agree_nothing_is_found() -> None:
    assert find_orphans(FACTS) == []


def test_a_route_to_brokers_none_of_which_has_the_topic() -> None:
    assert find_orphans(facts(**route_facts("X", "a", "b"))) == [
        Orphan("noBroker", "X", ("a", "b"), ("s:1", "s:2"))
    ]
    # To one that is gone, or to none at all.
    assert find_orphans(facts(**route_facts("X", "gone"))) == [
        Orphan("noBroker", "X", ("gone",), ("s:1", "s:2"))
    ]
    assert find_orphans(facts(**route_facts("X"))) == [Orphan("noBroker", "X", (), ("s:1", "s:2"))]


def test_a_broker_that_does_not_say_may_have_it() -> None:
    assert (
        find_orphans(
            facts(**route_facts("X", "b"), held_topics={"a": FACTS.held_topics["a"]}, silent=frozenset({"b"}))
        )
        == []
    )


def test_a_route_to_some_that_do_not_have_it() -> None:
    assert find_orphans(facts(**route_facts("U", "a", "b"))) == [
        Orphan("notThere", "U", ("b",), ("s:1", "s:2"))
    ]


def test_a_topic_that_no_name_server_knows() -> None:
    held = {"a": frozenset({"T", "U", "X"}), "b": frozenset({"T", "X"})}
    assert find_orphans(facts(held_topics=held)) == [Orphan("noNameServer", "X", ("a", "b"), ("s:1", "s:2"))]
    # That one server only does not know it is a divergence.
    one_of_them = {**FACTS.topics_by_server, "s:1": route_facts("X", "a", "b")["topics_by_server"]["s:1"]}
    assert find_orphans(facts(held_topics=held, topics_by_server=one_of_them)) == []
    # Nobody expects it of servers that do not know the broker's master.
    assert find_orphans(facts(held_topics=held, masters={"s:1": frozenset(), "s:2": frozenset()})) == []
    [orphan] = find_orphans(facts(held_topics=held, masters={"s:1": frozenset({"a"}), "s:2": frozenset()}))
    assert orphan == Orphan("noNameServer", "X", ("a",), ("s:1",))


def test_topics_of_groups_that_are_gone() -> None:
    held = {"a": frozenset({"T", "U", "%RETRY%G", "%DLQ%H"}), "b": frozenset({"T", "%DLQ%H", "%RETRY%H"})}
    every = {"T": frozenset({"a", "b"}), "U": frozenset({"a"}), "%RETRY%G": frozenset({"a"})}
    every |= {"%DLQ%H": frozenset({"a", "b"}), "%RETRY%H": frozenset({"b"})}
    known = facts(held_topics=held, topics_by_server={"s:1": every}, masters={"s:1": frozenset({"a", "b"})})
    assert find_orphans(known) == [
        Orphan("noGroup", "%DLQ%H", ("a", "b"), ("s:1",), "H"),
        Orphan("noGroup", "%RETRY%H", ("b",), ("s:1",), "H"),
    ]
    assert find_orphans(known._replace(group_names=None, errors_by_server={"b": NotFound("no")})) == []
