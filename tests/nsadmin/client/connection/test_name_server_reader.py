"""Which name server a read asks, and when another one."""

import pytest

from namesrv_core.errors import RequestError, TopicNotExist
from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client import CallError, NoneReachable
from tests.support.fake_servers import FakeNameServer, answer_hang_up, closed_port, refuse_with


def dead() -> str:
    return f"127.0.0.1:{closed_port()}"


def test_a_read_asks_one_name_server(first_server: FakeNameServer, second_server: FakeNameServer) -> None:
    with AdminClient([first_server.addr, second_server.addr], timeout=5) as admin:
        assert admin.topics.list_names() == ("T",)
    assert (first_server.asked_codes(), second_server.asked_codes()) == ([206], [])


@pytest.mark.parametrize("trouble", ["unconnected", "closed", "unreadable"])
def test_where_the_transport_fails_the_next_one_is_asked(
    trouble: str, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    first_server.handlers[206] = (
        answer_hang_up if trouble == "closed" else lambda asked: build_reply(asked, body=b"[")
    )
    bad = dead() if trouble == "unconnected" else first_server.addr
    with AdminClient([bad, second_server.addr], timeout=5) as admin:
        assert admin.topics.list_names() == ("T",)
        assert list(admin.unreachable) == [bad]
        error = admin.unreachable[bad]
        assert isinstance(error, CallError)
        assert error.kind == trouble


def test_the_one_that_answered_is_asked_first_from_then_on(second_server: FakeNameServer) -> None:
    with AdminClient([dead(), second_server.addr], timeout=5) as admin:
        admin.topics.list_names()
        admin.topics.list_names()
        assert admin._reader._preferred_addrs[0] == second_server.addr


def test_not_found_is_believed_only_when_nobody_knows_better(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    first_server.routes.clear()
    with AdminClient([first_server.addr, second_server.addr], timeout=5) as admin:
        assert admin.topics.get_route("T").queues[0].broker_name == "broker-a"
        with pytest.raises(TopicNotExist):
            admin.topics.get_route("U")
    assert second_server.asked_codes() == [105, 105]


def test_a_refusal_is_an_answer(first_server: FakeNameServer, second_server: FakeNameServer) -> None:
    first_server.handlers[206] = refuse_with(1, "disable")
    with (
        AdminClient([first_server.addr, second_server.addr], timeout=5) as admin,
        pytest.raises(RequestError, match="disable"),
    ):
        admin.topics.list_names()
    assert second_server.asked_codes() == []


def test_when_nobody_can_be_reached_every_address_is_named() -> None:
    one, other = dead(), dead()
    with AdminClient([one, other], timeout=5) as admin, pytest.raises(NoneReachable) as caught:
        admin.topics.list_names()
    assert one in str(caught.value)
    assert other in str(caught.value)


def test_asking_all_takes_the_first_in_order_and_notices_who_disagrees(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    second_server.routes = {"T": {"broker-a": 4}}
    gone = dead()
    with AdminClient([gone, first_server.addr, second_server.addr], timeout=5, ask_all=True) as admin:
        assert admin.topics.get_route("T").queues[0].perm == 6
        assert list(admin.unreachable) == [gone]
        assert admin.disagreements == [
            f'name servers {second_server.addr} and {first_server.addr} disagree about the topic "T"'
        ]


def test_asking_all_notices_who_does_not_know(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    first_server.routes.clear()
    with AdminClient([first_server.addr, second_server.addr], timeout=5, ask_all=True) as admin:
        admin.topics.get_route("T")
        assert admin.disagreements == [
            f'name server {first_server.addr} does not have the topic "T", another one has it'
        ]


def test_those_that_agree_are_not_said_to_disagree(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    with AdminClient([first_server.addr, second_server.addr], timeout=5, ask_all=True) as admin:
        admin.topics.get_route("T")
        admin.clusters.get_info()
        assert admin.disagreements == []


def test_one_that_refuses_what_another_tells_is_noticed(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    first_server.handlers[206] = refuse_with(16, "who are you?")
    with AdminClient([first_server.addr, second_server.addr], timeout=5, ask_all=True) as admin:
        assert admin.topics.list_names() == ("T",)
        error = admin.unreachable[first_server.addr]
        assert isinstance(error, RequestError)
        assert (error.code, list(admin.unreachable), admin.disagreements) == (16, [first_server.addr], [])
