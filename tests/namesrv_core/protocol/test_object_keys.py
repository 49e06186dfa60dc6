"""Maps with object keys, as captured and as they could be."""

import random
import re

import pytest

from namesrv_core.protocol import fastjson, object_keys
from namesrv_core.protocol.object_keys import decode_object_keys, encode_object_key_map
from tests.support.bounded_process import run_bounded

STATS = (
    b'{"offsetTable":{{"brokerName":"broker-a","queueId":5,"topic":"TopicA"}:{"lastUpdateTimestamp":179,'
    b'"maxOffset":14,"minOffset":0},{"brokerName":"broker-a","queueId":3,"topic":"TopicA"}:'
    b'{"lastUpdateTimestamp":180,"maxOffset":47,"minOffset":0}},"topicPutTps":0.8}'
)


def test_a_map_keyed_by_queues_is_a_list_of_pairs() -> None:
    assert decode_object_keys(STATS) == {
        "offsetTable": [
            [
                {"brokerName": "broker-a", "queueId": 5, "topic": "TopicA"},
                {"lastUpdateTimestamp": 179, "maxOffset": 14, "minOffset": 0},
            ],
            [
                {"brokerName": "broker-a", "queueId": 3, "topic": "TopicA"},
                {"lastUpdateTimestamp": 180, "maxOffset": 47, "minOffset": 0},
            ],
        ],
        "topicPutTps": 0.8,
    }


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a":{}}', {"a": {}}),
        (b'{0:{"b":1}}', {"0": {"b": 1}}),
        (b'{{"a":1}:2}', [[{"a": 1}, 2]]),
        (b'{ { "a" : 1 } : 2 , "b" : 3 }', [[{"a": 1}, 2], ["b", 3]]),
        (b'{{"a":{{"b":1}:{0:2,true:3}}}:[4,{}]}', [[{"a": [[{"b": 1}, {"0": 2, "true": 3}]]}, [4, {}]]]),
        (b"{[1]:2,[3]:4}", [[[1], 2], [[3], 4]]),
        (b'{{"t":"}:{\\"{{"}:"},{:"}', [[{"t": '}:{"{{'}, "},{:"]]),
        ('{{"t":"ä"}:"日本"}'.encode(), [[{"t": "ä"}, "日本"]]),
        (b'{"c":{"id":{{"q":0}:14}},"m":{}}', {"c": {"id": [[{"q": 0}, 14]]}, "m": {}}),
    ],
)
def test_keys_of_all_kinds(body: bytes, value: object) -> None:
    assert decode_object_keys(body) == value


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"{{}", b"{{}:1", b'{{"a":1}:2]', b"[{{}:1}}", b'{{"a":1}2}', b'{{"a":1}:}', b"}{{}:1}",
        b'{{"a":1}:2}x', b'{{"a":1}:"open}', b'{{"a":1},{"b":2}}', b"{{" * 50_000,
    ],
)  # fmt: skip
def test_what_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the texts are the JSON parser's
        decode_object_keys(body)


def test_bad_utf_8_is_the_callers_choice() -> None:
    assert decode_object_keys(b'{{"a":"\xff"}:1}', errors="replace") == [[{"a": "\ufffd"}, 1]]
    with pytest.raises(UnicodeDecodeError):
        decode_object_keys(b'{{"a":"\xff"}:1}')


def test_twenty_thousand_queues_are_read_in_time() -> None:
    queue_entry = b'{"brokerName":"broker-a","queueId":%d,"topic":"T"}:{"maxOffset":1,"minOffset":0}'
    body = b'{"offsetTable":{' + b",".join(queue_entry % number for number in range(20_000)) + b"}}"
    assert len(decode_object_keys(body)["offsetTable"]) == 20_000


def test_a_table_is_written_as_it_is_read() -> None:
    pairs = [({"topic": "T", "queueId": 0}, {"maxOffset": 7}), ({"topic": "T", "queueId": 1}, {})]
    text = encode_object_key_map(pairs)
    assert text == b'{{"queueId":0,"topic":"T"}:{"maxOffset":7},{"queueId":1,"topic":"T"}:{}}'
    assert decode_object_keys(text) == [list(pair) for pair in pairs]
    assert encode_object_key_map([]) == b"{}"


_REFUSE_ANSWER = """
from namesrv_core.protocol.object_keys import decode_object_keys
start, repeated, end = (text.encode() for text in sys.argv[1:])
try:
    decode_object_keys(start + repeated * (1 << 19) + end)
except ValueError:
    print("refused")
"""


@pytest.mark.parametrize(
    ("start", "repeated", "end"),
    [
        ('{{"', '\\"', ""), ('{{"a":1}:2,"', '\\"', ""), ('{{"', "\\", ""), ('{{"a":1}:', " ", ""),
        ("{{}:", "{{", ""), ("{{}:", "1", ""), ("{{}:1,", " ", "1"), ("{{}:", "{1:", ""),
    ],
)  # fmt: skip
def test_a_hostile_answer_is_refused_in_linear_time(start: str, repeated: str, end: str) -> None:
    assert run_bounded(_REFUSE_ANSWER, start, repeated, end).strip() == "refused"


EARLIER_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.S)
PIECES = (
    "{", "}", "[", "]", ":", ",", '"', "\\", "a", "1", " ", '"b"', '{"a":1}', "{{", "}:2", '"q":', "[3]:",
    "{{}:1}",
)  # fmt: skip


def test_random_texts_are_read_as_a_plain_search_for_tokens_reads_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chooser = random.Random(20_251_130)
    texts = ["".join(chooser.choices(PIECES, k=chooser.randint(1, 14))) for _ in range(40_000)]

    def results() -> list[object]:
        return [read_or_refuse(text) for text in texts]

    new = results()
    monkeypatch.setattr(object_keys, "split_tokens", EARLIER_TOKEN.findall)
    old = results()
    # An odd quote was left out before: such a text could be read although it is no JSON.
    differing = [text for text, was, now in zip(texts, old, new, strict=True) if was != now]
    assert all('"' in EARLIER_TOKEN.sub("", text) for text in differing)
    assert sum(isinstance(value, list | dict) for value in new) > 100


def read_or_refuse(text: str) -> object:
    try:
        return decode_object_keys(text.encode())
    except ValueError:
        return "refused"


def test_every_table_that_is_written_is_read_back() -> None:
    chooser = random.Random(5)

    def any_value(depth: int) -> object:
        kind = chooser.randrange(6 if depth else 3)
        if kind < 3:
            return (chooser.randint(-9, 9), chooser.choice(['}:{"', "\\", "{{", "ä", ""]), None)[kind]
        if kind == 3:
            return [any_value(depth - 1) for _ in range(chooser.randrange(3))]
        return {chooser.choice("abc"): any_value(depth - 1) or 0 for _ in range(chooser.randrange(3))}

    for _ in range(2_000):
        pairs = [({"k": any_value(2) or 1}, any_value(2)) for _ in range(chooser.randint(1, 4))]
        expected = [[read_back(key), read_back(value)] for key, value in pairs]
        assert decode_object_keys(encode_object_key_map(pairs)) == expected


def read_back(value: object) -> object:
    return fastjson.decode_json(fastjson.encode_json(value))
