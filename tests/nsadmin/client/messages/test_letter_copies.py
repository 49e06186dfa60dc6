"""Copies of dead letters: which are the same, and what becomes of them."""

from namesrv_core.protocol.stored_messages import decode_messages
from nsadmin.client.messages.dead_letter_selection import DeadLetter
from nsadmin.client.messages.letter_copies import LetterCopies
from tests.support.messages import encode_message


def letter(offset: int, origin_id: str | None = "A", topic: str = "T", **more: str) -> DeadLetter:
    table = {"RETRY_TOPIC": topic, **more} | ({"ORIGIN_MESSAGE_ID": origin_id} if origin_id else {})
    [message] = decode_messages(encode_message(b"x", "%DLQ%G", table=table, queue_offset=offset)).messages
    return DeadLetter("broker-a", message)


def test_copies_name_the_same_message_and_the_same_replay() -> None:
    copies = LetterCopies()
    assert not copies.is_copy(letter(0))
    assert copies.is_copy(letter(1))
    assert not copies.is_copy(letter(2, "B"))
    assert not copies.is_copy(letter(3, topic="U"))
    assert not copies.is_copy(letter(4, NSADMIN_REPLAY_OF="1"))
    assert not copies.is_copy(letter(5, NSADMIN_REPLAY_OF="2"))
    assert not copies.is_copy(letter(6, None))
    assert not copies.is_copy(letter(7, None))


def test_copies_wait_for_the_outcome_of_the_first() -> None:
    copies = LetterCopies()
    first, second, third = letter(0), letter(1), letter(2)
    assert (copies.is_copy(first), copies.is_copy(second), copies.is_settled(second)) == (False, True, False)
    assert copies.end_batch([first], []) == [second]
    assert (copies.is_copy(third), copies.is_settled(third)) == (True, True)


def test_after_a_failure_a_later_copy_is_the_first() -> None:
    copies = LetterCopies()
    first, second = letter(0), letter(1)
    assert not copies.is_copy(first)
    assert copies.end_batch([], [first]) == []
    assert not copies.is_copy(second)


def test_a_dead_letter_that_was_replayed_before_has_copies_too() -> None:
    copies = LetterCopies()
    copies.note_replayed(letter(0))
    assert (copies.is_copy(letter(1)), copies.is_settled(letter(1))) == (True, True)
