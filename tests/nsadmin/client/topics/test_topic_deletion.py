"""Deleting a topic, step by step."""

import pytest

from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.topics.topic_deletion import DeletionStep
from tests.support.fake_servers import FakeBroker, FakeNameServer, answer_json, refuse_with


def results(steps: list[DeletionStep]) -> list[tuple[str, str, str, str | None]]:
    return [(s.server, s.role, s.result, None if s.error is None else str(s.error)) for s in steps]


@pytest.fixture
def addrs(first_server: FakeNameServer, second_server: FakeNameServer, broker: FakeBroker) -> list[str]:
    broker.topics["T"] = []
    return [first_server.addr, second_server.addr]


def test_masters_come_first_then_every_name_server(
    addrs: list[str], first_server: FakeNameServer, second_server: FakeNameServer, broker: FakeBroker
) -> None:
    with AdminClient(addrs, timeout=5) as admin:
        assert results(admin.topics.delete_topic("T", "C")) == [
            (broker.addr, "master", "done", None),
            (addrs[0], "namesrv", "done", None),
            (addrs[1], "namesrv", "done", None),
        ]
    assert (broker.topics, first_server.routes["T"], second_server.routes["T"]) == ({}, {}, {})


def test_name_servers_forget_what_no_broker_has(
    first_server: FakeNameServer, second_server: FakeNameServer, broker: FakeBroker
) -> None:
    def forget(asked: RemotingCommand) -> RemotingCommand:
        first_server.routes.pop((asked.ext or {})["topic"] or "", None)
        assert "clusterName" not in (asked.ext or {})
        return build_reply(asked)

    first_server.handlers[216] = forget
    # This one says so, and a broker has registered it again.
    second_server.handlers[216] = build_reply
    with AdminClient([first_server.addr, second_server.addr], timeout=5) as admin:
        planned = admin.topics.forget_topic("T", [first_server.addr], dry_run=True)
        assert [(step.result, list(step.before or ())) for step in planned] == [("dry-run", ["broker-a"])]
        assert first_server.routes
        steps = admin.topics.forget_topic("T", [first_server.addr, second_server.addr])
    assert [(step.result, list(step.before or ())) for step in steps] == [
        ("done", ["broker-a"]),
        ("failed", ["broker-a"]),
    ]
    assert "registered it again" in str(steps[1].error)
    assert 215 not in broker.asked_codes()


def test_other_clusters_keep_the_topic(
    addrs: list[str], first_server: FakeNameServer, broker: FakeBroker
) -> None:
    first_server.clusters = {**first_server.clusters, "D": {"broker-d": {0: "h:1"}}}
    first_server.routes["T"]["broker-d"] = 6
    with AdminClient(addrs, timeout=5) as admin:
        steps = admin.topics.delete_topic("T", "C")
    assert {step.result for step in steps} == {"done"}
    assert first_server.routes["T"] == {"broker-d": 6}


def test_when_a_master_refuses_the_name_servers_are_left_alone(
    addrs: list[str], first_server: FakeNameServer, broker: FakeBroker
) -> None:
    broker.handlers[215] = refuse_with(1, "NullPointerException")
    with AdminClient(addrs, timeout=5) as admin:
        assert results(admin.topics.delete_topic("T", "C")) == [
            (broker.addr, "master", "failed", "SYSTEM_ERROR (1): NullPointerException"),
            (addrs[0], "namesrv", "skipped", None),
            (addrs[1], "namesrv", "skipped", None),
        ]
    assert 216 not in first_server.asked_codes()


def test_a_broker_that_fails_after_it_deleted_the_topic_is_done(
    addrs: list[str], first_server: FakeNameServer, broker: FakeBroker
) -> None:
    """5.5.0 with timerWheelEnable=false."""

    def fail(asked: RemotingCommand) -> RemotingCommand:
        broker.topics.pop((asked.ext or {})["topic"] or "")
        return build_reply(asked, 1, remark='Cannot invoke "TimerMessageStore.getTimerMetrics()"')

    broker.handlers[215] = fail
    with AdminClient(addrs, timeout=5) as admin:
        assert {step.result for step in admin.topics.delete_topic("T", "C")} == {"done"}
    assert first_server.routes["T"] == {}


def test_a_broker_without_master_is_a_failure_and_its_slave_is_not_asked(
    addrs: list[str], first_server: FakeNameServer, broker: FakeBroker
) -> None:
    with FakeBroker() as slave:
        first_server.clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {1: slave.addr}}}
        with AdminClient(addrs, timeout=5) as admin:
            steps = results(admin.topics.delete_topic("T", "C"))
        assert slave.asked == []
    assert steps[1] == (
        "broker-b",
        "master",
        "failed",
        "this broker has no master now: its slaves would keep the topic",
    )


def test_done_is_not_believed_when_the_topic_is_still_there(
    addrs: list[str], second_server: FakeNameServer, broker: FakeBroker
) -> None:
    def yes(asked: RemotingCommand) -> RemotingCommand:
        return build_reply(asked)

    second_server.handlers[216] = yes
    with AdminClient(addrs, timeout=5) as admin:
        *_, last = results(admin.topics.delete_topic("T", "C"))
        assert last == (
            addrs[1],
            "namesrv",
            "failed",
            "the topic is still routed here: a broker registered it again",
        )
        broker.handlers[215] = yes
        broker.topics["T"] = []
        head, *_ = results(admin.topics.delete_topic("T", "C"))
    assert head == (broker.addr, "master", "failed", "the master still has the topic")


def test_a_topic_that_only_a_master_knows_can_be_deleted(
    addrs: list[str], first_server: FakeNameServer, second_server: FakeNameServer, broker: FakeBroker
) -> None:
    first_server.routes, second_server.routes = {}, {}
    with AdminClient(addrs, timeout=5) as admin:
        admin.topics.delete_topic("T", "C")
    assert broker.topics == {}


def test_a_broker_of_4_9_is_asked_for_all_its_topics(
    addrs: list[str], first_server: FakeNameServer, second_server: FakeNameServer, broker: FakeBroker
) -> None:
    del broker.handlers[351]
    broker.handlers[21] = lambda asked: answer_json(asked, {"topicConfigTable": broker.topics})
    first_server.routes, second_server.routes = {}, {}
    with AdminClient(addrs, timeout=5) as admin:
        with pytest.raises(NotFound):
            admin.topics.delete_topic("U", "C")
        steps = admin.topics.delete_topic("T", "C")
    # No name server has the topic.
    assert [step.result for step in steps] == ["done", "not found", "not found"]
    assert broker.topics == {}


@pytest.mark.parametrize(("topic", "cluster"), [("U", "C"), ("T", "X")])
def test_what_is_not_there_is_not_deleted(
    addrs: list[str], broker: FakeBroker, topic: str, cluster: str
) -> None:
    with AdminClient(addrs, timeout=5) as admin, pytest.raises(NotFound):
        admin.topics.delete_topic(topic, cluster)
    assert 215 not in broker.asked_codes()


def test_a_plan_touches_nothing(addrs: list[str], first_server: FakeNameServer, broker: FakeBroker) -> None:
    with AdminClient(addrs, timeout=5) as admin:
        planned = results(admin.topics.plan_deletion("T", "C").list_planned_steps())
    assert planned == [
        (broker.addr, "master", "dry-run", None),
        (addrs[0], "namesrv", "dry-run", None),
        (addrs[1], "namesrv", "dry-run", None),
    ]
    assert {*first_server.asked_codes(), *broker.asked_codes()}.isdisjoint({215, 216})
