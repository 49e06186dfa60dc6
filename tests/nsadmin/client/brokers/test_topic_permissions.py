"""Which permission name servers have for the topics of one broker."""

from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin.client import AdminClient, NotFound
from tests.support.servers import FakeNameServer


def test_the_topics_of_one_broker_on_each_name_server(first: FakeNameServer, second: FakeNameServer) -> None:
    first.routes = {"b": {"broker-a": 6}, "a": {"broker-a": 4, "broker-b": 2}, "c": {"broker-b": 6}}
    second.clusters = {}
    with AdminClient([first.addr, second.addr], timeout=5) as admin:
        here, there = admin.brokers.get_topic_permissions("broker-a")
    assert here.result == {"a": 4, "b": 6}
    assert list(here.result) == ["a", "b"]
    assert isinstance(there.error, NotFound)
    assert second.codes() == [106]


def test_a_topic_that_went_in_the_meantime_is_left_out(first: FakeNameServer) -> None:
    first.routes = {"gone": {}, "here": {"broker-a": 4}}
    with AdminClient(first.addr, timeout=5) as admin:
        assert admin.brokers.get_topic_permissions("broker-a")[0].result == {"here": 4}


def test_one_route_that_cannot_be_told_is_an_error_of_its_server(first: FakeNameServer) -> None:
    route = first.handlers[105]

    def answer(asked: RemotingCommand) -> object:
        return build_reply(asked, 1, remark="oh") if (asked.ext or {})["topic"] == "a" else route(asked)

    first.handlers[105] = answer  # type: ignore[assignment]
    first.routes = {"a": {"broker-a": 6}, "b": {"broker-a": 6}}
    with AdminClient(first.addr, timeout=5) as admin:
        [found] = admin.brokers.get_topic_permissions("broker-a")
    assert (found.result, str(found.error)) == (None, "SYSTEM_ERROR (1): oh")
