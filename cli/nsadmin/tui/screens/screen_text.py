"""The text of screens: a screen as plain text, and titles of panels. Textual itself exports the SVG."""

from typing import Any

from textual.app import App
from textual.content import Content

from nsadmin.tui.views.table import escape_unprintable


def screen_to_text(app: "App[Any]") -> str:
    """The text of the screen, line by line, without trailing blanks."""
    strips = app.screen._compositor.render_strips(app.size)
    text_lines = ["".join(segment.text for segment in strip).rstrip() for strip in strips]
    return "\n".join(text_lines).rstrip() + "\n"


def literal_title(title_text: str) -> Content:
    """A title that is shown as it is: Textual takes the brackets of a name such as a[/]b for markup."""
    return Content(escape_unprintable(title_text))
