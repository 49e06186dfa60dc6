"""Contexts: clusters by name, kept in a file, so that an operator says `--context prod` and not addresses.

Which setting wins is decided in `Session`: what was given, then the environment, then the context.
"""

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

_KEYS = ("namesrvAddr", "timeout", "output", "readOnly")


class BadConfig(Exception):
    """The file of contexts cannot be used, or has no such context; the text is one line that says why."""


class Context(NamedTuple):
    """What is known of one cluster; None is left to the environment and to defaults.

    `timeout` is in seconds. In a `read_only` context every change is refused.
    """

    namesrv_addr: str | None = None
    timeout: float | None = None
    output: str | None = None
    read_only: bool = False


class Contexts(NamedTuple):
    """All contexts by name, the one in use, and the one that was in use before."""

    by_name: Mapping[str, Context]
    current: str | None = None
    previous: str | None = None

    def named(self, name: str) -> Context:
        """BadConfig, with the names there are, for an unknown one."""
        found = self.by_name.get(name)
        if found is None:
            known = (
                ", ".join(sorted(self.by_name)) or "none yet: nsadmin contextSet NAME -n HOST:PORT makes one"
            )
            raise BadConfig(f"no context {name!r}{_meant(name, self.by_name)}; there are: {known}")
        return found

    def using(self, name: str) -> "Contexts":
        """With another one in use; "-" is the one of before."""
        if name == "-":
            if self.previous is None:
                raise BadConfig("there is no context of before")
            name = self.previous
        self.named(name)
        if name == self.current:
            return self
        return self._replace(current=name, previous=self.current)

    def with_context(self, name: str, context: Context) -> "Contexts":
        return self._replace(by_name={**self.by_name, name: context})

    def without(self, name: str) -> "Contexts":
        self.named(name)
        return Contexts(
            {other: context for other, context in self.by_name.items() if other != name},
            None if self.current == name else self.current,
            None if self.previous == name else self.previous,
        )


def _meant(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known)
    return f": did you mean {' or '.join(near)}?" if near else ""


def path(environ: Mapping[str, str] = os.environ) -> Path:
    """NSADMIN_CONFIG, else config.yaml in nsadmin's folder of the user's configuration."""
    given = environ.get("NSADMIN_CONFIG")
    if given:
        return Path(given).expanduser()
    base = environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "nsadmin" / "config.yaml"


def load(file: Path) -> Contexts:
    """What a file has; nothing where there is none. BadConfig, with file and key, for what cannot be."""
    try:
        text = file.read_text()
    except FileNotFoundError:
        return Contexts({})
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfig(f"{file} cannot be read: {error}") from None
    import yaml

    try:
        content = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise BadConfig(f"{file} is no YAML: {' '.join(str(error).split())}") from None
    return _contexts(file, content)


def _contexts(file: Path, content: Any) -> Contexts:
    if not isinstance(content, dict) or not isinstance(content.get("contexts") or {}, dict):
        raise BadConfig(f"{file}: contexts has to be a map of names")
    by_name = {
        str(name): _context(file, name, item) for name, item in (content.get("contexts") or {}).items()
    }
    names = (content.get(key) for key in ("current", "previous"))
    current, previous = (str(name) if str(name) in by_name else None for name in names)
    return Contexts(by_name, current, previous)


def _context(file: Path, name: object, item: Any) -> Context:
    where = f"{file}: context {name}"
    if not isinstance(item, dict):
        raise BadConfig(f"{where} has to be a map")
    unknown = [key for key in item if key not in _KEYS]
    if unknown:
        raise BadConfig(f"{where}: {unknown[0]} is unknown; there are: {', '.join(_KEYS)}")
    addr, output = (None if item.get(key) is None else str(item[key]) for key in ("namesrvAddr", "output"))
    timeout, read_only = item.get("timeout"), item.get("readOnly", False)
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, (int, float))):
        raise BadConfig(f"{where}: timeout has to be a number of seconds")
    if not isinstance(read_only, bool):
        raise BadConfig(f"{where}: readOnly has to be true or false")
    return Context(addr, None if timeout is None else float(timeout), output, read_only)


def save(file: Path, contexts: Contexts) -> None:
    """Replace the file, readable for its owner alone. BadConfig where it cannot be written."""
    import yaml

    content = {
        "current": contexts.current,
        "previous": contexts.previous,
        "contexts": {name: _plain(context) for name, context in sorted(contexts.by_name.items())},
    }
    text = yaml.safe_dump(
        {key: value for key, value in content.items() if value is not None}, sort_keys=False
    )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, fresh = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        with os.fdopen(descriptor, "w") as writer:
            writer.write(text)
        os.replace(fresh, file)
    except OSError as error:
        raise BadConfig(f"{file} cannot be written: {error}") from None


def _plain(context: Context) -> dict[str, object]:
    values = zip(_KEYS, context, strict=True)
    return {key: value for key, value in values if value is not None and value is not False}
