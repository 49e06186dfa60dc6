"""The file of preferences: what it may have, and one line for what it may not."""

from pathlib import Path

import pytest

from nsadmin.tui.preferences import InvalidPreferencesError, Preferences, load_preferences
from tests.support.hostile_yaml import HOSTILE_YAML

NAMES = ("sort", "quit")


def loaded(tmp_path: Path, text: str) -> Preferences:
    file = tmp_path / "tui.yaml"
    file.write_text(text)
    return load_preferences(str(file), NAMES)


def test_it_need_not_be_there(tmp_path: Path) -> None:
    assert load_preferences(str(tmp_path / "tui.yaml"), NAMES) == Preferences()
    assert loaded(tmp_path, "") == Preferences()


def test_theme_interval_keys_and_themes_of_ones_own(tmp_path: Path) -> None:
    text = (
        "theme: mine\ninterval: 2\nkeys: {sort: 'o,f5'}\nthemes: {mine: {primary: '#ff0000', dark: false}}\n"
    )
    assert loaded(tmp_path, text) == Preferences(
        "mine", 2.0, {"sort": "o,f5"}, {"mine": {"primary": "#ff0000", "dark": "False"}}
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("colour: red", 'unknown key "colour": choose from theme, interval, keys, themes'),
        ("keys: {fly: f}", 'keys: unknown key "fly": choose from sort, quit'),
        ("keys: [a]", "keys must be a map"),
        ("interval: often", "invalid interval often: use 0.5 to 3600 seconds"),
        ("interval: true", "invalid interval True"),
        ("themes: {mine: {}}", "themes: mine needs primary"),
        ("themes: {mine: {primary: red, hue: 3}}", 'themes: mine: unknown key "hue"'),
        ("- a", "must be a map"),
        ("a: [", "is not valid YAML in line"),
    ],
)
def test_what_cannot_be_is_told_with_its_place(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidPreferencesError) as raised:
        loaded(tmp_path, text)
    assert why in str(raised.value)
    assert str(raised.value).startswith(str(tmp_path / "tui.yaml"))
    assert "\n" not in str(raised.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidPreferencesError, match="is a folder"):
        load_preferences(str(tmp_path), NAMES)


@pytest.mark.parametrize("name", HOSTILE_YAML)
def test_hostile_yaml_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "tui.yaml"
    file.write_text(HOSTILE_YAML[name])
    with pytest.raises(InvalidPreferencesError, match="is not valid YAML"):
        load_preferences(str(file), ())
