"""The completion of the command prompt on TAB: the word at the end of the line, and its candidates. Pure."""

import shlex
from collections.abc import Sequence
from os.path import commonprefix
from typing import NamedTuple

from nsadmin.tui.views.base_view import CellLine
from nsadmin.tui.views.table import Cell, escape_unprintable

Candidate = tuple[str, str]
"""A word, and its description."""

MAX_SHOWN_CANDIDATES = 8


class UnfinishedLine(NamedTuple):
    """A line of the prompt, split at its last word. `word_start` is the index of that word in the text."""

    words_before: Sequence[str]
    typed_word: str
    word_start: int


def split_line(line: str) -> UnfinishedLine | None:
    """Split a line at its last word; None if a quote is open, or if the last word is quoted."""
    word_start = line.rfind(" ") + 1
    typed_word = line[word_start:]
    try:
        words_before = shlex.split(line[:word_start])
        if typed_word and shlex.split(typed_word) != [typed_word]:
            return None
    except ValueError:
        return None
    if words_before[:1] == ["nsadmin"]:
        words_before = words_before[1:]
    return UnfinishedLine(words_before, typed_word, word_start)


class CandidateChoice:
    """The candidates for one word. Each TAB chooses the next one."""

    def __init__(self, line: str, word_start: int, candidates: Sequence[Candidate]) -> None:
        self._line_start = line[:word_start]
        self._typed_word = line[word_start:]
        self.candidates = list(dict.fromkeys(candidates))
        self.chosen_index: int | None = None
        self.line_text = self._line_start + self._complete_word()

    def _complete_word(self) -> str:
        """The only candidate, or the beginning that all candidates share."""
        words = [word for word, _ in self.candidates]
        if len(words) == 1:
            return shlex.quote(words[0]) + ("" if words[0].endswith(("/", "=")) else " ")
        shared_start = commonprefix(words)  # noqa: RUF071 - words, not paths
        is_longer = len(shared_start) > len(self._typed_word)
        return shared_start if is_longer and shlex.quote(shared_start) == shared_start else self._typed_word

    def step_choice(self, step: int) -> str:
        """Choose the next or the previous candidate, and return the line with it."""
        if len(self.candidates) > 1:
            first_index = 0 if step > 0 else len(self.candidates) - 1
            next_index = first_index if self.chosen_index is None else self.chosen_index + step
            self.chosen_index = next_index % len(self.candidates)
            self.line_text = self._line_start + shlex.quote(self.candidates[self.chosen_index][0])
        return self.line_text

    def render_lines(self, width: int) -> list[CellLine]:
        """The candidates round the chosen one, with their descriptions. A single candidate needs no list."""
        if len(self.candidates) < 2:
            return []
        first_shown = max(0, min((self.chosen_index or 0) - 3, len(self.candidates) - MAX_SHOWN_CANDIDATES))
        shown = self.candidates[first_shown : first_shown + MAX_SHOWN_CANDIDATES]
        word_width = min(max(len(word) for word, _ in shown), max(width // 2, 10))
        lines: list[CellLine] = [
            [
                Cell(
                    f" {escape_unprintable(word):<{word_width}}  ",
                    "tabChosen" if first_shown + shown_index == self.chosen_index else "key",
                ),
                Cell(escape_unprintable(description.split("\n")[0]), "dim"),
            ]
            for shown_index, (word, description) in enumerate(shown)
        ]
        other_count = len(self.candidates) - len(shown)
        if other_count:
            lines.append([Cell(f" … {other_count} more", "dim")])
        return lines
