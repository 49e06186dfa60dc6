"""KV config on several name servers."""

import pytest

from namesrv_core.errors import QueryNotFound
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.transport.exchange import CallError
from nsadmin import AdminClient
from nsadmin.client.name_servers.kv_config import KvAdmin, KvChange
from nsadmin.client.results import NotApplied, ServerResult, is_unreachable
from tests.support.clock import hold_timeouts_until
from tests.support.fake_servers import FakeNameServer, answer_nothing, closed_port, refuse_with


@pytest.fixture
def addrs(first_server: FakeNameServer, second_server: FakeNameServer) -> list[str]:
    return [first_server.addr, second_server.addr]


def test_a_value_is_written_everywhere_and_read_from_one(
    addrs: list[str], first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    with AdminClient(addrs, timeout=5) as admin:
        assert admin.kv.put_value("N", "k", "v=1;ü") == [(addrs[0], "v=1;ü", None), (addrs[1], "v=1;ü", None)]
        assert admin.kv.get_value("N", "k") == "v=1;ü"
        assert admin.kv.get_entries("N") == {"k": "v=1;ü"}
    assert first_server.kv == second_server.kv == {"N": {"k": "v=1;ü"}}


def test_a_write_that_was_not_answered_may_have_been_done(
    first_server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_server.handlers[100] = answer_nothing
    hold_timeouts_until(monkeypatch, lambda: bool(first_server.asked))
    with AdminClient([first_server.addr, f"127.0.0.1:{closed_port()}"], timeout=0.1) as admin:
        unanswered, unsent = admin.kv.put_value("N", "k", "v")
        [unread, _] = admin.kv.get_value_each("N", "k")
    assert str(unanswered.error).endswith("no answer within 0.1 s; the change is possibly done")
    assert str(unsent.error).endswith("no server listens on this port")
    assert isinstance(unread.error, QueryNotFound)


def test_each_server_is_shown_as_it_is(addrs: list[str], second_server: FakeNameServer) -> None:
    second_server.kv = {"N": {"k": "v"}}
    with AdminClient(addrs, timeout=5) as admin:
        missing, present_value = admin.kv.get_value_each("N", "k")
        assert isinstance(missing.error, QueryNotFound)
        assert present_value.result == "v"
        assert [result.result for result in admin.kv.get_entries_each("N")] == [None, {"k": "v"}]
        assert admin.kv.get_value("N", "k") == "v"


def test_deleting_tells_what_was_there(addrs: list[str], second_server: FakeNameServer) -> None:
    second_server.kv = {"N": {"k": "v", "other": ""}}
    with AdminClient(addrs, timeout=5) as admin:
        missing, deleted = admin.kv.delete_key("N", "k")
    assert isinstance(missing.error, QueryNotFound)
    assert deleted == (addrs[1], "v", None)
    assert second_server.kv == {"N": {"other": ""}}


def test_a_value_that_could_not_be_read_before_is_deleted_all_the_same(
    addrs: list[str], second_server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    second_server.kv = {"N": {"k": "v"}}
    failed = ServerResult(addrs[1], None, CallError(addrs[1], "timeout", "no answer"))
    monkeypatch.setattr(KvAdmin, "get_value_each", lambda self, namespace, key: [failed])
    with AdminClient(addrs[1:], timeout=5) as admin:
        [deleted] = admin.kv.delete_key("N", "k")
    assert deleted.error is None
    assert second_server.kv == {"N": {}}


def test_namespaces_of_some_servers(
    addrs: list[str], first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    first_server.kv, second_server.kv = {"N": {"k": "v"}, "M": {"a": "b"}}, {"N": {}}
    dead = f"127.0.0.1:{closed_port()}"
    with AdminClient(addrs) as admin:
        one, other, none = admin.kv.get_tables_each(["N", "M", "none"], [*addrs, dead])
    assert one == (addrs[0], {"N": {"k": "v"}, "M": {"a": "b"}}, None)
    assert other == (addrs[1], {"N": {}}, None)
    assert (none.addr, none.result, none.error is not None) == (dead, None, True)


def test_changes_go_to_their_servers_and_are_looked_at(
    addrs: list[str], first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    first_server.kv, second_server.kv = {"N": {"gone": "v", "k": "v"}}, {"N": {"k": "old"}}
    changes = [
        KvChange(addrs[0], "N", "gone", "v", None),
        KvChange(addrs[1], "N", "k", "old", "new"),
        KvChange(addrs[1], "M", "a", None, ""),
    ]
    with AdminClient(addrs) as admin:
        assert admin.kv.apply_changes(changes) == [(change.addr, change, None) for change in changes]
        assert admin.kv.apply_changes([]) == []
    assert first_server.kv == {"N": {"k": "v"}}
    assert second_server.kv == {"N": {"k": "new"}, "M": {"a": ""}}


def test_a_change_that_was_only_said_to_be_made_is_none(
    addrs: list[str], first_server: FakeNameServer
) -> None:
    first_server.handlers[100] = lambda asked: build_reply(asked)
    first_server.kv = {"N": {"k": "old"}}
    with AdminClient(addrs) as admin:
        [applied_change, other, refused] = admin.kv.apply_changes(
            [
                KvChange(addrs[0], "N", "k", "old", "new"),
                KvChange(addrs[0], "N", "l", None, "new"),
                KvChange(f"127.0.0.1:{closed_port()}", "N", "k", None, "v"),
            ]
        )
    assert isinstance(applied_change.error, NotApplied)
    assert "the value is 'old'" in str(applied_change.error)
    assert "the key is not there" in str(other.error)
    assert is_unreachable(refused.error)


def test_what_is_there_counts_and_not_the_answer(addrs: list[str], first_server: FakeNameServer) -> None:
    """A server that died after it had written: somebody else's name server may be back by now."""
    put = first_server.handlers[100]

    def written_and_refused(asked: RemotingCommand) -> RemotingCommand:
        put(asked)
        return build_reply(asked, 1, remark="too late")

    first_server.handlers[100] = written_and_refused
    change = KvChange(addrs[0], "N", "k", None, "v")
    with AdminClient(addrs) as admin:
        assert admin.kv.apply_changes([change]) == [(addrs[0], change, None)]
        first_server.handlers[219] = refuse_with(1, "not now")
        [unread] = admin.kv.apply_changes([change._replace(after="w")])
    assert "too late" in str(unread.error)
