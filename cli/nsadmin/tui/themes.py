"""The themes of nsadmin, readable for colour-blind people, and custom themes from the preferences."""

from collections.abc import Mapping
from typing import Any

from textual.theme import Theme

DARK = Theme(
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
LIGHT = Theme(
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
OURS = (DARK, LIGHT)


def made(themes: Mapping[str, Mapping[str, str]]) -> list[Theme]:
    """Build the custom themes of the preferences file."""
    found = []
    for name, colors in themes.items():
        own: dict[str, Any] = {key: value for key, value in colors.items() if key != "dark"}
        found.append(Theme(name=name, dark=_is_dark(colors), **own))
    return found


def _is_dark(colors: Mapping[str, str]) -> bool:
    return colors.get("dark", "true").lower() != "false"
