"""The ext fields of a name server's requests: a record for each request code. Brokers: `broker_headers`.

Reading never fails, as upstream. A field that is missing or unreadable is null, or has its default if the
Java type is a primitive. The handler decides which fields it requires.
"""

import re
from functools import cache
from typing import Any, NamedTuple, TypeVar

from namesrv_core.protocol.command import ExtFields

HeaderRecord = TypeVar("HeaderRecord", bound=NamedTuple)

# Python's int() accepts at most 4300 digits.
_INTEGER_TEXT = re.compile(r"[+-]?\d{1,4000}")
_ODD_WIRE_NAMES = {
    "zone_name": "__ZONE_NAME",
    "zone_mode": "__ZONE_MODE",
    "unique_key_query": "_UNIQUE_KEY_QUERY",
}


@cache
def _wire_name(name: str) -> str:
    first_word, *words = name.split("_")
    return _ODD_WIRE_NAMES.get(name) or first_word + "".join(word.capitalize() for word in words)


def parse_java_integer(digits: str, bit_width: int) -> int | None:
    """Parse a text like Java's `parseInt`, or with 64 bits like `parseLong`. Return None where Java fails."""
    if not _INTEGER_TEXT.fullmatch(digits):
        return None
    number = int(digits)
    return number if -(1 << bit_width - 1) <= number < 1 << bit_width - 1 else None


def read_header(header_type: type[HeaderRecord], ext_fields: ExtFields | None) -> HeaderRecord:
    """Read ext fields into a record of the type `header_type`.

    `int | None` is a Java Long, and `int` is an int with a default. A `bool` is true only for "true", in
    upper or lower case.
    """
    texts: Any = ext_fields or {}
    values: list[Any] = []
    for wire_name, default, bit_width in _list_fields(header_type):
        text = texts.get(wire_name)
        if text is None or bit_width is None:
            values.append(default if text is None else text)
        elif bit_width == 1:
            values.append(text.lower() == "true")
        else:
            number = parse_java_integer(text, bit_width)
            values.append(default if number is None else number)
    return header_type(*values)


@cache
def _list_fields(header_type: type[NamedTuple]) -> list[tuple[str, Any, int | None]]:
    """The wire name, the default and the bits of each field; None bits for a text."""
    bit_widths = {bool: 1, bool | None: 1, int: 32, int | None: 64}
    return [
        (_wire_name(name), header_type._field_defaults.get(name), bit_widths.get(field_type))
        for name, field_type in header_type.__annotations__.items()
    ]


def write_header(header_record: NamedTuple) -> dict[str, str]:
    """The ext fields of a record, without the fields that are None."""
    return {
        _wire_name(name): value if isinstance(value, str) else str(value).lower()
        for name, value in zip(header_record._fields, header_record, strict=True)
        if value is not None
    }


class PutKvConfig(NamedTuple):
    namespace: str | None = None
    key: str | None = None
    value: str | None = None


class KvKey(NamedTuple):
    """GET_KV_CONFIG and DELETE_KV_CONFIG."""

    namespace: str | None = None
    key: str | None = None


class KvNamespace(NamedTuple):
    """GET_KVLIST_BY_NAMESPACE."""

    namespace: str | None = None


class RegisterBroker(NamedTuple):
    broker_name: str | None = None
    broker_addr: str | None = None
    cluster_name: str | None = None
    ha_server_addr: str | None = None
    broker_id: int | None = None
    compressed: bool = False
    body_crc32: int = 0
    heartbeat_timeout_millis: int | None = None
    enable_acting_master: bool | None = None
    zone_name: str | None = None


class BrokerIdentity(NamedTuple):
    """UNREGISTER_BROKER and QUERY_DATA_VERSION."""

    broker_name: str | None = None
    broker_addr: str | None = None
    cluster_name: str | None = None
    broker_id: int | None = None


class BrokerHeartbeat(NamedTuple):
    cluster_name: str | None = None
    broker_addr: str | None = None
    broker_name: str | None = None


class GetRoute(NamedTuple):
    """GET_ROUTEINFO_BY_TOPIC."""

    topic: str | None = None
    accept_standard_json_only: bool = False
    zone_mode: bool = False
    zone_name: str | None = None


class GetClusterInfo(NamedTuple):
    """GET_BROKER_CLUSTER_INFO. The field is our extension, and Java's name servers ignore it."""

    with_heartbeats: bool = False


class BrokerName(NamedTuple):
    """WIPE_WRITE_PERM_OF_BROKER and ADD_WRITE_PERM_OF_BROKER."""

    broker_name: str | None = None


class ClusterName(NamedTuple):
    """GET_TOPICS_BY_CLUSTER."""

    cluster: str | None = None


class DeleteTopic(NamedTuple):
    """DELETE_TOPIC_IN_NAMESRV. DELETE_TOPIC_IN_BROKER uses it without a cluster."""

    topic: str | None = None
    cluster_name: str | None = None


class TopicName(NamedTuple):
    """REGISTER_TOPIC_IN_NAMESRV, GET_TOPIC_CONFIG, QUERY_TOPIC_CONSUME_BY_WHO."""

    topic: str | None = None


class MemberGroup(NamedTuple):
    """GET_BROKER_MEMBER_GROUP."""

    cluster_name: str | None = None
    broker_name: str | None = None


class MinBrokerIdChange(NamedTuple):
    """NOTIFY_MIN_BROKER_ID_CHANGE. Name servers send it to brokers."""

    min_broker_id: int | None = None
    min_broker_addr: str | None = None
    offline_broker_addr: str | None = None
    ha_broker_addr: str | None = None
