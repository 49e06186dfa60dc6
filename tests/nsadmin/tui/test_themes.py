"""Our themes can be read: enough contrast, and states that differ for every eye."""

from itertools import combinations

import pytest
from textual.color import Color
from textual.theme import Theme

from nsadmin.tui.themes import OWN_THEMES


def luminance(color: Color) -> float:
    """Relative luminance as WCAG has it."""
    parts = [part / 255 for part in color.rgb]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    brighter, darker = sorted((luminance(Color.parse(one)), luminance(Color.parse(other))), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def deuteranope(color: str) -> tuple[float, ...]:
    """As somebody sees it who has no green cones (Viénot, Brettel and Mollon 1999), roughly."""
    red, green, blue = ((part / 255) ** 2.2 for part in Color.parse(color).rgb)
    mixed = 0.29 * red + 0.71 * green
    return (mixed, mixed, blue)


def signals(theme: Theme) -> list[str]:
    tones = [theme.success, theme.warning, theme.error]
    return [color for color in tones if color is not None]


@pytest.mark.parametrize("theme", OWN_THEMES, ids=lambda theme: theme.name)
def test_what_is_said_in_colour_is_read_on_its_ground(theme: Theme) -> None:
    for color in [*signals(theme), theme.foreground, theme.accent, theme.secondary]:
        assert contrast(color or "", theme.background or "") >= 4.5


@pytest.mark.parametrize("theme", OWN_THEMES, ids=lambda theme: theme.name)
def test_good_warn_and_bad_differ_without_green_cones(theme: Theme) -> None:
    for one, other in combinations(map(deuteranope, signals(theme)), 2):
        assert sum(abs(a - b) for a, b in zip(one, other, strict=True)) > 0.1
