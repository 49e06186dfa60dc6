"""Each request as a broker of 5.5.0 answers it; refusals word for word as captured."""

import json
from typing import Any

import pytest

from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.fleet.request_handlers import HandlerOutcome, handle_request
from namesrv_core.protocol.command import RemotingCommand, build_request
from tests.namesrv_core.fleet.conftest import NOW

CREATE = {
    "topic": "new", "defaultTopic": "TBW102", "readQueueNums": "4", "writeQueueNums": "2", "perm": "6",
    "topicFilterType": "SINGLE_TAG", "order": "false",
}  # fmt: skip


def ask(
    model: BrokerModel, code: int, ext: dict[str, str] | None = None, body: bytes = b""
) -> RemotingCommand:
    return handle_request(model, build_request(code, ext, body), NOW + 1)[0]


def outcome(
    model: BrokerModel, code: int, ext: dict[str, str] | None = None, body: bytes = b""
) -> HandlerOutcome:
    return handle_request(model, build_request(code, ext, body), NOW + 1)[1]


def body(command: RemotingCommand) -> Any:
    assert command.code == 0
    return json.loads(command.body)


@pytest.mark.parametrize(
    ("code", "ext", "text", "expected"),
    [
        (9999, {}, b"", (3, " request type 9999 not supported")),
        (351, {"topic": "nope"}, b"", (17, "No topic in this broker. topic: nope")),
        (215, {}, b"", (29, "The specified topic is blank.")),
        (215, {"topic": "TBW102"}, b"", (29, "The topic[TBW102] is conflict with system topic.")),
        (215, {"topic": "nope"}, b"", (0, None)),
        (17, CREATE, b"", (0, "not set any response code")),
        (17, {**CREATE, "topic": "b"}, b"", (29, "The topic[b] is conflict with system topic.")),
        (17, {**CREATE, "topicFilterType": "x"}, b"", (1, "topicFilterType = [x] value invalid")),
        (17, {**CREATE, "attributes": "+foo=FIFO"}, b"", (1, "unsupported key: foo")),
        (25, {}, b"brokerConfigPath=/x\n", (16, "Can not update config in black list.")),
        (25, {}, b"traceOn=\\u12", (1, None)),
        (21, {"topicSeq": "x", "maxTopicNum": "1"}, b"", (1, None)),
        (905, {"minBrokerId": "0"}, b"", (0, None)),
    ],
)
def test_code_and_remark(
    model: BrokerModel, code: int, ext: dict[str, str], text: bytes, expected: tuple[int, str | None]
) -> None:
    answer = ask(model, code, ext, text)
    assert answer.code == expected[0]
    if expected[1] is not None:
        assert answer.remark == expected[1]
