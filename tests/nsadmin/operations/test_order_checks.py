"""What is wrong with order configurations."""

from collections.abc import Mapping
from typing import Any

from nsadmin.client.pictures import Picture
from nsadmin.operations.order_checks import Problem, check
from tests.support.pictures import knowing, member, queues

BROKERS = {"a": member(), "b": member("y:1"), "slave": member("z:1", broker_id="1")}


def seeing(
    conf: Mapping[str, str],
    topics: Mapping[str, Any] | None = None,
    source: str = "s:1",
    enabled: str = "true",
) -> Picture:
    known = {"T": {"a": queues(), "b": queues()}} if topics is None else topics
    return knowing(source, BROKERS, known, {"ORDER_TOPIC_CONFIG": conf}, {"orderMessageEnable": enabled})


def kinds(*pictures: Picture) -> list[tuple[str | None, str, bool]]:
    return [(problem.topic, problem.kind, problem.grave) for problem in check(pictures)]


def test_one_that_fits_has_no_problem() -> None:
    assert check([seeing({"T": "a:8;b:8"}), seeing({"T": "a:8;b:8"}, source="s:2")]) == []
    assert check([knowing("s:1")]) == []
    assert check([]) == []


def test_brokers_that_are_not_there_or_take_nothing() -> None:
    topics = {"T": {"a": queues(4), "slave": queues()}}
    assert kinds(seeing({"T": "a:8;b:8;gone:8;slave:8"}, topics)) == [
        ("T", "broker-gone", True),
        ("T", "no-master", True),
        ("T", "not-on-broker", True),
        ("T", "not-writable", True),
    ]


def test_more_queues_or_fewer() -> None:
    assert check([seeing({"T": "a:16;b:4"})]) == [
        Problem("T", "too-many-queues", "a has 8 queues and not 16", True, ("s:1",)),
        Problem("T", "unused-queues", "of 8 queues of b clients use 4", False, ("s:1",)),
    ]


def test_a_broker_that_is_not_named_and_a_topic_that_is_not_there() -> None:
    assert kinds(seeing({"T": "a:8", "none": "a:8"})) == [
        ("T", "broker-unused", False),
        ("none", "no-topic", False),
    ]


def test_what_clients_cannot_read() -> None:
    assert kinds(seeing({"T": "a=8"})) == [("T", "unreadable", True)]


def test_name_servers_that_have_it_differently_or_keep_it_to_themselves() -> None:
    one, two = seeing({"T": "a:8;b:8"}), seeing({}, source="s:2", enabled="false")
    assert check([one, two]) == [
        Problem(
            None,
            "differs",
            "some name servers hand it out and others do not (orderMessageEnable)",
            True,
            ("s:1", "s:2"),
        ),
        Problem(
            "T",
            "differs",
            "name servers have it differently: clients lose the order of messages",
            True,
            ("s:1", "s:2"),
        ),
    ]
    assert kinds(seeing({"T": "a:8;b:8"}, enabled="false")) == [(None, "not-handed-out", False)]


def test_the_same_on_several_is_one() -> None:
    [problem] = check([seeing({"T": "a:9;b:8"}), seeing({"T": "a:9;b:8"}, source="s:2")])
    assert problem.servers == ("s:1", "s:2")
