"""Turns the arguments of a tool into the words of a command line."""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from nsadmin.command_line.declarations import command_parameters
from nsadmin.commands.mcp.exposed_commands import FIXED_ARGUMENTS
from nsadmin.commands.mcp.served_files import ServedFolder
from nsadmin.commands.mcp.tool_parameters import CLIENT_FILES, OMITTED_VALUES, format_option
from nsadmin.commands.mcp.tool_schemas import CommandTool


class InvalidArgumentsError(Exception):
    """The arguments of a tool are wrong. The text is one line that says what to change."""


def validate_arguments(tool_name: str, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Check arguments against the schema of a tool.

    Raises:
        InvalidArgumentsError: They do not match.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(schema).iter_errors(arguments))
    if error is not None:
        path = ".".join(map(str, error.absolute_path))
        label = f'argument "{path}": ' if path else ""
        raise InvalidArgumentsError(f"{tool_name}: {label}{error.message[:300]}")
    for text in _iter_texts(arguments):
        if "\0" in text or not _is_encodable(text):
            raise InvalidArgumentsError(f"{tool_name}: an argument contains a NUL or invalid Unicode")


def _iter_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from _iter_texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _iter_texts(member)


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class CommandWords(NamedTuple):
    """The words of a command line from the command's name on, and the paths in it by the client's names."""

    words: list[str]
    names_by_path: Mapping[str, str]

    def hide_paths(self, text: str) -> str:
        """Replace paths of this machine with the names that the client used."""
        for path, name in self.names_by_path.items():
            text = text.replace(path, name)
        return text


@contextmanager
def build_command_words(
    tool: CommandTool, arguments: Mapping[str, Any], folder: ServedFolder | None
) -> Iterator[CommandWords]:
    """Yield the words of the command line. Files that the client sent exist until the end.

    Raises:
        InvalidArgumentsError: A file is not in the folder of --files.
    """
    command_name = tool.exposed.entry.name
    words, names_by_path = [command_name], dict[str, str]()
    with ExitStack() as client_files:
        for name, parameter, kind, *_ in tool.parameters:
            path = f"{command_name}.{parameter.name}"
            value = given_value = arguments.get(name, OMITTED_VALUES.get(path))
            if value is None:
                continue
            if kind == "folder-file":
                value = _find_folder_file(given_value, folder)
                names_by_path[value] = given_value
            elif kind == "client-file":
                value = client_files.enter_context(_write_client_file(given_value, CLIENT_FILES[path]))
                names_by_path[value] = name
            words += format_option(parameter, value)
        if not tool.exposed.is_change:
            words += _format_fixed_arguments(tool)
        if tool.selects_rows:
            words += _format_selection(arguments)
        words.append("--format=json" if tool.exposed.entry.kind == "check" else "--output=json")
        yield CommandWords(words, names_by_path)


def describe_command(tool: CommandTool, arguments: Mapping[str, Any]) -> str:
    """Return the command line that an operator would type, with names instead of paths."""
    import shlex

    words = [f"nsadmin {tool.exposed.entry.typed_name}"]
    for name, parameter, kind, *_ in tool.parameters:
        if name in arguments:
            value = arguments[name]
            if kind == "client-file":
                value = f"({len(value)} characters)"
            words += map(shlex.quote, format_option(parameter, value))
    return " ".join(words)


def _find_folder_file(file_name: str, folder: ServedFolder | None) -> str:
    file_path = None if folder is None else folder.find_path(file_name)
    if file_path is None:
        raise InvalidArgumentsError(f'no file "{file_name}": use one of the resources nsadmin://files/NAME')
    return file_path


@contextmanager
def _write_client_file(content: str, file_ending: str) -> Iterator[str]:
    descriptor, file_path = tempfile.mkstemp(file_ending, "nsadmin-mcp-")
    try:
        with open(descriptor, "w", encoding="utf-8") as client_file:
            client_file.write(content)
        yield file_path
    finally:
        os.unlink(file_path)


def _format_fixed_arguments(tool: CommandTool) -> list[str]:
    fixed = FIXED_ARGUMENTS.get(tool.exposed.entry.name, {})
    parameters = command_parameters(tool.exposed.function)
    return [word for p in parameters if p.name in fixed for word in format_option(p, fixed[p.name])]


def _format_selection(arguments: Mapping[str, Any]) -> list[str]:
    words = [f"--{name}={arguments[name]}" for name in ("columns", "sort") if name in arguments]
    conditions: Sequence[str] = arguments.get("filter", ())
    return [*words, *(f"--filter={condition}" for condition in conditions)]
