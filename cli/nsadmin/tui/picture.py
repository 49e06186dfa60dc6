"""The current screen as plain text. Textual itself exports the SVG."""

from typing import Any

from textual.app import App


def text_of(app: "App[Any]") -> str:
    """The text of the screen, line by line, without trailing blanks."""
    strips = app.screen._compositor.render_strips(app.size)
    lines = ["".join(segment.text for segment in strip).rstrip() for strip in strips]
    return "\n".join(lines).rstrip() + "\n"
