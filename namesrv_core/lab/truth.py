"""truth.jsonl: what was done when, on what, and what an ideal observer concludes of it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

VERSION = 1
FILE = "truth.jsonl"


class Expected(NamedTuple):
    """Events that one of `types` has to have, on each server of `on`, `within` seconds.

    `where` are values by the names of fields, with dots into records and lists; a list means one of them, a
    map has `min` and `max`. `causes` are those that count. There is one event for each broker of `each`.
    What is not `sure` may be seen or not: that depends on where between two heartbeats the fault came, or
    on who of a group comes or goes first.
    """

    types: tuple[str, ...]
    on: tuple[str, ...]
    within: float
    where: Mapping[str, Any] = {}
    causes: tuple[str, ...] = ()
    each: tuple[str, ...] = ()
    sure: bool = True


class Deed(NamedTuple):
    """A line: `phase` is "begin" or "end" of `fault`, or of the run itself (fault "run").

    `time` is ms since 1970, `at` seconds of the scenario. `on` are brokers or name servers.
    """

    time: int
    at: float
    fault: str
    phase: str
    on: tuple[str, ...] = ()
    details: Mapping[str, Any] = {}
    expected: tuple[Expected, ...] = ()


class Truth:
    """Writes the file, a line at a time, so that it can be followed."""

    def __init__(self, path: Path) -> None:
        self.deeds: list[Deed] = []
        self._file = path.open("a", encoding="utf-8")

    def __enter__(self) -> "Truth":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def tell(self, deed: Deed) -> None:
        self.deeds.append(deed)
        self._file.write(line(deed))
        self._file.flush()


def line(deed: Deed) -> str:
    """A deed as a line, with its end."""
    shown = deed._asdict() | {"expected": [_shown(item) for item in deed.expected]}
    return json.dumps({"v": VERSION, **shown}) + "\n"


def _shown(item: Expected) -> dict[str, Any]:
    return {key: value for key, value in item._asdict().items() if value not in ((), {})}


def read(path: Path) -> list[Deed]:
    """What a file says; ValueError for what is none."""
    with path.open(encoding="utf-8") as file:
        return [_deed(json.loads(text)) for text in file]


def _deed(value: dict[str, Any]) -> Deed:
    if value.pop("v", None) != VERSION:
        raise ValueError(f"a line of a version other than {VERSION}")
    expected = tuple(Expected(**_tuples(item)) for item in value.pop("expected"))
    return Deed(**_tuples(value), expected=expected)


def _tuples(value: dict[str, Any]) -> dict[str, Any]:
    """JSON has no tuples."""
    return {key: tuple(item) if isinstance(item, list) else item for key, item in value.items()}


def sure(items: Iterable[Expected], is_sure: bool) -> Sequence[Expected]:
    """The same, and none of them sure unless `is_sure`."""
    return [item._replace(sure=item.sure and is_sure) for item in items]
