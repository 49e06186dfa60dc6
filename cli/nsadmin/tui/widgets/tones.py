"""The styles of tones in the current theme."""

from typing import Any
from weakref import WeakKeyDictionary

from rich.style import Style
from textual.app import App
from textual.color import Color

_CONTEXTS = {
    "red": "#A8321F",
    "green": "#1F7A4D",
    "yellow": "#E0B83C",
    "blue": "#2563A8",
    "magenta": "#8A3FA0",
    "cyan": "#1B7F8C",
}
"""The colours of contexts, used as the background of the context's name."""

_made: "WeakKeyDictionary[App[Any], tuple[dict[str, str], dict[str, Style]]]" = WeakKeyDictionary()


def styles(app: "App[Any]") -> dict[str, Style]:
    """The styles by tone, including those of rows, the cursor and the table header."""
    made = _made.get(app)
    # Compare the colours and not the name: Textual changes the name of the theme before its colours.
    if made is None or made[0] is not app.theme_variables:
        made = _made[app] = (app.theme_variables, _styles(app.theme_variables))
    return made[1]


def _styles(names: dict[str, str]) -> dict[str, Style]:
    back = Color.parse(names["background"])
    panel = Color.parse(names["panel"])

    def color(name: str) -> str:
        return Color.parse(names[name]).hex6

    def mixed(name: str, part: float) -> str:
        return back.blend(Color.parse(names[name]), part).hex6

    fore = mixed("foreground", 0.92)
    return {
        "": Style(color=fore),
        "dim": Style(color=mixed("foreground", 0.55)),
        "good": Style(color=color("success")),
        "warn": Style(color=color("warning")),
        "bad": Style(color=color("error"), bold=True),
        "info": Style(color=color("secondary")),
        "accent": Style(color=color("accent")),
        "strong": Style(color=color("foreground"), bold=True),
        "spark": Style(color=color("primary")),
        "base": Style(bgcolor=back.hex6),
        "odd": Style(bgcolor=back.blend(panel, 0.35).hex6),
        "cursor": Style(bgcolor=back.blend(Color.parse(names["primary"]), 0.35).hex6, bold=True),
        "mark": Style(color=color("accent")),
        "flash": Style(reverse=True),
        "head": Style(color=mixed("foreground", 0.65), bgcolor=panel.hex6, bold=True),
        "brand": Style(color=back.hex6, bgcolor=color("primary"), bold=True),
        "context": Style(color=color("foreground"), bgcolor=panel.hex6, bold=True),
        **{
            f"context-{name}": Style(
                color="#FFFFFF" if name != "yellow" else "#000000", bgcolor=shade, bold=True
            )
            for name, shade in _CONTEXTS.items()
        },
        "badge": Style(color=back.hex6, bgcolor=color("warning"), bold=True),
        "tab": Style(color=mixed("foreground", 0.65), bgcolor=panel.hex6),
        "tabChosen": Style(color=back.hex6, bgcolor=color("accent"), bold=True),
        "key": Style(color=color("accent"), bold=True),
        "panel": Style(bgcolor=panel.hex6),
        "surface": Style(bgcolor=Color.parse(names["surface"]).hex6),
        "bar": Style(color=mixed("foreground", 0.65), bgcolor=panel.hex6),
        "headChosen": Style(color=color("accent"), bgcolor=panel.hex6, bold=True),
    }
