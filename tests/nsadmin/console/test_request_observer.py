"""What is said of a request, and which requests are remembered."""

import json

import pytest

from namesrv_core.transport.multiplexed_client import CallError, Exchange
from nsadmin.client import Access, Credentials
from nsadmin.console.audit import build_audit_record
from nsadmin.console.request_observer import SentChanges, combine_observers, format_trace_line
from nsadmin.console.session import Session, SharedOptions
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer, closed_port

READ = Exchange("h:1", 106, 100.0121, 0.0032, 0, 123, 456, 1, 1)
WRITE = READ._replace(code=100)


@pytest.mark.parametrize(
    ("exchange", "text"),
    [
        (READ, "+12 ms h:1 GET_BROKER_CLUSTER_INFO (106): SUCCESS (0), 3.2 ms, 123 bytes out, 456 in"),
        (READ._replace(via="gateway:2"), "+12 ms h:1 via gateway:2 GET_BROKER_CLUSTER_INFO (106)"),
        (READ._replace(code=9999, outcome=1234), "request (9999): response code (1234), 3.2 ms"),
        (READ._replace(outcome=CallError("h:1", "timeout", "no answer within 3 s")), "no answer within 3 s,"),
    ],
)
def test_a_request_is_a_line(exchange: Exchange, text: str) -> None:
    assert text in format_trace_line(exchange, 100)


def test_changes_are_remembered_and_reads_are_not() -> None:
    sent = SentChanges()
    sent(READ)
    sent(WRITE)
    assert sent.first_exchanges == [WRITE]


def test_without_observers_nobody_is_told() -> None:
    one, other = SentChanges(), SentChanges()
    assert combine_observers([]) is None
    assert combine_observers([one]) is one
    both = combine_observers([one, other])
    assert both is not None
    both(WRITE)
    assert one.first_exchanges == other.first_exchanges == [WRITE]


def test_a_request_that_is_reported_again_as_interrupted_counts_once() -> None:
    changes, error = SentChanges(), CallError("h:1", "interrupted", "interrupted before the answer")
    changes(WRITE)
    changes(WRITE._replace(outcome=error))
    assert changes.counted_exchanges == [(WRITE, 1)]
    # Another request of the same kind is not the same one.
    changes(WRITE._replace(outcome=error, began=WRITE.began + 1))
    assert [count for _, count in changes.counted_exchanges] == [1, 1]
    changes(WRITE)
    changes(WRITE)
    assert changes.counted_exchanges[0] == (WRITE, 3)


def test_debug_says_each_request_and_never_what_is_in_it(run: Run) -> None:
    with FakeNameServer() as server:
        result = run("updateKvConfig", "N", "k", "secret", "-n", server.addr, "--debug", "--output", "value")
    assert result.code == 0
    lines = result.err.splitlines()
    assert [line[:20] for line in lines[2:]] == ["nsadmin: to undo it:"]
    assert f" ms {server.addr} PUT_KV_CONFIG (100): SUCCESS (0), " in lines[1]
    assert "secret" not in result.err


def test_debug_says_why_there_was_no_answer(run: Run) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    result = run("--debug", "topicList", "-n", dead)
    assert f" ms {dead} GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206): connection refused" in result.err


def test_debug_never_says_who_signs_or_how(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeNameServer() as server:
        access = Access(credentials=Credentials("the-key", "the-secret", "the-token"))
        session = Session(SharedOptions(namesrv_addr=(server.addr,), access=access, debug=True))
        session.admin.kv.put_value("N", "k", "v")
        session.close()
        [asked] = server.asked
    fields = dict(asked.ext or {})
    assert fields["AccessKey"] == "the-key"
    stderr = capsys.readouterr().err
    assert "PUT_KV_CONFIG" in stderr
    for secret in ("the-key", "the-secret", "the-token", fields["Signature"] or ""):
        assert secret not in stderr
        assert secret not in json.dumps(build_audit_record(session, ["x"], {}, None, 0))
