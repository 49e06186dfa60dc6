"""LetterCopies: recognizes further copies of a dead letter, so that its group gets the message once.

A proxy stores a dead letter, then acknowledges the message (ProducerProcessor upstream). If that fails, the
message comes again, and becomes another dead letter. A client that restarts in between does the same.
"""

from collections.abc import Iterable, Sequence

from nsadmin.client.messages.dead_letter_selection import REPLAY_ID_PROPERTY, DeadLetter


class LetterCopies:
    """The dead letters of one run. Copies name the same message, and the same replay of it, if any."""

    def __init__(self) -> None:
        # Hashes, because a run can read millions. None for a dead letter that was replayed.
        self._waiting_copies: dict[int, list[DeadLetter] | None] = {}

    def note_replayed(self, letter: DeadLetter) -> None:
        """Note a dead letter that was replayed before."""
        self._waiting_copies[_hash_death(letter)] = None

    def is_copy(self, letter: DeadLetter) -> bool:
        """Whether a dead letter is a copy of an earlier one. If not, it is the original from now on."""
        if letter.origin_id is None:
            return False
        death_hash = _hash_death(letter)
        if death_hash not in self._waiting_copies:
            self._waiting_copies[death_hash] = []
            return False
        waiting_copies = self._waiting_copies[death_hash]
        if waiting_copies is not None:
            waiting_copies.append(letter)
        return True

    def is_settled(self, letter: DeadLetter) -> bool:
        """Return whether the original of a copy was replayed."""
        return self._waiting_copies.get(_hash_death(letter), []) is None

    def end_batch(
        self, replayed_letters: Iterable[DeadLetter], failed_letters: Sequence[DeadLetter]
    ) -> list[DeadLetter]:
        """Note the outcome of originals, and return the copies that need no replay any more."""
        settled_copies: list[DeadLetter] = []
        for letter in replayed_letters:
            settled_copies += self._waiting_copies.get(_hash_death(letter)) or ()
            self.note_replayed(letter)
        for letter in failed_letters:
            self._waiting_copies.pop(_hash_death(letter), None)
        return settled_copies


def _hash_death(letter: DeadLetter) -> int:
    replay_id = letter.message.properties.get(REPLAY_ID_PROPERTY)
    return hash(
        (letter.group, letter.origin_topic, letter.origin_id or letter.message.offset_msg_id, replay_id)
    )
