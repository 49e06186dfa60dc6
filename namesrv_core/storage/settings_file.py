"""The configuration file, in the grammar of Java's Properties.

javaproperties is imported where it is used: with it come urllib, http and xml, 3 MiB that a name server
without such a file does without.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from namesrv_core.storage import durable
from namesrv_core.storage.kv_file import CorruptFile


class Item(NamedTuple):
    """One key of a file, with the number of its line."""

    line: int
    key: str
    value: str


def load(path: Path) -> list[Item]:
    """The keys of a file in their order. CorruptFile, OSError (also where there is no file)."""
    text = path.read_text("latin-1")
    from javaproperties import InvalidUEscapeError

    try:
        return list(_items(text))
    except InvalidUEscapeError as error:
        raise CorruptFile(f"{path} is no properties file: {error}") from None


def _items(text: str) -> Iterator[Item]:
    from javaproperties import KeyValue, parse

    line = 1
    for element in parse(text):
        if isinstance(element, KeyValue):
            yield Item(line, element.key, element.value)
        line += element.source.count("\n")


def save(path: Path, items: Mapping[str, str]) -> None:
    """Write the keys so that they read back as they are; on the disk when this returns. OSError."""
    from javaproperties import dumps

    durable.replace(path, dumps(items, timestamp=False).encode("latin-1"))
