"""Owns the file of contexts. Every command reads it, so this module does not load pathlib."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

from namesrv_core import operator_files
from nsadmin.console.contexts.context_records import Context, Contexts, InvalidContextsError

ContextsPath = str | os.PathLike[str]
_TOP_KEYS = ("current", "previous", "contexts")


def contexts_path(environ: Mapping[str, str] = os.environ) -> str:
    """Return the path: NSADMIN_CONFIG, else config.yaml in nsadmin's folder of the user's configuration."""
    given_path = environ.get("NSADMIN_CONFIG")
    if given_path:
        return os.path.expanduser(given_path)
    config_home = environ.get("XDG_CONFIG_HOME") or "~/.config"
    return os.path.join(os.path.expanduser(config_home), "nsadmin", "config.yaml")


def load_contexts(contexts_file: ContextsPath) -> Contexts:
    """Load a file; empty without a file. InvalidContextsError, with file and key, if it is invalid."""
    try:
        file_text = operator_files.read_text(
            contexts_file, max_characters=operator_files.MAX_CONFIG_CHARACTERS, encoding=None
        )
    except FileNotFoundError:
        return Contexts({})
    except IsADirectoryError:
        raise InvalidContextsError(
            f"{contexts_file} is a folder: set NSADMIN_CONFIG to a file, such as "
            f"{os.path.join(contexts_file, 'config.yaml')}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidContextsError(
            operator_files.explain_unreadable(os.fspath(contexts_file), error)
        ) from None
    return _parse_file_text(os.fspath(contexts_file), file_text)


@lru_cache(maxsize=1)
def _parse_file_text(file_name: str, file_text: str) -> Contexts:
    """Parse the text. Each line of a batch needs it and YAML is slow, so the result is cached."""
    try:
        content = operator_files.YamlDocument(file_text).value or {}
    except operator_files.InvalidYaml as error:
        # The text of the error quotes the file, which may contain secrets.
        raise InvalidContextsError(f"{file_name} is not valid YAML{error.in_line}") from None
    if not isinstance(content, dict) or not isinstance(content.get("contexts") or {}, dict):
        raise InvalidContextsError(f"{file_name}: contexts must be a map of names")
    keys = [key for key in content if key not in _TOP_KEYS]
    if keys:
        raise InvalidContextsError(f'{file_name}: unknown key "{keys[0]}": use {", ".join(_TOP_KEYS)}')
    contexts_by_name = {
        str(name): _parse_one_context(file_name, name, value)
        for name, value in (content.get("contexts") or {}).items()
    }
    current_name, previous_name = (
        str(name) if str(name) in contexts_by_name else None
        for name in (content.get("current"), content.get("previous"))
    )
    return Contexts(contexts_by_name, current_name, previous_name)


def _parse_one_context(file_name: str, context_name: object, value: Any) -> Context:
    # Imported late: without contexts in the file it is not needed.
    from nsadmin.console.contexts import context_fields

    try:
        return context_fields.parse_context(value)
    except context_fields.InvalidContextValue as error:
        raise InvalidContextsError(f"{file_name}: context {context_name}: {error}") from None


def change_contexts(contexts_file: ContextsPath, change_step: Callable[[Contexts], Contexts]) -> Contexts:
    """Apply `change_step` to the contexts, and save the result; other processes that change it wait.

    Raises InvalidContextsError if the file cannot be read or written.
    """
    with _lock_folder(os.path.dirname(os.path.realpath(contexts_file))):
        saved_contexts = load_contexts(contexts_file)
        changed_contexts = change_step(saved_contexts)
        if changed_contexts != saved_contexts:
            save_contexts(contexts_file, changed_contexts)
    return changed_contexts


@contextmanager
def _lock_folder(folder: str) -> Iterator[None]:
    """Lock the folder, because the file itself is replaced. Some file systems have no locks."""
    import fcntl

    with suppress(OSError):
        os.makedirs(folder, exist_ok=True)
    folder_descriptor = -1
    try:
        with suppress(OSError):
            folder_descriptor = os.open(folder, os.O_RDONLY)
            fcntl.flock(folder_descriptor, fcntl.LOCK_EX)
        yield
    finally:
        if folder_descriptor >= 0:
            os.close(folder_descriptor)


def save_contexts(contexts_file: ContextsPath, contexts: Contexts) -> None:
    """Replace the file; only its owner can read it. InvalidContextsError if it cannot be written."""
    import yaml

    from nsadmin.client import private_file
    from nsadmin.console.contexts import context_fields

    yaml_content = {
        "current": contexts.current_name,
        "previous": contexts.previous_name,
        "contexts": {
            n: context_fields.context_to_map(c) for n, c in sorted(contexts.contexts_by_name.items())
        },
    }
    yaml_text = yaml.safe_dump(
        {top_key: top_value for top_key, top_value in yaml_content.items() if top_value is not None},
        sort_keys=False,
    )
    try:
        os.makedirs(os.path.dirname(os.path.abspath(contexts_file)), exist_ok=True)
        private_file.replace_private_file(str(contexts_file), yaml_text)
    except OSError as error:
        raise InvalidContextsError(f"cannot write {contexts_file}: {error.strerror}") from None
