"""The pictures of docs/how-to/use-the-tui.md show the current screens; `make screenshots` draws them."""

from pathlib import Path

import pytest

from tests.support.screenshots import FOLDER, STORIES, draw_picture

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", STORIES)
def test_a_picture_in_the_docs_is_what_is_drawn(name: str, utc: None) -> None:
    assert draw_picture(name) == (FOLDER / f"{name}.svg").read_text("utf-8"), "make screenshots"


def test_the_docs_show_each_of_them() -> None:
    text = (ROOT / "docs" / "how-to" / "use-the-tui.md").read_text("utf-8")
    assert all(f"(../images/tui/{name}.svg)" in text for name in STORIES)
