"""How topics are spread over the brokers of a cluster."""

from typing import Any

import pytest

from nsadmin.client import NotFound
from nsadmin.client.registrations import Registrant
from nsadmin.operations.plans.records import Spec
from nsadmin.operations.spread import Spread, plan, spreads
from tests.nsadmin.operations.test_registration_size import MAPPING, broker
from tests.support.topic_brokers import topic_config


def having(name: str, *topics: dict[str, Any], **more: Any) -> Registrant:
    return broker(broker_name=name, topics={topic["topicName"]: topic for topic in topics}, **more)


def one(*brokers: Registrant, topic: str = "T") -> Spread:
    [found] = spreads(brokers, frozenset(), [topic])
    return found


def test_a_topic_that_all_have_alike_is_even() -> None:
    found = one(having("a", topic_config("T")), having("b", topic_config("T", attributes=None)))
    assert (found.is_even, found.missing, found.differing) == (True, (), ())


def test_one_that_is_on_some_only() -> None:
    found = one(having("a"), having("b", topic_config("T", perm=4, readQueueNums=2)), having("c"))
    assert (found.is_even, found.missing, list(found.held)) == (False, ("a", "c"), ["b"])
    assert plan("C", [found], ["a", "b", "c"]).topics == {"T": Spec({"readQueueNums": 2, "perm": 4})}


def test_queues_are_raised_to_the_most_and_all_else_stays() -> None:
    found = one(
        having("a", topic_config("T", writeQueueNums=12, perm=4)),
        having("b", topic_config("T", readQueueNums=16)),
        having("c", topic_config("T")),
        having("d"),
    )
    assert (found.has_other_queues, found.differing) == (True, ("readQueueNums", "writeQueueNums", "perm"))
    spec = Spec({"readQueueNums": 16, "writeQueueNums": 12}, per_broker={"a": {"perm": 4}})
    assert plan("C", [found], ["a", "b", "c", "d"]).topics == {"T": spec}


def test_other_settings_may_differ() -> None:
    found = one(having("a", topic_config("T", perm=4)), having("b", topic_config("T")))
    assert (found.is_even, found.differing) == (True, ("perm",))
    assert plan("C", [found], ["a", "b"]).topics == {}


def test_a_static_topic_is_nobody_elses_business() -> None:
    found = one(having("a", topic_config("T"), mappings=MAPPING), having("b"))
    assert (found.is_static, found.is_even) == (True, False)
    assert plan("C", [found], ["a", "b"]).topics == {}


def test_all_topics_of_users() -> None:
    topics = [topic_config(name) for name in ("U", "T", "TBW102", "%RETRY%g", "rmq_sys_x")]
    found = spreads([having("a", *topics), having("b")], frozenset({"TBW102"}))
    assert [item.topic for item in found] == ["T", "U"]


def test_a_topic_that_nobody_has() -> None:
    with pytest.raises(NotFound, match="no broker has a topic 'X'"):
        one(having("a", topic_config("T")), topic="X")
