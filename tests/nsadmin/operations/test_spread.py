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
    [found] = find_spreads(brokers, frozenset(), [topic])
    return found


def test_a_topic_that_all_have_alike_is_even() -> None:
    found = one(having("a", topic_config("T")), having("b", topic_config("T", attributes=None)))
    assert (found.is_even, found.missing_brokers, found.differing_settings) == (True, (), ())


def test_one_that_is_on_some_only() -> None:
    found = one(having("a"), having("b", topic_config("T", perm=4, readQueueNums=2)), having("c"))
    assert (found.is_even, found.missing_brokers, list(found.configs_by_broker)) == (False, ("a", "c"), ["b"])
    assert plan_even_spread("C", [found], ["a", "b", "c"]).topic_specs == {
        "T": ItemSpec({"readQueueNums": 2, "perm": 4})
    }


def test_queues_are_raised_to_the_most_and_all_else_stays() -> None:
    found = one(
        having("a", topic_config("T", writeQueueNums=12, perm=4)),
        having("b", topic_config("T", readQueueNums=16)),
        having("c", topic_config("T")),
        having("d"),
    )
    assert (found.has_other_queues, found.differing_settings) == (
        True,
        ("readQueueNums", "writeQueueNums", "perm"),
    )
    spec = ItemSpec({"readQueueNums": 16, "writeQueueNums": 12}, per_broker={"a": {"perm": 4}})
    assert plan_even_spread("C", [found], ["a", "b", "c", "d"]).topic_specs == {"T": spec}


def test_other_settings_may_differ() -> None:
    found = one(having("a", topic_config("T", perm=4)), having("b", topic_config("T")))
    assert (found.is_even, found.differing_settings) == (True, ("perm",))
    assert plan_even_spread("C", [found], ["a", "b"]).topic_specs == {}


def test_a_static_topic_is_nobody_elses_business() -> None:
    found = one(having("a", topic_config("T"), mappings=MAPPING), having("b"))
    assert (found.is_static, found.is_even) == (True, False)
    assert plan_even_spread("C", [found], ["a", "b"]).topic_specs == {}


def test_all_topics_of_users() -> None:
    topics = [topic_config(name) for name in ("U", "T", "TBW102", "%RETRY%g", "rmq_sys_x")]
    found = find_spreads([having("a", *topics), having("b")], frozenset({"TBW102"}))
    assert [item.topic for item in found] == ["T", "U"]


def test_a_topic_that_nobody_has() -> None:
    with pytest.raises(NotFound, match='no broker has the topic "X"'):
        one(having("a", topic_config("T")), topic="X")
