"""What came of a request: a result per server, and the failures that only a client can meet."""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from namesrv_core.errors import QueryNotFound, RequestError, RocketMQError, TopicNotExist
from namesrv_core.transport.calls import CallError

T = TypeVar("T")
U = TypeVar("U")

# Remarks of 5.x: nobody asks, a wrong secret key, an unknown user or one without the right.
_DENIALS = ("username cannot be null", "check signature failed", "User:")


class NotFound(RocketMQError):
    """What was named does not exist there."""


class NotApplied(RocketMQError):
    """A server answered success, but reading back shows that nothing changed."""


class MadeAnew(NotApplied):
    """What was deleted was there again at once."""


class SameServer(RocketMQError):
    """Another address of the list is that of the same server, which is one witness."""


class ReadOnlyAccess(RocketMQError):
    """A change was asked for by who may only read; nothing was sent."""


class NoneReachable(RocketMQError):
    """No server of the list answered; `errors` has what each of them did."""

    def __init__(self, errors: Sequence[CallError]) -> None:
        super().__init__("no name server answered: " + "; ".join(map(str, errors)))
        self.errors = tuple(errors)


class ServerResult(NamedTuple, Generic[T]):
    """What happened on one server: `error` is None and `result` is set, or the other way round."""

    addr: str
    result: T | None
    error: RocketMQError | None

    def then(self, step: Callable[[T], U]) -> "ServerResult[U]":
        """The same server with `step` applied to its result; what `step` raises is its error."""
        if self.error is not None or self.result is None:
            return ServerResult(self.addr, None, self.error)
        try:
            return ServerResult(self.addr, step(self.result), None)
        except RocketMQError as error:
            return ServerResult(self.addr, None, error)


def is_unreachable(error: RocketMQError | None) -> bool:
    return isinstance(error, (CallError, NoneReachable))


def is_not_found(error: RocketMQError | None) -> bool:
    return isinstance(error, (NotFound, TopicNotExist, QueryNotFound))


def is_denied(error: RocketMQError | None) -> bool:
    """Whether a broker's ACL refused, of 4.x or 5.x: because of who asks, not of what is asked."""
    remark = (error.remark or "") if isinstance(error, RequestError) else ""
    return "AclException" in remark or remark.startswith(_DENIALS)


def error_text(error: RocketMQError) -> str:
    """The failure in one line, for a row that already names the server."""
    if isinstance(error, CallError):
        return error.reason
    return str(error).split("\n", 1)[0]
