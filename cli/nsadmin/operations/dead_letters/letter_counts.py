"""Counts of dead letters by origin topic and age, for a preview. Pure."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from nsadmin.client.messages.dead_letter_selection import DeadLetter

AGE_LIMITS = (("1h", 3_600_000), ("1d", 86_400_000), ("7d", 7 * 86_400_000), ("30d", 30 * 86_400_000))
"""Names of ages, and their limits in ms."""
OLDEST_AGE = "over 30d"


class AgeCount(NamedTuple):
    """The number of dead letters of one origin topic and age; `age` is the upper limit."""

    origin_topic: str | None
    age: str
    message_count: int


class LetterCounter:
    """Counts dead letters, with ages relative to `now_ms`."""

    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms
        self._counts: Counter[tuple[str | None, str]] = Counter()

    def add_letters(self, letters: Iterable[DeadLetter]) -> None:
        """Count more dead letters."""
        for letter in letters:
            self._counts[letter.origin_topic, self._name_age(letter.message.store_timestamp)] += 1

    def list_counts(self) -> list[AgeCount]:
        """Return the counts, by origin topic and then from the youngest to the oldest."""
        age_names = [age_name for age_name, _ in AGE_LIMITS] + [OLDEST_AGE]
        return [
            AgeCount(topic, age_name, count)
            for (topic, age_name), count in sorted(
                self._counts.items(), key=lambda item: (item[0][0] or "", age_names.index(item[0][1]))
            )
        ]

    def _name_age(self, store_ms: int) -> str:
        age_ms = self._now_ms - store_ms
        return next((age_name for age_name, limit_ms in AGE_LIMITS if age_ms < limit_ms), OLDEST_AGE)
