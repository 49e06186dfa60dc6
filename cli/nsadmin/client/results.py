"""ServerResult, the outcome of a request on one server, and the errors that only a client raises."""

import shlex
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar, cast

from namesrv_core.errors import NotSupported, QueryNotFound, RequestError, RocketMQError, TopicNotExist
from namesrv_core.printable_text import cut_text
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.advised_command import quote_command

_MAX_ERROR_CHARS = 4096

T = TypeVar("T")
U = TypeVar("U")

# Remarks of 5.x brokers for: no credentials, a wrong secret key, an unknown user or a missing permission.
_DENIAL_REMARKS = ("username cannot be null", "check signature failed", "User:")


class NotFound(RocketMQError):
    """The requested object does not exist on the server."""


class NotApplied(RocketMQError):
    """A change had no effect: the server answered success, but a read afterwards shows the old state.

    Also raised if the change cannot work there, for example on a slave.
    """


class Ambiguous(RocketMQError):
    """Several objects fit, and the caller has to name one of them."""


class OverReadLimit(RocketMQError):
    """What a server offers is more than nsadmin reads: queues of a topic, or bytes of messages."""


class AlreadyRecreated(NotApplied):
    """The server recreated the deleted object immediately."""


class DuplicateServer(RocketMQError):
    """Another address in the list leads to the same server, so its answer counts only once."""


class ClientClosed(RocketMQError):
    """The client was closed, before the call or while it was pending. Make another client."""


class ReadOnlyAccess(RocketMQError):
    """A read-only client refused to send a change."""


class NotANameServer(NotSupported):
    """The address of a broker was given as that of a name server."""

    def __init__(self, server_addr: str, broker_name: str, namesrv_addrs: str) -> None:
        advice = f"pass -n {shlex.quote(namesrv_addrs)}" if namesrv_addrs else "pass a name server with -n"
        super().__init__(f"this is the broker {broker_name}, not a name server: {advice}")
        self.addr = server_addr

    def __str__(self) -> str:
        return str(self.remark)


class NoneReachable(RocketMQError):
    """No name server of the list answered.

    Attributes:
        errors: One CallError per name server.
    """

    def __init__(self, errors: Sequence[CallError]) -> None:
        addrs_by_reason: dict[str, list[str]] = {}
        for error in errors:
            addrs_by_reason.setdefault(error.reason, []).append(error.addr)
        reasons = (f"{', '.join(addrs)}: {reason}" for reason, addrs in addrs_by_reason.items())
        super().__init__("no name server answered: " + "; ".join(reasons))
        self.errors = tuple(errors)


class MalformedAnswer(CallError):
    """A server answered, but a member of its answer has another type, or is missing."""

    def __init__(self, server_addr: str, error_reason: str) -> None:
        super().__init__(server_addr, "unreadable", f"malformed answer ({error_reason})")


class ServerResult(NamedTuple, Generic[T]):
    """The outcome of a request on one server.

    Attributes:
        addr: The server's address, "host:port".
        result: The result; None after a failure.
        error: The failure; None after a success.
    """

    addr: str
    result: T | None
    error: RocketMQError | None

    def value(self) -> T:
        """Return the result of a success.

        Raises:
            RocketMQError: The error of a failure.
        """
        if self.error is not None:
            raise self.error
        return cast(T, self.result)

    def then(self, transform: Callable[[T], U]) -> "ServerResult[U]":
        """Return the outcome for the same server after applying a function to its result.

        Args:
            transform: Called with the result of a success only.

        Returns:
            The transformed result, the original error, or the RocketMQError that `transform` raised.

        Raises:
            ClientClosed: `transform` uses a client that is closed.
        """
        if self.error is not None or self.result is None:
            return ServerResult(self.addr, None, self.error)
        try:
            return ServerResult(self.addr, transform(self.result), None)
        except ClientClosed:
            raise
        except RocketMQError as error:
            return ServerResult(self.addr, None, error)


def read_after(
    results: Iterable[ServerResult[Any]], read: Callable[[list[str]], Iterable[ServerResult[T]]]
) -> list[ServerResult[T]]:
    """Read from each server that succeeded before. The others keep their error, in the same order."""
    results = list(results)
    results_now = {r.addr: r for r in read([r.addr for r in results if r.error is None])}
    return [results_now.get(r.addr, ServerResult(r.addr, None, r.error)) for r in results]


def ignored_change(addr: str, finding: str, *reading: str) -> NotApplied:
    """The error of a change that a server reported as done: what it has instead, and how to see it."""
    return NotApplied(
        f"{addr} reported success, but {finding}: it ignored the change, or somebody changed it again; see "
        f"`{quote_command(*reading)}`, then run the command again"
    )


def confirm_plans(
    plans: Iterable[ServerResult[T]],
    answers: Iterable[ServerResult[Any]],
    read: Callable[[list[str]], Iterable[ServerResult[U]]],
    confirm: Callable[[str, T, U], T],
    *,
    trusts_denial: bool = False,
) -> list[ServerResult[T]]:
    """Read back what the servers with an answer have now; a plan that was not sent stays as it is.

    `confirm` gets the address, the plan and the state now. It raises NotApplied if the server ignored the
    change. With `trusts_denial`, the server's success counts if the change took away the permission to read.
    """
    answers = list(answers)
    accepted_addrs = {answer.addr for answer in answers if answer.error is None}
    states = {state.addr: state for state in read_after(answers, read)}

    def confirm_plan(plan: ServerResult[T]) -> ServerResult[T]:
        state = states.get(plan.addr)
        if state is None or (trusts_denial and plan.addr in accepted_addrs and is_denied(state.error)):
            return plan
        return state.then(partial(confirm, plan.addr, plan.value()))

    return [confirm_plan(plan) for plan in plans]


def is_unreachable(error: RocketMQError | None) -> bool:
    """Return whether the server did not answer, or its answer is not readable.

    Args:
        error: The error of a result; None gives False.
    """
    return isinstance(error, (CallError, NoneReachable))


def is_silent(error: RocketMQError | None) -> bool:
    """Return whether the server did not answer, so that its other answers are not to be expected either."""
    return is_unreachable(error) and not isinstance(error, MalformedAnswer)


def is_not_found(error: RocketMQError | None) -> bool:
    """Return whether the server answered that the object does not exist.

    Args:
        error: The error of a result; None gives False.
    """
    return isinstance(error, (NotFound, TopicNotExist, QueryNotFound))


def is_denied(error: RocketMQError | None) -> bool:
    """Return whether the ACL of a broker (4.x or 5.x) denied the request because of the client's identity.

    Args:
        error: The error of a result; None gives False.
    """
    remark = (error.remark or "") if isinstance(error, RequestError) else ""
    return "AclException" in remark or remark.startswith(_DENIAL_REMARKS)


def error_text(error: RocketMQError) -> str:
    """Return the error as one line without the server's address, for a row that already shows it.

    A long line is cut: the remark of an answer can have 16 MB.

    Args:
        error: The error of a result.
    """
    if isinstance(error, CallError):
        return cut_text(error.reason, _MAX_ERROR_CHARS)
    return cut_text(str(error).split("\n", 1)[0], _MAX_ERROR_CHARS)
