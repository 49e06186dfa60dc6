"""Queues of static topics, put together of those that brokers have."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.command import RemotingCommand, build_reply, build_request
from nsadmin import AdminClient
from nsadmin.client import NotApplied
from nsadmin.client.consumers.queue_allocation import list_readable_queues
from nsadmin.client.topic_routes import parse_route
from nsadmin.client.topics.logical_queue_parts import QueuePart
from nsadmin.client.topics.topic_stats import QueueStats
from tests.support.fake_servers import FakeNameServer, answer_json, refuse_with
from tests.support.topic_brokers import TopicBroker

ITEM = '{"bname":"%s","queueId":%d,"gen":%d,"logicOffset":%d,"startOffset":%d,"endOffset":-1}'
MOVED = "[" + ITEM % ("broker-b", 0, 1, 10_000, 0) + "," + ITEM % ("broker-a", 0, 0, 0, 0) + "]"
"""Queue 0: first on broker-a, now on broker-b."""
STAYED = "[" + ITEM % ("broker-a", 1, 0, 0, 0) + "]"


@pytest.mark.parametrize(("own", "logical"), [(0, 10_000), (5, 10_000), (25, 10_020)])
def test_a_part_counts_from_where_it_begins(own: int, logical: int) -> None:
    assert QueuePart("b", 0, 10_000, 5).to_logical_offset(own) == logical


def queue(end: int, begin: int = 0, at: int = 5) -> dict[str, int]:
    return {"minOffset": begin, "maxOffset": end, "lastUpdateTimestamp": at}


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
