"""The file tui-commands.yaml: aliases, hotkeys and plugins. Each mistake is one line; the rest is used."""

import os
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from namesrv_core import operator_files
from nsadmin.command_line import registry
from nsadmin.tui.actions import prompt_parser
from nsadmin.tui.custom_commands import yaml_nodes
from nsadmin.tui.custom_commands.placeholders import PLACEHOLDER_MEANINGS, list_placeholders
from nsadmin.tui.custom_commands.yaml_nodes import NodeError, line_of

if TYPE_CHECKING:
    from yaml.nodes import Node

ALL_SCOPES = "all"
_SECTIONS = ("aliases", "hotkeys", "plugins")
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

    def works_in(self, scope: str) -> bool:
        return ALL_SCOPES in self.scopes or scope in self.scopes


class CustomCommands(NamedTuple):
    """The valid entries of the file, and a line for each mistake. `hotkeys` are prompt lines by key."""

    aliases: Mapping[str, str] = {}
    hotkeys: Mapping[str, str] = {}
    plugins: Sequence[Plugin] = ()
    error_lines: Sequence[str] = ()


def commands_path(contexts_file: str) -> str:
    """The path of tui-commands.yaml, which lies in the folder of the contexts file."""
    return os.path.join(os.path.dirname(contexts_file), "tui-commands.yaml")


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
        return CustomCommands(error_lines=[f"{file_path}:1: the file is not readable: {error}"])
    return _FileReader(file_path, screen_names, taken_keys).read_file(file_text)


class _FileReader:
    """Reads one file and collects its mistakes."""

    def __init__(self, file_path: str, screen_names: Sequence[str], taken_keys: Mapping[str, str]) -> None:
        self._file_path = file_path
        self._screen_names = screen_names
        self._taken_keys = taken_keys
        self._error_lines: list[tuple[int, str]] = []
        self._used_keys: dict[str, list[Collection[str]]] = {}

    def read_file(self, file_text: str) -> CustomCommands:
        sections: dict[str, dict[str, Any]] = {section: {} for section in _SECTIONS}
        readers: Mapping[str, Callable[[str, Node, Node], tuple[str, Any]]] = {
            "aliases": self._read_alias,
            "hotkeys": self._read_hotkey,
            "plugins": self._read_plugin,
        }
        for section, _, section_node in self._list_sections(file_text):
            for name, key_node, value_node in self._list_valid_entries(section_node, section):
                try:
                    entry_name, entry = readers[section](name, key_node, value_node)
                    if entry_name in sections[section]:
                        raise NodeError(line_of(key_node), f'{section} has "{name}" twice')
                    sections[section][entry_name] = entry
                except NodeError as error:
                    self._error_lines.append((error.line, str(error)))
        return CustomCommands(
            sections["aliases"],
            sections["hotkeys"],
            list(sections["plugins"].values()),
            [f"{self._file_path}:{line}: {text}" for line, text in sorted(self._error_lines)],
        )

    def _list_sections(self, file_text: str) -> Iterator[tuple[str, "Node", "Node"]]:
        try:
            root_node = yaml_nodes.parse_nodes(file_text)
        except NodeError as error:
            self._error_lines.append((error.line, str(error)))
            return
        if root_node is not None:
            for section_entry in self._list_valid_entries(root_node, "the file"):
                if section_entry[0] in _SECTIONS:
                    yield section_entry
                else:
                    self._error_lines.append(
                        (
                            line_of(section_entry[1]),
                            f'unknown key "{section_entry[0]}": use {", ".join(_SECTIONS)}',
                        )
                    )

    def _list_valid_entries(self, node: "Node", map_name: str) -> Iterator[tuple[str, "Node", "Node"]]:
        try:
            yield from yaml_nodes.list_entries(node, map_name)
        except NodeError as error:
            self._error_lines.append((error.line, str(error)))

    # The entries.

    def _read_alias(self, name: str, key_node: "Node", value_node: "Node") -> tuple[str, str]:
        if not _ALIAS_NAME.fullmatch(name):
            raise NodeError(line_of(key_node), f'invalid alias "{name}": use letters, digits, - and _')
        meaning = self._find_meaning(name)
        if meaning is not None:
            raise NodeError(line_of(key_node), f'alias "{name}" is already {meaning}')
        return name, yaml_nodes.read_text(value_node, f"alias {name}").removeprefix(":")

    def _find_meaning(self, name: str) -> str | None:
        if name in self._screen_names:
            return "a screen"
        if name in prompt_parser.BUILTIN_COMMANDS or name in prompt_parser.BUILTIN_ALIASES:
            return "a command of the screen"
        if registry.find_command(name) is not None or registry.find_group(name) is not None:
            return "a command of nsadmin"
        return None

    def _read_hotkey(self, name: str, key_node: "Node", value_node: "Node") -> tuple[str, str]:
        prompt_line = yaml_nodes.read_text(value_node, f"hotkey {name}").removeprefix(":")
        return self._take_key(name, line_of(key_node), (ALL_SCOPES,)), prompt_line

    def _read_plugin(self, name: str, key_node: "Node", value_node: "Node") -> tuple[str, Plugin]:
        field_nodes = {
            field_name: (field_key_node, field_node)
            for field_name, field_key_node, field_node in yaml_nodes.list_entries(
                value_node, f"plugin {name}"
            )
        }
        for field_name, (field_key_node, _) in field_nodes.items():
            if field_name not in _PLUGIN_FIELDS:
                raise NodeError(
                    line_of(field_key_node),
                    f'plugin {name}: unknown key "{field_name}": use {", ".join(_PLUGIN_FIELDS)}',
                )
        for field_name in ("key", "command"):
            if field_name not in field_nodes:
                raise NodeError(line_of(key_node), f"plugin {name} needs {field_name}")
        values = {
            field_name: _PLUGIN_FIELDS[field_name](field_node, f"plugin {name}: {field_name}")
            for field_name, (_, field_node) in field_nodes.items()
        }
        scopes = values.get("scopes", [ALL_SCOPES])
        known_scopes = ", ".join((ALL_SCOPES, *self._screen_names))
        for scope in scopes:
            if scope not in (*self._screen_names, ALL_SCOPES):
                raise NodeError(
                    line_of(field_nodes["scopes"][1]),
                    f'plugin {name}: unknown scope "{scope}": use {known_scopes}',
                )
        key = self._take_key(values["key"], line_of(field_nodes["key"][1]), scopes)
        return name, Plugin(
            name,
            key,
            values["command"],
            scopes,
            values.get("description", ""),
            values.get("confirm", False),
            values.get("background", False),
            values.get("readOnly", False),
        )

    def _take_key(self, key_text: str, line: int, scopes: Collection[str]) -> str:
        """The name that Textual has for a key. Two entries can have one key if they share no scope."""
        key = normalize_key(key_text)
        if key is None:
            raise NodeError(
                line, f'invalid key "{key_text}": use a letter, f1 to f20, ctrl+LETTER or alt+LETTER'
            )
        if key in self._taken_keys:
            raise NodeError(line, f'key "{key_text}" is taken by "{self._taken_keys[key]}"')
        for other_scopes in self._used_keys.get(key, ()):
            if ALL_SCOPES in (*scopes, *other_scopes) or set(scopes) & set(other_scopes):
                raise NodeError(line, f'key "{key_text}" is used twice')
        self._used_keys.setdefault(key, []).append(scopes)
        return key


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


def _read_scopes(node: "Node", field_name: str) -> list[str]:
    return (
        yaml_nodes.read_texts(node, field_name)
        if yaml_nodes.is_list(node)
        else [yaml_nodes.read_text(node, field_name)]
    )


def _read_command(node: "Node", field_name: str) -> list[str]:
    """The words of a command line, from a text or from a list of words."""
    if yaml_nodes.is_list(node):
        command_words = yaml_nodes.read_texts(node, field_name)
    else:
        try:
            command_words = shlex.split(yaml_nodes.read_text(node, field_name))
        except ValueError as error:
            raise NodeError(line_of(node), f"{field_name}: {str(error).lower()}") from None
    if not command_words:
        raise NodeError(line_of(node), f"{field_name} must be a text")
    for placeholder in list_placeholders(command_words):
        if placeholder not in PLACEHOLDER_MEANINGS:
            known_text = ", ".join(f"{{{name}}}" for name in PLACEHOLDER_MEANINGS)
            raise NodeError(
                line_of(node), f"{field_name}: unknown placeholder {{{placeholder}}}: use {known_text}"
            )
    if list_placeholders(command_words[:1]):
        raise NodeError(line_of(node), f"{field_name}: the program itself cannot be a placeholder")
    return command_words


_PLUGIN_FIELDS: Mapping[str, Callable[["Node", str], Any]] = {
    "key": yaml_nodes.read_text,
    "command": _read_command,
    "scopes": _read_scopes,
    "description": yaml_nodes.read_text,
    "confirm": yaml_nodes.read_flag,
    "background": yaml_nodes.read_flag,
    "readOnly": yaml_nodes.read_flag,
}
