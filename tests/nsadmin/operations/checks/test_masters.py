"""Which masters answer, and why a broker takes no messages."""

from nsadmin import AdminClient
from nsadmin.operations.checks.masters import explain_unwritable, find_silent_masters
from tests.support.servers import FakeBroker, FakeNameServer, refuse_with


def test_one_that_answers_with_an_error_is_not_silent(
    first_server: FakeNameServer, broker: FakeBroker, dead_addr: str
) -> None:
    broker.handlers[28] = refuse_with(1, "not yet")
    with AdminClient(first_server.addr, timeout=5) as admin:
        assert find_silent_masters(admin, [broker.addr, dead_addr, None, dead_addr]) == {
            dead_addr: "connection refused, no server listens on this port"
        }


def test_why_a_broker_takes_no_messages() -> None:
    assert explain_unwritable(6, 8, "h:1", {}) is None
    assert explain_unwritable(2, 1, "h:1", {"h:2": "gone"}) is None
    assert explain_unwritable(None, 0, "h:1", {}) == "no write queue"
    assert explain_unwritable(6, 0, "h:1", {}) == "no write queue"
    assert explain_unwritable(4, 8, "h:1", {}) == "no write permission"
    assert explain_unwritable(6, 8, None, {}) == "no master"
    assert explain_unwritable(6, 8, "h:1", {"h:1": "gone"}) == "its master h:1: gone"
