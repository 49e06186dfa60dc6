"""Runtime info and write permission."""

import pytest

from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.brokers.brokers import RuntimeInfo
from tests.support.fake_servers import FakeBroker, FakeNameServer, closed_port, refuse_with


def test_the_first_of_three_averages_counts() -> None:
    assert RuntimeInfo({"putTps": "1.5 2.5 3.5"}).get_number("putTps") == 1.5


@pytest.mark.parametrize("text", ["", "1,2,3", "NaN", "Infinity", "many"])
def test_what_is_no_number_is_none(text: str) -> None:
    info = RuntimeInfo({"putTps": text})
    assert info.get_number("putTps") is None
    assert info.get_integer("putTps") is None


def test_what_is_not_reported_is_none_and_not_zero() -> None:
    info = RuntimeInfo({})
    assert (info.version, info.is_active, info.oldest_message_hours(0.0), info.get_difference("a", "b")) == (
        None,
    ) * 4


def test_the_version_is_named_or_computed() -> None:
    assert RuntimeInfo({"brokerVersionDesc": "V5_5_0", "brokerVersion": "407"}).version == "V5_5_0"
    assert RuntimeInfo({"brokerVersion": "407"}).version == "V4_9_7"


def test_the_old_spelling_of_4_9_is_known() -> None:
    assert RuntimeInfo({"getTransferedTps": "3.5 1 1"}).out_tps == 3.5
    assert RuntimeInfo({"getTransferredTps": "2.5 1 1"}).out_tps == 2.5
    assert RuntimeInfo({}).out_tps is None


def test_an_empty_store_has_no_oldest_message() -> None:
    assert RuntimeInfo({"earliestMessageTimeStamp": "-1"}).oldest_message_hours(1e9) is None
    assert RuntimeInfo({"earliestMessageTimeStamp": "0"}).oldest_message_hours(7200.0) == 2.0


def test_wiping_goes_to_every_name_server_and_counts_topics(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    second_server.routes["U"] = {"broker-a": 6}
    with AdminClient([first_server.addr, second_server.addr], timeout=5) as admin:
        results = admin.brokers.wipe_write_perm("broker-a")
        assert results == [(first_server.addr, 1, None), (second_server.addr, 2, None)]
        assert first_server.routes["T"]["broker-a"] == 4
        admin.brokers.add_write_perm("broker-a")
    assert first_server.routes["T"]["broker-a"] == 6


def test_a_broker_unknown_to_one_name_server_is_an_error_there_alone(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    second_server.clusters = {}
    with AdminClient([first_server.addr, second_server.addr], timeout=5) as admin:
        done, unknown = admin.brokers.wipe_write_perm("broker-a")
    assert done.result == 1
    assert isinstance(unknown.error, NotFound)
    assert 205 not in second_server.asked_codes()


def test_each_server_tells_its_own_failure(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    second_server.handlers[205] = refuse_with(1, "no")
    gone = f"127.0.0.1:{closed_port()}"
    with AdminClient([first_server.addr, second_server.addr, gone], timeout=5) as admin:
        results = admin.brokers.wipe_write_perm("broker-a")
    assert [str(result.error) for result in results] == [
        "None",
        "SYSTEM_ERROR (1): no",
        f"{gone}: connection refused, no server listens on this port",
    ]


def test_runtime_infos_keep_the_order(broker: FakeBroker) -> None:
    gone = f"127.0.0.1:{closed_port()}"
    with AdminClient("unused:1", timeout=5) as admin:
        dead, alive = admin.brokers.get_runtime_info([gone, broker.addr])
    assert dead.error is not None
    assert alive.result is not None
    assert alive.result.table == {"brokerVersionDesc": "V5_5_0", "commitLogDiskRatio": "0.1"}


def test_the_topics_of_one_broker_on_each_name_server(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    first_server.routes = {"b": {"broker-a": 6}, "a": {"broker-a": 4, "broker-b": 2}, "c": {"broker-b": 6}}
    second_server.clusters = {}
    with AdminClient([first_server.addr, second_server.addr], timeout=5) as admin:
        here, there = admin.broker_routes.get_topic_permissions("broker-a")
    assert here.result == {"a": 4, "b": 6}
    assert list(here.result) == ["a", "b"]
    assert isinstance(there.error, NotFound)
    assert second_server.asked_codes() == [106]


def test_a_topic_that_went_in_the_meantime_is_left_out(first_server: FakeNameServer) -> None:
    first_server.routes = {"gone": {}, "here": {"broker-a": 4}}
    with AdminClient(first_server.addr, timeout=5) as admin:
        assert admin.broker_routes.get_topic_permissions("broker-a")[0].result == {"here": 4}


def test_one_route_that_cannot_be_told_is_an_error_of_its_server(first_server: FakeNameServer) -> None:
    route = first_server.handlers[105]

    def answer(asked: RemotingCommand) -> object:
        return build_reply(asked, 1, remark="oh") if (asked.ext or {})["topic"] == "a" else route(asked)

    first_server.handlers[105] = answer  # type: ignore[assignment]
    first_server.routes = {"a": {"broker-a": 6}, "b": {"broker-a": 6}}
    with AdminClient(first_server.addr, timeout=5) as admin:
        [result] = admin.broker_routes.get_topic_permissions("broker-a")
    assert (result.result, str(result.error)) == (None, "SYSTEM_ERROR (1): oh")
