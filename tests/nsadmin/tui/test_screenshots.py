"""The pictures of docs/tui.md are what the screen shows: `make screenshots` draws them anew."""

from pathlib import Path

import pytest

from tests.support.screenshots import FOLDER, STORIES, drawn

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", STORIES)
def test_a_picture_in_the_docs_is_what_is_drawn(name: str, utc: None) -> None:
    assert drawn(name) == (FOLDER / f"{name}.svg").read_text("utf-8"), "make screenshots"


def test_the_docs_show_each_of_them() -> None:
    text = (ROOT / "docs" / "tui.md").read_text("utf-8")
    assert all(f"(tui/{name}.svg)" in text for name in STORIES)
