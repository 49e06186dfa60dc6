"""Turns answers into results: parsers of response bodies, which ignore malformed or missing members."""

from collections.abc import Callable
from typing import TypeVar

from namesrv_core.protocol import object_keys
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.json_object import JsonObject, to_integer, to_text
from nsadmin.client.results import MalformedAnswer, ServerResult

T = TypeVar("T")
ResponseDecoder = Callable[[RemotingCommand], T]
# A hostile server may send a number such as 1e400, a short list, or JSON of a thousand levels.
DECODE_ERRORS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def decode_answer(answer: ServerResult[RemotingCommand], decode: ResponseDecoder[T]) -> ServerResult[T]:
    """Decode the answer of a server."""

    def decode_response(response: RemotingCommand) -> T:
        try:
            return decode(response)
        except DECODE_ERRORS as error:
            raise MalformedAnswer(answer.addr, str(error)) from error

    return answer.then(decode_response)


def parse_json_object(response: RemotingCommand) -> JsonObject:
    """Parse the body as a JSON object, without members for an empty body or null. Raises ValueError.

    A map keyed by objects (such as message queues) becomes a list of [key, value] pairs.
    """
    return JsonObject(parse_json(response))


def parse_json(response: RemotingCommand) -> object:
    """Parse the body as JSON; None for an empty body. Raises ValueError."""
    return object_keys.decode_object_keys(response.body, errors="replace") if response.body else None


def read_ext_fields(response: RemotingCommand) -> JsonObject:
    """Return the header fields of an answer, to be read with types."""
    return JsonObject(response.ext, "the header")


def parse_offset(response: RemotingCommand) -> int:
    """Parse the header field `offset` of an answer. Raises ValueError."""
    return read_ext_fields(response).integer("offset")


def parse_broker_addrs(addrs: JsonObject) -> dict[int, str]:
    """Parse "brokerAddrs": broker id to address, in the order of ids. An address may be any text.

    An empty one becomes ":", without host and port, so that its broker is seen to be there. Raises ValueError
    for an id that is not a number.
    """
    return dict(
        sorted(
            (to_integer(broker_id, addrs.name), to_text(addr, addrs.name) or ":")
            for broker_id, addr in addrs.members.items()
            if addr is not None
        )
    )


def parse_topic_names(response: RemotingCommand) -> tuple[str, ...]:
    """Parse a TopicList body: distinct names in order."""
    return tuple(sorted(set(parse_json_object(response).texts("topicList"))))


def parse_text_table(response: RemotingCommand) -> dict[str, str]:
    """Parse a KVTable body: key to text, in the order of keys, without nulls."""
    kv_table = parse_json_object(response).child("table")
    return {key: to_text(value, key) for key, value in sorted(kv_table.members.items()) if value is not None}


def parse_config_items(response: RemotingCommand) -> dict[str, str]:
    """Parse a body of key=value lines with unescaped values: key to value, in the order of keys."""
    config_lines = response.body.decode("utf-8", "replace").splitlines()
    config_pairs = (config_line.partition("=") for config_line in config_lines if "=" in config_line)
    return {key: value for key, _, value in sorted(config_pairs)}
