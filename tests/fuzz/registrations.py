"""Bodies of registrations: plain and compressed, of old and new brokers, also with null tables."""

import json
import struct
import zlib
from random import Random
from typing import Any

from namesrv_core.protocol.codes import V3_0_11, V5_0_0
from tests.support.wire import topic_config

NAMES = (
    "", "a", "b", "T", "topic-1", "%RETRY%g", "x" * 240, "\u00e4\u2028\x00", "10.0.0.1:10911", "[::1]:1", "0",
    "-1", "2147483648", "9" * 30, "1e400", "NaN", "true", "null", "{}", "[", "ORDER_TOPIC_CONFIG",
)  # fmt: skip
# More than 255 bytes, or for a retry topic more than twice as many.
LONG_NAMES = ("x" * 256, "\u00e9" * 128, "%RETRY%" + "g" * 504, "%DLQ%" + "g" * 5_000)
FILTERS: tuple[Any, ...] = ([], [], None, ["f:1"], ["f:1", None], "", "f:1", {}, {"a": 1}, 5, [1, True])
_PACKED_FILTERS = (b"", b" ", b"null", b"x", b'["f:1"', b'["\xed\xa0\x80"]')
_PACKED_VERSIONS = (b"", b"null", b"{}", b'{"counter":null}')
_FLAGS: tuple[Any, ...] = (False, True, "true", "1", "Y", "N", "yes", 5, [], None)
_QUEUE_IDS: tuple[Any, ...] = ({"0": 0}, {"0": 0, "1": 1}, {}, None, [], {"0": None}, {"": 0}, {"a": 0})
_BYTES_BEHIND = (1, 1 << 16, 1 << 18, 1 << 21)
_NULLS: tuple[Any, ...] = (None, "")


def any_name(rng: Random) -> str:
    """A name, which is sometimes too long."""
    return rng.choice(LONG_NAMES if rng.random() < 0.02 else NAMES)


def registration(rng: Random, own: str, version: int) -> tuple[bytes, dict[str, str]]:
    """The body of a broker of this version, and the ext fields that it needs."""
    wrapper = _wrapper(rng, own)
    if rng.random() < 0.4:
        return _packed(rng, wrapper, version), {"compressed": "true"} if rng.random() < 0.85 else {}
    if rng.random() < 0.3:
        wrapper[rng.choice(list(wrapper))] = rng.choice(_NULLS)
    is_bare = (version < V3_0_11) is (rng.random() < 0.9)
    whole = {"filterServerList": rng.choice(FILTERS), "topicConfigSerializeWrapper": wrapper}
    if rng.random() < 0.1:
        whole[rng.choice(list(whole))] = rng.choice(_NULLS)
    body = json.dumps(wrapper if is_bare else whole, separators=(",", ":")).encode()
    return (body.replace(b'"0":0', b"0:0") if rng.random() < 0.5 else body), {}


def _wrapper(rng: Random, own: str) -> dict[str, Any]:
    configs = [_config(rng, own) for _ in range(rng.randrange(6))]
    names = rng.sample([config["topicName"] for config in configs], min(len(configs), rng.choice((0, 0, 1))))
    return {
        "dataVersion": {"counter": rng.randrange(5), "stateVersion": rng.randrange(3), "timestamp": 1},
        "topicConfigTable": {config["topicName"]: config for config in configs},
        "topicQueueMappingInfoMap": {name: _mapping(rng, name) for name in names},
    }


def _config(rng: Random, own: str) -> dict[str, Any]:
    name = own + rng.choice((any_name(rng), any_name(rng), f"t{rng.randrange(300)}"))
    return topic_config(name, perm=rng.choice((0, 2, 4, 6, 7, -1)), readQueueNums=rng.randrange(20))


def _mapping(rng: Random, topic: str) -> dict[str, Any]:
    mapping = {"topic": topic, "bname": "a", "totalQueues": 4, "epoch": 1, "currIdMap": {"0": 0}}
    if rng.random() < 0.4:
        mapping["dirty"], mapping["currIdMap"] = rng.choice(_FLAGS), rng.choice(_QUEUE_IDS)
    if rng.random() < 0.02:
        mapping[rng.choice(("topic", "bname", "scope"))] = rng.choice(LONG_NAMES)
    return mapping


def _packed(rng: Random, wrapper: dict[str, Any], version: int) -> bytes:
    """The compressed form; brokers from 5.0.0 on add their mappings. Sometimes its end is missing."""
    data_version, filters = (
        rng.choice(odd) if rng.random() < 0.2 else json.dumps(plain).encode()
        for odd, plain in ((_PACKED_VERSIONS, wrapper["dataVersion"]), (_PACKED_FILTERS, rng.choice(FILTERS)))
    )
    lines = [_line(config) for config in wrapper["topicConfigTable"].values()]
    mappings = [json.dumps(mapping).encode() for mapping in wrapper["topicQueueMappingInfoMap"].values()]
    has_mappings = (version >= V5_0_0) is (rng.random() < 0.9)
    parts = [
        _sized(data_version),
        _counted(lines),
        _sized(filters),
        _counted(mappings) if has_mappings else b"",
    ]
    if rng.random() < 0.15:
        # Short when compressed, and read to the last part only.
        parts.append(bytes(rng.choice(_BYTES_BEHIND)))
    packed = zlib.compress(b"".join(parts), rng.choice((1, 9)))
    return packed[: -rng.randrange(1, 8)] if rng.random() < 0.1 else packed


def _line(config: dict[str, Any]) -> bytes:
    names = ("topicName", "readQueueNums", "writeQueueNums", "perm", "topicFilterType")
    return " ".join(str(config[name]) for name in names).encode()


def _sized(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def _counted(parts: list[bytes]) -> bytes:
    return struct.pack(">i", len(parts)) + b"".join(map(_sized, parts))
