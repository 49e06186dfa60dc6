"""Tones in each theme."""

import pytest
from textual.app import App

from nsadmin.tui import themes
from nsadmin.tui.widgets.tones import tone_styles
from tests.support.screens import run_screen_test

EVERY = ("", "dim", "good", "warn", "bad", "info", "accent", "strong", "spark", "context-red", "tabChosen")


@pytest.mark.parametrize("name", ["nsadmin-dark", "nsadmin-light", "textual-dark", "nord", "ansi-dark"])
@run_screen_test
async def test_every_theme_has_a_style_for_every_tone(name: str) -> None:
    app = App[None]()
    for theme in themes.OWN_THEMES:
        app.register_theme(theme)
    async with app.run_test():
        app.theme = name
        known = tone_styles(app)
        assert set(EVERY) <= known.keys()
        assert known["good"].color != known["bad"].color
        assert tone_styles(app) is known
