"""The user's preferences from tui.yaml: theme, interval, keys, and custom themes."""

import os
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from namesrv_core import operator_files

DEFAULT_THEME = "nsadmin-dark"
_TOP_LEVEL_KEYS = ("theme", "interval", "keys", "themes")
_THEME_COLORS = (
    "primary", "secondary", "accent", "foreground", "background", "surface", "panel", "success", "warning",
    "error",
)  # fmt: skip


class InvalidPreferencesError(Exception):
    """The preferences file is invalid or cannot be read. The text is one line with the reason."""


class Preferences(NamedTuple):
    """`keys` are by id of a binding, such as `sort: "o,f5"`. `themes` have colours by name."""

    theme: str = DEFAULT_THEME
    interval: float | None = None
    keys: Mapping[str, str] = {}
    themes: Mapping[str, Mapping[str, str]] = {}


def preferences_path(contexts_file: str) -> str:
    """The path of tui.yaml, which lies in the folder of the contexts file."""
    return os.path.join(os.path.dirname(contexts_file), "tui.yaml")


def load_preferences(path: str, binding_ids: Collection[str]) -> Preferences:
    """Read the preferences, or return the defaults if there is no file.

    `binding_ids` are the valid ids of key bindings. Raises InvalidPreferencesError.
    """
    import yaml

    try:
        text = operator_files.read_text(path, max_characters=operator_files.MAX_CONFIG_CHARACTERS)
        content = operator_files.parse_yaml(text) or {}
    except FileNotFoundError:
        return Preferences()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidPreferencesError(f"{path} is not readable: {error}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line_text = f" in line {mark.line + 1}" if mark else ""
        raise InvalidPreferencesError(f"{path} is not valid YAML{line_text}") from None
    if not isinstance(content, dict):
        raise InvalidPreferencesError(f"{path} must be a map: {', '.join(_TOP_LEVEL_KEYS)}")
    _check_names(path, content, _TOP_LEVEL_KEYS)
    key_texts = _read_texts(path, "keys", content.get("keys"))
    _check_names(f"{path}: keys", key_texts, binding_ids)
    theme_maps = _read_map(path, "themes", content.get("themes"))
    themes = {name: _read_theme(path, name, colors) for name, colors in theme_maps.items()}
    interval = _read_interval(path, content.get("interval"))
    return Preferences(str(content.get("theme") or DEFAULT_THEME), interval, key_texts, themes)


def _check_names(location: str, given_map: Mapping[str, Any], known_names: Collection[str]) -> None:
    for name in given_map:
        if name not in known_names:
            known_text = ", ".join(known_names)
            raise InvalidPreferencesError(f'{location}: unknown key "{name}": choose from {known_text}')


def _read_map(path: str, map_name: str, yaml_value: Any) -> Mapping[str, Any]:
    if yaml_value is not None and not isinstance(yaml_value, dict):
        raise InvalidPreferencesError(f"{path}: {map_name} must be a map")
    return {str(key): value for key, value in (yaml_value or {}).items()}


def _read_texts(path: str, map_name: str, yaml_value: Any) -> Mapping[str, str]:
    return {key: str(value) for key, value in _read_map(path, map_name, yaml_value).items()}


def _read_interval(path: str, value: Any) -> float | None:
    if value is None:
        return None
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0.5 <= value <= 3600:
        raise InvalidPreferencesError(f"{path}: invalid interval {value}: use 0.5 to 3600 seconds")
    return float(value)


def _read_theme(path: str, name: str, value: Any) -> Mapping[str, str]:
    colors = _read_texts(path, f"themes: {name}", value)
    _check_names(f"{path}: themes: {name}", colors, (*_THEME_COLORS, "dark"))
    if "primary" not in colors:
        raise InvalidPreferencesError(f"{path}: themes: {name} needs primary, a color such as '#3D8FD1'")
    return colors
