"""What a dead letter says of itself, and which of them are selected."""

import re

import pytest

from namesrv_core.protocol.stored_messages import decode_messages
from nsadmin.client.messages.dead_letter_selection import EVERY_LETTER, DeadLetter, DeadLetterSelection
from tests.support.messages import encode_message

STORED = 1_700_000_000_000


def letter(text: bytes = b"hello", **table: str) -> DeadLetter:
    [message] = decode_messages(encode_message(text, "%DLQ%G", table=table, stored=STORED)).messages
    return DeadLetter("broker-a", message)


def test_the_origin_is_the_topic_of_the_producer() -> None:
    assert letter(RETRY_TOPIC="T", DLQ_ORIGIN_TOPIC="U").origin_topic == "T"
    assert letter(DLQ_ORIGIN_TOPIC="U").origin_topic == "U"
    assert letter(RETRY_TOPIC="%RETRY%G", DLQ_ORIGIN_TOPIC="%DLQ%G").origin_topic is None
    assert letter(ORIGIN_MESSAGE_ID="A", DLQ_ORIGIN_MESSAGE_ID="B").origin_id == "A"
    assert letter(DLQ_ORIGIN_MESSAGE_ID="B").origin_id == "B"
    assert letter().origin_id is None


@pytest.mark.parametrize("separator", ["_", "+"])
def test_a_popped_message_has_a_retry_topic_of_its_own(separator: str) -> None:
    popped = letter(RETRY_TOPIC=f"%RETRY%G{separator}T_x")
    assert (popped.origin_topic, popped.retry_topic) == ("T_x", f"%RETRY%G{separator}T_x")
    other_group = letter(RETRY_TOPIC=f"%RETRY%GG{separator}T")
    assert (other_group.origin_topic, other_group.retry_topic) == (None, "%RETRY%G")
    assert letter(RETRY_TOPIC="T").retry_topic == "%RETRY%G"


def test_a_count_of_replays_that_is_no_number_is_none() -> None:
    counts = [letter(NSADMIN_REPLAYS=text).replay_count for text in ("2", "x", "-1", "")]
    assert counts == [2, 0, 0, 0]


@pytest.mark.parametrize(
    ("selection", "matches"),
    [
        (EVERY_LETTER, True),
        (DeadLetterSelection(begin_ms=STORED, end_ms=STORED), True),
        (DeadLetterSelection(begin_ms=STORED + 1), False),
        (DeadLetterSelection(end_ms=STORED - 1), False),
        (DeadLetterSelection(origin_topics=frozenset({"T", "U"})), True),
        (DeadLetterSelection(origin_topics=frozenset({"U"})), False),
        (DeadLetterSelection(keys=frozenset({"k2", "k3"})), True),
        (DeadLetterSelection(keys=frozenset({"k3"})), False),
        (DeadLetterSelection(tags=frozenset({"A"})), True),
        (DeadLetterSelection(tags=frozenset({"B"})), False),
        (DeadLetterSelection(body_pattern=re.compile("lo$")), True),
        (DeadLetterSelection(body_pattern=re.compile("^lo")), False),
        (DeadLetterSelection(tags=frozenset({"A"}), keys=frozenset({"k3"})), False),
    ],
)
def test_a_dead_letter_has_to_meet_every_condition(selection: DeadLetterSelection, matches: bool) -> None:
    dead_letter = letter(RETRY_TOPIC="T", KEYS="k1 k2", TAGS="A")
    assert selection.is_match(dead_letter) is matches


def test_rules_of_equal_selections_are_equal() -> None:
    one, two = (DeadLetterSelection(tags=frozenset(t), body_pattern=re.compile("x")) for t in ("AB", "BA"))
    assert one.describe_rules() == two.describe_rules() != EVERY_LETTER.describe_rules()
