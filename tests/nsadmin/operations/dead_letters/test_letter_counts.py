"""Counts of dead letters by origin topic and age."""

from namesrv_core.protocol.stored_messages import decode_messages
from nsadmin.client.messages.dead_letter_selection import DeadLetter
from nsadmin.operations.dead_letters.letter_counts import AgeCount, LetterCounter
from tests.support.messages import encode_message

NOW, HOUR = 1_700_000_000_000, 3_600_000


def letter(age_ms: int, origin: str | None = "T") -> DeadLetter:
    table = {"RETRY_TOPIC": origin} if origin else {}
    [message] = decode_messages(encode_message(b"", table=table, stored=NOW - age_ms)).messages
    return DeadLetter("broker-a", message)


def test_an_age_is_below_its_limit() -> None:
    counter = LetterCounter(NOW)
    ages = (0, HOUR - 1, HOUR, 24 * HOUR, 7 * 24 * HOUR, 30 * 24 * HOUR, 900 * 24 * HOUR)
    counter.add_letters(letter(age_ms) for age_ms in ages)
    assert counter.list_counts() == [
        AgeCount("T", "1h", 2),
        AgeCount("T", "1d", 1),
        AgeCount("T", "7d", 1),
        AgeCount("T", "30d", 1),
        AgeCount("T", "over 30d", 2),
    ]


def test_origin_topics_are_counted_apart() -> None:
    counter = LetterCounter(NOW)
    counter.add_letters([letter(0), letter(0, "U"), letter(0, None), letter(0)])
    assert counter.list_counts() == [AgeCount(None, "1h", 1), AgeCount("T", "1h", 2), AgeCount("U", "1h", 1)]
