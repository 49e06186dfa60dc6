"""Request headers as no codec writes them, and bytes that are no frames at all, as raw operations."""

import struct
from dataclasses import replace
from random import Random

from tests.interop import wire
from tests.interop.differential.operations import Kind, Op

# Valid JSON with odd values: the two servers must agree on each.
ODD_VALUES = {
    "plain": "{{}}",
    "blanks": '{{ "code" : 101 , {rest} }}',
    "code as text": '{{"code":"101",{rest}}}',
    "code as float": '{{"code":101.0,{rest}}}',
    "code with fraction": '{{"code":101.7,{rest}}}',
    "code with exponent": '{{"code":101e0,{rest}}}',
    "code in a list": '{{"code":[101],{rest}}}',
    "code null": '{{"code":null,{rest}}}',
    "code empty text": '{{"code":"",{rest}}}',
    "code object": '{{"code":{{}},{rest}}}',
    "code missing": "{{{rest}}}",
    "code true": '{{"code":true,{rest}}}',
    "code word": '{{"code":"abc",{rest}}}',
    "code too big": '{{"code":99999999999,{rest}}}',
    "code twice": '{{"code":106,"code":101,{rest}}}',
    "code in capitals": '{{"CODE":101,{rest}}}',
    "code escaped": '{{"\\u0063ode":101,{rest}}}',
    "unknown language": '{{"code":101,"language":"KLINGON",{rest}}}',
    "language null": '{{"code":101,"language":null,{rest}}}',
    "language 5": '{{"code":101,"language":5,{rest}}}',
    "language 99": '{{"code":101,"language":99,{rest}}}',
    "language object": '{{"code":101,"language":{{}},{rest}}}',
    "version as text": '{{"code":101,"version":"479",{rest}}}',
    "version null": '{{"code":101,"version":null,{rest}}}',
    "version with fraction": '{{"code":101,"version":1.5,{rest}}}',
    "version word": '{{"code":101,"version":"x",{rest}}}',
    "flag as text": '{{"code":101,"flag":"0",{rest}}}',
    "flag null": '{{"code":101,"flag":null,{rest}}}',
    "flag 4": '{{"code":101,"flag":4,{rest}}}',
    "flag -4": '{{"code":101,"flag":-4,{rest}}}',
    "flag response": '{{"code":101,"flag":1,{rest}}}',
    "flag 2": '{{"code":101,"flag":2,{rest}}}',
    "flag 3": '{{"code":101,"flag":3,{rest}}}',
    "opaque as text": '{{"code":101,"opaque":"7",{ext}}}',
    "opaque negative": '{{"code":101,"opaque":-7,{ext}}}',
    "opaque too big": '{{"code":101,"opaque":2147483648,{ext}}}',
    "no opaque": '{{"code":101,{ext}}}',
    "opaque null": '{{"code":101,"opaque":null,{ext}}}',
    "ext null": '{{"code":101,"opaque":8,"extFields":null}}',
    "ext empty text": '{{"code":101,"opaque":8,"extFields":""}}',
    "ext list": '{{"code":101,"opaque":8,"extFields":[]}}',
    "ext text": '{{"code":101,"opaque":8,"extFields":"x"}}',
    "ext number": '{{"code":101,"opaque":8,"extFields":5}}',
    "ext twice": '{{"code":101,"opaque":8,"extFields":{{"key":"a","key":"{name}"}}}}',
    "remark and others": '{{"code":101,"remark":5,"suspended":true,"onewayRPC":true,"unknown":[1],{rest}}}',
    "remark object": '{{"code":101,"remark":{{"a":1}},"serializeTypeCurrentRPC":7,{rest}}}',
    "type member": '{{"code":101,"@type":"x",{rest}}}',
    "body member": '{{"code":101,"body":"eA==",{rest}}}',
    "null": "null",
    "list": "[]",
    "number": "123",
    "text": '"abc"',
    "empty text": '""',
    "true": "true",
    "nothing": "",
    "blank": "  ",
    "open": '{{"code":101,',
}
# As an ext value of a request that echoes it in its remark.
ODD_EXT = (
    "5",
    "-1.50",
    "true",
    "null",
    '{"a":1,"b":[2]}',
    '[1,"2"]',
    "1e3",
    "1E-2",
    "-0",
    "1e400",
    "9" * 30,
    '""',
)
ODD_TEXTS = (
    '"\\u0041\\u00e9"',
    '"\\ud83d\\ude00"',
    '"\\ud800"',
    '"\u2028\x7f"',
    '"a\\/b"',
    '"\\b\\f\\n\\r\\t"',
)

# Not JSON, and read by fastjson 2 all the same.
MALFORMED = {
    "single quotes": "{{'code':101,{rest}}}",
    "trailing comma": '{{"code":101,{rest},}}',
    "double comma": '{{"code":101,,{rest}}}',
    "comment": '{{"code":101,/* c */{rest}}}',
    "line comment": '{{"code":101,// c\n{rest}}}',
    "leading NUL": '\0{{"code":101,{rest}}}',
    "trailing NUL": '{{"code":101,{rest}}}\0',
    "code +101": '{{"code":+101,{rest}}}',
    "code 0101": '{{"code":0101,{rest}}}',
    "hex escape": '{{"code":101,"opaque":8,"extFields":{{"namespace":"{name}","key":"\\x41"}}}}',
    "raw newline": '{{"code":101,"opaque":8,"extFields":{{"namespace":"{name}","key":"a\nb"}}}}',
    "raw NUL": '{{"code":101,"opaque":8,"extFields":{{"namespace":"{name}","key":"a\0b"}}}}',
}
# Not JSON, and refused by Java too.
REFUSED = {
    "unquoted names": "{{code:101,{rest}}}",
    "byte order mark": '\ufeff{{"code":101,{rest}}}',
    "text behind": '{{"code":101,{rest}}}x',
    "second object": '{{"code":101,{rest}}}{{}}',
    "code 0x65": '{{"code":0x65,{rest}}}',
    "version NaN": '{{"code":101,"version":NaN,{rest}}}',
    "undefined": '{{"code":101,"opaque":8,"extFields":{{"key":undefined}}}}',
    "TRUE": '{{"code":101,"opaque":8,"extFields":{{"key":TRUE}}}}',
    "odd escape": '{{"code":101,"opaque":8,"extFields":{{"key":"\\q"}}}}',
    "integer name": '{{"code":101,"opaque":8,"extFields":{{1:"a"}}}}',
}


# Invalid UTF-8 in the value of a field, on which both servers agree.
INVALID_UTF8 = (
    b"\xff", b"\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"a\xe9b", b"\xed\xa0\x80", b"\xed\xbf\xbfx",
    b"\xed\xa0", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xc3(", b"\xed\xa0xy",
)  # fmt: skip


def _filled(template: str, name: str) -> bytes:
    ext = f'"extFields":{{"namespace":"{name}","key":"K"}}'
    return template.format(rest=f'"opaque":8,{ext}', ext=ext, name=name).encode(errors="surrogatepass")


def odd_header(rng: Random, connection: int, name: str) -> Op:
    """A frame whose JSON header has something odd in it."""
    source, marks = rng.choice(
        ((ODD_VALUES, ()), (ODD_VALUES, ()), (MALFORMED, ("malformed JSON",)), (REFUSED, ()))
    )
    title = rng.choice(list(source))
    if title in ("no opaque", "opaque null", "plain"):
        marks = (*marks, "no opaque")
    return _raw(connection, wire.frame(_filled(source[title], name)), *marks, title)


def odd_ext(rng: Random, connection: int, name: str) -> Op:
    """An ext value of an odd type; the answer's remark shows what became of it."""
    value = rng.choice((*ODD_EXT, *ODD_TEXTS))
    header = f'{{"code":101,"opaque":8,"extFields":{{"namespace":"{name}","key":{value}}}}}'
    return _raw(connection, wire.frame(header.encode()), "odd ext")


def odd_utf8(rng: Random, connection: int, name: str) -> Op:
    """Bytes that are no UTF-8: in a value, or in a place where the two servers may treat them differently."""
    text = rng.choice(INVALID_UTF8)
    value, member, marks = b"K" + text, b"m", ("invalid UTF-8",)
    if rng.random() < 0.3:
        marks = ("odd UTF-8",)
        value, member = rng.choice(((b"\\n" + text, b"m"), (b"K", b"m" + text), (b"K", b'n":"' + text)))
    fields = f'"extFields":{{"namespace":"{name}","key":"'.encode() + value + b'"}'
    return _raw(connection, wire.frame(b'{"code":101,"%s":"","opaque":8,%s}' % (member, fields)), *marks)


def good_and_bad(rng: Random, connection: int, name: str) -> Op:
    """A frame, and one with an impossible length in the same write."""
    good = wire.frame(wire.json_header(101, {"namespace": name, "key": "K"}, 8))
    bad = struct.pack(">ii", rng.choice((-1, 3, 16_777_213)), 0) + bytes(8)
    return _raw(connection, good + bad, "good and bad")


def odd_binary(rng: Random, connection: int, name: str) -> Op:
    """A binary header with lengths, bytes or numbers that no codec of ours would write."""
    ext = {"namespace": name, "key": "K"}
    good = wire.binary_header(101, ext, 8)
    fields = good[21:]
    variant = rng.randrange(13)
    start = good[:13]
    header = (
        good[:17] + struct.pack(">i", 0),
        good[:17] + struct.pack(">i", -1),
        good[:17] + struct.pack(">i", len(fields) - 1) + fields,
        good[:17] + struct.pack(">i", len(fields) + 1) + fields,
        good + b"more",
        start + struct.pack(">i", -1) + good[17:],
        start + struct.pack(">i", 1 << 20) + good[17:],
        good[:17] + struct.pack(">ih", 2, -1),
        good[:17] + struct.pack(">ihi", 7, 1, -1)[:6] + b"a" + struct.pack(">i", -1),
        good.replace(b"K", b"\xff"),
        good[:2] + b"\x63" + good[3:],
        wire.binary_header(rng.choice((-1, 101)), ext, 8, version=-1),
        good[: rng.randrange(21)],
    )[variant]
    return replace(_raw(connection, wire.frame(header, encoding=wire.BINARY)), encoding=wire.BINARY)


def garbage(rng: Random, connection: int) -> Op:
    """Frames with impossible lengths. 0x16 as the first byte would be TLS, "PROXY" the proxy protocol."""
    choices = (
        struct.pack(">ii", -1, 0) + bytes(8),
        struct.pack(">ii", 3, 0) + bytes(8),
        struct.pack(">ii", 16_777_213, 0) + bytes(8),
        struct.pack(">ii", 12, 13) + bytes(8),
        struct.pack(">ii", 12, 0) + bytes(8),
        struct.pack(">ii", 12, 2 << 24 | 8) + bytes(8),
        struct.pack(">iI", 12, 0xFF << 24 | 8) + bytes(8),
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        bytes([rng.choice((0x80, 0xFF, 0x7F))]) + rng.randbytes(rng.randrange(11, 60)),
    )
    return _raw(connection, rng.choice(choices), "garbage")


def cut_frame(rng: Random, connection: int) -> Op:
    """Only the beginning of a frame, and then the end of the stream."""
    good = wire.frame(wire.json_header(106, None, 8))
    return _raw(connection, good[: rng.randrange(len(good))], "cut")


def _raw(connection: int, data: bytes, *marks: str) -> Op:
    return Op(Kind.RAW, connection, raw=data, marks=frozenset(marks))
