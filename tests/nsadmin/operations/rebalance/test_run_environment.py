"""The environment of a rebalance, in a lab: what it reads, and the changes that it sends."""

from collections.abc import Iterator
from typing import Any

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin.client import AdminClient
from nsadmin.client.topics.topic_configs import TopicPatch
from nsadmin.operations.rebalance.rebalance_plan import NO_QUEUES, QueuePair
from nsadmin.operations.rebalance.run_environment import RunEnvironment
from nsadmin.operations.rebalance.run_facts import (
    CommitStart,
    CreateGroupOn,
    DeleteTopicOn,
    MovingTopicFacts,
    PutOrderConf,
    PutTopic,
    RunQuestions,
    TopicQuestion,
)
from tests.support.lab import Lab, start_lab

A, B = "broker-a-0", "broker-a-1"


@pytest.fixture(scope="module")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    plan = FleetPlan(clusters=1, groups=2, replicas=1, topics=4)
    with start_lab(tmp_path_factory.mktemp("lab"), plan, name_servers=2) as running:
        yield running


@pytest.fixture
def admin(running_lab: Lab) -> Iterator[AdminClient]:
    with AdminClient(running_lab.namesrv_addr) as client:
        yield client


@pytest.fixture
def environment(admin: AdminClient) -> RunEnvironment:
    return RunEnvironment(admin, "cluster-a")


def read(environment: RunEnvironment, topic: str, **fields: Any) -> MovingTopicFacts:
    questions = RunQuestions((TopicQuestion(topic, (A, B), **fields),), (), (A,))
    observation = environment.observe(questions, 1000)
    assert observation.health[A].error is None
    assert 0 < (observation.health[A].disk_ratio or 0) < 1
    return observation.topics[topic]


def create(running_lab: Lab, admin: AdminClient, topic: str) -> None:
    [change] = admin.topic_configs.update_topic([running_lab.brokers[A, 0]], topic, TopicPatch(4, 4))
    assert change.error is None


def test_a_topic_is_read_from_brokers_and_name_servers(
    running_lab: Lab, admin: AdminClient, environment: RunEnvironment
) -> None:
    create(running_lab, admin, "read-topic")
    facts = read(environment, "read-topic")
    assert facts.on_brokers[A].queues == QueuePair(4, 4)
    assert (facts.on_brokers[B].exists, facts.on_brokers[B].error) == (False, None)
    assert facts.at_servers.keys() == set(running_lab.namesrv_addrs)
    for at_server in facts.at_servers.values():
        assert at_server.routed[A].queues == QueuePair(4, 4)


def test_a_new_topic_gets_the_settings_of_another_broker(
    running_lab: Lab, admin: AdminClient, environment: RunEnvironment
) -> None:
    create(running_lab, admin, "new-topic")
    environment.list_masters()
    assert environment.carry_out([PutTopic("new-topic", B, NO_QUEUES, QueuePair(3, 0), 6, (A,))]) == [None]
    assert read(environment, "new-topic").on_brokers[B].queues == QueuePair(3, 0)
    assert environment.carry_out([PutTopic("no-topic", B, NO_QUEUES, QueuePair(3, 0), 6, (A,))]) == [
        "no broker has the settings of no-topic"
    ]
    delete = DeleteTopicOn("new-topic", B)
    assert environment.carry_out([delete]) == ["new-topic has changed on broker-a-1 meanwhile"]
    change = PutTopic("new-topic", B, NO_QUEUES, NO_QUEUES, 6)
    assert environment.carry_out([change]) == ["new-topic has changed on broker-a-1 meanwhile"]
    assert environment.carry_out([change._replace(present=QueuePair(3, 0)), delete]) == [None, None]
    assert not read(environment, "new-topic").on_brokers[B].exists


def test_groups_are_read_for_closing_and_new_queues(
    running_lab: Lab, admin: AdminClient, environment: RunEnvironment
) -> None:
    facts = read(environment, "orders", closing_queues={A: range(2)}, leaving_brokers=(A,))
    assert facts.error is None
    assert len(facts.queue_ends[A] or ()) == 2
    groups = admin.topics.list_consumer_groups(running_lab.brokers[A, 0], ["orders"]).value()["orders"]
    assert facts.group_lags.keys() == set(groups) != set()
    assert all((lag.total or 0) >= (lag.closing or 0) for lag in facts.group_lags.values())
    facts = read(environment, "orders", new_queues={A: range(20, 22)}, with_owners=True)
    for group, use in facts.new_queue_use.items():
        assert use.without_offset == {A: (20, 21)}
        assert environment.carry_out([CommitStart("orders", A, group, (20, 21))]) == [None]
    again = read(environment, "orders", new_queues={A: range(20, 22)})
    assert all(use.without_offset == {} for use in again.new_queue_use.values())


def test_order_configurations_are_written_and_deleted(
    admin: AdminClient, environment: RunEnvironment
) -> None:
    assert environment.carry_out([PutOrderConf("read-topic", f"{A}:4")]) == [None]
    assert [result.result for result in admin.order_confs.get_each("read-topic")] == [f"{A}:4"] * 2
    assert environment.carry_out([PutOrderConf("read-topic", "")]) == [None]
    assert [result.result for result in admin.order_confs.get_each("read-topic")] == [None] * 2


def test_a_group_is_created_as_another_broker_has_it(running_lab: Lab, environment: RunEnvironment) -> None:
    environment.list_masters()
    known = environment.observe(RunQuestions((), (A,), ()), 1000).groups[A] or frozenset()
    group = sorted(known)[0]
    assert environment.carry_out([CreateGroupOn(group, B)]) == [None]
    assert group in (environment.observe(RunQuestions((), (B,), ()), 1000).groups[B] or ())
    assert environment.carry_out([CreateGroupOn("no-group", B)]) == ["no other broker has the group no-group"]


def test_a_broker_that_is_gone_is_unknown(environment: RunEnvironment) -> None:
    questions = RunQuestions((TopicQuestion("orders", (A, "broker-x")),), ("broker-x",), ("broker-x",))
    observation = environment.observe(questions, 1000)
    assert observation.topics["orders"].on_brokers["broker-x"].error == "it has no master now"
    assert observation.groups == {"broker-x": None}
    assert observation.health == {}
