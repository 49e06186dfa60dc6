"""The file tui-commands.yaml: aliases, hotkeys and plugins. Each mistake is one line; the rest is used."""

import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core import operator_files
from namesrv_core.file_shapes import (
    Field,
    FileStyle,
    Flag,
    InvalidValue,
    MapOf,
    Parsed,
    Path,
    Record,
    Text,
    read_shape,
)
from nsadmin.command_line import registry
from nsadmin.tui.actions import prompt_parser
from nsadmin.tui.custom_commands.placeholders import PLACEHOLDER_NAMES, list_placeholders

ALL_SCOPES = "all"
_ENTRY_NOUNS = {"aliases": "alias", "hotkeys": "hotkey", "plugins": "plugin"}
_ALIAS_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_KEY_NAME = re.compile(r"(ctrl\+|alt\+|shift\+){0,3}([a-zA-Z]|f[1-9]|f1[0-9]|f20)")


class Plugin(NamedTuple):
    """A command line on a key. `scopes` are the screens where the key works, or `all`."""

    name: str
    key: str
    command_words: Sequence[str]
    scopes: Sequence[str] = (ALL_SCOPES,)
    description: str = ""
    needs_confirmation: bool = False
    runs_in_background: bool = False
    is_read_only: bool = False

    @property
    def summary(self) -> str:
        return self.description or " ".join(self.command_words)

    def works_in(self, scope: str) -> bool:
        return ALL_SCOPES in self.scopes or scope in self.scopes


class CustomCommands(NamedTuple):
    """The valid entries of the file, and a line for each mistake. `hotkeys` are prompt lines by key."""

    aliases: Mapping[str, str] = {}
    hotkeys: Mapping[str, str] = {}
    plugins: Sequence[Plugin] = ()
    error_lines: Sequence[str] = ()


def load_custom_commands(
    file_path: str, screen_names: Sequence[str], taken_keys: Mapping[str, str]
) -> CustomCommands:
    """Read the file. Without a file there are no entries.

    `taken_keys` are the names of bindings by their keys.
    """
    try:
        file_text = operator_files.read_text(file_path, max_characters=operator_files.MAX_CONFIG_CHARACTERS)
    except FileNotFoundError:
        return CustomCommands()
    except (OSError, UnicodeDecodeError) as error:
        reason = operator_files.explain_unreadable(str(file_path), error)
        return CustomCommands(error_lines=[f"{file_path}:1: {reason}"])
    return _FileReader(file_path, screen_names, taken_keys).read_file(file_text)


class _CommandsStyle(FileStyle):
    is_as_written = True
    is_null_empty = True

    def place(self, path: Path) -> str:
        if len(path) < 2:
            return path[0] if path else "the file"
        return ": ".join((f"{_ENTRY_NOUNS[path[0]]} {path[1]}", *path[2:]))

    def at(self, path: Path, problem: str) -> str:
        return f"{self.place(path)}{'' if problem.startswith(':') else ' '}{problem}"

    def at_key(self, path: Path, problem: str) -> str:
        return f"a key of {self.place(path)} must be a text"

    def unknown_key(self, path: Path, known_keys: Collection[str]) -> str:
        place = f"{self.place(path[:-1])}: " if len(path) > 1 else ""
        return f'{place}unknown key "{path[-1]}": use {", ".join(known_keys)}'


class _FileReader:
    def __init__(self, file_path: str, screen_names: Sequence[str], taken_keys: Mapping[str, str]) -> None:
        self._file_path = file_path
        self._screen_names = screen_names
        self._taken_keys = taken_keys
        self._used_keys: dict[str, list[Collection[str]]] = {}

    def read_file(self, file_text: str) -> CustomCommands:
        try:
            document = operator_files.YamlDocument(file_text, is_as_written=True)
        except operator_files.InvalidYaml as error:
            error_line = f"{self._file_path}:{error.line or 1}: {error.problem or 'invalid YAML'}"
            return CustomCommands(error_lines=[error_line])
        style = _CommandsStyle()
        values, mistakes = read_shape(document.value, _FILE, style)
        error_lines = [(document.line_of(m.path, is_about_key=m.is_about_key), m.text) for m in mistakes]
        for bad_key in document.bad_keys:
            *parent, key = bad_key.path if bad_key.is_duplicate else (*bad_key.path, "<<")
            problem = f'has "{key}" twice' if bad_key.is_duplicate else bad_key.problem
            error_lines.append((bad_key.line, style.at(tuple(parent), problem)))
        entries: dict[str, dict[str, Any]] = {section: {} for section in _ENTRY_NOUNS}
        checks: Mapping[str, Callable[[str, Any], tuple[str, Any]]] = {
            "aliases": self._check_alias,
            "hotkeys": self._check_hotkey,
            "plugins": self._check_plugin,
        }
        for section, named_values in values.items():
            for name, value in named_values.items():
                try:
                    entry_name, entry = checks[section](name, value)
                    entries[section][entry_name] = entry
                except _EntryError as error:
                    path = (section, name, *error.keys)
                    line = document.line_of(path, is_about_key=not error.keys)
                    error_lines.append((line, str(error)))
        return CustomCommands(
            entries["aliases"],
            entries["hotkeys"],
            list(entries["plugins"].values()),
            [f"{self._file_path}:{line}: {text}" for line, text in sorted(error_lines)],
        )

    def _check_alias(self, name: str, prompt_line: str) -> tuple[str, str]:
        if not _ALIAS_NAME.fullmatch(name):
            raise _EntryError(f'invalid alias "{name}": use letters, digits, - and _')
        meaning = self._find_meaning(name)
        if meaning is not None:
            raise _EntryError(f'alias "{name}" is already {meaning}')
        return name, prompt_line

    def _find_meaning(self, name: str) -> str | None:
        if name in self._screen_names:
            return "a screen"
        if name in prompt_parser.BUILTIN_COMMANDS or name in prompt_parser.BUILTIN_ALIASES:
            return "a command of the screen"
        if registry.find_command(name) is not None or registry.find_group(name) is not None:
            return "a command of nsadmin"
        return None

    def _check_hotkey(self, name: str, prompt_line: str) -> tuple[str, str]:
        return self._take_key(name, (ALL_SCOPES,)), prompt_line

    def _check_plugin(self, name: str, values: dict[str, Any]) -> tuple[str, Plugin]:
        plugin = Plugin(name, **values)
        for scope in plugin.scopes:
            if scope not in (*self._screen_names, ALL_SCOPES):
                known_scopes = ", ".join((ALL_SCOPES, *self._screen_names))
                raise _EntryError(f'plugin {name}: unknown scope "{scope}": use {known_scopes}', "scopes")
        return name, plugin._replace(key=self._take_key(plugin.key, plugin.scopes, "key"))

    def _take_key(self, key_text: str, scopes: Collection[str], *place: str) -> str:
        """The name that Textual has for a key. Two entries can have one key if they share no scope."""
        key = normalize_key(key_text)
        if key is None:
            raise _EntryError(
                f'invalid key "{key_text}": use a letter, f1 to f20, ctrl+LETTER or alt+LETTER', *place
            )
        if key in self._taken_keys:
            raise _EntryError(f'key "{key_text}" is taken by "{self._taken_keys[key]}"', *place)
        for other_scopes in self._used_keys.get(key, ()):
            if ALL_SCOPES in (*scopes, *other_scopes) or set(scopes) & set(other_scopes):
                raise _EntryError(f'key "{key_text}" is used twice', *place)
        self._used_keys.setdefault(key, []).append(scopes)
        return key


class _EntryError(Exception):
    """An entry contradicts the screen or another one. `keys` lead from the entry to the value that does."""

    def __init__(self, text: str, *keys: str) -> None:
        super().__init__(text)
        self.keys = keys


def normalize_key(key_text: str) -> str | None:
    """The name that Textual has for a key such as Ctrl-T, F5, shift+p or P; None for an invalid one."""
    key_text = key_text.strip()
    *modifiers, letter = [key_text] if len(key_text) == 1 else key_text.replace("-", "+").split("+")
    modifiers = [modifier.lower() for modifier in modifiers]
    letter = letter.lower() if len(letter) > 1 or modifiers else letter
    if modifiers == ["shift"] and len(letter) == 1:
        modifiers, letter = [], letter.upper()
    key = "+".join((*modifiers, letter))
    return key if _KEY_NAME.fullmatch(key) else None


def _parse_text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidValue("must be a text")
    return value.strip()


def _parse_texts(value: Any) -> list[str]:
    if not value:
        raise InvalidValue("must be a list of texts")
    return list(map(_parse_text, value))


def _parse_scopes(value: Any) -> list[str]:
    return _parse_texts(value) if isinstance(value, list) else [_parse_text(value)]


def _parse_command(value: Any) -> list[str]:
    """The words of a command line, from a text or from a list of words."""
    if isinstance(value, list):
        words = _parse_texts(value)
    else:
        try:
            words = shlex.split(_parse_text(value))
        except InvalidValue:
            raise
        except ValueError as error:
            raise InvalidValue(f": {str(error).lower()}") from None
    if not words:
        raise InvalidValue("must be a text")
    for placeholder in list_placeholders(words):
        if placeholder not in PLACEHOLDER_NAMES:
            known_text = ", ".join(f"{{{name}}}" for name in PLACEHOLDER_NAMES)
            raise InvalidValue(f": unknown placeholder {{{placeholder}}}: use {known_text}")
    if list_placeholders(words[:1]):
        raise InvalidValue(": the program itself cannot be a placeholder")
    return words


def _require_plugin_fields(values: dict[str, Any]) -> dict[str, Any]:
    for attribute, key in (("key", "key"), ("command_words", "command")):
        if attribute not in values:
            raise InvalidValue(f"needs {key}")
    return values


_TEXT = Parsed(_parse_text)
_PROMPT_LINE = Parsed(lambda value: _parse_text(value).removeprefix(":"))
_PLUGIN = Record(
    (
        Field("key", _TEXT),
        Field("command", Parsed(_parse_command), attribute="command_words"),
        Field("scopes", Parsed(_parse_scopes)),
        Field("description", _TEXT),
        Field("confirm", Flag(), attribute="needs_confirmation"),
        Field("background", Flag(), attribute="runs_in_background"),
        Field("readOnly", Flag(), attribute="is_read_only"),
    ),
    _require_plugin_fields,
)
_FILE = Record(
    (
        Field("aliases", MapOf(Text(), _PROMPT_LINE)),
        Field("hotkeys", MapOf(Text(), _PROMPT_LINE)),
        Field("plugins", MapOf(Text(), _PLUGIN)),
    )
)
