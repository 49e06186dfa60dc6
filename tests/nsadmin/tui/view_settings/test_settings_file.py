"""The file of settings: several screens write it, and a broken one is put aside."""

import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from nsadmin.tui.view_settings.settings_file import BrokenSettingsError, SettingsFile, take_map


def test_two_screens_do_not_lose_each_others_settings(tmp_path: Path) -> None:
    def add_number(name: str, number: int, settings: dict[str, Any]) -> None:
        take_map(settings, name)[str(number)] = number

    def count(name: str) -> None:
        own_file = SettingsFile(tmp_path / "state" / "tui-views.json")
        for number in range(20):
            own_file.change_settings(partial(add_number, name, number))

    threads = [threading.Thread(target=count, args=(name,)) for name in ("one", "two", "three")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    settings = SettingsFile(tmp_path / "state" / "tui-views.json").read_settings()
    assert {name: len(values) for name, values in settings.items()} == {"one": 20, "two": 20, "three": 20}


@pytest.mark.parametrize(("text", "reason"), [("{", "it is not JSON"), ("[]", "it is not a map")])
def test_a_broken_file_is_one_line_and_is_kept_aside(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "tui-views.json"
    path.write_text(text)
    with pytest.raises(BrokenSettingsError) as raised:
        SettingsFile(path).read_settings()
    assert str(raised.value) == f"{path} is ignored: {reason}"

    def change(settings: dict[str, Any]) -> None:
        settings["theme"] = "nord"

    SettingsFile(path).change_settings(change)
    assert SettingsFile(path).read_settings() == {"theme": "nord"}
    assert (tmp_path / "tui-views.json.broken").read_text() == text


def test_a_wrong_value_becomes_a_map() -> None:
    settings: dict[str, Any] = {"views": 7}
    assert take_map(settings, "views") is settings["views"]
    assert settings == {"views": {}}
