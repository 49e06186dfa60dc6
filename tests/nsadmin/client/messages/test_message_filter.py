"""Conditions that the client checks."""

import re

import pytest

from namesrv_core.protocol.stored_messages import decode_messages
from nsadmin.client.messages.message_filter import EVERY_MESSAGE, MessageFilter
from tests.support.messages import encode_message

STORED = 1_700_000_000_000
BODY = '{"order": {"id": 7, "paid": false, "lines": [{"sku": "ä"}], "note": null}}'.encode()


@pytest.mark.parametrize(
    ("message_filter", "matches"),
    [
        (EVERY_MESSAGE, True),
        (MessageFilter(tags=frozenset("AB")), True),
        (MessageFilter(tags=frozenset("B")), False),
        (MessageFilter(keys=frozenset(["k2"])), True),
        (MessageFilter(keys=frozenset(["k"])), False),
        (MessageFilter(properties={"region": "eu"}), True),
        (MessageFilter(properties={"region": "eu", "mine": "1"}), False),
        (MessageFilter(body_pattern=re.compile("ä")), True),
        (MessageFilter(body_pattern=re.compile("^ä")), False),
        (MessageFilter(body_fields={"order.id": "7", "order.paid": "false"}), True),
        (MessageFilter(body_fields={"order.lines.0.sku": "ä"}), True),
        (MessageFilter(body_fields={"order.lines.1.sku": "ä"}), False),
        (MessageFilter(body_fields={"order.note": "null"}), False),
        (MessageFilter(body_fields={"order.id.x": "7"}), False),
        (MessageFilter(begin_ms=STORED, end_ms=STORED), True),
        (MessageFilter(begin_ms=STORED + 1), False),
        (MessageFilter(end_ms=STORED - 1), False),
    ],
)
def test_a_message_must_meet_every_condition(message_filter: MessageFilter, matches: bool) -> None:
    table = {"TAGS": "A", "KEYS": "k1 k2", "region": "eu"}
    [message] = decode_messages(encode_message(BODY, table=table, stored=STORED)).messages
    assert message_filter.is_match(message) is matches


@pytest.mark.parametrize("body", [b"", b"7", b"[1", b"\xff", b"[" * 100_000])
def test_a_body_that_is_not_an_object_has_no_fields(body: bytes) -> None:
    [message] = decode_messages(encode_message(body)).messages
    assert not MessageFilter(body_fields={"a": "1"}).is_match(message)
