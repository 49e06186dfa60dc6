"""What a handler of requests to a simulated broker returns.

A handler may want name servers to be told before its answer leaves, as a real broker tells them.
"""

from collections.abc import Callable
from typing import NamedTuple

from namesrv_core.errors import ResponseCode
from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.protocol.command import ExtFields, RemotingCommand

NO_RESPONSE_CODE_REMARK = "not set any response code"


class HandlerOutcome(NamedTuple):
    """An answer's parts, and whether name servers hear first; `changed_topics` None means all topics."""

    body: bytes = b""
    ext_fields: ExtFields | None = None
    remark: str | None = None
    needs_registration: bool = False
    changed_topics: tuple[str, ...] | None = None
    response_code: int = ResponseCode.SUCCESS


RequestHandler = Callable[[BrokerModel, RemotingCommand, int], HandlerOutcome]
