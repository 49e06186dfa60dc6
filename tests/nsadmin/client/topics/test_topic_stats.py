"""Topic stats from several brokers."""

import pytest

from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.topics.topic_stats import QueueStats, TopicStats
from tests.support.fake_servers import FakeNameServer, closed_port
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
