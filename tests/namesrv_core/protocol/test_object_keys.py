"""Maps with object keys, as captured and as they could be."""

import pytest

from namesrv_core.protocol.object_keys import decode_object_keys, encode_object_key_map

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
    one = b'{"brokerName":"broker-a","queueId":%d,"topic":"T"}:{"maxOffset":1,"minOffset":0}'
    body = b'{"offsetTable":{' + b",".join(one % number for number in range(20_000)) + b"}}"
    assert len(decode_object_keys(body)["offsetTable"]) == 20_000


def test_a_table_is_written_as_it_is_read() -> None:
    pairs = [({"topic": "T", "queueId": 0}, {"maxOffset": 7}), ({"topic": "T", "queueId": 1}, {})]
    text = encode_object_key_map(pairs)
    assert text == b'{{"queueId":0,"topic":"T"}:{"maxOffset":7},{"queueId":1,"topic":"T"}:{}}'
    assert decode_object_keys(text) == [list(pair) for pair in pairs]
    assert encode_object_key_map([]) == b"{}"
