"""The user's preferences from tui.yaml: theme, interval, keys, and custom themes."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from namesrv_core import operator_files
from namesrv_core.file_shapes import Field, FileStyle, InvalidValue, MapOf, Parsed, Path, Record, read_shape

DEFAULT_THEME = "nsadmin-dark"
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


def load_preferences(path: str, binding_ids: Collection[str]) -> Preferences:
    """Read the preferences, or return the defaults if there is no file.

    `binding_ids` are the valid ids of key bindings. Raises InvalidPreferencesError.
    """
    try:
        text = operator_files.read_text(path, max_characters=operator_files.MAX_CONFIG_CHARACTERS)
        content = operator_files.YamlDocument(text).value or {}
    except FileNotFoundError:
        return Preferences()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidPreferencesError(operator_files.explain_unreadable(path, error)) from None
    except operator_files.InvalidYaml as error:
        raise InvalidPreferencesError(f"{path} is not valid YAML{error.in_line}") from None
    shape = _describe_file(binding_ids)
    if not isinstance(content, dict):
        keys = ", ".join(field.key for field in shape.fields)
        raise InvalidPreferencesError(f"{path} must be a map: {keys}")
    values, mistakes = read_shape(content, shape, _PreferencesStyle())
    if mistakes:
        raise InvalidPreferencesError(f"{path}: {mistakes[0].text}")
    return Preferences(**values)


class _PreferencesStyle(FileStyle):
    is_null_empty = True
    is_null_absent = True

    def place(self, path: Path) -> str:
        return ": ".join(path)

    def at(self, path: Path, problem: str) -> str:
        return problem if path == ("interval",) else super().at(path, problem)

    def unknown_key(self, path: Path, known_keys: Collection[str]) -> str:
        return self.place((*path[:-1], f'unknown key "{path[-1]}": choose from {", ".join(known_keys)}'))

    def missing(self, field: Field) -> str:
        return f"needs {field.key}, {field.meaning}"


def _describe_file(binding_ids: Collection[str]) -> Record:
    text = Parsed(str)
    primary, *other_colors = _THEME_COLORS
    theme_fields = (
        Field(primary, text, "a color such as '#3D8FD1'", is_required=True),
        *(Field(name, text) for name in (*other_colors, "dark")),
    )
    return Record(
        (
            Field("theme", Parsed(lambda value: str(value or DEFAULT_THEME))),
            Field("interval", Parsed(_parse_interval)),
            Field("keys", Record(Field(binding_id, text) for binding_id in binding_ids)),
            Field("themes", MapOf(text, Record(theme_fields))),
        )
    )


def _parse_interval(value: Any) -> float:
    if type(value) not in (int, float) or not 0.5 <= value <= 3600:
        raise InvalidValue(f"invalid interval {value}: use 0.5 to 3600 seconds")
    return float(value)
