"""Gathering facts of servers that run."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from nsadmin.operations.explain.facts import JournalEvidence, RouteQuestion
from nsadmin.operations.explain.observer import find_route_in_context, gather_facts, resolve_host
from tests.support.fake_servers import FakeNameServer, answer_json, closed_port
from tests.support.topic_brokers import TopicBroker, topic_config


@pytest.fixture
def topic_broker() -> Iterator[TopicBroker]:
    with TopicBroker(topic_config("T")) as running:
        yield running


@pytest.fixture
def other_broker() -> Iterator[TopicBroker]:
    with TopicBroker(name="broker-b") as running:
        yield running


@pytest.fixture
def server(topic_broker: TopicBroker, other_broker: TopicBroker) -> Iterator[FakeNameServer]:
    members = {
        "C": {"broker-a": {0: topic_broker.addr}},
        "D": {"broker-b": {0: other_broker.addr, 1: "127.0.0.1:1"}},
    }
    with FakeNameServer(members) as running:
        running.routes = {"T": {"broker-a": 6}}
        topic_broker.items["namesrvAddr"] = running.addr
        yield running


def test_of_a_topic_with_a_route_only_its_brokers_are_asked(
    server: FakeNameServer, topic_broker: TopicBroker, other_broker: TopicBroker
) -> None:
    with AdminClient(server.addr) as admin:
        facts = gather_facts(admin, RouteQuestion("T"))
    assert [view.addr for view in facts.server_views] == [server.addr]
    assert [broker.addr for broker in facts.broker_views] == [topic_broker.addr]
    assert (other_broker.asked, facts.hosts, facts.other_context_routes) == ([], {}, None)
    # One of the routes is that of the topic with heartbeats of proxies.
    assert sorted(server.asked_codes()) == [101, 105, 105, 105, 106, 319]


def test_of_one_without_a_route_a_process_of_each_broker_is(
    server: FakeNameServer, topic_broker: TopicBroker, other_broker: TopicBroker
) -> None:
    server.routes = {}
    with AdminClient(server.addr) as admin:
        assert {view.addr for view in gather_facts(admin, RouteQuestion("T")).broker_views} == {
            topic_broker.addr,
            other_broker.addr,
        }
        assert [view.addr for view in gather_facts(admin, RouteQuestion("T", "C")).broker_views] == [
            topic_broker.addr
        ]


def test_brokers_that_are_named_or_remembered_and_the_clients_servers_are_asked_too(
    server: FakeNameServer, topic_broker: TopicBroker, other_broker: TopicBroker
) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    memory = JournalEvidence("ns-1", last_addrs={"broker-b": (other_broker.addr,)})
    with AdminClient(server.addr) as admin:
        facts = gather_facts(admin, RouteQuestion("T", client_list=dead), [dead], [memory], [])
    assert [view.addr for view in facts.server_views] == [server.addr, dead]
    assert [broker_view.addr for broker_view in facts.broker_views] == [
        topic_broker.addr,
        dead,
        other_broker.addr,
    ]
    assert (facts.memories, facts.other_context_routes) == ((memory,), ())


def test_lists_that_are_written_otherwise_are_compared_by_what_they_resolve_to(
    server: FakeNameServer, topic_broker: TopicBroker
) -> None:
    named = f"localhost:{server.port}"
    topic_broker.items["namesrvAddr"] = named
    with AdminClient(server.addr) as admin:
        facts = gather_facts(admin, RouteQuestion("T"))
    assert server.addr in facts.hosts[named]
    for addr in ("no-such-host.invalid:1", "nonsense"):
        assert resolve_host(addr) == {addr}


def test_another_context_may_have_it(server: FakeNameServer) -> None:
    with AdminClient(server.addr) as admin:
        assert find_route_in_context("prod", admin, "T") == ("prod", server.addr, ("C",), None)
        assert find_route_in_context("prod", admin, "U") == ("prod", None, (), None)
    with AdminClient(f"127.0.0.1:{closed_port()}") as admin:
        context_route = find_route_in_context("prod", admin, "T")
    assert context_route.found_on is None
    assert "connection refused" in (context_route.error or "")


def test_what_a_name_server_lacks_is_measured_on_the_broker_that_has_it(
    server: FakeNameServer, topic_broker: TopicBroker
) -> None:
    server.routes = {}
    where = {"brokerClusterName": "C", "brokerIP1": "127.0.0.1", "listenPort": "1", "haListenPort": "2"}
    topic_broker.items |= where
    topic_broker.handlers[21] = lambda asked: answer_json(asked, {"topicConfigTable": topic_broker.configs})
    with AdminClient(server.addr) as admin:
        facts = gather_facts(admin, RouteQuestion("T"))
        assert gather_facts(admin, RouteQuestion("U")).sizes == {}
    [(addr, measured)] = facts.sizes.items()
    assert addr == topic_broker.addr
    assert measured.result is not None
    assert (measured.result.limit_bytes, measured.result.topic_count) == (16 << 20, 1)
    assert 300 < measured.result.size_bytes < 1000
    del topic_broker.handlers[21]
    with AdminClient(server.addr) as admin:
        assert "not supported" in str(gather_facts(admin, RouteQuestion("T")).sizes[topic_broker.addr].error)
