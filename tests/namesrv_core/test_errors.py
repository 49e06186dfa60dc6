"""Failures and their codes, outwards and inwards."""

import pytest

from namesrv_core.errors import (
    NoPermission,
    NotSupported,
    ProtocolError,
    QueryNotFound,
    RequestError,
    ResponseCode,
    RocketMQError,
    TopicNotExist,
    build_request_error,
)

KINDS = [(3, NotSupported), (16, NoPermission), (17, TopicNotExist), (22, QueryNotFound)]


@pytest.mark.parametrize(("code", "kind"), KINDS)
def test_each_kind_of_refusal_has_its_code_and_each_code_its_kind(
    code: int, kind: type[RequestError]
) -> None:
    assert kind("why").code == code
    error = build_request_error(code, "why")
    assert type(error) is kind
    assert (error.code, error.remark) == (code, "why")


@pytest.mark.parametrize("code", [1, 2, 1500, 4711])
def test_other_codes_are_plain_refusals_that_keep_their_code(code: int) -> None:
    error = build_request_error(code, None)
    assert type(error) is RequestError
    assert error.code == code


def test_a_refusal_without_a_code_is_a_system_error() -> None:
    assert RequestError("why").code == ResponseCode.SYSTEM_ERROR


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (TopicNotExist("no route\n"), "TOPIC_NOT_EXIST (17): no route"),
        (RequestError(None, 2), "SYSTEM_BUSY (2)"),
        (RequestError(" ", 2), "SYSTEM_BUSY (2)"),
        (RequestError("why", 4711), "response code (4711): why"),
    ],
)
def test_a_refusal_reads_as_name_code_and_remark(error: RequestError, text: str) -> None:
    assert str(error) == text


def test_every_failure_of_ours_can_be_caught_as_one() -> None:
    assert issubclass(ProtocolError, RocketMQError)
    assert issubclass(RequestError, RocketMQError)
