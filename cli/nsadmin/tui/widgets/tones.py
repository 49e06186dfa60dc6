"""The styles of tones in the current theme."""

from typing import Any
from weakref import WeakKeyDictionary

from rich.style import Style
from textual.app import App
from textual.color import Color

_CONTEXT_COLORS = {
    "red": "#A8321F",
    "green": "#1F7A4D",
    "yellow": "#E0B83C",
    "blue": "#2563A8",
    "magenta": "#8A3FA0",
    "cyan": "#1B7F8C",
}
"""The colours of contexts, used as the background of the context's name."""

_styles_by_app: "WeakKeyDictionary[App[Any], tuple[dict[str, str], dict[str, Style]]]" = WeakKeyDictionary()


def tone_styles(app: "App[Any]") -> dict[str, Style]:
    """The styles by tone, including those of rows, the cursor and the table header."""
    cached = _styles_by_app.get(app)
    # Compare the colours and not the name: Textual changes the name of the theme before its colours.
    if cached is None or cached[0] is not app.theme_variables:
        cached = _styles_by_app[app] = (app.theme_variables, _build_styles(app.theme_variables))
    return cached[1]


def _build_styles(variables: dict[str, str]) -> dict[str, Style]:
    back_color = Color.parse(variables["background"])
    panel = Color.parse(variables["panel"])

    def hex_color(variable_name: str) -> str:
        return Color.parse(variables[variable_name]).hex6

    def text_color(blend_ratio: float) -> str:
        return back_color.blend(Color.parse(variables["foreground"]), blend_ratio).hex6

    styles = {
        "": Style(color=text_color(0.92)),
        "dim": Style(color=text_color(0.55)),
        "good": Style(color=hex_color("success")),
        "warn": Style(color=hex_color("warning")),
        "bad": Style(color=hex_color("error"), bold=True),
        "info": Style(color=hex_color("secondary")),
        "accent": Style(color=hex_color("accent")),
        "strong": Style(color=hex_color("foreground"), bold=True),
        "spark": Style(color=hex_color("primary")),
        "base": Style(bgcolor=back_color.hex6),
        "odd": Style(bgcolor=back_color.blend(panel, 0.35).hex6),
        "cursor": Style(bgcolor=back_color.blend(Color.parse(variables["primary"]), 0.35).hex6, bold=True),
        "mark": Style(color=hex_color("accent")),
        "head": Style(color=text_color(0.65), bgcolor=panel.hex6, bold=True),
        "brand": Style(color=back_color.hex6, bgcolor=hex_color("primary"), bold=True),
        "context": Style(color=hex_color("foreground"), bgcolor=panel.hex6, bold=True),
        **{
            f"context-{name}": Style(
                color="#FFFFFF" if name != "yellow" else "#000000", bgcolor=shade_color, bold=True
            )
            for name, shade_color in _CONTEXT_COLORS.items()
        },
        "badge": Style(color=back_color.hex6, bgcolor=hex_color("warning"), bold=True),
        "tab": Style(color=text_color(0.65), bgcolor=panel.hex6),
        "tabProblem": Style(color=hex_color("error"), bgcolor=panel.hex6, bold=True),
        "tabChosen": Style(color=back_color.hex6, bgcolor=hex_color("accent"), bold=True),
        "key": Style(color=hex_color("accent"), bold=True),
        "panel": Style(bgcolor=panel.hex6),
        "surface": Style(bgcolor=Color.parse(variables["surface"]).hex6),
        "bar": Style(color=text_color(0.65), bgcolor=panel.hex6),
        "headChosen": Style(color=hex_color("accent"), bgcolor=panel.hex6, bold=True),
    }
    flashing = {f"{tone} flash": style + Style(reverse=True) for tone, style in styles.items()}
    return {**styles, **flashing}
