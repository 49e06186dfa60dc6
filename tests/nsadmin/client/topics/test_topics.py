"""Topics: names, routes, clusters, consumers."""

import pytest

from namesrv_core.errors import TopicNotExist
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.topic_routes import QueueRoute, TopicRoute, parse_route
from tests.support.fake_servers import FakeBroker, FakeNameServer, closed_port, refuse_with


def test_a_route_has_a_row_for_each_broker_of_either_list() -> None:
    body = (
        b'{"brokerDatas":[{"brokerAddrs":{"0":"h:1"},"brokerName":"b","cluster":"C"}],"orderTopicConf":"b:8",'
        b'"queueDatas":[{"brokerName":"a","perm":4,"readQueueNums":1,"writeQueueNums":2,"topicSynFlag":1}]}'
    )
    assert parse_route(RemotingCommand(0, body=body)) == TopicRoute(
        (
            QueueRoute("a", None, {}, 4, 1, 2, 1),
            QueueRoute("b", "C", {0: "h:1"}, None, None, None, None),
        ),
        "b:8",
    )


@pytest.mark.parametrize(
    ("sent", "given"),
    [
        (b'{"z":1, "brokerAddrs":{"0":"h:1"}}', '{"z":1, "brokerAddrs":{"0":"h:1"}}'),
        (b'{"z":1, "brokerAddrs":{0:"h:1"}}', '{"brokerAddrs":{"0":"h:1"},"z":1}'),
    ],
)
def test_the_raw_route_is_what_the_server_sent_and_always_json(
    first_server: FakeNameServer, sent: bytes, given: str
) -> None:
    first_server.handlers[105] = lambda asked: build_reply(asked, body=sent)
    with AdminClient(first_server.addr, timeout=5) as admin:
        assert admin.topics.get_raw_route("T") == given


def test_a_route_is_asked_for_in_standard_json(first_server: FakeNameServer) -> None:
    with AdminClient(first_server.addr, timeout=5) as admin:
        admin.topics.get_route("T")
    assert (first_server.asked[0].ext or {})["acceptStandardJsonOnly"] == "true"


def test_topics_of_a_cluster_that_is_not_there_are_not_an_empty_list(first_server: FakeNameServer) -> None:
    with AdminClient(first_server.addr, timeout=5) as admin:
        assert admin.topics.list_names("C") == ("T",)
        with pytest.raises(NotFound):
            admin.topics.list_names("X")


def test_user_topics_are_those_that_nobody_calls_system_topics(first_server: FakeNameServer) -> None:
    """The topics named after a broker or cluster are known without the broker's answer."""
    names = [
        "T",
        "C",
        "TBW102",
        "RMQ_SYS_TRANS_HALF_TOPIC",
        "rmq_sys_wheel_timer",
        "%RETRY%G",
        "SELF_TEST_TOPIC",
        "C_REPLY_TOPIC",
    ]
    first_server.routes = {name: {"broker-a": 6} for name in names}
    with AdminClient(first_server.addr, timeout=5) as admin:
        assert admin.topics.list_user_names() == ("%RETRY%G", "T")


def test_all_brokers_of_a_route_say_which_clusters_have_the_topic(first_server: FakeNameServer) -> None:
    first_server.clusters = {"C": {"a": {0: "h:1"}}, "D": {"b": {0: "h:2"}}}
    first_server.routes = {"T": {"a": 6, "b": 6}}
    with AdminClient(first_server.addr, timeout=5) as admin:
        assert admin.topics.list_clusters("T") == ("C", "D")
        with pytest.raises(TopicNotExist):
            admin.topics.list_clusters("U")


def test_consumer_groups_are_gathered_from_every_broker_of_a_cluster(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    with FakeBroker() as other:
        broker.topics, other.topics = {"T": ["G1", "G2"]}, {"T": ["G2", "G3"]}
        first_server.clusters = {
            "C": {"a": {0: broker.addr}, "b": {0: other.addr}},
            "D": {"c": {0: other.addr}},
        }
        first_server.routes = {"T": {"a": 6, "b": 6, "c": 6}, "Empty": {"a": 6}}
        with AdminClient(first_server.addr, timeout=5) as admin:
            assert admin.topics.list_usage(("Empty", "Gone", "T")) == [
                ("C", "Empty", (), None),
                ("C", "T", ("G1", "G2", "G3"), None),
                ("D", "T", ("G2", "G3"), None),
            ]


def test_consumer_groups_of_brokers_that_do_not_answer_are_unknown(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    first_server.clusters = {"C": {"a": {0: f"127.0.0.1:{closed_port()}"}}}
    first_server.routes = {"T": {"a": 6}}
    with AdminClient(first_server.addr, timeout=5) as admin:
        [usage] = admin.topics.list_usage(("T",))
    assert usage.consumer_groups is None
    assert usage.error is not None


def test_many_reads_go_on_at_the_next_server_when_one_hangs_up(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    first_server.handlers[105] = lambda asked: b""
    with AdminClient([first_server.addr, second_server.addr], timeout=5) as admin:
        [usage] = admin.topics.list_usage(("T",))
    assert usage.cluster_name == "C"


def test_a_topic_list_that_is_switched_off_says_so(first_server: FakeNameServer) -> None:
    first_server.handlers[206] = refuse_with(1, "disable")
    with AdminClient(first_server.addr, timeout=5) as admin, pytest.raises(Exception, match="disable"):
        admin.topics.list_names()


@pytest.mark.parametrize(
    ("addrs", "perm", "queues", "expected"),
    [
        ({0: "h:1"}, 6, 4, True),
        ({0: "h:1"}, 2, 1, True),
        ({0: "h:1"}, 4, 4, False),
        ({0: "h:1"}, 6, 0, False),
        ({1: "h:2"}, 6, 4, False),
        ({0: "h:1"}, None, None, False),
    ],
)
def test_producers_need_a_permission_a_queue_and_a_master(
    addrs: dict[int, str], perm: int | None, queues: int | None, expected: bool
) -> None:
    assert QueueRoute("b", "C", addrs, perm, queues, queues, 0).is_writable is expected


def test_the_routes_of_many_topics_come_by_topic(first_server: FakeNameServer) -> None:
    with AdminClient(first_server.addr, timeout=5) as admin:
        routes = admin.topics.get_routes(["T", "nope"])
    assert list(routes) == ["T", "nope"]
    assert routes["T"].result
    assert [queue.broker_name for queue in routes["T"].result.queues] == ["broker-a"]
    assert isinstance(routes["nope"].error, TopicNotExist)


def test_who_reads_topics_of_one_broker(broker: FakeBroker) -> None:
    broker.topics = {"T": ["g", "h"]}
    dead = f"127.0.0.1:{closed_port()}"
    with AdminClient("127.0.0.1:1") as admin:
        assert admin.topics.list_consumer_groups(broker.addr, ["T", "U"]).result == {"T": ("g", "h"), "U": ()}
        assert admin.topics.list_consumer_groups(dead, ["T"]).error is not None
