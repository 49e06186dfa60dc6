"""Turns answers into results: parsers of response bodies, which ignore malformed or missing members."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from namesrv_core.protocol import object_keys
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.results import ServerResult

T = TypeVar("T")
ResponseDecoder = Callable[[RemotingCommand], T]
# A hostile server may send a number such as 1e400, a short list, or JSON of a thousand levels.
_DECODE_ERRORS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def decode_answer(answer: ServerResult[RemotingCommand], decode: ResponseDecoder[T]) -> ServerResult[T]:
    """Decode the answer of a server.

    Args:
        answer: The answer, or the error of the request.
        decode: Turns the answer into the result. It may raise any of the errors that values of other types
            cause.

    Returns:
        The decoded result, or the answer's error. If decoding fails, the error is a CallError of the kind
        "unreadable", so that the server counts as unreachable.
    """

    def decode_response(response: RemotingCommand) -> T:
        try:
            return decode(response)
        except _DECODE_ERRORS as error:
            raise CallError(answer.addr, "unreadable", f"malformed answer ({error})") from error

    return answer.then(decode_response)


def parse_json_object(response: RemotingCommand) -> dict[str, Any]:
    """Parse the body as a JSON object.

    Args:
        response: The answer of a server.

    Returns:
        The members; {} without a body. A map keyed by objects (such as message queues) becomes a list of
        [key, value] pairs.

    Raises:
        ValueError: The body is not a JSON object.
    """
    if not response.body:
        return {}
    json_value = object_keys.decode_object_keys(response.body, errors="replace")
    if json_value is None:
        return {}
    if not isinstance(json_value, dict):
        raise ValueError("the body is not a JSON object")
    return json_value


def list_texts(json_list: Any) -> list[str]:
    """Return the strings of a JSON list that may be null or contain nulls.

    Args:
        json_list: The list, or None.

    Returns:
        The strings in their order; [] for None.
    """
    return [list_item for list_item in json_list or () if isinstance(list_item, str)]


def parse_broker_addrs(json_members: Any) -> dict[int, str]:
    """Parse "brokerAddrs": broker id to address, in the order of ids, without ids that have no address.

    Args:
        json_members: The JSON object, or None.

    Returns:
        The addresses; {} for None.

    Raises:
        ValueError: An id is not a number.
    """
    addrs_by_id: Mapping[str, Any] = json_members or {}
    known_addrs = {
        int(broker_id): broker_addr
        for broker_id, broker_addr in addrs_by_id.items()
        if isinstance(broker_addr, str) and broker_addr
    }
    return dict(sorted(known_addrs.items()))


def parse_topic_names(response: RemotingCommand) -> tuple[str, ...]:
    """Parse a TopicList body: distinct names in order.

    Args:
        response: An answer with a TopicList.

    Returns:
        The names; () without a body.

    Raises:
        ValueError: The body is not a JSON object.
    """
    return tuple(sorted(set(list_texts(parse_json_object(response).get("topicList")))))


def parse_text_table(response: RemotingCommand) -> dict[str, str]:
    """Parse a KVTable body: key to text, in the order of keys, without nulls.

    Args:
        response: An answer with a KVTable.

    Returns:
        The texts by key; {} without a body.

    Raises:
        ValueError: The body is not a JSON object.
    """
    kv_table: Mapping[str, Any] = parse_json_object(response).get("table") or {}
    return {key: str(value) for key, value in sorted(kv_table.items()) if value is not None}


def parse_config_items(response: RemotingCommand) -> dict[str, str]:
    """Parse a body of key=value lines with unescaped values: key to value, in the order of keys.

    Args:
        response: An answer with the configuration of a server.

    Returns:
        The texts by key; {} without a body. Lines without "=" are omitted.
    """
    config_lines = response.body.decode("utf-8", "replace").splitlines()
    config_pairs = (config_line.partition("=") for config_line in config_lines if "=" in config_line)
    return {key: value for key, _, value in sorted(config_pairs)}
