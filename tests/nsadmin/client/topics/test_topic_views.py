"""What each name server, and each broker, tells of one topic."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client.results import is_not_found
from tests.support.fake_servers import FakeNameServer, answer_json, closed_port, refuse_with
from tests.support.topic_brokers import TopicBroker, topic_config


@pytest.fixture
def topic_broker() -> Iterator[TopicBroker]:
    with TopicBroker(topic_config("T", perm=4)) as running:
        running.items["namesrvAddr"] = "a:1;b:2"
        yield running


def test_each_server_answers_for_itself(first_server: FakeNameServer, second_server: FakeNameServer) -> None:
    first_server.routes["TBW102"] = {"broker-a": 7}
    first_server.kv = {"ORDER_TOPIC_CONFIG": {"T": "broker-a:4"}}
    del second_server.routes["T"]
    second_server.routes["U"] = {"broker-a": 6}
    dead = f"127.0.0.1:{closed_port()}"
    with AdminClient(first_server.addr) as admin:
        first_view, other, silent = admin.topic_views.get_name_server_views(
            [first_server.addr, second_server.addr, dead, first_server.addr], "T"
        )
    assert first_view.route.result is not None
    assert [queue.perm for queue in first_view.route.result.queues] == [6]
    assert first_view.default_route.result is not None
    assert first_view.order_conf == (first_server.addr, "broker-a:4", None)
    assert first_view.config.result == first_server.config
    assert (first_view.topic_names, first_view.zone_route, first_view.is_silent, first_view.has_no_route) == (
        None,
        None,
        False,
        False,
    )
    assert (other.route.result, other.has_no_route) == (None, True)
    assert other.topic_names is not None
    assert other.topic_names.result == ("U",)
    assert other.cluster_info.result is not None
    assert [group.broker_name for group in other.cluster_info.result.broker_groups] == ["broker-a"]
    assert other.order_conf == (second_server.addr, None, None)
    assert is_not_found(other.default_route.error)
    assert (silent.is_silent, silent.has_no_route, silent.topic_names) == (True, False, None)
    # All names are asked for where there is no route only.
    assert 206 not in first_server.asked_codes()


def test_a_route_may_be_asked_for_as_a_client_of_a_zone(first_server: FakeNameServer) -> None:
    whole = first_server.handlers[105]
    first_server.handlers[105] = lambda asked: (
        answer_json(asked, {"brokerDatas": [], "queueDatas": []})
        if (asked.ext or {}).get("__ZONE_NAME") == "z" and (asked.ext or {}).get("__ZONE_MODE") == "true"
        else whole(asked)
    )
    with AdminClient(first_server.addr) as admin:
        [view] = admin.topic_views.get_name_server_views([first_server.addr], "T", "z")
    assert view.route.result is not None
    assert view.route.result.queues
    assert view.zone_route is not None
    assert view.zone_route.result is not None
    assert view.zone_route.result.queues == ()


def test_one_answer_that_is_missing_leaves_the_others(first_server: FakeNameServer) -> None:
    first_server.handlers[106] = refuse_with(2, "busy")
    first_server.handlers[101] = refuse_with(1, "odd")
    first_server.handlers[319] = lambda asked: build_reply(asked, 1, remark="no")
    with AdminClient(first_server.addr) as admin:
        [view] = admin.topic_views.get_name_server_views([first_server.addr], "T")
    assert view.route.result is not None
    assert [str(item.error) for item in (view.cluster_info, view.order_conf, view.config)] == [
        "SYSTEM_BUSY (2): busy",
        "SYSTEM_ERROR (1): odd",
        "SYSTEM_ERROR (1): no",
    ]


@pytest.mark.parametrize("release", ["5.x", "4.9"])
def test_what_brokers_tell(first_server: FakeNameServer, topic_broker: TopicBroker, release: str) -> None:
    if release == "4.9":
        topic_broker.as_4_9()
    dead = f"127.0.0.1:{closed_port()}"
    with TopicBroker(name="broker-b") as other, AdminClient(first_server.addr) as admin:
        views = admin.topic_views.get_broker_views(
            [topic_broker.addr, other.addr, dead, topic_broker.addr], "T"
        )
        assert [view.addr for view in views] == [topic_broker.addr, other.addr, dead]
    having, lacking, silent = views
    assert (having.broker_name, lacking.broker_name, silent.broker_name) == ("broker-a", "broker-b", None)
    assert having.config.result is not None
    assert having.config.result["namesrvAddr"] == "a:1;b:2"
    assert having.topic_config.result is not None
    assert having.topic_config.result.perm == 4
    assert is_not_found(lacking.topic_config.error) or release == "4.9"
    assert silent.topic_config.error is silent.config.error is not None
