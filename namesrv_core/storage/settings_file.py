"""The configuration file, in the grammar of Java's Properties.

javaproperties is imported where it is used: with it come urllib, http and xml, 3 MiB that a name server
without such a file does without.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from namesrv_core.storage import atomic_write
from namesrv_core.storage.kv_file import CorruptFileError


class SettingItem(NamedTuple):
    """One key of a file, with the number of its line."""

    line_number: int
    key: str
    value: str


def load_setting_items(file_path: Path) -> list[SettingItem]:
    """The keys of a file in their order. CorruptFile, OSError (also where there is no file)."""
    file_text = file_path.read_text("latin-1")
    from javaproperties import InvalidUEscapeError

    try:
        return list(_parse_items(file_text))
    except InvalidUEscapeError as error:
        raise CorruptFileError(f"{file_path} is no properties file: {error}") from None


def _parse_items(file_text: str) -> Iterator[SettingItem]:
    from javaproperties import KeyValue, parse

    line_number = 1
    for file_element in parse(file_text):
        if isinstance(file_element, KeyValue):
            yield SettingItem(line_number, file_element.key, file_element.value)
        line_number += file_element.source.count("\n")


def save_settings(file_path: Path, setting_items: Mapping[str, str]) -> None:
    """Write the keys so that they read back as they are; on the disk when this returns. OSError."""
    from javaproperties import dumps

    atomic_write.replace_file(file_path, dumps(setting_items, timestamp=False).encode("latin-1"))
