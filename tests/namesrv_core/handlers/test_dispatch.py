"""Every request code, answered; failures become codes."""

import pytest

from namesrv_core.handlers.dispatch import HANDLERS_BY_CODE, handle_request
from namesrv_core.protocol.codes import HeaderType, RequestCode
from namesrv_core.protocol.command import RemotingCommand
from tests.support.wire import STARTED_AT, Wire, broker_ext

ANSWERED = {
    100, 101, 102, 103, 104, 105, 106, 205, 206, 216, 217, 219, 224, 304, 311, 312, 313, 318, 319, 322, 327,
    901, 904,
}  # fmt: skip

NOT_FOUND = (
    "No topic route info in name server for the topic: {}\n"
    "See https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."
)


def test_the_codes_that_a_5_5_0_name_server_answers_are_answered() -> None:
    assert {int(code) for code in HANDLERS_BY_CODE} == ANSWERED


@pytest.mark.parametrize("code", [0, -1, 1, 17, 28, 99, 107, 215, 905, 1001, 1003, 32767, -32768])
def test_another_code_is_refused_with_code_3_and_upstream_s_words(form: HeaderType, code: int) -> None:
    answer = Wire(form).send_request(code, {"topic": "T"}, b"body")
    assert (answer.code, answer.remark, answer.body) == (3, f" request type {code} not supported", b"")
    assert answer.ext is None


def test_a_code_beyond_a_short_is_refused_too() -> None:
    answer = Wire(HeaderType.JSON).send_request(70_000)
    assert (answer.code, answer.remark) == (3, " request type 70000 not supported")


EMPTY = {
    101: (22, "No config item, Namespace: null Key: null"),
    102: (0, None),
    106: (0, None),
    205: (0, None),
    206: (0, None),
    216: (0, None),
    217: (0, None),
    219: (22, "No config item, Namespace: null"),
    224: (0, None),
    304: (0, None),
    311: (0, None),
    312: (0, None),
    313: (0, None),
    318: (0, None),
    319: (0, None),
    327: (0, None),
    100: (1, "namespace or key is null"),
    105: (17, NOT_FOUND.format("null")),
    901: (0, "not set any response code"),
}


@pytest.mark.parametrize("code", EMPTY)
def test_a_request_without_ext_fields_and_body_is_answered(form: HeaderType, code: int) -> None:
    answer = Wire(form).send_request(code)
    assert (answer.code, answer.remark) == EMPTY[code]


@pytest.mark.parametrize("code", sorted(ANSWERED - set(EMPTY)))
def test_a_request_whose_fields_cannot_be_done_without_is_refused(form: HeaderType, code: int) -> None:
    wire = Wire(form)
    answer = wire.send_request(code)
    assert answer.code == 1
    assert answer.remark
    assert wire.events == ()


FIELDS = [
    "namespace", "key", "value", "topic", "cluster", "clusterName", "brokerName", "brokerAddr", "brokerId",
    "compressed", "bodyCrc32",
]  # fmt: skip


@pytest.mark.parametrize("code", sorted(ANSWERED))
def test_odd_ext_fields_and_a_broken_body_never_escape_as_an_exception(form: HeaderType, code: int) -> None:
    for text in ("x", "9" * 5000, "-1", "true", "\ufffd"):
        for body in (b"", b"{", b"[]", b"\xff\xfe", b"null", b'{"x":' + b"[" * 3000, b"x\x9c"):
            answer = Wire(form).send_request(code, dict.fromkeys(FIELDS, text), body)
            assert answer.code in (0, 1, 16, 17, 22)


def test_a_oneway_request_is_carried_out(form: HeaderType) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U")
    wire.state.tables.live_brokers["c", "10.0.0.1:10911"].heard_at_ms = 0
    asked = RemotingCommand(904, broker_ext(), flag=2, header_type=form)
    handle_request(wire.state, asked, 1, STARTED_AT + 5)
    assert wire.state.tables.live_brokers["c", "10.0.0.1:10911"].heard_at_ms == STARTED_AT + 5


def test_fields_of_signing_and_namespaces_are_passed_over(form: HeaderType) -> None:
    extra = {"AccessKey": "k", "Signature": "s", "ns": "n", "nsd": "true", "bname": "b", "oway": "x"}
    answer = Wire(form).send_request(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER, extra)
    assert (answer.code, answer.body) == (0, b'{"topicList":[]}')
