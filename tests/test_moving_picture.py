"""The moving picture of the README, and how its frames are drawn."""

import re

from tests.support.moving_picture import PICTURE, Film, Frame, merge_short

LARGEST_BYTES = 500_000


def test_the_picture_is_small_and_needs_nothing_but_itself() -> None:
    text = PICTURE.read_text("utf-8")
    assert len(text.encode()) <= LARGEST_BYTES
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert "<script" not in text


def test_equal_lines_are_drawn_once_and_each_frame_has_its_time() -> None:
    picture = Film().draw([Frame("\x1b[1;31mstop\x1b[0m\nsame", 1), Frame("go <b>\nsame", 3)])
    assert picture.count(">same</text>") == 1
    assert ">go &lt;b&gt;</text>" in picture
    assert "font-weight:bold" in picture
    assert "0.000%{transform:translateY(0px)}25.000%{transform:translateY(-448px)}" in picture
    assert "animation:film 4.00s" in picture


def test_a_screen_that_is_replaced_at_once_is_left_out() -> None:
    frames = [Frame("a", 1), Frame("b", 0.01), Frame("c", 2)]
    assert merge_short(frames) == [Frame("a", 1), Frame("c", 2.01)]
