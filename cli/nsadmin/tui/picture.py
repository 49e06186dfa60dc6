"""Picture: the screen as it stands, as text; Textual itself makes an SVG of it."""

from typing import Any

from textual.app import App


def text_of(app: "App[Any]") -> str:
    """The letters of the screen, line by line, without what is blank at their ends."""
    strips = app.screen._compositor.render_strips(app.size)
    lines = ["".join(segment.text for segment in strip).rstrip() for strip in strips]
    return "\n".join(lines).rstrip() + "\n"
