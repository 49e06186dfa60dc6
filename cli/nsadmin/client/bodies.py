"""Answers of name servers and brokers, read into plain values; odd or missing members are left out."""

from collections.abc import Mapping
from typing import Any

from namesrv_core.protocol import object_keys
from namesrv_core.protocol.command import Command


def json_object(command: Command) -> dict[str, Any]:
    """The body's members; {} where there is no body. ValueError for what is no JSON object.

    A map keyed by objects, such as message queues, is a list of [key, value] pairs.
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
    """The texts of a list that may be null or have null elements."""
    return [item for item in value or () if isinstance(item, str)]


def broker_addrs(value: Any) -> dict[int, str]:
    """Broker id to address, in the order of ids: an id without an address cannot be asked and is left out."""
    members: Mapping[str, Any] = value or {}
    addrs = {int(broker_id): addr for broker_id, addr in members.items() if isinstance(addr, str) and addr}
    return dict(sorted(addrs.items()))


def topic_names(command: Command) -> tuple[str, ...]:
    """TopicList: names in order."""
    return tuple(sorted(set(texts(json_object(command).get("topicList")))))


def text_table(command: Command) -> dict[str, str]:
    """KVTable and KVTable-like bodies: keys in order; what is null is left out."""
    table: Mapping[str, Any] = json_object(command).get("table") or {}
    return {key: str(value) for key, value in sorted(table.items()) if value is not None}


def config_items(command: Command) -> dict[str, str]:
    """Lines of key=value, whose values are not escaped, in the order of keys."""
    lines = command.body.decode("utf-8", "replace").splitlines()
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {key: value for key, _, value in sorted(pairs)}
