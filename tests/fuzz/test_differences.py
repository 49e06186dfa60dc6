"""An intended difference matches only the exact frame and reactions."""

import json
from collections.abc import Mapping

import pytest

from namesrv_core.protocol import codec
from namesrv_core.protocol.codes import HeaderType
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.registration_codec import encode_compressed_registration
from tests.fuzz.conversations import Heard, Said
from tests.fuzz.differences import TABLE, Case, named, spoils
from tests.interop.wire import binary_header, frame
from tests.support.wire import VERSION, broker_ext, registration_body, topic_config

CLOSED, SILENT = Heard((), True), Heard()
NOT_JSON = b"{'code':106}"
DEEP = json.dumps({"code": 106, "x": json.loads("[" * 150 + "]" * 150)}).encode()
ROUTE = {"topic": "t"}


def said(code: int, opaque: int = 7, why: str = "") -> Heard:
    return Heard((Said(code, opaque),), why=why)


def asked(code: int, ext: Mapping[str, str | None], body: bytes = b"", form: int = HeaderType.JSON) -> bytes:
    return codec.encode_command(RemotingCommand(code, ext, body, opaque=7, header_type=HeaderType(form)))


def registration(**members: object) -> bytes:
    body = json.loads(registration_body(["a", "b"]))
    body["topicConfigSerializeWrapper"] |= members
    return asked(103, broker_ext(), json.dumps(body).encode())


COMPRESSED = encode_compressed_registration(VERSION, {"t": topic_config("t")})
GAP = binary_header(322, broker_ext(), 7) + b"gap"
CASES = {
    "a connection that begins with less than twelve bytes": Case(b"\0\0\0\4\6\0\0\1", CLOSED, SILENT, True),
    "opaque of its own": Case(frame(b'{"code":106}'), said(0, 0), said(0, 12), True),
    "JSON nested more than 100 levels deep": Case(frame(DEEP), CLOSED, said(0), True),
    "text that is no UTF-8": Case(frame(b'{"code":106,"x":"\xff"}'), CLOSED, said(0), True),
    "lenient JSON header": Case(frame(NOT_JSON), CLOSED, said(0), True),
    "lenient JSON body": Case(asked(217, {"topic": "t"}, b"{'a':1}"), said(1), said(0), True),
    "a compressed registration without its end": Case(
        asked(103, {**broker_ext(), "compressed": "true"}, COMPRESSED[:-3]), said(1), said(0), True
    ),
    "a member that is there twice": Case(frame(b'{"code":"x","code":106}'), said(0), CLOSED, True),
    "a member that no name server uses": Case(
        registration(topicQueueMappingDetailMap=[1]), said(0), said(1), True
    ),
    "compressed without saying so": Case(
        asked(103, broker_ext(), COMPRESSED), said(0), said(1), True
    ),
    "integer keys in a member that nobody knows": Case(
        asked(103, broker_ext(), b'{"x":{0:1}}'), said(0), said(1), True
    ),
    "bytes behind the ext fields of a binary header": Case(frame(GAP, b'""', 1), said(0), said(1), True),
    "an entry that is null or has no name": Case(
        asked(217, {"topic": "t"}, b'{"queueDatas":[null]}'),
        said(1, why="invalid TopicRouteData: expected an object, not NoneType"), said(0), True,
    ),
    "a name that is missing": Case(asked(217, {}), said(1), said(0), True),
    "a name that is too long": Case(
        asked(217, {"topic": "t" * 256}),
        said(1, why="a topic name of 256 bytes, over the limit maxNameBytes"), said(0), True,
    ),
}  # fmt: skip


# They say nothing of which of the two did what.
OF_BOTH = ("opaque of its own", "bytes behind the ext fields of a binary header")
EITHER_WAY = ("text that is no UTF-8", "lenient JSON body")


def test_each_difference_has_its_case() -> None:
    assert list(CASES) == [difference.name for difference in TABLE]


@pytest.mark.parametrize("name", CASES)
def test_a_difference_is_recognised(name: str) -> None:
    assert named(CASES[name]) == name


@pytest.mark.parametrize("name", [name for name in CASES if name not in OF_BOTH])
def test_the_same_frame_treated_the_other_way_round_is_none(name: str) -> None:
    case = CASES[name]
    assert named(case._replace(ours=case.java, java=case.ours)) in (None, *EITHER_WAY)


def test_a_plain_frame_has_no_right_to_be_treated_differently() -> None:
    plain = asked(106, {})
    for ours, java in ((said(0), CLOSED), (CLOSED, said(0)), (said(0), said(1)), (said(0), SILENT)):
        assert named(Case(plain, ours, java, True)) is None


def test_what_would_make_another_server_of_javas_is_not_sent() -> None:
    whole = broker_ext()
    assert not spoils(asked(103, whole))
    assert not spoils(asked(106, {}))
    assert not spoils(b"\0\0")
    for name in ("brokerName", "brokerAddr", "clusterName"):
        for code in (103, 104):
            assert spoils(asked(code, {key: value for key, value in whole.items() if key != name}))
