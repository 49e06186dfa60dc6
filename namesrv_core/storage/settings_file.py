"""The configuration file, in the format of Java's Properties.

javaproperties is imported inside functions. It loads urllib, http and xml, 3 MiB that a name server without
a configuration file does not need.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from namesrv_core.storage import atomic_write
from namesrv_core.storage.kv_file import CorruptFileError


class SettingItem(NamedTuple):
    """A key and its value, with the number of its line."""

    line_number: int
    key: str
    value: str


def load_setting_items(path: Path) -> list[SettingItem]:
    text = path.read_text("latin-1")
    from javaproperties import InvalidUEscapeError

    try:
        return list(_parse_items(text))
    except InvalidUEscapeError as error:
        raise CorruptFileError(f'invalid properties file "{path}": {error}') from None


def _parse_items(text: str) -> Iterator[SettingItem]:
    from javaproperties import KeyValue, parse

    line_number = 1
    for element in parse(text):
        if isinstance(element, KeyValue):
            yield SettingItem(line_number, element.key, element.value)
        line_number += element.source.count("\n")


def save_settings(path: Path, items: Mapping[str, str]) -> None:
    """Write the items durably. Raises OSError."""
    from javaproperties import dumps

    atomic_write.replace_file(path, dumps(items, timestamp=False).encode("latin-1"))
