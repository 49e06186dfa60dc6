"""The errors that this project raises, and the response code of each on the wire.

`handlers.dispatch` turns these errors into answers. The client turns answers back into these errors.
"""

from enum import IntEnum
from typing import TypeVar

E = TypeVar("E", bound=Exception)


def detach_error(error: E) -> E:
    """Remove the traceback and the context, whose frames would keep everything in them alive."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return error


class ResponseCode(IntEnum):
    """Codes of answers (upstream: `ResponseCode`, `RemotingSysResponseCode`)."""

    SUCCESS = 0
    SYSTEM_ERROR = 1
    SYSTEM_BUSY = 2
    REQUEST_CODE_NOT_SUPPORTED = 3
    TRANSACTION_FAILED = 4
    FLUSH_DISK_TIMEOUT = 10
    SLAVE_NOT_AVAILABLE = 11
    FLUSH_SLAVE_TIMEOUT = 12
    MESSAGE_ILLEGAL = 13
    SERVICE_NOT_AVAILABLE = 14
    VERSION_NOT_SUPPORTED = 15
    NO_PERMISSION = 16
    TOPIC_NOT_EXIST = 17
    TOPIC_EXIST_ALREADY = 18
    PULL_NOT_FOUND = 19
    PULL_RETRY_IMMEDIATELY = 20
    PULL_OFFSET_MOVED = 21
    QUERY_NOT_FOUND = 22
    SUBSCRIPTION_PARSE_FAILED = 23
    SUBSCRIPTION_NOT_EXIST = 24
    SUBSCRIPTION_NOT_LATEST = 25
    SUBSCRIPTION_GROUP_NOT_EXIST = 26
    FILTER_DATA_NOT_EXIST = 27
    FILTER_DATA_NOT_LATEST = 28
    INVALID_PARAMETER = 29
    TRANSACTION_STATE_UNKNOW = 202
    CONSUMER_NOT_ONLINE = 206
    CONSUME_MSG_TIMEOUT = 207
    NO_MESSAGE = 208
    POLLING_FULL = 209
    POLLING_TIMEOUT = 210
    BROKER_NOT_EXIST = 211
    BROKER_DISPATCH_NOT_COMPLETE = 212
    BROADCAST_CONSUMPTION = 213
    FLOW_CONTROL = 215
    NOT_LEADER_FOR_QUEUE = 501
    ILLEGAL_OPERATION = 604
    GO_AWAY = 1500
    CONTROLLER_INVALID_MASTER = 2002
    CONTROLLER_MASTER_NOT_AVAILABLE = 2004
    CONTROLLER_BROKER_NOT_ALIVE = 2006
    CONTROLLER_NOT_LEADER = 2007
    CONTROLLER_BROKER_METADATA_NOT_EXIST = 2008
    CONTROLLER_ELECT_MASTER_FAILED = 2012
    LMQ_QUOTA_EXCEEDED = 2017
    LITE_SUBSCRIPTION_QUOTA_EXCEEDED = 2018
    USER_NOT_EXIST = 3001
    POLICY_NOT_EXIST = 3002

    @classmethod
    def name_of(cls, number: int) -> str | None:
        """The name of a code, or None."""
        return next((code.name for code in cls if code == number), None)


class RocketMQError(Exception):
    """Base class of the errors that this project raises. Instances can be pickled and copied."""

    def __reduce__(self) -> tuple[object, ...]:
        # The inherited method calls the constructor with `args`, which other parameters break.
        return _rebuild_error, (type(self), self.args), self.__dict__


def _rebuild_error(error_type: type[RocketMQError], args: tuple[object, ...]) -> RocketMQError:
    return error_type.__new__(error_type, *args)


class ProtocolError(RocketMQError):
    """The peer's bytes are no frame, header or command. Close the connection without an answer."""


class FrameOverLimit(ProtocolError):
    """A frame is too large, or its header too long or too deep. `limit_key` is the key of the setting."""

    def __init__(self, limit_key: str, error_text: str, *extra_args: object) -> None:
        super().__init__(error_text, *extra_args)
        self.limit_key = limit_key


class BadSettings(RocketMQError):
    """A setting, file, key or password cannot be used. The message says which one."""


class RequestError(RocketMQError):
    """A server refused a request. `code` is the response code, `remark` the text of the answer.

    `addr` is the address of that server, or None if it is not known.
    """

    code: int = ResponseCode.SYSTEM_ERROR
    addr: str | None = None

    def __init__(self, remark: str | None, code: int | None = None) -> None:
        super().__init__(remark)
        self.remark = remark
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        code_name = ResponseCode.name_of(self.code) or "response code"
        remark = (self.remark or "").strip()
        return f"{code_name} ({self.code}): {remark}" if remark else f"{code_name} ({self.code})"


class BadRequest(RequestError):
    """A request cannot be decoded or carried out. Upstream answers such a request with a Java exception."""


class OverLimit(RequestError):
    """A request exceeds a size or a count of this server. `limit_key` is the key of the setting."""

    def __init__(self, limit_key: str, remark: str) -> None:
        super().__init__(f"{remark}, over the limit {limit_key}")
        self.limit_key = limit_key


class NotSupported(RequestError):
    code = ResponseCode.REQUEST_CODE_NOT_SUPPORTED


class NoPermission(RequestError):
    code = ResponseCode.NO_PERMISSION


class TopicNotExist(RequestError):
    code = ResponseCode.TOPIC_NOT_EXIST


class QueryNotFound(RequestError):
    code = ResponseCode.QUERY_NOT_FOUND


_ERRORS_BY_CODE: dict[int, type[RequestError]] = {
    error_type.code: error_type for error_type in (NotSupported, NoPermission, TopicNotExist, QueryNotFound)
}


def build_request_error(response_code: int, remark: str | None) -> RequestError:
    return _ERRORS_BY_CODE.get(response_code, RequestError)(remark, response_code)
