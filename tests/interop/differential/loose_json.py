"""Java's JSON bodies as plain values, with what json.loads would lose kept apart.

An unquoted integer key becomes an int and a quoted one stays a string, so the two dialects never compare
equal. Objects keep the order of their members; `canonical` forgets it only where Java leaves it open.
"""

import json
import re
from typing import Any

_NUMBER = re.compile(rb"-?\d+(\.\d+)?([eE][-+]?\d+)?")
_INTEGER_KEY = re.compile(rb"-?\d+")
_decoder = json.JSONDecoder()

# Members of the wire's records: Java writes them in alphabetical order. Other objects are maps.
RECORDS = {
    "addr",
    "brokerAddr",
    "brokerAddrTable",
    "brokerAddrs",
    "brokerDatas",
    "brokerMemberGroup",
    "brokerName",
    "cluster",
    "clusterAddrTable",
    "enableActingMaster",
    "filterServerTable",
    "orderTopicConf",
    "perm",
    "queueDatas",
    "readQueueNums",
    "topicList",
    "topicQueueMappingByBroker",
    "topicSysFlag",
    "writeQueueNums",
    "zoneName",
    "counter",
    "stateVersion",
    "timestamp",
    "table",
    "bname",
    "currIdMap",
    "dirty",
    "epoch",
    "scope",
    "topic",
    "totalQueues",
}
SETS = {"topicList", "brokerDatas", "queueDatas"}


class Pairs(list[tuple[Any, Any]]):
    """An object's members in the order of the text."""

    def get(self, key: object) -> Any:
        return next((value for name, value in reversed(self) if name == key), None)


def parse(data: bytes) -> Any:
    """The value of a body; text after it, blanks between its parts or bad UTF-8 raise ValueError."""
    value, end = _value(data, 0)
    if end != len(data):
        raise ValueError(f"text after the value: {data[end:][:40]!r}")
    return value


def _value(data: bytes, at: int) -> tuple[Any, int]:
    start = data[at : at + 1]
    if start == b"{":
        return _object(data, at + 1)
    if start == b"[":
        return _array(data, at + 1)
    if start == b'"':
        return _string(data, at)
    for text, value in ((b"true", True), (b"false", False), (b"null", None)):
        if data.startswith(text, at):
            return value, at + len(text)
    number = _NUMBER.match(data, at)
    if number is None:
        raise ValueError(f"no value at {data[at:][:40]!r}")
    return ("number", number[0].decode()), number.end()


def _string(data: bytes, at: int) -> tuple[str, int]:
    end = at + 1
    while data[end : end + 1] != b'"':
        if end >= len(data):
            raise ValueError("a string without an end")
        end += 2 if data[end : end + 1] == b"\\" else 1
    return str(_decoder.decode(data[at : end + 1].decode())), end + 1


def _object(data: bytes, at: int) -> tuple[Pairs, int]:
    pairs = Pairs()
    if data[at : at + 1] == b"}":
        return pairs, at + 1
    while True:
        key: str | int
        integer = _INTEGER_KEY.match(data, at)
        if integer:
            key, at = int(integer[0]), integer.end()
        else:
            key, at = _string(data, at)
        if data[at : at + 1] != b":":
            raise ValueError(f"no colon at {data[at:][:40]!r}")
        value, at = _value(data, at + 1)
        pairs.append((key, value))
        if data[at : at + 1] == b"}":
            return pairs, at + 1
        at = _comma(data, at)


def _array(data: bytes, at: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    if data[at : at + 1] == b"]":
        return items, at + 1
    while True:
        value, at = _value(data, at)
        items.append(value)
        if data[at : at + 1] == b"]":
            return items, at + 1
        at = _comma(data, at)


def _comma(data: bytes, at: int) -> int:
    if data[at : at + 1] != b",":
        raise ValueError(f"no comma at {data[at:][:40]!r}")
    return at + 1


def canonical(value: Any, within: object = None, above: object = None) -> Any:
    """The value with maps and sets in one order; records keep theirs, which Java specifies."""
    if isinstance(value, Pairs):
        members = Pairs((key, canonical(item, key, within)) for key, item in value)
        is_record = bool(members) and all(key in RECORDS for key, _ in members)
        return members if is_record else Pairs(sorted(members, key=lambda pair: str(pair[0])))
    if isinstance(value, list):
        items = [canonical(item, None, within) for item in value]
        return sorted(items, key=repr) if within in SETS or above == "clusterAddrTable" else items
    return value
