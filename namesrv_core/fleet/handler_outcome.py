"""HandlerOutcome, the result of a handler of a simulated broker.

A handler may request a registration before its answer is sent, as a real broker does.
"""

from collections.abc import Callable
from typing import NamedTuple

from namesrv_core.errors import ResponseCode
from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.protocol.command import ExtFields, RemotingCommand

NO_RESPONSE_CODE_REMARK = "not set any response code"


class HandlerOutcome(NamedTuple):
    """The answer, and whether to register first. `changed_topics` None means all topics."""

    body: bytes = b""
    ext_fields: ExtFields | None = None
    remark: str | None = None
    needs_registration: bool = False
    changed_topics: tuple[str, ...] | None = None
    response_code: int = ResponseCode.SUCCESS


RequestHandler = Callable[[BrokerModel, RemotingCommand, int], HandlerOutcome]
