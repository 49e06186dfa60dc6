"""The request PULL_MESSAGE (11) of a queue's messages, and its answers."""

from namesrv_core.errors import ResponseCode
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.protocol.stored_messages import StoredMessage, decode_messages

PULL_RESPONSE_CODES = (
    ResponseCode.SUCCESS,
    ResponseCode.PULL_NOT_FOUND,
    ResponseCode.PULL_RETRY_IMMEDIATELY,
    ResponseCode.PULL_OFFSET_MOVED,
)
"""The response codes of PULL_MESSAGE (11) that contain the next offset."""


def build_pull_request(pull_header: broker_headers.PullMessage) -> RemotingCommand:
    """Build PULL_MESSAGE (11).

    Args:
        pull_header: The queue, the first offset, and the number of messages.
    """
    return build_request(RequestCode.PULL_MESSAGE, headers.write_header(pull_header))


def decode_pulled_messages(pull_response: RemotingCommand) -> list[StoredMessage]:
    """Decode the messages of a PULL_MESSAGE (11) answer. Offsets of a static topic become logical offsets.

    Args:
        pull_response: The answer of a broker.

    Returns:
        The messages; [] for a code other than SUCCESS.
    """
    if pull_response.code != ResponseCode.SUCCESS:
        return []
    offset_delta = headers.parse_java_integer((pull_response.ext or {}).get("offsetDelta") or "0", 64) or 0
    return [
        message._replace(queue_offset=message.queue_offset + offset_delta)
        for message in decode_messages(pull_response.body).messages
    ]
