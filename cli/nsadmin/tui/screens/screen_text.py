"""A screen as plain text, and panels with their titles. Textual itself exports the SVG."""

from typing import Any

from textual.app import App
from textual.containers import Vertical
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


def make_panel(title_text: str, subtitle: str = "", classes: str = "tall wide") -> Vertical:
    """The panel around a dialog, with its titles in the border."""
    panel = Vertical(classes=f"panel {classes}")
    panel.border_title, panel.border_subtitle = literal_title(title_text), subtitle
    return panel
