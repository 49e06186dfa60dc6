"""What clients tell of themselves, and what that says of their group."""

import json
from collections.abc import Iterator, Mapping

import pytest

from namesrv_core.protocol.command import RemotingCommand
from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.consumers.client_runtime import ALL_QUEUES, BLOCKED_AFTER_MS, PopQueue, parse_running_info
from nsadmin.client.consumers.connected_clients import TopicSubscription
from nsadmin.client.message_queues import MessageQueue
from tests.support.consumer_brokers import ConsumerBroker, format_queue_map
from tests.support.fake_servers import FakeNameServer

QUEUE = {"commitOffset": 7, "cachedMsgCount": 2, "lastConsumeTimestamp": 1000, "locked": True}


def info(
    numbers: list[int],
    sub_string: str = "*",
    orderly: bool = False,
    queue: Mapping[str, object] | None = None,
) -> str:
    """ConsumerRunningInfo of a client that has these queues of the topic T."""
    table = format_queue_map("broker-a", {("T", number): queue or QUEUE for number in numbers})
    rest = {
        "properties": {"PROP_CONSUMEORDERLY": str(orderly).lower(), "PROP_CONSUMER_START_TIMESTAMP": "5"},
        "statusTable": {"T": {"consumeOKTPS": 1.5, "consumeRT": 2}},
        "subscriptionSet": [{"topic": "T", "subString": sub_string, "expressionType": "TAG"}],
    }
    return f'{{"mqTable":{table},{json.dumps(rest)[1:]}'


@pytest.fixture
def broker() -> Iterator[ConsumerBroker]:
    with ConsumerBroker() as running:
        running.clients = {"G": ["c1", "c2"]}
        running.running = {"c1": info([0, 1, 2, 3]), "c2": info([4, 5, 6, 7])}
        yield running


def problems(admin: AdminClient, now: int = 2000) -> list[str]:
    return admin.client_runtime.find_problems(admin.client_runtime.get_group("G"), now)


def test_an_account_of_java_and_one_of_go() -> None:
    runtime = parse_running_info(RemotingCommand(0, body=info([3]).encode()))
    [queue] = runtime.queues
    assert queue.queue == MessageQueue("T", "broker-a", 3)
    assert (queue.consumer_offset, queue.cached_msg_count, queue.last_consume_ms, queue.last_pull_ms) == (
        7,
        2,
        1000,
        None,
    )
    assert (queue.is_locked, queue.is_dropped) == (True, False)
    assert (runtime.started_at_ms, runtime.is_orderly, runtime.jstack) == (5, False, None)
    assert runtime.status_by_topic["T"].consume_ok_tps == 1.5
    assert runtime.subscriptions == (TopicSubscription("T", "TAG", "*"),)
    go = parse_running_info(
        RemotingCommand(
            0,
            body=b'{"properties":{},"mqTable":{{"topic":"T","brokerName":"a","queueId":0}:{"dropped":true}},'
            b' "jstack":"goroutine 1\n\tmain" }',
        )
    )
    assert (go.queues[0].is_dropped, go.jstack, go.started_at_ms) == (True, "goroutine 1\n\tmain", None)


def test_every_client_is_asked_or_one(admin: AdminClient, broker: ConsumerBroker) -> None:
    assert [item.client.client_id for item in admin.client_runtime.get_group("G").clients] == ["c1", "c2"]
    [client] = admin.client_runtime.get_group("G", "c2", with_jstack=True).clients
    assert client.client.client_id == "c2"
    assert broker.asked[-1].ext == {"consumerGroup": "G", "clientId": "c2", "jstackEnable": "true"}
    with pytest.raises(NotFound, match='no client "c3" of group "G" is connected'):
        admin.client_runtime.get_group("G", "c3")


def test_a_group_that_is_well_has_no_problems(admin: AdminClient) -> None:
    assert problems(admin) == []


def test_queues_without_and_with_two_owners(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.running["c2"] = info([3, 4, 5, 6])
    assert problems(admin) == [
        "c1 and c2 consume the same queue, T broker-a 3",
        "no client consumes T broker-a 7",
    ]


def test_a_client_that_did_not_answer_leaves_the_question_of_owners_open(
    admin: AdminClient, broker: ConsumerBroker
) -> None:
    del broker.running["c2"]
    group_runtime = admin.client_runtime.get_group("G")
    assert [item.error is None for item in group_runtime.clients] == [True, False]
    assert admin.client_runtime.find_problems(group_runtime, 2000) == []


def test_clients_that_subscribe_differently(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.running["c2"] = info([4, 5, 6, 7], "TagA")
    assert problems(admin) == ["c2 and c1 subscribe differently: T=TagA and T=*"]


def test_messages_that_lie_in_a_client(admin: AdminClient, broker: ConsumerBroker) -> None:
    idle = {**QUEUE, "cachedMsgCount": 0}
    broker.running = {"c1": info([0, 1, 2, 3], queue=idle), "c2": info([4, 5, 6, 7])}
    problem_list = problems(admin, 1000 + BLOCKED_AFTER_MS + 1)
    assert len(problem_list) == 4
    assert (
        problem_list[0]
        == "c2 is blocked on T broker-a 4: it has 2 messages and consumed none of them for 60 s"
    )


def test_a_queue_that_cannot_be_locked(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.running["c2"] = info([4, 5, 6, 7], orderly=True, queue={**QUEUE, "locked": False})
    problem_list = problems(admin, 10**9)
    assert "c2 cannot lock T broker-a 4, which it must consume in order" in problem_list


def test_owners_of_queues(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.running["c2"] = info([0])
    owners = admin.client_runtime.get_queue_owners("G")
    assert owners[MessageQueue("T", "broker-a", 0)] == "c1,c2"
    assert owners[MessageQueue("T", "broker-a", 1)] == "c1"


def test_a_topic_without_a_route_has_no_queues_to_miss(
    admin: AdminClient, first_server: FakeNameServer
) -> None:
    first_server.routes = {}
    assert problems(admin) == []


def popping(queue_id: int, waiting: int = 3) -> str:
    """A client that pops: from one queue, or for -1 from all of the broker."""
    item = {"waitAckCount": waiting, "lastPopTimestamp": 1000, "droped": False}
    return info([]).replace(
        '"mqTable"', f'"mqPopTable":{format_queue_map("broker-a", {("T", queue_id): item})},"mqTable"'
    )


def test_a_client_that_pops_tells_so() -> None:
    runtime = parse_running_info(RemotingCommand(0, body=popping(-1).encode()))
    assert runtime.queues == ()
    assert runtime.pop_queues == (PopQueue(MessageQueue("T", "broker-a", ALL_QUEUES), 3, 1000, False),)
    assert runtime.held_queues == [MessageQueue("T", "broker-a", ALL_QUEUES)]


def test_clients_may_pop_from_all_queues_together(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.running = {"c1": popping(-1), "c2": popping(-1)}
    assert problems(admin) == []
    assert admin.client_runtime.get_queue_owners("G") == {MessageQueue("T", "broker-a", ALL_QUEUES): "c1,c2"}
    broker.running = {"c1": popping(5), "c2": popping(5)}
    assert problems(admin) == [f"no client consumes T broker-a {number}" for number in (0, 1, 2, 3, 4, 6, 7)]


def test_the_name_servers_that_clients_of_many_groups_know(
    admin: AdminClient, broker: ConsumerBroker
) -> None:
    listed = info([0]).replace('"PROP_CONSUMEORDERLY"', '"PROP_NAMESERVER_ADDR": "a:1; b:2;", "other"')
    broker.running["c1"] = listed
    broker.clients["other"] = ["c9"]
    broker.configs["other"] = {"groupName": "other"}
    online, errors = admin.consumers.list_online_groups([broker.addr])
    assert set(errors.values()) == {None}
    name_servers = admin.client_runtime.get_name_servers(online)
    assert [(item.client.client_id, item.namesrv_addrs) for item in name_servers["G"]] == [
        ("c1", ("a:1", "b:2")),
        ("c2", ()),
    ]
    assert [item.namesrv_addrs for item in name_servers["other"]] == [None]
    assert name_servers["other"][0].error is not None
