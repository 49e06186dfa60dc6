"""What is wrong with order configurations."""

from collections.abc import Mapping
from typing import Any

from nsadmin.client.snapshots import ClusterSnapshot
from nsadmin.operations.order_conf_check import OrderConfProblem, check_order_confs
from tests.support.cluster_snapshots import make_broker_entry, make_cluster_snapshot, make_queue_entry

BROKERS = {
    "a": make_broker_entry(),
    "b": make_broker_entry("y:1"),
    "slave": make_broker_entry("z:1", broker_id="1"),
}


def seeing(
    conf: Mapping[str, str],
    topics: Mapping[str, Any] | None = None,
    source: str = "s:1",
    enabled: str = "true",
) -> ClusterSnapshot:
    known = {"T": {"a": make_queue_entry(), "b": make_queue_entry()}} if topics is None else topics
    return make_cluster_snapshot(
        source, BROKERS, known, {"ORDER_TOPIC_CONFIG": conf}, {"orderMessageEnable": enabled}
    )


def kinds(*pictures: ClusterSnapshot) -> list[tuple[str | None, str, bool]]:
    return [
        (problem.topic, problem.problem_kind, problem.is_grave) for problem in check_order_confs(pictures)
    ]


def test_one_that_fits_has_no_problem() -> None:
    assert check_order_confs([seeing({"T": "a:8;b:8"}), seeing({"T": "a:8;b:8"}, source="s:2")]) == []
    assert check_order_confs([make_cluster_snapshot("s:1")]) == []
    assert check_order_confs([]) == []


def test_brokers_that_are_not_there_or_take_nothing() -> None:
    topics = {"T": {"a": make_queue_entry(4), "slave": make_queue_entry()}}
    assert kinds(seeing({"T": "a:8;b:8;gone:8;slave:8"}, topics)) == [
        ("T", "broker-gone", True),
        ("T", "no-master", True),
        ("T", "not-on-broker", True),
        ("T", "not-writable", True),
    ]


def test_more_queues_or_fewer() -> None:
    assert check_order_confs([seeing({"T": "a:16;b:4"})]) == [
        OrderConfProblem("T", "too-many-queues", "a has 8 queues, but clients use 16", True, ("s:1",)),
        OrderConfProblem("T", "unused-queues", "clients use 4 of the 8 queues of b", False, ("s:1",)),
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
    assert check_order_confs([one, two]) == [
        OrderConfProblem(
            None,
            "differs",
            "only some name servers send the order configuration to clients: orderMessageEnable differs",
            True,
            ("s:1", "s:2"),
        ),
        OrderConfProblem(
            "T",
            "differs",
            "name servers have different order configurations: clients lose the order of messages",
            True,
            ("s:1", "s:2"),
        ),
    ]
    assert kinds(seeing({"T": "a:8;b:8"}, enabled="false")) == [(None, "not-handed-out", False)]


def test_the_same_on_several_is_one() -> None:
    [problem] = check_order_confs([seeing({"T": "a:9;b:8"}), seeing({"T": "a:9;b:8"}, source="s:2")])
    assert problem.namesrv_addrs == ("s:1", "s:2")


def test_nothing_fails_while_no_client_gets_the_order_configuration() -> None:
    topics = {"T": {"a": make_queue_entry(4), "b": make_queue_entry()}}
    problems = check_order_confs([seeing({"T": "a:3;gone:8", "U": "a=8"}, topics, enabled="false")])
    assert not any(problem.is_grave for problem in problems)
    assert [problem.problem_text for problem in problems if problem.topic == "T"] == [
        "gone is not registered, but clients would send to it if name servers get orderMessageEnable=true",
        "the order configuration leaves out 1 broker of the topic: if name servers get "
        "orderMessageEnable=true, clients will not send to it; to use it, add b:8",
        "a has no write permission, but clients would send to it if name servers get orderMessageEnable=true",
    ]
