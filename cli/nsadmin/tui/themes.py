"""The themes of nsadmin, readable for colour-blind people, and custom themes from the preferences."""

from collections.abc import Mapping
from typing import Any

from textual.theme import Theme

DARK_THEME = Theme(
    name="nsadmin-dark",
    primary="#3D8FD1",
    secondary="#C99AE0",
    accent="#7FD6C2",
    foreground="#E1E7EE",
    background="#0F1318",
    surface="#151B22",
    panel="#1D2530",
    # Colour-blind people can distinguish blue, yellow and vermilion. Words and signs repeat the meaning.
    success="#5AB4E6",
    warning="#F0C84B",
    error="#F57645",
    dark=True,
)
LIGHT_THEME = Theme(
    name="nsadmin-light",
    primary="#1F6FB2",
    secondary="#7A3E9D",
    accent="#00695C",
    foreground="#1B2530",
    background="#FCFCFA",
    surface="#F3F4F1",
    panel="#E4E8E6",
    success="#005F99",
    warning="#8A6D00",
    error="#A62B00",
    dark=False,
)
OWN_THEMES = (DARK_THEME, LIGHT_THEME)


def build_themes(colors_by_theme: Mapping[str, Mapping[str, str]]) -> list[Theme]:
    built_themes = []
    for name, colors in colors_by_theme.items():
        options: dict[str, Any] = dict(colors)
        is_dark = options.pop("dark", "true").lower() != "false"
        built_themes.append(Theme(name=name, dark=is_dark, **options))
    return built_themes
