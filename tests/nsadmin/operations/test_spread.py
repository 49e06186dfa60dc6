"""How topics are spread over the brokers of a cluster."""

from typing import Any

import pytest

from nsadmin.client import NotFound
from nsadmin.client.brokers.registrations import BrokerRegistrant
from nsadmin.operations.plans.records import ItemSpec
from nsadmin.operations.spread import TopicSpread, find_spreads, plan_even_spread
from tests.nsadmin.operations.test_registration_size import MAPPING, broker
from tests.support.topic_brokers import topic_config


def having(name: str, *topics: dict[str, Any], **more: Any) -> BrokerRegistrant:
    return broker(broker_name=name, topics={topic["topicName"]: topic for topic in topics}, **more)


def one(*brokers: BrokerRegistrant, topic: str = "T") -> TopicSpread:
    [spread] = find_spreads(brokers, frozenset(), [topic])
    return spread


def test_a_topic_that_all_have_alike_is_even() -> None:
    spread = one(having("a", topic_config("T")), having("b", topic_config("T", attributes=None)))
    assert (spread.is_even, spread.missing_brokers, spread.differing_settings) == (True, (), ())


def test_one_that_is_on_some_only() -> None:
    spread = one(having("a"), having("b", topic_config("T", perm=4, readQueueNums=2)), having("c"))
    assert (spread.is_even, spread.missing_brokers, list(spread.configs_by_broker)) == (
        False,
        ("a", "c"),
        ["b"],
    )
    assert plan_even_spread("C", [spread], ["a", "b", "c"]).topic_specs == {
        "T": ItemSpec({"readQueueNums": 2, "perm": 4})
    }


def test_queues_are_raised_to_the_most_and_all_else_stays() -> None:
    spread = one(
        having("a", topic_config("T", writeQueueNums=12, perm=4)),
        having("b", topic_config("T", readQueueNums=16)),
        having("c", topic_config("T")),
        having("d"),
    )
    assert (spread.has_other_queues, spread.differing_settings) == (
        True,
        ("readQueueNums", "writeQueueNums", "perm"),
    )
    spec = ItemSpec({"readQueueNums": 16, "writeQueueNums": 12}, per_broker={"a": {"perm": 4}})
    assert plan_even_spread("C", [spread], ["a", "b", "c", "d"]).topic_specs == {"T": spec}


def test_other_settings_may_differ() -> None:
    spread = one(having("a", topic_config("T", perm=4)), having("b", topic_config("T")))
    assert (spread.is_even, spread.differing_settings) == (True, ("perm",))
    assert plan_even_spread("C", [spread], ["a", "b"]).topic_specs == {}


def test_a_static_topic_is_nobody_elses_business() -> None:
    spread = one(having("a", topic_config("T"), mappings=MAPPING), having("b"))
    assert (spread.is_static, spread.is_even) == (True, False)
    assert plan_even_spread("C", [spread], ["a", "b"]).topic_specs == {}


def test_all_topics_of_users() -> None:
    topics = [topic_config(name) for name in ("U", "T", "TBW102", "%RETRY%g", "rmq_sys_x")]
    spreads = find_spreads([having("a", *topics), having("b")], frozenset({"TBW102"}))
    assert [item.topic for item in spreads] == ["T", "U"]


def test_a_topic_that_nobody_has() -> None:
    with pytest.raises(NotFound, match='no broker has the topic "X"'):
        one(having("a", topic_config("T")), topic="X")
