"""Valid frames and their mutations. A seed, one number, reproduces all random choices."""

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from namesrv_core.protocol import codec
from namesrv_core.protocol.codes import HeaderType, RequestCode
from namesrv_core.protocol.command import RemotingCommand
from tests.fuzz.registrations import NAMES, any_name, registration
from tests.support.wire import broker_ext

CORPUS = Path(__file__).parent / "corpus"
CODES = (
    *range(100, 107), 205, 206, 216, 217, 219, 224, 304, 311, 312, 313, 318, 319, 322, 327, 901, 904,
    0, -1, 999, 32767, 2**31 - 1, -(2**31),
)  # fmt: skip
VERSIONS = (0, 36, 37, 300, 401, 412, 413, 476, 513, 513, 513, -1, 2**31 - 1)
FIELDS = (
    "namespace", "key", "value", "topic", "cluster", "clusterName", "brokerName", "brokerAddr", "brokerId",
    "haServerAddr", "heartbeatTimeoutMillis", "enableActingMaster", "zoneName", "compressed", "bodyCrc32",
    "acceptStandardJsonOnly", "__ZONE_MODE", "__ZONE_NAME", "withHeartbeats", "AccessKey", "Signature", "x",
)  # fmt: skip
OWN = frozenset({"namespace", "topic", "cluster", "clusterName", "brokerName", "brokerAddr"})
JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**31, 2**63, -(2**63) - 1, 1e308, "", "a", "5", [], {}, [1], [[1]],
    {"a": None}, [None], {"1": 1}, "\ud800",
)  # fmt: skip


def _properties(rng: Random, own: str) -> bytes:
    # What is set is the whole server's, and not for those who keep to themselves.
    keys = ("x", "y", "z", "") if own else ("enableTopicList", "x", "maxBrokers", "")
    lines = [f"{rng.choice(keys)}={rng.choice(NAMES)}" for _ in range(3)]
    return "\n".join(lines).encode("utf-8", "replace")


def _route(rng: Random, own: str) -> bytes:
    queues = [
        {"brokerName": own + rng.choice("abc"), "perm": 6, "readQueueNums": rng.choice(JUNK)}
        for _ in range(3)
    ]
    return json.dumps({"queueDatas": queues}).encode()


def _any_json(rng: Random, own: str) -> bytes:
    return json.dumps(rng.choice(JUNK)).encode("utf-8", "replace")


BODIES: dict[int, Callable[[Random, str], bytes]] = {217: _route, 318: _properties, 322: _any_json}


def command(rng: Random, own: str = "") -> RemotingCommand:
    """A plausible request, whose names begin with `own`."""
    code = rng.choice(CODES[:-6] if rng.random() < 0.9 else CODES)
    ext: dict[str, str | None] = dict(
        broker_ext(rng.choice("abc"), rng.randrange(3), f"10.0.0.{rng.randrange(4)}:1", rng.choice("cd"))
    )
    for _ in range(rng.randrange(4)):
        ext[rng.choice(FIELDS)] = any_name(rng)
    if own:
        ext |= {key: own + value for key, value in ext.items() if key in OWN and value is not None}
    version = rng.choice(VERSIONS)
    body = b""
    if rng.random() < 0.8 and code == RequestCode.REGISTER_BROKER:
        body, registration_ext = registration(rng, own, version)
        ext |= registration_ext
    elif rng.random() < 0.8:
        body = BODIES.get(code, _any_json)(rng, own)
    form = rng.choice((HeaderType.JSON, HeaderType.JSON, HeaderType.ROCKETMQ))
    if form == HeaderType.ROCKETMQ:
        # As many as the binary form has room for.
        code, version = (max(min(number, 32767), -32768) for number in (code, version))
    return RemotingCommand(
        code, ext, body, opaque=rng.randrange(2**31), flag=rng.choice((0, 0, 0, 0, 2, 1, 4, -1)),
        version=version, header_type=form,
    )  # fmt: skip


def flip(rng: Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def cut(rng: Random, data: bytes) -> bytes:
    begin = rng.randrange(len(data))
    return data[:begin] + data[begin + rng.randrange(1, 40) :]


def _repeat(rng: Random, data: bytes) -> bytes:
    begin = rng.randrange(len(data))
    return data[:begin] + data[begin : begin + rng.randrange(1, 60)] * rng.randrange(1, 8) + data[begin:]


def lengths(rng: Random, data: bytes) -> bytes:
    value = rng.choice((-1, 0, 3, 4, 5, 8, 100, len(data), 2**24 - 5, 2**24, 2**31 - 1, rng.randrange(400)))
    at = rng.choice((0, 4, 8, 12, 17, 21)) if len(data) > 25 else 0
    return data[:at] + struct.pack(">i", value) + data[at + 4 :]


_NO_UTF8 = (
    b"\xff", b"\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xc0\x80", b"\xed\xa0\x80", b"\xed\xa0",
    b"\xed\xb0\xb0", b"\xf4\x90\x80\x80", b"\xe4",
)  # fmt: skip


def _no_utf8(rng: Random, data: bytes) -> bytes:
    """Bytes that are no UTF-8, likely within a text."""
    quotes = [at for at in range(len(data)) if data[at] == ord('"')]
    at = rng.choice(quotes) + 1 if quotes and rng.random() < 0.8 else rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(_NO_UTF8) + data[at:]


_TOKENS = (
    b'""', b"null", b"-0", b"1e999", b"1e-2048", b"0e2048", b"1.50", b"[3e9]",
    b"]", b"{", b"}", b'"\\u0000"', b'"\\ud800"', b",", b":", b"[[[[[[",
    b"[", b"NaN", b"1:", b'{"a":', b'"extFields"', b'"opaque":7,', b'"code":103', b"\xff\xfe", b"9" * 40,
)  # fmt: skip


def _tokens(rng: Random, data: bytes) -> bytes:
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(data))
        data = data[:at] + rng.choice(_TOKENS) + data[at + rng.randrange(6) :]
    return data


def _deep(rng: Random, data: bytes) -> bytes:
    levels = rng.choice((50, 150, 1200, 5000))
    at = rng.randrange(len(data))
    return data[:at] + rng.choice((b"[", b'{"a":')) * levels + data[at:]


def _values(rng: Random, data: bytes) -> bytes:
    """A member of a JSON body is another value, or gone: still JSON, so more of it is looked at."""
    try:
        value = json.loads(data)
    except ValueError:
        return _tokens(rng, data)
    within = value
    while isinstance(within, dict) and within:
        key = rng.choice(list(within))
        if isinstance(within[key], dict) and within[key] and rng.random() < 0.8:
            within = within[key]
        elif rng.random() < 0.2:
            del within[key]
        else:
            within[key] = rng.choice(JUNK)
            break
    return json.dumps(value).encode("utf-8", "replace")


MUTATIONS = (flip, flip, cut, _repeat, _tokens, _tokens, _deep, _no_utf8)


def reframed(data: bytes) -> bytes:
    """What is left of a frame with the right length words, so that more of it is read than the first word."""
    payload = data[4:]
    kind = payload[0] if payload else 0
    size = min(int.from_bytes(payload[1:4], "big"), max(len(payload) - 4, 0))
    header = bytes([kind]) + size.to_bytes(3, "big")
    return struct.pack(">i", max(len(payload), 4)) + header + payload[4:]


def _inflated(body: bytes) -> bytes:
    """What a compressed body contains; nothing for another one."""
    try:
        return zlib.decompress(body)
    except zlib.error:
        return b""


def in_parts(rng: Random, asked: RemotingCommand) -> bytes:
    """Header or body mutated alone, in a frame whose lengths are right."""
    data = codec.encode_command(asked)
    size = int.from_bytes(data[5:8], "big")
    header, body = data[8 : 8 + size], data[8 + size :]
    mutate = rng.choice(MUTATIONS)
    if body and rng.random() < 0.8:
        mutate = rng.choice((mutate, _values))
        inflated = _inflated(body) if rng.random() < 0.7 else b""
        body = zlib.compress(mutate(rng, inflated), 1) if inflated else mutate(rng, body)
    else:
        header = mutate(rng, header)
    size = len(header)
    return struct.pack(">ii", 4 + size + len(body), data[4] << 24 | size & 0xFFFFFF) + header + body


def kept() -> list[bytes]:
    """The corpus: what found something once, or led somewhere new."""
    return [path.read_bytes() for path in sorted(CORPUS.glob("*.bin"))]


def stream(rng: Random, corpus: list[bytes]) -> tuple[bytes, int]:
    """What one connection sends, and of how many frames it was made."""
    frames = []
    for _ in range(rng.randrange(1, 9)):
        kind = rng.random()
        if kind < 0.4:
            frames.append(codec.encode_command(command(rng)))
        elif kind < 0.85:
            frames.append(in_parts(rng, command(rng)))
        else:
            # Likely the last that is understood.
            if kind < 0.92 and corpus:
                frames.append(reframed(rng.choice(MUTATIONS)(rng, rng.choice(corpus))))
            else:
                frames.append(rng.choice((lengths, flip, cut))(rng, codec.encode_command(command(rng))))
            break
    return b"".join(frames), len(frames)


def pieces(rng: Random, data: bytes) -> list[bytes]:
    """The same in pieces, as a network delivers it."""
    if rng.random() < 0.7:
        return [data]
    cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(1, 6)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
