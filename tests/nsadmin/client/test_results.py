"""Results per server."""

from namesrv_core.errors import QueryNotFound, TopicNotExist, build_request_error
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.results import (
    NoneReachable,
    NotApplied,
    NotFound,
    ServerResult,
    error_text,
    is_denied,
    is_not_found,
    is_unreachable,
)


def test_a_step_is_taken_only_after_success() -> None:
    assert ServerResult("a:1", "3", None).then(int) == ("a:1", 3, None)
    error = NotFound("x")
    assert ServerResult[str]("a:1", None, error).then(int) == ("a:1", None, error)


def test_what_a_step_raises_is_the_error_of_its_server() -> None:
    def fail(_: str) -> int:
        raise NotApplied("no")

    result = ServerResult("a:1", "3", None).then(fail)
    assert result.result is None
    assert isinstance(result.error, NotApplied)


def test_failures_fall_into_kinds() -> None:
    dead = CallError("a:1", "unconnected", "nobody there")
    assert [is_unreachable(error) for error in (dead, NoneReachable([dead]), NotFound("x"), None)] == [
        True,
        True,
        False,
        False,
    ]
    assert [
        is_not_found(error) for error in (NotFound("x"), QueryNotFound("x"), TopicNotExist("x"), dead)
    ] == [
        True,
        True,
        True,
        False,
    ]


def test_an_errors_text_is_one_line_without_the_address_that_its_row_has() -> None:
    assert error_text(CallError("a:1", "unconnected", "nobody there")) == "nobody there"
    assert error_text(TopicNotExist("No route for T\nSee the FAQ")) == "TOPIC_NOT_EXIST (17): No route for T"


def test_an_acl_refuses_who_asks_and_not_what_is_asked() -> None:
    denials = (
        (16, "username cannot be null."),
        (16, "check signature failed."),
        (16, "User:nobody is not found."),
        (1, "org.apache.rocketmq.acl.common.AclException: No accessKey is configured"),
    )
    assert all(is_denied(build_request_error(*denial)) for denial in denials)
    others = (
        build_request_error(16, "the broker[a] sending message is forbidden"),
        build_request_error(1, None),
        NotFound("x"),
    )
    assert not any(map(is_denied, (None, *others)))
