"""The user's preferences from tui.yaml: theme, interval, keys, and custom themes."""

import os
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

THEME = "nsadmin-dark"
_TOP = ("theme", "interval", "keys", "themes")
_COLORS = (
    "primary", "secondary", "accent", "foreground", "background", "surface", "panel", "success", "warning",
    "error",
)  # fmt: skip


class BadPreferences(Exception):
    """The preferences file is invalid or cannot be read. The text is one line with the reason."""


class Preferences(NamedTuple):
    """`keys` are by id of a binding, such as `sort: "o,f5"`. `themes` have colours by name."""

    theme: str = THEME
    interval: float | None = None
    keys: Mapping[str, str] = {}
    themes: Mapping[str, Mapping[str, str]] = {}


def path(contexts: str) -> str:
    """The path of tui.yaml, which lies in the folder of the contexts file."""
    return os.path.join(os.path.dirname(contexts), "tui.yaml")


def load(file: str, names: Collection[str]) -> Preferences:
    """Read the preferences, or return the defaults if there is no file.

    `binding_ids` are the valid ids of key bindings. Raises InvalidPreferencesError.
    """
    import yaml

    try:
        with open(file, encoding="utf-8") as reader:
            content = yaml.safe_load(reader) or {}
    except FileNotFoundError:
        return Preferences()
    except (OSError, UnicodeDecodeError) as error:
        raise BadPreferences(f"{file} cannot be read: {error}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise BadPreferences(f"{file} is no YAML{f' in line {mark.line + 1}' if mark else ''}") from None
    if not isinstance(content, dict):
        raise BadPreferences(f"{file} has to be a map: {', '.join(_TOP)}")
    _known(file, content, _TOP)
    keys = _texts(file, "keys", content.get("keys"))
    _known(f"{file}: keys", keys, names)
    themes = {
        name: _theme(file, name, colors)
        for name, colors in _map(file, "themes", content.get("themes")).items()
    }
    return Preferences(
        str(content.get("theme") or THEME), _interval(file, content.get("interval")), keys, themes
    )


def _known(where: str, content: Mapping[str, Any], names: Collection[str]) -> None:
    for name in content:
        if name not in names:
            raise BadPreferences(f"{where}: {name} is unknown; there are: {', '.join(names)}")


def _map(file: str, name: str, value: Any) -> Mapping[str, Any]:
    if value is not None and not isinstance(value, dict):
        raise BadPreferences(f"{file}: {name} has to be a map")
    return {str(key): item for key, item in (value or {}).items()}


def _texts(file: str, name: str, value: Any) -> Mapping[str, str]:
    return {key: str(item) for key, item in _map(file, name, value).items()}


def _interval(file: str, value: Any) -> float | None:
    if value is None:
        return None
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0.5 <= value <= 3600:
        raise BadPreferences(f"{file}: interval {value} cannot be: give 0.5 to 3600 seconds")
    return float(value)


def _theme(file: str, name: str, value: Any) -> Mapping[str, str]:
    colors = _texts(file, f"themes: {name}", value)
    _known(f"{file}: themes: {name}", colors, (*_COLORS, "dark"))
    if "primary" not in colors:
        raise BadPreferences(f"{file}: themes: {name} needs primary, a colour such as '#3D8FD1'")
    return colors
