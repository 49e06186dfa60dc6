"""The current screen as plain text. Textual itself exports the SVG."""

from typing import Any

from textual.app import App


def screen_to_text(app: "App[Any]") -> str:
    """The text of the screen, line by line, without trailing blanks."""
    strips = app.screen._compositor.render_strips(app.size)
    text_lines = ["".join(segment.text for segment in strip).rstrip() for strip in strips]
    return "\n".join(text_lines).rstrip() + "\n"
