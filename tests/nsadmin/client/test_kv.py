"""KV config on several name servers."""

import pytest

from namesrv_core.errors import QueryNotFound
from nsadmin import AdminClient
from tests.support.clock import timeouts_wait_for
from tests.support.servers import FakeNameServer, closed_port, silent


@pytest.fixture
def addrs(first: FakeNameServer, second: FakeNameServer) -> list[str]:
    return [first.addr, second.addr]


def test_a_value_is_written_everywhere_and_read_from_one(
    addrs: list[str], first: FakeNameServer, second: FakeNameServer
) -> None:
    with AdminClient(addrs, timeout=5) as admin:
        assert admin.kv.put("N", "k", "v=1;ü") == [(addrs[0], "v=1;ü", None), (addrs[1], "v=1;ü", None)]
        assert admin.kv.get("N", "k") == "v=1;ü"
        assert admin.kv.entries("N") == {"k": "v=1;ü"}
    assert first.kv == second.kv == {"N": {"k": "v=1;ü"}}


def test_a_write_that_was_not_answered_may_have_been_done(
    first: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first.handlers[100] = silent
    timeouts_wait_for(monkeypatch, lambda: bool(first.asked))
    with AdminClient([first.addr, f"127.0.0.1:{closed_port()}"], timeout=0.1) as admin:
        unanswered, unsent = admin.kv.put("N", "k", "v")
        [unread, _] = admin.kv.get_each("N", "k")
    assert str(unanswered.error).endswith("no answer within 0.1 s; it may have been done all the same")
    assert str(unsent.error).endswith("nothing listens there")
    assert isinstance(unread.error, QueryNotFound)


def test_each_server_is_shown_as_it_is(addrs: list[str], second: FakeNameServer) -> None:
    second.kv = {"N": {"k": "v"}}
    with AdminClient(addrs, timeout=5) as admin:
        missing, found = admin.kv.get_each("N", "k")
        assert isinstance(missing.error, QueryNotFound)
        assert found.result == "v"
        assert [result.result for result in admin.kv.entries_each("N")] == [None, {"k": "v"}]
        assert admin.kv.get("N", "k") == "v"


def test_deleting_tells_what_was_there(addrs: list[str], second: FakeNameServer) -> None:
    second.kv = {"N": {"k": "v", "other": ""}}
    with AdminClient(addrs, timeout=5) as admin:
        missing, deleted = admin.kv.delete("N", "k")
    assert isinstance(missing.error, QueryNotFound)
    assert deleted == (addrs[1], "v", None)
    assert second.kv == {"N": {"other": ""}}
