"""Registrations as brokers of many versions send them, and as none does: fields and bodies of code 103."""

import json
import struct
import zlib
from dataclasses import dataclass, field
from random import Random
from typing import Any

VERSIONS = (513, 513, 513, 513, 479, 477, 475, 413, 401, 399, 393, 373, 317, 121, 36, 0, 612, 700, 32767)
# Java cannot read a registration of this many bits as a body: code 1, nothing changed.
BROKEN = (
    b"[]",
    b"12",
    b" ",
    b"{",
    b"\xff\xfe",
    b'{"topicConfigSerializeWrapper":[]}',
    b"{}x",
    b"\xef\xbb\xbf{}",
)
# Without a topic table Java throws half-way when the broker id is new or its address has changed.
NO_TABLE = (
    b'{"topicConfigSerializeWrapper":null}',
    b'{"topicConfigSerializeWrapper":""}',
    b'{"topicConfigSerializeWrapper":{"dataVersion":null,"topicConfigTable":null}}',
    b'{"topicConfigSerializeWrapper":{"topicConfigTable":""}}',
)
ODD = (
    b"null",
    b'""',
    b"{}",
    b'{"topicConfigSerializeWrapper":{}}',
    b'{"topicConfigSerializeWrapper":{"dataVersion":{}}}',
    b'{"topicConfigSerializeWrapper":{"dataVersion":"x"}}',
    b'{"topicConfigSerializeWrapper":{"topicConfigTable":[]}}',
    b'{"topicConfigSerializeWrapper":{"topicConfigTable":{"t":null}}}',
    b'{"topicConfigSerializeWrapper":{"dataVersion":{"counter":null,"timestamp":5}}}',
    b'{"topicConfigSerializeWrapper":{"dataVersion":{"counter":"5","stateVersion":1.5,"timestamp":""}}}',
    b'{"TopicConfigSerializeWrapper":{"dataVersion":{"counter":9}},"filterServerList":"a,b"}',
    b'{"topicConfigSerializeWrapper":{"dataVersion":{"counter":4e9,"stateVersion":0.0,"timestamp":5}}}',
    b'{"topicConfigSerializeWrapper":{"dataVersion":{"counter":1e20,"timestamp":18446744073709551617.5}}}',
    b'{"filterServerList":[1,true],"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"timestamp":2}}}',
    b'{"filterServerList":{},"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"timestamp":3}}}',
    b'{"filterServerList":"","topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"timestamp":4}}}',
    b'{"@type":"x","topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"timestamp":4}}}',
)
MALFORMED = (
    b"{'topicConfigSerializeWrapper':{'dataVersion':{'counter':1,'timestamp':5}}}",
    b'{"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"timestamp":5},}}',
    b'{/* c */"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"timestamp":5}}}',
)
ODD_NUMBERS: tuple[Any, ...] = ("4", 5.7, True, [1], {}, "", None, "rw", 2147483648, -1)
PERMS = (6, 6, 6, 6, 4, 2, 7, 1, 0, 14)


@dataclass
class Broker:
    """One broker process of the sequence: what it would send next."""

    cluster: str
    name: str
    id: int
    address: str
    connection: int
    counter: int = 1
    state_version: int = 0
    timestamp: int = 1_700_000_000_000
    marks: set[str] = field(default_factory=set)

    def data_version(self) -> dict[str, int]:
        return {"counter": self.counter, "stateVersion": self.state_version, "timestamp": self.timestamp}

    def ext(self) -> dict[str, Any]:
        return {
            "brokerName": self.name,
            "brokerAddr": self.address,
            "clusterName": self.cluster,
            "haServerAddr": self.address + "9",
            "brokerId": str(self.id),
        }


def unit_flags(number: int) -> int:
    """The first topics have one of the four combinations each, the others none."""
    return number if number < 4 else 0


def topic_config(rng: Random, topic: str, number: int, odd: bool) -> dict[str, Any]:
    """A topic's settings; its unit flags follow from the topic, so that all its brokers agree on them."""
    config: dict[str, Any] = {
        "topicName": topic,
        "perm": rng.choice(PERMS),
        "readQueueNums": rng.choice((1, 4, 8, 16)),
        "writeQueueNums": rng.choice((1, 4, 8, 16)),
        "topicSysFlag": unit_flags(number),
        "topicFilterType": "SINGLE_TAG",
        "order": False,
        "attributes": {"message.type": "NORMAL"},
    }
    if odd:
        name = rng.choice(
            ("perm", "readQueueNums", "writeQueueNums", "order", "topicFilterType", "attributes")
        )
        if rng.random() < 0.3:
            del config[name]
        elif name in ("order", "topicFilterType", "attributes"):
            config[name] = {"order": "true", "topicFilterType": None, "attributes": None}[name]
        else:
            config[name] = rng.choice(ODD_NUMBERS)
    return config


def mapping(rng: Random, topic: str, broker: str) -> dict[str, Any]:
    """A static topic's mapping; its integer keys are written without quotes by `body_text`."""
    epoch = rng.choice((1_700_000_000_000, 9007199254740991, 9007199254740992, -9007199254740993))
    total = rng.randrange(1, 4)
    ids = {f"#{number}": number for number in range(total)}
    names = {"bname": broker, "topic": topic, "scope": "__global__"}
    return names | {"currIdMap": ids, "dirty": False, "epoch": epoch, "totalQueues": total}


def body_text(value: Any) -> bytes:
    """Compact JSON in which a member name like "#0" stands for an integer key without quotes."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for number in range(4):
        text = text.replace(f'"#{number}":', f"{number}:")
    return text.encode()


def compress(wrapper: dict[str, Any], filters: Any, tail: bool) -> bytes:
    """The deflated form of a registration; `tail` is what brokers from 5.0.0 on add."""
    parts = [_sized(body_text(wrapper["dataVersion"]))]
    table = wrapper["topicConfigTable"]
    parts.append(struct.pack(">i", len(table)))
    parts += [_sized(_line(config)) for config in table.values()]
    parts.append(_sized(body_text(filters)))
    if tail:
        infos = wrapper.get("topicQueueMappingInfoMap", {})
        parts.append(struct.pack(">i", len(infos)))
        parts += [_sized(body_text(info)) for info in infos.values()]
    return zlib.compress(b"".join(parts))


def _sized(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def _line(config: dict[str, Any]) -> bytes:
    names = ("topicName", "readQueueNums", "writeQueueNums", "perm", "topicFilterType")
    words = [str(config.get(name, "SINGLE_TAG")) for name in names]
    if config.get("attributes"):
        words.append(json.dumps(config["attributes"], separators=(",", ":")))
    return " ".join(words).encode()
