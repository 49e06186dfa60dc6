"""Results per server."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import nsadmin.client
from namesrv_core.errors import QueryNotFound, TopicNotExist, build_request_error
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.results import (
    ClientClosed,
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


def test_a_closed_client_is_no_result_of_a_server() -> None:
    def ask(_: str) -> int:
        raise ClientClosed("this client is closed")

    with pytest.raises(ClientClosed):
        ServerResult("a:1", "3", None).then(ask)


def swallowing_handlers() -> Iterator[str]:
    """Where the library goes on after any RocketMQError, also that of a closed client."""
    for path in (Path(nsadmin.client.__file__).parent).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Try):
                continue
            kinds = [ast.unparse(handler.type) for handler in node.handlers if handler.type]
            if "RocketMQError" not in kinds or "ClientClosed" in kinds[: kinds.index("RocketMQError")]:
                continue
            handler = node.handlers[kinds.index("RocketMQError")]
            if not isinstance(handler.body[-1], ast.Raise):
                yield f"{path.name}:{node.lineno}"


def test_no_call_goes_on_with_a_closed_client() -> None:
    assert list(swallowing_handlers()) == []


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
    ] == [True, True, True, False]


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


def test_the_value_is_the_result_or_the_error_is_raised() -> None:
    assert ServerResult("h:1", 7, None).value() == 7
    assert ServerResult[None]("h:1", None, None).value() is None
    with pytest.raises(NotFound, match="no such topic"):
        ServerResult[int]("h:1", None, NotFound("no such topic")).value()
