"""What a screen wants to know, asked in the lab."""

from pathlib import Path
from typing import Any

import pytest

from namesrv_core.protocol.codes import RequestCode
from nsadmin import AdminClient
from nsadmin.operations.collector.request_pace import RequestPace
from nsadmin.tui.polling.detail_queries import DetailQuery, run_queries
from nsadmin.tui.polling.poll_records import (
    BrokerTopicsPolled,
    ConfigPolled,
    ConnectionsPolled,
    DivergencePolled,
    QueueCounts,
    TopicPolled,
)
from nsadmin.tui.polling.server_polls import RequestStopwatch, ServerProbe
from tests.support.fake_servers import FakeNameServer, answer_json
from tests.support.playground import Playground, start_playground


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with start_playground(tmp_path_factory.mktemp("lab"), name_servers=2) as running:
        yield running


def test_a_topic_has_routes_of_each_name_server_its_rate_and_its_readers(ground: Playground) -> None:
    [poll] = ground.poll_details(DetailQuery("topic", "orders"))
    assert isinstance(poll, TopicPolled)
    assert list(poll.routes) == ["10.0.0.1:9876", "10.0.0.2:9876"]
    route = poll.routes["10.0.0.1:9876"]
    assert route is not None
    assert sorted(route) == ["broker-a-0", "broker-a-1", "broker-b-0", "broker-b-1"]
    assert isinstance(route["broker-a-0"], QueueCounts)
    assert poll.put_tps is not None
    assert poll.put_tps.keys() == route.keys()
    assert poll.groups


def test_a_line_of_a_list_asks_no_readers(ground: Playground) -> None:
    [poll] = ground.poll_details(DetailQuery("topicRow", "orders"))
    assert isinstance(poll, TopicPolled)
    assert (poll.groups, bool(poll.put_tps)) == (None, True)


def test_a_topic_that_is_not_there_is_none_for_each_name_server(ground: Playground) -> None:
    [poll] = ground.poll_details(DetailQuery("topic", "nothing"))
    assert isinstance(poll, TopicPolled)
    assert (poll.routes, poll.put_tps) == ({"10.0.0.1:9876": None, "10.0.0.2:9876": None}, {})


def test_a_name_server_that_is_silent_is_not_asked_for_each_topic(ground: Playground) -> None:
    with ground._looker(ground.addrs) as probe:
        probe = probe._replace(list_silent=lambda: {ground.addrs[0]: "no answer within 5 s"})
        [poll] = run_queries(probe, [DetailQuery("topicRow", "orders")])
    assert isinstance(poll, TopicPolled)
    assert (list(poll.routes), poll.errors) == ([ground.addrs[1]], {ground.addrs[0]: "no answer within 5 s"})
    assert len(poll.put_tps or {}) == 4


def test_a_static_topic_that_claims_two_billion_queues_has_its_masters() -> None:
    mapping = {"bname": "broker-a", "totalQueues": 2**31 - 1, "currIdMap": {"0": 0}}
    queues = {"brokerName": "broker-a", "readQueueNums": 1, "writeQueueNums": 1, "perm": 6}
    body = {
        "brokerDatas": [{"brokerName": "broker-a", "cluster": "c", "brokerAddrs": {"0": "h:1", "1": "h:2"}}],
        "queueDatas": [queues],
        "topicQueueMappingByBroker": {"broker-a": mapping},
    }
    with FakeNameServer({"c": {"broker-a": {0: "127.0.0.1:1"}}}) as server:
        server.handlers[RequestCode.GET_ROUTEINFO_BY_TOPIC] = lambda asked: answer_json(asked, body)
        with AdminClient(server.addr, timeout=5) as admin:
            probe = ServerProbe(admin, RequestStopwatch(), lambda: 7, RequestPace(10_000), [server.addr])
            query = DetailQuery("topicRow", "T")
            [poll] = run_queries(probe, [query])
    assert isinstance(poll, TopicPolled)
    assert poll.routes == {server.addr: {"broker-a": QueueCounts(1, 1, 6)}}


def test_settings_and_producers_of_a_broker(ground: Playground) -> None:
    config, clients = ground.poll_details(
        DetailQuery("config", "10.0.1.1:10911"), DetailQuery("connections", "10.0.1.1:10911")
    )
    assert isinstance(config, ConfigPolled)
    assert config.config is not None
    assert config.config["brokerName"] == "broker-a-0"
    assert isinstance(clients, ConnectionsPolled)
    assert clients.producers


def test_what_a_dead_broker_does_not_tell(ground: Playground) -> None:
    polls = ground.poll_details(*(DetailQuery(kind, "127.0.0.1:1") for kind in ("config", "connections")))
    found = [getattr(poll, "error", None) for poll in polls]
    assert found == ["connection refused, no server listens on this port"] * 2


def test_a_look_at_all_routes_is_followed_by_a_rest(tmp_path: Path) -> None:
    with start_playground(tmp_path, name_servers=2) as ground:
        with ground.open_client([ground.addrs[1]]) as admin:
            admin.brokers.wipe_write_perm("broker-a-0")
        [poll] = ground.poll_details(DetailQuery("divergence"))
        assert isinstance(poll, DivergencePolled)
        assert poll.verdict == "converging"
        assert {finding.section_name for finding in poll.findings} == {"topic"}
        assert (
            "the write permission of broker-a-0 was removed on 10.0.0.2:9876 only" in poll.findings[0].cause
        )
        assert (
            poll.findings[0].texts_by_server["10.0.0.1:9876"]
            != poll.findings[0].texts_by_server["10.0.0.2:9876"]
        )
        assert ground.poll_details(DetailQuery("divergence")) == []


def test_topics_of_a_broker_as_it_has_them_itself(ground: Playground) -> None:
    known, silent = ground.poll_details(
        DetailQuery("brokerTopics", "10.0.1.1:10911"), DetailQuery("brokerTopics", "127.0.0.1:1")
    )
    assert isinstance(known, BrokerTopicsPolled)
    assert isinstance(silent, BrokerTopicsPolled)
    assert known.topics is not None
    assert known.topics["orders"].perm == 6
    assert (silent.topics, silent.error) == (None, "connection refused, no server listens on this port")
