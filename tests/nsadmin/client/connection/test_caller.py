"""Asking again what got no answer, never what changes something; and who may not change anything."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from namesrv_core.errors import BadSettings, RequestError
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply, build_request
from namesrv_core.transport.multiplexed_client import CallError, Exchange
from nsadmin.client import AdminClient
from nsadmin.client.connection.access_options import Access
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.connection_pool import CallScope, ThreadSafeConnections
from nsadmin.client.results import NotANameServer, ReadOnlyAccess
from tests.support.fake_servers import (
    Answer,
    FakeBroker,
    FakeNameServer,
    Server,
    answer_hang_up,
    closed_port,
    refuse_with,
)

READ, CHANGE = RequestCode.GET_NAMESRV_CONFIG, RequestCode.PUT_KV_CONFIG


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited before each further attempt; nobody waits for real."""
    slept: list[float] = []

    def pause(self: ThreadSafeConnections, pause_seconds: float, scope: CallScope) -> None:
        slept.append(pause_seconds)

    monkeypatch.setattr(ThreadSafeConnections, "pause", pause)
    return slept


@contextmanager
def caller_of(retries: int = 0, concurrency: int = 64) -> Iterator[Caller]:
    with AdminClient("h:1", access=Access(5, retries, concurrency)) as client:
        yield client._caller


def after(failures: int) -> Server:
    """A server that hangs up so often before it answers."""
    left = [failures]

    def answer(asked: RemotingCommand) -> Answer:
        left[0] -= 1
        return b"" if left[0] >= 0 else build_reply(asked)

    return Server({READ: answer, CHANGE: answer})


def test_a_read_is_tried_again_after_growing_pauses(pauses: list[float]) -> None:
    with after(2) as server, after(0) as healthy, caller_of(retries=6) as caller:
        results = caller.send_to_each([server.addr, healthy.addr], READ)
        assert [result.error for result in results] == [None, None]
        assert (len(server.asked), len(healthy.asked)) == (3, 1)
    assert pauses == [0.1, 0.2]


def test_the_last_failure_is_what_is_reported(pauses: list[float]) -> None:
    gone = f"127.0.0.1:{closed_port()}"
    with caller_of(retries=6) as caller:
        [result] = caller.send_to_each([gone], READ)
    assert isinstance(result.error, CallError)
    assert result.error.kind == "unconnected"
    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]


def test_nothing_is_tried_again_unless_it_was_asked_for(pauses: list[float]) -> None:
    with after(1) as server, caller_of() as caller:
        [result] = caller.send_to_each([server.addr], READ)
        assert isinstance(result.error, CallError)
    assert pauses == []


def test_only_the_unanswered_reads_of_several_requests_are_tried_again(pauses: list[float]) -> None:
    with after(0) as good, after(2) as late, after(1) as changed, caller_of(retries=5) as caller:
        results = caller.send_requests(
            [
                (good.addr, build_request(READ)),
                (late.addr, build_request(READ)),
                (changed.addr, build_request(CHANGE)),
            ]
        )
        assert [len(server.asked) for server in (good, late, changed)] == [1, 3, 1]
    assert pauses == [0.1, 0.2]
    assert [isinstance(result.error, CallError) for result in results] == [False, False, True]


def test_a_change_is_never_tried_again(pauses: list[float]) -> None:
    with Server({CHANGE: answer_hang_up}) as server, caller_of(retries=3) as caller:
        [result] = caller.send_to_each([server.addr], CHANGE)
        assert len(server.asked) == 1
    assert str(result.error).endswith("the change is possibly done")
    assert pauses == []


def test_so_many_servers_are_asked_at_a_time_as_was_said() -> None:
    with (
        Server({READ: build_reply}) as slow_server,
        Server({READ: build_reply}) as other,
        caller_of(concurrency=1) as caller,
    ):
        assert [r.error for r in caller.send_to_each([slow_server.addr, other.addr], READ)] == [None, None]
        [calls] = caller._connections._idle_clients
        open_now = [server for server in calls._pool if server.tcp_socket is not None]
    assert len(open_now) == 1


def test_who_may_only_read_sends_no_change() -> None:
    exchanges: list[Exchange] = []
    with FakeNameServer() as server:
        with AdminClient(server.addr, read_only=True, observer=exchanges.append) as admin:
            with pytest.raises(
                ReadOnlyAccess, match=f"not sent to {server.addr}: PUT_KV_CONFIG changes the server"
            ):
                admin.kv.put_value("N", "k", "v")
            with pytest.raises(ReadOnlyAccess):
                admin._caller.send_requests([(server.addr, build_request(code)) for code in (READ, CHANGE)])
            assert admin.name_servers.get_config_each()[0].error is None
        assert server.asked_codes() == [READ]
    assert [exchange.code for exchange in exchanges] == [READ]


def test_an_observer_knows_mapped_servers_by_their_own_address() -> None:
    exchanges: list[Exchange] = []
    with Server({READ: build_reply}) as gateway, Server({READ: build_reply}) as other:
        access = Access(timeout=5, address_map=(("10.0.0.1:10911", gateway.addr),))
        with AdminClient("h:1", access=access, observer=exchanges.append) as admin:
            admin._caller.send_to_each(["10.0.0.1:10911", other.addr], READ)
        exchange_fields = {(exchange.addr, exchange.via, exchange.outcome) for exchange in exchanges}
        assert exchange_fields == {("10.0.0.1:10911", gateway.addr, 0), (other.addr, None, 0)}


def test_the_error_of_a_mapped_server_names_its_own_address_and_the_connection() -> None:
    gateway = f"127.0.0.1:{closed_port()}"
    access = Access(timeout=5, address_map=(("10.0.0.1:10911", gateway),))
    with AdminClient("h:1", access=access) as admin:
        [result] = admin._caller.send_to_each(["10.0.0.1:10911"], READ)
    assert str(result.error).startswith(f"10.0.0.1:10911: through {gateway}: ")


def test_a_code_that_is_not_accepted_is_an_error_with_the_address_of_the_server() -> None:
    with Server({READ: refuse_with(1, "no")}) as server, caller_of() as caller:
        calls = [(server.addr, build_request(READ))]
        [accepted] = caller.send_requests(calls, accepted_codes=(0, 1))
        [refused] = caller.send_requests(calls)
    assert accepted.result is not None
    assert isinstance(refused.error, RequestError)
    assert refused.error.addr == server.addr


def test_a_broker_in_the_list_of_name_servers_is_named_with_its_own_name_servers() -> None:
    with FakeBroker() as broker, AdminClient(broker.addr, timeout=5) as admin:
        broker.settings = {"brokerName": "broker-a", "namesrvAddr": "10.0.0.1:9876;10.0.0.2:9876"}
        configs, values = admin.name_servers.get_config_each(), admin.kv.get_value_each("N", "k")
        with pytest.raises(NotANameServer):
            admin.clusters.get_info()
    text = "this is the broker broker-a, not a name server: pass -n '10.0.0.1:9876;10.0.0.2:9876'"
    assert [str(r.error) for r in configs] == [str(r.error) for r in values] == [text]
    # It is asked once what it is.
    assert broker.asked_codes().count(RequestCode.GET_BROKER_CONFIG) == 1


@pytest.mark.parametrize("settings", [{}, {"brokerContainerIP": "10.0.0.1"}])
def test_another_server_in_the_list_of_name_servers_is_not_called_a_broker(settings: dict[str, str]) -> None:
    with FakeBroker() as server, AdminClient(server.addr, timeout=5) as admin:
        server.settings = settings
        [result] = admin.name_servers.get_config_each()
    assert str(result.error) == "REQUEST_CODE_NOT_SUPPORTED (3): request type 319 not supported"


def test_a_broker_with_an_unknown_list_of_name_servers() -> None:
    with FakeBroker() as broker, AdminClient(broker.addr, timeout=5) as admin:
        broker.settings = {"brokerName": "broker-a"}
        [result] = admin.name_servers.get_config_each()
    assert str(result.error) == "this is the broker broker-a, not a name server: pass a name server with -n"


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan")])
def test_a_timeout_in_which_nothing_can_be_done_is_refused_at_once(timeout: float) -> None:
    with pytest.raises(BadSettings, match="use a number of seconds above 0"):
        AdminClient("127.0.0.1:1", timeout=timeout)


@pytest.mark.parametrize("timeout", [1e12, float("inf")])
def test_patience_may_be_without_end(timeout: float) -> None:
    with FakeNameServer() as server, AdminClient(server.addr, timeout=timeout) as admin:
        assert admin.topics.list_names() == ()


def test_a_string_instead_of_a_list_of_addresses_is_a_type_error() -> None:
    with AdminClient("127.0.0.1:1") as admin, pytest.raises(TypeError, match="list of addresses"):
        admin.broker_configs.get_each("127.0.0.1:10911")
