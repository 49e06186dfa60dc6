"""Which permission name servers have for the topics of one broker."""

from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin.client import AdminClient, NotFound
from tests.support.fake_servers import FakeNameServer


def test_the_topics_of_one_broker_on_each_name_server(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    first_server.routes = {"b": {"broker-a": 6}, "a": {"broker-a": 4, "broker-b": 2}, "c": {"broker-b": 6}}
    second_server.clusters = {}
    with AdminClient([first_server.addr, second_server.addr], timeout=5) as admin:
        here, there = admin.brokers.get_topic_permissions("broker-a")
    assert here.result == {"a": 4, "b": 6}
    assert list(here.result) == ["a", "b"]
    assert isinstance(there.error, NotFound)
    assert second_server.asked_codes() == [106]


def test_a_topic_that_went_in_the_meantime_is_left_out(first_server: FakeNameServer) -> None:
    first_server.routes = {"gone": {}, "here": {"broker-a": 4}}
    with AdminClient(first_server.addr, timeout=5) as admin:
        assert admin.brokers.get_topic_permissions("broker-a")[0].result == {"here": 4}


def test_one_route_that_cannot_be_told_is_an_error_of_its_server(first_server: FakeNameServer) -> None:
    route = first_server.handlers[105]

    def answer(asked: RemotingCommand) -> object:
        return build_reply(asked, 1, remark="oh") if (asked.ext or {})["topic"] == "a" else route(asked)

    first_server.handlers[105] = answer  # type: ignore[assignment]
    first_server.routes = {"a": {"broker-a": 6}, "b": {"broker-a": 6}}
    with AdminClient(first_server.addr, timeout=5) as admin:
        [result] = admin.brokers.get_topic_permissions("broker-a")
    assert (result.result, str(result.error)) == (None, "SYSTEM_ERROR (1): oh")
