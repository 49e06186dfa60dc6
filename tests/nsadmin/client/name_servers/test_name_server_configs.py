"""Settings of name servers, which say yes to everything."""

import pytest

from namesrv_core.errors import NoPermission, NotSupported
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_reply
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin import AdminClient
from nsadmin.client import NotApplied, NotFound
from tests.support.fake_servers import FakeNameServer, Server, closed_port, refuse_with


def test_settings_come_in_order_and_split_at_the_first_sign(first_server: FakeNameServer) -> None:
    first_server.config = {"b": "x=y", "a": ""}
    with AdminClient(first_server.addr, timeout=5) as admin:
        assert admin.name_servers.get_config_each() == [(first_server.addr, {"a": "", "b": "x=y"}, None)]


def test_an_update_is_read_back_on_every_server(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    gone = f"127.0.0.1:{closed_port()}"
    with AdminClient([first_server.addr, gone, second_server.addr], timeout=5) as admin:
        first_result, dead, other = admin.name_servers.update_item("waitSecondsForService", "9")
    assert (first_result.result, other.result) == ("9", "9")
    assert dead.error is not None


@pytest.mark.parametrize(
    ("key", "value", "kind", "complaint"),
    [
        ("nope", "1", NotFound, 'this name server has no setting "nope"'),
        (
            "waitSecondsForService",
            "soon",
            NotApplied,
            'invalid value "soon" of waitSecondsForService: use a whole number (now "45")',
        ),
    ],
)
def test_what_a_server_would_ignore_is_not_sent(
    first_server: FakeNameServer, key: str, value: str, kind: type[Exception], complaint: str
) -> None:
    with AdminClient(first_server.addr, timeout=5) as admin:
        for change_item in (admin.name_servers.plan_item, admin.name_servers.update_item):
            [result] = change_item(key, value)
            assert (type(result.error), str(result.error)) == (kind, complaint)
    assert RequestCode.UPDATE_NAMESRV_CONFIG not in first_server.asked_codes()


def test_what_a_server_ignored_is_an_error(first_server: FakeNameServer) -> None:
    first_server.handlers[RequestCode.UPDATE_NAMESRV_CONFIG] = build_reply
    with AdminClient(first_server.addr, timeout=5) as admin:
        [result] = admin.name_servers.update_item("waitSecondsForService", "99999999999")
    assert isinstance(result.error, NotApplied)
    assert str(result.error) == 'the name server kept "45": it does not accept "99999999999"'


def test_a_forbidden_key_is_refused(first_server: FakeNameServer) -> None:
    first_server.config["kvConfigPath"] = "/y"
    with AdminClient(first_server.addr, timeout=5) as admin:
        [result] = admin.name_servers.update_item("kvConfigPath", "/x")
    assert isinstance(result.error, NoPermission)


def test_whether_each_answers_is_told_with_time_and_version(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    gone = f"127.0.0.1:{closed_port()}"
    with AdminClient([first_server.addr, gone, second_server.addr], timeout=5) as admin:
        first_pulse, dead, other = admin.name_servers.get_pulse_each()
    assert first_pulse.result is not None
    assert first_pulse.result.latency_ms > 0
    assert (first_pulse.result.version, first_pulse.error) == ("V5_5_0", None)
    assert other.error is None
    assert (dead.addr, dead.result) == (gone, None)
    assert isinstance(dead.error, CallError)


def test_a_server_that_refuses_answers_all_the_same() -> None:
    with (
        Server({int(RequestCode.GET_KV_CONFIG): refuse_with(16, "no")}) as server,
        AdminClient(server.addr, timeout=5) as admin,
    ):
        [pulse] = admin.name_servers.get_pulse_each()
    assert pulse.error is None


def test_a_server_that_does_not_know_the_request_is_no_name_server() -> None:
    with Server() as server, AdminClient(server.addr, timeout=5) as admin:
        [pulse] = admin.name_servers.get_pulse_each()
    assert isinstance(pulse.error, NotSupported)


def test_one_that_waits_for_brokers_answers_and_is_not_ready(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    gone = f"127.0.0.1:{closed_port()}"
    second_server.handlers[RequestCode.GET_ROUTEINFO_BY_TOPIC] = refuse_with(1, "name server not ready")
    with AdminClient([first_server.addr, second_server.addr, gone], timeout=5) as admin:
        ready = [result for _, result, _ in admin.name_servers.check_ready_each()]
    assert ready == [True, False, None]
