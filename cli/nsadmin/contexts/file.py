"""The file of contexts: found, read, replaced; without pathlib, as every command looks for it."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

from nsadmin.contexts.records import BadConfig, Context, Contexts

Place = str | os.PathLike[str]
_TOP = ("current", "previous", "contexts")


def path(environ: Mapping[str, str] = os.environ) -> str:
    """NSADMIN_CONFIG, else config.yaml in nsadmin's folder of the user's configuration."""
    given = environ.get("NSADMIN_CONFIG")
    if given:
        return os.path.expanduser(given)
    base = environ.get("XDG_CONFIG_HOME") or "~/.config"
    return os.path.join(os.path.expanduser(base), "nsadmin", "config.yaml")


def load(file: Place) -> Contexts:
    """What a file has; nothing where there is none. BadConfig, with file and key, for what cannot be."""
    try:
        with open(file) as reader:
            text = reader.read()
    except FileNotFoundError:
        return Contexts({})
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfig(f"{file} cannot be read: {error}") from None
    return _read(os.fspath(file), text)


@lru_cache(maxsize=1)
def _read(file: str, text: str) -> Contexts:
    """What a text says. Each line of a batch asks, and YAML is slow."""
    import yaml

    try:
        content = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        # Its own text quotes the file, which may have secrets.
        mark = getattr(error, "problem_mark", None)
        raise BadConfig(f"{file} is no YAML{f' in line {mark.line + 1}' if mark else ''}") from None
    return _contexts(file, content)


def _contexts(file: Place, content: Any) -> Contexts:
    if not isinstance(content, dict) or not isinstance(content.get("contexts") or {}, dict):
        raise BadConfig(f"{file}: contexts has to be a map of names")
    unknown = [key for key in content if key not in _TOP]
    if unknown:
        raise BadConfig(f"{file}: {unknown[0]} is unknown; there are: {', '.join(_TOP)}")
    by_name = {
        str(name): _context(file, name, item) for name, item in (content.get("contexts") or {}).items()
    }
    names = (content.get(key) for key in ("current", "previous"))
    current, previous = (str(name) if str(name) in by_name else None for name in names)
    return Contexts(by_name, current, previous)


def _context(file: Place, name: object, item: Any) -> Context:
    # Where there is no file, there is nothing to be read.
    from nsadmin.contexts import fields

    try:
        return fields.read(item)
    except fields.Wrong as error:
        raise BadConfig(f"{file}: context {name}: {error}") from None


def change(file: Place, step: Callable[[Contexts], Contexts]) -> Contexts:
    """What `step` makes of what the file has, saved; whoever else changes it waits so long. BadConfig."""
    with _alone(os.path.dirname(os.path.realpath(file))):
        found = load(file)
        changed = step(found)
        if changed != found:
            save(file, changed)
    return changed


@contextmanager
def _alone(folder: str) -> Iterator[None]:
    """The folder is held: the file itself is replaced by another one. Some file systems hold nothing."""
    import fcntl

    with suppress(OSError):
        os.makedirs(folder, exist_ok=True)
    descriptor = -1
    try:
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def save(file: Place, contexts: Contexts) -> None:
    """Replace the file, readable for its owner alone. BadConfig where it cannot be written."""
    import yaml

    from nsadmin.client import private_file
    from nsadmin.contexts import fields

    content = {
        "current": contexts.current,
        "previous": contexts.previous,
        "contexts": {name: fields.written(context) for name, context in sorted(contexts.by_name.items())},
    }
    text = yaml.safe_dump(
        {key: value for key, value in content.items() if value is not None}, sort_keys=False
    )
    try:
        os.makedirs(os.path.dirname(os.path.abspath(file)), exist_ok=True)
        private_file.replace_private_file(str(file), text)
    except OSError as error:
        raise BadConfig(f"{file} cannot be written: {error}") from None
