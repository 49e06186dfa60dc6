"""The intended differences between nsadmin's and the released server, with their reasons, in one table.

A difference must match its entry exactly: the kind of frame, and the reaction of each server.
"""

import json
import re
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

from namesrv_core.errors import ProtocolError
from namesrv_core.protocol import codec
from namesrv_core.protocol.codes import V3_0_11, HeaderType, RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.size_limits import DecodeLimits, is_nested_deeper
from tests.fuzz.conversations import Heard

_WHO = ("brokerName", "brokerAddr", "clusterName")
_NAMES: dict[int, tuple[str, ...]] = {
    RequestCode.REGISTER_TOPIC_IN_NAMESRV: ("topic",),
    RequestCode.UNREGISTER_BROKER: ("brokerId",),
}
_WITH_JSON_BODY = (
    RequestCode.REGISTER_BROKER, RequestCode.REGISTER_TOPIC_IN_NAMESRV, RequestCode.QUERY_DATA_VERSION,
)  # fmt: skip


_UNREAD = (("order", bool), ("topicFilterType", str), ("attributes", dict))
"""What Java reads of a topic, and its type; that is of no use to a name server."""
_BARE_KEY = re.compile(rb"[{,]\s*-?[0-9]+\s*:")


class Case(NamedTuple):
    """A frame and the reactions to it. `is_first` says whether it is the first on its connection."""

    frame: bytes
    ours: Heard
    java: Heard
    is_first: bool

    def __str__(self) -> str:
        why = f"({self.ours.why} | {self.java.why})"
        return f"ours: {self.ours}; Java: {self.java} {why}\n   {self.frame!r}"

    @property
    def header(self) -> bytes:
        return self.frame[8 : 8 + int.from_bytes(self.frame[5:8], "big")]

    @property
    def body(self) -> bytes:
        end = 4 + int.from_bytes(self.frame[:4], "big", signed=True)
        return self.frame[8 + len(self.header) : end]

    @property
    def is_json(self) -> bool:
        return len(self.frame) > 8 and self.frame[4] == HeaderType.JSON

    @property
    def command(self) -> RemotingCommand | None:
        return decoded(self.frame)

    @property
    def codes(self) -> tuple[list[int], list[int]]:
        """Ours and Java's, in order of size."""
        return (
            sorted(answer.code for answer in self.ours.answers),
            sorted(answer.code for answer in self.java.answers),
        )

    @property
    def is_refused_by_us(self) -> bool:
        """A connection that only ours closes."""
        return self.ours.is_closed and not self.java.is_closed

    @property
    def is_refused_by_java(self) -> bool:
        return self.java.is_closed and not self.ours.is_closed

    def has(self, *codes: int) -> bool:
        return self.command is not None and self.command.code in codes


def decoded(frame: bytes) -> RemotingCommand | None:
    """Its command as ours reads it."""
    end = 4 + int.from_bytes(frame[:4], "big", signed=True)
    try:
        return codec.decode_command(frame[4:end]) if 8 <= end <= len(frame) else None
    except ProtocolError:
        return None


def spoils(frame: bytes) -> bool:
    """Whether Java's server would be another one after it: tests/interop/test_edges.py shows that."""
    asked = decoded(frame)
    if asked is None or asked.code not in (RequestCode.REGISTER_BROKER, RequestCode.UNREGISTER_BROKER):
        return False
    return any((asked.ext or {}).get(name) is None for name in _WHO)


def is_json(text: bytes) -> bool:
    """As RFC 8259 has it, but for control characters in strings."""
    try:
        json.JSONDecoder(strict=True).decode(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return True


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _json_body(case: Case) -> bytes | None:
    """The body where one of JSON is due and it is no list of compressed topics."""
    return case.body if case.has(*_WITH_JSON_BODY) and case.body[:1] not in (b"", b"\x78") else None


def _compressed_body(case: Case) -> bytes | None:
    """The body of a registration that says that it is compressed."""
    asked = case.command
    if asked is None or not case.has(RequestCode.REGISTER_BROKER) or asked.version < V3_0_11:
        return None
    return case.body if str((asked.ext or {}).get("compressed")).lower() == "true" else None


# One entry each.


def _too_short(case: Case) -> bool:
    return case.is_first and len(case.frame) < 12 and case.ours.is_closed and case.java.is_silent


def _no_opaque(case: Case) -> bool:
    return case.codes[0] == case.codes[1] and any(answer.opaque == 0 for answer in case.ours.answers)


def _lenient_header(case: Case) -> bool:
    return case.is_json and case.is_refused_by_us and not is_json(case.header)


def _too_deep(case: Case) -> bool:
    return case.is_json and case.is_refused_by_us and is_nested_deeper(case.header, DecodeLimits().json_depth)


def _bad_utf8(case: Case) -> bool:
    if not case.is_json or is_utf8(case.header):
        return False
    # Beside an escape a surrogate is a question mark in Java's remark.
    is_read_otherwise = case.codes[0] == case.codes[1] and "\ufffd" in case.ours.why
    return case.is_refused_by_us or case.is_refused_by_java or is_read_otherwise


def _cut_short(case: Case) -> bool:
    body = _compressed_body(case)
    if body is None or case.codes != ([1], [0]):
        return False
    inflater = zlib.decompressobj()
    try:
        inflater.decompress(body)
    except zlib.error:
        return True
    return not inflater.eof


def _lenient_part(case: Case) -> bool:
    """Whether a compressed registration has a data version or a mapping that is no JSON."""
    return _compressed_body(case) is not None and case.codes == ([1], [0]) and "Expecting" in case.ours.why


def _bad_utf8_body(case: Case) -> bool:
    body = _json_body(case)
    if body is None:
        is_part = _compressed_body(case) is not None and "codec can't decode" in case.ours.why
        return is_part and case.codes == ([1], [0])
    return not is_utf8(body) and case.codes in (([1], [0]), ([0], [1]))


def _twice(case: Case) -> bool:
    if case.is_json and case.is_refused_by_java:
        return _has_twice(case.header)
    body = _json_body(case)
    return body is not None and case.codes == ([0], [1]) and _has_twice(body)


def _has_twice(text: bytes) -> bool:
    """Whether an object has two members of one name."""
    repeated = []

    def note(members: list[tuple[str, Any]]) -> None:
        repeated.append(len(members) - len({name for name, _ in members}))

    if is_json(text):
        json.loads(text.decode("utf-8", "replace"), object_pairs_hook=note)
    return any(repeated)


def _lenient_body(case: Case) -> bool:
    body = _json_body(case)
    return body is not None and not is_json(body) and case.codes == ([1], [0])


def _deep_body(case: Case) -> bool:
    body = _json_body(case)
    return body is not None and is_nested_deeper(body, DecodeLimits().json_depth) and case.codes == ([1], [0])


def _nameless(case: Case) -> bool:
    asked = case.command
    if asked is None or case.codes != ([1], [0]):
        return False
    ext = asked.ext or {}
    names = _NAMES.get(asked.code, ())
    return any(ext.get(name) is None or (name == "brokerId" and not _is_long(ext[name])) for name in names)


def _incomplete(case: Case) -> bool:
    return case.codes == ([1], [0]) and any(
        text in case.ours.why for text in ("has no topicName", "is null", "expected an object, not NoneType")
    )


def _unread(case: Case) -> bool:
    if not case.has(RequestCode.REGISTER_BROKER) or case.codes != ([0], [1]) or not is_json(case.body):
        return False
    asked, wrapper = case.command, json.loads(case.body)
    if asked is not None and asked.version >= V3_0_11:
        wrapper = wrapper.get("topicConfigSerializeWrapper")
    if not isinstance(wrapper, dict):
        return False
    versions = _values(wrapper.get("mappingDataVersion", {}))
    return (
        any(type(number) is not int or abs(number) >= 1 << 63 for number in versions)
        or any(not isinstance(d, dict) for d in _values(wrapper.get("topicQueueMappingDetailMap", {})))
        or any(_is_odd(config) for config in _values(wrapper.get("topicConfigTable", {})))
    )


def _is_odd(config: object) -> bool:
    return isinstance(config, dict) and any(not isinstance(config.get(n, k()), k) for n, k in _UNREAD)


def _values(table: object) -> list[Any]:
    """Of an object; what is none stands for itself."""
    return list(table.values()) if isinstance(table, dict) else [table]


def _unsaid(case: Case) -> bool:
    asked = case.command
    return (
        asked is not None
        and case.has(RequestCode.REGISTER_BROKER)
        and case.codes == ([0], [1])
        and case.body[:1] == b"\x78"
        and (asked.ext or {}).get("compressed") != "true"
    )


def _bare_in_unknown(case: Case) -> bool:
    return case.has(*_WITH_JSON_BODY) and case.codes == ([0], [1]) and bool(_BARE_KEY.search(case.body))


def _gap(case: Case) -> bool:
    """Whether something stands behind the ext fields of a binary header."""
    if case.is_json or case.command is None:
        return False
    remark = int.from_bytes(case.header[13:17], "big", signed=True)
    size = int.from_bytes(case.header[17 + remark : 21 + remark], "big", signed=True)
    return 21 + remark + max(size, 0) < len(case.header) and case.body != b""


def _is_long(text: str | None) -> bool:
    try:
        return text is not None and -(1 << 63) <= int(text) < 1 << 63
    except ValueError:
        return False


def _long_name(case: Case) -> bool:
    is_registration = case.has(RequestCode.REGISTER_BROKER, RequestCode.REGISTER_TOPIC_IN_NAMESRV)
    return is_registration and case.codes == ([1], [0]) and "over the limit maxNameBytes" in case.ours.why


class Difference(NamedTuple):
    """One that is accepted."""

    name: str
    reason: str
    fits: Callable[[Case], bool]


TABLE = (
    Difference(
        "a connection that begins with less than twelve bytes",
        "Java looks at nothing before it has twelve bytes, as the PROXY protocol would need them; ours "
        "closes at once where they cannot be a frame",
        _too_short,
    ),
    Difference(
        "opaque of its own",
        "a header without an opaque is answered with the next number of Java's own counter, by ours with 0",
        _no_opaque,
    ),
    Difference(
        "JSON nested more than 100 levels deep",
        "ours has a limit (maxJsonDepth), Java reads 2,048",
        lambda case: _too_deep(case) or _deep_body(case),
    ),
    Difference(
        "text that is no UTF-8",
        "in the fields of a header ours does what Java does, but not beside escapes; fastjson 2 refuses more "
        "of it in names of members, none in members that it passes over, and not all of it in a body",
        lambda case: _bad_utf8(case) or _bad_utf8_body(case),
    ),
    Difference(
        "lenient JSON header",
        "fastjson 2 reads some of what is no JSON: comments, single quotes, spare or missing commas and "
        "braces, control characters; ours closes, as Java does for most of it",
        _lenient_header,
    ),
    Difference(
        "lenient JSON body",
        "the same in a body, which ours answers with code 1",
        lambda case: _lenient_body(case) or _lenient_part(case),
    ),
    Difference(
        "a compressed registration without its end",
        "Java inflates only as far as it reads; ours wants the whole stream with its checksum",
        _cut_short,
    ),
    Difference(
        "a member that is there twice",
        "the last one counts; Java closes if an earlier one is not of its type",
        _twice,
    ),
    Difference(
        "a member that no name server uses",
        "Java refuses a registration in which order, topicFilterType, attributes, mappingDataVersion or "
        "topicQueueMappingDetailMap is not of its type; ours does not read them",
        _unread,
    ),
    Difference(
        "compressed without saying so",
        "5.x brokers compress a registration and do not say so; ours reads that, Java does not",
        _unsaid,
    ),
    Difference(
        "integer keys in a member that nobody knows",
        "Java reads keys without quotes only where integers are due, and cannot pass over others; ours can",
        _bare_in_unknown,
    ),
    Difference(
        "bytes behind the ext fields of a binary header",
        "Java takes them for the beginning of the body; ours takes the body from where the header ends",
        _gap,
    ),
    Difference(
        "an entry that is null or has no name",
        "Java fails on it half-way and says SUCCESS; ours says code 1 and changes nothing",
        _incomplete,
    ),
    Difference(
        "a name that is missing",
        "Java says SUCCESS and fails, or keeps a null in its tables; ours says code 1 and changes nothing",
        _nameless,
    ),
    Difference(
        "a name that is too long",
        "Java keeps names of any length; ours refuses one of more than 255 bytes with code 1",
        _long_name,
    ),
)
LEAVES_OTHER_TABLES = frozenset({"a name that is too long"})
"""What the two servers answer afterwards may differ as well."""


def named(case: Case) -> str | None:
    """The entry that it fits."""
    return next((difference.name for difference in TABLE if difference.fits(case)), None)
