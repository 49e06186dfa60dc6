"""Topic stats from several brokers."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.command import RemotingCommand, build_reply, build_request
from nsadmin import AdminClient
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.message_queues import list_readable_queues
from nsadmin.client.topic_routes import parse_route
from nsadmin.client.topics.topic_stats import QueuePart, QueueStats, TopicStats
from tests.support.fake_servers import FakeNameServer, answer_json, closed_port, refuse_with
from tests.support.topic_brokers import TopicBroker


def queue(end: int, begin: int = 0, at: int = 5) -> dict[str, int]:
    return {"minOffset": begin, "maxOffset": end, "lastUpdateTimestamp": at}


def test_queues_are_in_order_and_each_broker_has_its_own() -> None:
    with TopicBroker() as a, TopicBroker(name="broker-b") as b:
        a.offsets["T"] = {number: queue(number) for number in (10, 2)}
        b.offsets["T"] = {}
        with FakeNameServer({"C": {"broker-a": {0: a.addr}, "broker-b": {1: b.addr}}}) as server:
            server.routes["T"] = {"broker-b": 6, "broker-a": 6}
            with AdminClient(server.addr, timeout=5) as admin:
                assert admin.topics.get_stats("T") == [
                    (
                        "broker-a",
                        a.addr,
                        TopicStats((QueueStats(2, 0, 2, 5), QueueStats(10, 0, 10, 5)), 0.5),
                        None,
                    ),
                    ("broker-b", b.addr, TopicStats((), 0.5), None),
                ]


def test_a_dead_broker_and_one_that_has_left_do_not_hide_the_others() -> None:
    with TopicBroker() as a:
        a.offsets["T"] = {0: queue(1)}
        groups = {"broker-a": {0: a.addr}, "broker-b": {0: f"127.0.0.1:{closed_port()}"}}
        with FakeNameServer({"C": groups}) as server:
            server.routes["T"] = {"broker-a": 6, "broker-b": 6, "broker-z": 6}
            with AdminClient(server.addr, timeout=5) as admin:
                first, second, third = admin.topics.get_stats("T")
    assert (first.error, first.stats and first.stats.queues[0].max_offset) == (None, 1)
    assert (second.stats, str(second.error).count("refused")) == (None, 1)
    assert (third.broker_addr, third.stats, type(third.error)) == (None, None, NotFound)


def test_another_topic_s_brokers_can_be_asked(first_server: FakeNameServer) -> None:
    with TopicBroker() as broker:
        broker.offsets["%LMQ%x"] = {0: queue(3)}
        first_server.clusters = {"C": {"broker-a": {0: broker.addr}}}
        with AdminClient(first_server.addr, timeout=5) as admin:
            [stats] = admin.topics.get_stats("%LMQ%x", "T")
            assert stats.stats is not None
            with pytest.raises(Exception, match="TOPIC_NOT_EXIST"):
                admin.topics.get_stats("%LMQ%x")


def test_what_old_brokers_do_not_tell_is_none(first_server: FakeNameServer) -> None:
    with TopicBroker() as broker:
        broker.handlers[202] = lambda asked: build_reply(asked, body=b'{"offsetTable":{}}')
        first_server.clusters = {"C": {"broker-a": {0: broker.addr}}}
        with AdminClient(first_server.addr, timeout=5) as admin:
            assert admin.topics.get_stats("T")[0].stats == TopicStats((), None)


def test_topics_at_brokers_without_a_name_server() -> None:
    with TopicBroker() as a, AdminClient("h:1", timeout=5) as admin:
        a.offsets["T"] = {0: queue(7, 2)}
        dead = f"127.0.0.1:{closed_port()}"
        stats, refused = admin.topics.get_stats_at([(a.addr, "T"), (dead, "T")])
    assert stats.result == TopicStats((QueueStats(0, 2, 7, 5),), 0.5)
    assert (refused.addr, refused.result) == (dead, None)


ITEM = '{"bname":"%s","queueId":%d,"gen":%d,"logicOffset":%d,"startOffset":%d,"endOffset":-1}'
MOVED = "[" + ITEM % ("broker-b", 0, 1, 10_000, 0) + "," + ITEM % ("broker-a", 0, 0, 0, 0) + "]"
"""Queue 0: first on broker-a, now on broker-b."""
STAYED = "[" + ITEM % ("broker-a", 1, 0, 0, 0) + "]"


@pytest.mark.parametrize(("own", "logical"), [(0, 10_000), (5, 10_000), (25, 10_020)])
def test_a_part_counts_from_where_it_begins(own: int, logical: int) -> None:
    assert QueuePart("b", 0, 10_000, 5).to_logical_offset(own) == logical


def mapping(queues: str) -> bytes:
    return b'{"topicName":"T","mappingDetail":{"bname":"x","hostedQueues":{' + queues.encode() + b"}}}"


class Static:
    """A topic of two logical queues on two brokers."""

    def __init__(self, server: FakeNameServer, a: TopicBroker, b: TopicBroker, admin: AdminClient) -> None:
        self.server, self.a, self.b, self.admin = server, a, b, admin


@pytest.fixture
def static_topic() -> Iterator[Static]:
    with TopicBroker() as a, TopicBroker(name="broker-b") as b:
        a.offsets["T"] = {0: queue(30, 4, 7), 1: queue(8)}
        b.offsets["T"] = {0: queue(2, 0, 9)}
        a.handlers[351] = lambda asked: build_reply(asked, body=mapping(f"1:{STAYED}"))
        b.handlers[351] = lambda asked: build_reply(asked, body=mapping(f"0:{MOVED}"))
        with FakeNameServer({"C": {"broker-a": {0: a.addr}, "broker-b": {0: b.addr}}}) as server:
            server.routes["T"] = {"broker-a": 6, "broker-b": 6}
            usual_handler = server.handlers[105]

            def route(asked: RemotingCommand) -> RemotingCommand:
                answer = usual_handler(asked)
                assert isinstance(answer, RemotingCommand)
                maps = (
                    b',"topicQueueMappingByBroker":{"broker-a":{"currIdMap":{1:1}},'
                    b'"broker-b":{"currIdMap":{0:0}}}}'
                )
                return build_reply(asked, body=answer.body[:-1] + maps)

            server.handlers[105] = route
            with AdminClient(server.addr, timeout=5) as admin:
                yield Static(server, a, b, admin)


def test_a_route_says_which_queues_are_where(static_topic: Static) -> None:
    queues = static_topic.admin.topics.get_route("T").queues
    assert [item.logical_queues for item in queues] == [{1: 1}, {0: 0}]
    assert (
        [list(item.read_queue_ids) for item in queues]
        == [list(item.write_queue_ids) for item in queues]
        == [[1], [0]]
    )
    assert {static_topic.admin.message_sender.choose_queue("T", "broker-a").queue_id for _ in range(9)} == {1}


def test_clients_share_out_logical_queues(static_topic: Static) -> None:
    route = static_topic.admin.topics.get_route("T")
    assert list_readable_queues("T", route) == [("T", "__syslo__global__", 0), ("T", "__syslo__global__", 1)]


@pytest.mark.parametrize(
    ("mapping", "queues"),
    [
        ({"currIdMap": {}, "totalQueues": 2}, [("__syslo__global__", 0), ("__syslo__global__", 1)]),
        ({"currIdMap": {"3": 0}, "scope": "__global__"}, [("__syslo__global__", 3)]),
        ({"currIdMap": {"0": 0}, "scope": "east"}, [("__syslo__east", 0)]),
    ],
)
def test_logical_queues_belong_to_a_scope(mapping: dict[str, object], queues: list[tuple[str, int]]) -> None:
    route = parse_route(answer_json(build_request(105), {"topicQueueMappingByBroker": {"b": mapping}}))
    assert route.list_logical_queues() == queues


def test_offsets_are_those_of_the_logical_queues(static_topic: Static) -> None:
    a, b = static_topic.admin.topics.get_stats("T")
    assert a.stats is not None
    assert b.stats is not None
    assert a.stats.queues == (QueueStats(1, 0, 8, 5),)
    assert b.stats.queues == (QueueStats(0, 4, 10_002, 9),)
    assert [(asked.ext or {})["lo"] for asked in static_topic.a.asked if asked.code == 351] == ["true"]


def test_a_part_that_nobody_tells_of(static_topic: Static) -> None:
    static_topic.a.handlers[202] = refuse_with(1, "busy")
    a, b = static_topic.admin.topics.get_stats("T")
    assert (a.stats, str(a.error)) == (None, "SYSTEM_ERROR (1): busy")
    assert b.stats is not None
    assert b.stats.queues == (QueueStats(0, None, 10_002, 9),)
    static_topic.b.handlers[351] = lambda asked: answer_json(asked, {"topicName": "T"})
    assert (
        str(static_topic.admin.topics.get_stats("T")[1].error)
        == "no broker reports the offsets of the logical queues [0]"
    )
    static_topic.b.handlers[351] = refuse_with(1, "no")
    assert str(static_topic.admin.topics.get_stats("T")[1].error) == "SYSTEM_ERROR (1): no"


def test_a_queue_that_moves_counts_by_where_it_was(static_topic: Static) -> None:
    undecided = MOVED.replace("10000", "-1")
    static_topic.b.handlers[351] = lambda asked: build_reply(asked, body=mapping(f"0:{undecided}"))
    _, b = static_topic.admin.topics.get_stats("T")
    assert b.stats is not None
    assert b.stats.queues == (QueueStats(0, 4, 30, 7),)


def test_a_broker_without_a_queue_of_it_has_no_rows(static_topic: Static) -> None:
    usual_handler = static_topic.server.handlers[105]

    def route(asked: RemotingCommand) -> RemotingCommand:
        answer = usual_handler(asked)
        assert isinstance(answer, RemotingCommand)
        return build_reply(asked, body=answer.body.replace(b'{"currIdMap":{0:0}}', b'{"currIdMap":{}}'))

    static_topic.server.handlers[105] = route
    _, b = static_topic.admin.topics.get_stats("T")
    assert (b.error, b.stats and b.stats.queues) == (None, ())


def test_groups_are_not_moved_on_it(static_topic: Static) -> None:
    with pytest.raises(NotApplied, match="is a static topic"):
        static_topic.admin.offsets.plan_reset("G", "T", 5)
