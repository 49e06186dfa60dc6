"""The recorder: no request twice, a bounded rate, and no request to a server that does not answer."""

from collections.abc import Callable, Sequence

import pytest

from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.bundles.answer_table import RecordedAnswer, RecordedFailure
from nsadmin.operations.bundles.answer_recorder import AnswerRecorder, RequestRates
from tests.support.bundles import IDENTITY, json_answer, request_key

Call = tuple[str, RemotingCommand]


class Servers:
    """Answers requests, except those to servers with an error, and notes them."""

    def __init__(self, recorder: AnswerRecorder, errors: dict[str, CallError] | None = None) -> None:
        self._recorder, self._errors = recorder, errors or {}
        self.sent: list[tuple[str, int]] = []

    def ask(self, *calls: Call) -> list[RemotingCommand | CallError]:
        def send_live(indexes: Sequence[int]) -> list[RemotingCommand | CallError]:
            due_calls = [calls[index] for index in indexes]
            self.sent += [(addr, command.code) for addr, command in due_calls]
            return [self._errors.get(addr) or RemotingCommand(0, body=addr.encode()) for addr, _ in due_calls]

        return self._recorder.answer_calls(IDENTITY, calls, send_live)


def pause_not(seconds: float) -> None:
    """No test waits."""


def test_a_request_is_sent_once_and_its_answer_kept() -> None:
    recorder = AnswerRecorder(pause_seconds=pause_not)
    servers = Servers(recorder)
    first, second = servers.ask(("h:1", build_request(26)), ("h:1", build_request(26)))
    [third] = servers.ask(("h:1", build_request(26)))
    assert servers.sent == [("h:1", 26)]
    assert [getattr(answer, "body", None) for answer in (first, second, third)] == [b"h:1"] * 3
    assert isinstance(recorder.tables["h:1"][request_key(26)], RecordedAnswer)


def test_each_server_gets_at_most_the_rate() -> None:
    slept: list[float] = []
    rates = RequestRates(name_server=20, broker=10)
    servers = Servers(AnswerRecorder(rates, ["h:2"], pause_seconds=slept.append))
    servers.ask(*((f"h:{port}", build_request(105, {"topic": str(n)})) for port in (1, 2) for n in range(5)))
    assert [addr for addr, _ in servers.sent] == ["h:1"] * 2 + ["h:2"] * 4 + ["h:1"] * 2 + ["h:2"] + ["h:1"]
    assert [round(pause, 1) for pause in slept] == [0.2, 0.2, 0.1]


@pytest.mark.parametrize(("kind", "attempts"), [("unconnected", 1), ("timeout", 3)])
def test_a_server_that_does_not_answer_gets_no_further_request(kind: str, attempts: int) -> None:
    recorder = AnswerRecorder(pause_seconds=pause_not)
    servers = Servers(recorder, {"h:1": CallError("h:1", kind, "silent")})
    results = [servers.ask(("h:1", build_request(code)))[0] for code in range(26, 31)]
    assert len(servers.sent) == attempts
    assert all(isinstance(result, CallError) and result.reason == "silent" for result in results)
    assert recorder.silent_servers == {"h:1": RecordedFailure(kind, "silent")}


def test_the_limit_of_requests_counts_what_was_not_sent() -> None:
    recorder = AnswerRecorder(pause_seconds=pause_not)
    servers = Servers(recorder)
    recorder.limit_requests(1)
    assert not recorder.is_exhausted
    results = servers.ask(*(("h:1", build_request(202, {"topic": topic})) for topic in "abb"))
    assert recorder.is_exhausted
    assert len(servers.sent) == 1
    assert isinstance(results[1], CallError)
    assert recorder.skipped_counts == {202: 1}
    assert len(recorder.tables["h:1"]) == 1


def test_messages_are_not_asked_for_and_known_answers_are_derived() -> None:
    recorder = AnswerRecorder(pause_seconds=pause_not)
    servers = Servers(recorder)
    recorder.tables["h:1"] = {request_key(219, namespace="N"): json_answer({"table": {"k": "v"}})}
    message, value = servers.ask(
        ("h:1", build_request(11)), ("h:1", build_request(101, {"namespace": "N", "key": "k"}))
    )
    assert isinstance(message, CallError)
    assert isinstance(value, RemotingCommand)
    assert value.ext == {"value": "v"}
    assert servers.sent == []


def test_a_probe_runs_once_and_its_failure_is_kept() -> None:
    recorder, runs = AnswerRecorder(pause_seconds=pause_not), []

    def probe(result: object) -> Callable[[], object]:
        def run() -> object:
            runs.append(result)
            if isinstance(result, CallError):
                raise result
            return result

        return run

    for _ in range(2):
        assert recorder.answer_probe("connection", "h:1", probe(True)) is True
        with pytest.raises(CallError, match="refused"):
            recorder.answer_probe("connection", "h:2", probe(CallError("h:2", "unconnected", "refused")))
    assert len(runs) == 2
    assert recorder.probes["connection h:2"] == {"kind": "unconnected", "reason": "refused"}
