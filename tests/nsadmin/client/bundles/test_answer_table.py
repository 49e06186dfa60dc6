"""Answers of a server as JSON."""

import json

from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.bundles.answer_table import (
    Outcome,
    RecordedAnswer,
    RecordedFailure,
    RequestKey,
    decode_table,
    encode_table,
    make_key,
    record_outcome,
)

KEY = make_key("signed tls", build_request(105, {"topic": "T", "acceptStandardJsonOnly": "true"}))


def test_the_key_of_a_request_does_not_depend_on_the_order_of_its_fields() -> None:
    assert make_key("signed tls", build_request(105, {"acceptStandardJsonOnly": "true", "topic": "T"})) == KEY
    assert make_key("unsigned tls", build_request(105, dict(KEY.ext))) != KEY


def test_a_table_returns_from_its_json_unchanged_and_has_each_body_once() -> None:
    route = RecordedAnswer(0, {}, b'{"queueDatas":[]}', None, 513)
    table: dict[RequestKey, Outcome] = {
        KEY: route,
        KEY._replace(ext=(("topic", "U"),)): route,
        KEY._replace(code=26): RecordedAnswer(0, None, b"\xff\x00", None, 513),
        KEY._replace(code=28, body=b"{}"): RecordedAnswer(1, {"a": None}, b"", "refused", 407),
        KEY._replace(code=21): RecordedFailure("timeout", "no answer within 3 s"),
    }
    content = encode_table("h:1", table)
    assert decode_table(content) == table
    assert len(json.loads(content)["bodies"]) == 2


def test_an_outcome_is_recorded_and_becomes_an_answer_again() -> None:
    answer = RemotingCommand(17, {"x": "1"}, b"body", remark="none", version=407)
    recorded = record_outcome(answer)
    assert isinstance(recorded, RecordedAnswer)
    again = recorded.to_command()
    assert (again.code, again.ext, again.body, again.remark, again.version) == (
        17,
        {"x": "1"},
        b"body",
        "none",
        407,
    )
    assert record_outcome(CallError("h:1", "closed", "lost")) == RecordedFailure("closed", "lost")
