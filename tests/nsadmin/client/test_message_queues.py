"""Tables keyed by queues."""

import pytest

from namesrv_core.protocol.object_keys import decode_object_keys
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.message_queues import MessageQueue, parse_queue_table


def test_a_table_is_in_the_order_of_topic_broker_and_number() -> None:
    keys = [("T", "b", 0), ("T", "a", 10), ("T", "a", 2), ("S", "z", 1)]
    body = ",".join(
        f'{{"topic":"{topic}","brokerName":"{name}","queueId":{n}}}:{{"n":{n}}}' for topic, name, n in keys
    )
    table = parse_queue_table(decode_object_keys(f"{{{body}}}".encode()), JsonObject)
    assert list(table) == sorted(keys) == [("S", "z", 1), ("T", "a", 2), ("T", "a", 10), ("T", "b", 0)]
    assert table[MessageQueue("T", "a", 10)].members == {"n": 10}


@pytest.mark.parametrize("nothing", [None, {}, []])
def test_an_empty_table(nothing: object) -> None:
    assert parse_queue_table(nothing, JsonObject) == {}


@pytest.mark.parametrize("odd", [{"a": 1}, [1], [[{"topic": "T"}, {}]], 7])
def test_what_is_no_such_table(odd: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        parse_queue_table(odd, JsonObject)
