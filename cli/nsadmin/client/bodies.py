"""Parsers that turn response bodies into plain values. They ignore malformed or missing members."""

from collections.abc import Mapping
from typing import Any

from namesrv_core.protocol import object_keys
from namesrv_core.protocol.command import Command


def json_object(command: Command) -> dict[str, Any]:
    """Parse the body as a JSON object.

    Returns:
        The members; {} without a body. A map keyed by objects (such as message queues) becomes a list of
        [key, value] pairs.

    Raises:
        ValueError: The body is not a JSON object.
    """
    if not command.body:
        return {}
    value = object_keys.loads(command.body, errors="replace")
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError("the body is no JSON object")
    return value


def texts(value: Any) -> list[str]:
    """Return the strings of a JSON list that may be null or contain nulls."""
    return [item for item in value or () if isinstance(item, str)]


def broker_addrs(value: Any) -> dict[int, str]:
    """Parse "brokerAddrs": broker id to address, in the order of ids, without ids that have no address."""
    members: Mapping[str, Any] = value or {}
    addrs = {int(broker_id): addr for broker_id, addr in members.items() if isinstance(addr, str) and addr}
    return dict(sorted(addrs.items()))


def topic_names(command: Command) -> tuple[str, ...]:
    """Parse a TopicList body: distinct names in order."""
    return tuple(sorted(set(texts(json_object(command).get("topicList")))))


def text_table(command: Command) -> dict[str, str]:
    """Parse a KVTable body: key to text, in the order of keys, without nulls."""
    table: Mapping[str, Any] = json_object(command).get("table") or {}
    return {key: str(value) for key, value in sorted(table.items()) if value is not None}


def config_items(command: Command) -> dict[str, str]:
    """Parse a body of key=value lines with unescaped values: key to value, in the order of keys."""
    lines = command.body.decode("utf-8", "replace").splitlines()
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {key: value for key, _, value in sorted(pairs)}
