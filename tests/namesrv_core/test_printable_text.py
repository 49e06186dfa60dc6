"""Texts that a peer chose, where they leave the program."""

import pytest

from namesrv_core.printable_text import cut_text, escape_unsafe

UNSAFE = [
    *map(chr, range(0x20)), "\x7f", *map(chr, range(0x80, 0xA0)), "\u061c", "\u200e", "\u200f", "\u2028",
    "\u2029", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A)), "\ud800", "\udfff",
]  # fmt: skip


def test_a_character_that_could_forge_or_reorder_text_is_escaped() -> None:
    for character in UNSAFE:
        escaped = escape_unsafe(f"a{character}b")
        assert (escaped[:2], escaped[-1]) == ("a\\", "b")
        assert escaped.isprintable()
        assert escaped.isascii()


@pytest.mark.parametrize(
    "text", ["", "broker-a", 'a\\b"c', "Brøker 東京 \u00a0\u3000", "%RETRY%group", "\U0001f600\u200d"]
)
def test_other_texts_are_as_they_were(text: str) -> None:
    assert escape_unsafe(text) == text


def test_a_long_text_is_cut_and_says_how_long_it_was() -> None:
    assert cut_text("x" * 10, 10) == "x" * 10
    assert cut_text("x" * 11, 10) == "x" * 10 + "... (11 characters)"
