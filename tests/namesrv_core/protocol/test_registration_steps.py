"""Decoding in steps: the same as in one go, whatever the body and wherever it is cut."""

import json
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import compressed_registration, fastjson, registration_codec, registration_steps
from namesrv_core.protocol.codes import V3_0_11, V5_5_0
from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.protocol.size_limits import NO_LIMITS, DecodeLimits
from tests.support.wire import registration_body, topic_config

NOW = 77
LIMITS = NO_LIMITS._replace(registration_topics=12, registration_mappings=3, registration_bytes=3000)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration_steps, "_PIECE_BYTES", 150)
    monkeypatch.setattr(compressed_registration, "_INFLATED_BYTES_PER_STEP", 16)
    monkeypatch.setattr(compressed_registration, "_TOPICS_PER_STEP", 2)


def stepped(body: bytes, version: int, compressed: bool, within: DecodeLimits) -> tuple[object, int]:
    """What comes of it in the end, and the number of steps before."""
    steps = registration_steps.decode_registration_steps(
        body, version=version, compressed=compressed, now=NOW, within=within
    )
    pauses = 0
    try:
        while True:
            next(steps)
            pauses += 1
    except StopIteration as ended:
        return ended.value, pauses
    except (ValueError, RocketMQError) as error:
        return (type(error), str(error)), pauses


def at_once(body: bytes, version: int, compressed: bool, within: DecodeLimits) -> object:
    try:
        return registration_codec.decode_registration(
            body, version=version, compressed=compressed, now=NOW, within=within
        )
    except (ValueError, RocketMQError) as error:
        return type(error), str(error)


def same(
    body: bytes, version: int = V5_5_0, compressed: bool = False, within: DecodeLimits = NO_LIMITS
) -> int:
    registration, pauses = stepped(body, version, compressed, within)
    assert registration == at_once(body, version, compressed, within)
    return pauses


@pytest.mark.parametrize("is_bare", [True, False])
@pytest.mark.parametrize("limit", [40, 39])
def test_queue_ids_are_read_in_steps(monkeypatch: pytest.MonkeyPatch, is_bare: bool, limit: int) -> None:
    monkeypatch.setattr(fastjson, "_MATCHES_PER_STEP", 8)
    monkeypatch.setattr(registration_codec, "_MAPPINGS_PER_STEP", 2)
    ids: dict[Any, int] = {(number if is_bare else str(number)): number for number in range(10)}
    mappings = {name: {"topic": name, "currIdMap": ids} for name in NAMES[:4]}
    body = registration_body([topic_config("a")], DataVersion(3, 1, 9), mappings)
    assert same(body, within=DecodeLimits(registration_queue_ids=limit)) > (4 if is_bare else 1)


def body_of(*names: str) -> bytes:
    return registration_body([topic_config(name) for name in names], DataVersion(3, 1, 9))


NAMES = [f"topic-{number}" for number in range(40)]


def test_many_topics_take_many_steps() -> None:
    assert same(body_of(*NAMES)) > 15


def test_the_compressed_form_takes_many_steps() -> None:
    configs = {name: topic_config(name) for name in NAMES}
    assert same(registration_codec.encode_compressed_registration(DataVersion(3, 1, 9), configs)) > 15


@pytest.mark.parametrize(
    "name",
    ['a},"b":{', 'a"},"b":{', "\\", "\u2028", "\u00e4", "topicConfigTable", '"topicConfigTable":{', "}"],
)
def test_names_that_look_like_a_place_to_cut(name: str) -> None:
    same(body_of(*NAMES[:7], name, *NAMES[7:]))


@pytest.mark.parametrize(
    "change",
    [
        (b'"topicConfigTable"', b'"another"'),
        (b'"topicConfigTable"', b'"topicConfigTable":{"x":{"topicName":"x"}},"topicConfigTable"'),
        (b'"topicConfigSerializeWrapper"', b'"more":{"topicConfigTable":{}},"topicConfigSerializeWrapper"'),
        (b'"topic-9"', b'"topic-\xff"'),
        (b'"topic-9"', b'"topic-\xc3\xa4"'),
        (b'"topic-9"', b"topic-9"),
        (b'"perm":6', b'"perm":"6"'),
        (b'"perm":6', b'"perm":6666666666'),
        (b'"counter":3', b'"counter":"3"'),
        (b"}", b"} "),
        (b'{"', b'{ "'),
        (b"}}", b"}"),
    ],
)
def test_bodies_that_are_a_little_otherwise(change: tuple[bytes, bytes]) -> None:
    body = body_of(*NAMES)
    for count in (1, -1):
        changed = body.replace(*change, count)
        assert changed != body
        same(changed)


def test_a_mark_that_somebody_could_foresee_would_decide_which_table_counts() -> None:
    body = body_of(*NAMES).replace(b"}}}", b'}},"topicConfigTable":{"mark":{"topicName":"mark"}}}', 1)
    same(body)
    assert registration_steps._TABLE_MARK not in ("", "mark")


@pytest.mark.parametrize("version", [V3_0_11 - 1, V3_0_11, V5_5_0])
@pytest.mark.parametrize("body", [b"", b"{}", b"x", b"x\x9c", zlib.compress(b"{}"), b"[" * 2000, b'{"a":'])
def test_bodies_that_are_none(body: bytes, version: int) -> None:
    for compressed in (False, True):
        same(body, version, compressed)


@pytest.mark.parametrize("version", [V3_0_11 - 1, V3_0_11, V5_5_0])
@pytest.mark.parametrize("member", ["topicConfigTable", "topicQueueMappingInfoMap", "dataVersion", "all"])
def test_tables_that_are_null_and_bare_wrappers(member: str, version: int) -> None:
    mappings = {NAMES[0]: {"topic": NAMES[0], "bname": "b"}}
    configs = [topic_config(name) for name in NAMES]
    wrapper = json.loads(registration_body(configs, mappings=mappings))["topicConfigSerializeWrapper"]
    null_wrapper = None if member == "all" else {**wrapper, member: None}
    for value in (null_wrapper, {"topicConfigSerializeWrapper": null_wrapper, "filterServerList": ["f"]}):
        same(json.dumps(value, separators=(",", ":")).encode(), version)


@pytest.mark.parametrize("filters", [b"", b"null", b"{}", b"[]", b'["f"]', b"x", b'["\xff"]'])
def test_filter_lists_of_compressed_bodies(filters: bytes) -> None:
    body = registration_codec.encode_compressed_registration(DataVersion(3, 1, 9), {})
    parts = zlib.decompress(body).removesuffix(b"\x00\x00\x00\x02[]" + bytes(4))
    same(zlib.compress(parts + len(filters).to_bytes(4, "big") + filters + bytes(4)), compressed=True)


def test_limits_are_those_of_decoding_at_once() -> None:
    for names in (NAMES[:12], NAMES[:13], NAMES):
        same(body_of(*names), within=LIMITS)
        configs = {name: topic_config(name) for name in names}
        same(registration_codec.encode_compressed_registration(DataVersion(), configs), within=LIMITS)
    large = {name: topic_config(name * 50) for name in NAMES[:9]}
    registration, _ = stepped(
        registration_codec.encode_compressed_registration(DataVersion(), large), V5_5_0, False, LIMITS
    )
    assert "inflated" in str(registration)
    mappings = {name: {"topic": name, "bname": "b"} for name in NAMES[:4]}
    same(registration_body([topic_config(name) for name in NAMES], DataVersion(), mappings), within=LIMITS)


@pytest.mark.parametrize("position", [0, 7, 29])
def test_a_name_that_is_too_long_is_found_wherever_it_is(position: int) -> None:
    names = [f"t{number}" for number in range(30)]
    names[position] = "\u00e9" * 128
    within = NO_LIMITS._replace(name_bytes=255)
    configs = {name: topic_config(name) for name in names}
    for body in (body_of(*names), registration_codec.encode_compressed_registration(DataVersion(), configs)):
        same(body, within=within)
        registration, _ = stepped(body, V5_5_0, False, within)
        assert "a topic name of 256 bytes" in str(registration)


PIECES = st.sampled_from(
    [
        "},", '"a":{', "{", "}", '"', ",", "\\", '"topicName":"x"', '"topicConfigTable":{', "\u00e4",
        "\ud800", "1",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=5).map("".join)
CONFIGS = st.fixed_dictionaries(
    {"topicName": TEXTS},
    optional={"perm": st.integers(0, 7) | st.none(), "attributes": st.dictionaries(TEXTS, TEXTS, max_size=2)},
)


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(TEXTS, CONFIGS, max_size=25),
    st.dictionaries(TEXTS, st.fixed_dictionaries({"topic": TEXTS, "bname": TEXTS}), max_size=4),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 5000), PIECES), max_size=2),
)
def test_any_body_gives_the_same(
    table: dict[str, Any], mappings: dict[str, Any], is_ascii: bool, slips: list[tuple[int, str]]
) -> None:
    value = {
        "filterServerList": [],
        "topicConfigSerializeWrapper": {
            "dataVersion": {"counter": 1, "stateVersion": 0, "timestamp": 5},
            "topicConfigTable": table,
            "topicQueueMappingInfoMap": mappings,
        },
    }
    text = json.dumps(value, ensure_ascii=is_ascii, separators=(",", ":"))
    for place, slip in slips:
        place %= len(text)
        text = text[:place] + slip + text[place + 1 :]
    same(text.encode("utf-8", "surrogatepass"))
