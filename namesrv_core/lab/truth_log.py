"""The truth log (truth.jsonl): the faults with their times and targets, and the events expected from each."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

FORMAT_VERSION = 1
TRUTH_FILE = "truth.jsonl"


class ExpectedEvent(NamedTuple):
    """An event of one of the `types`, expected on each server of `on` within `within` seconds.

    `where` has values by field name, with dots for nested fields; a list allows any of its values, a map has
    `min` and `max`. `causes` are the allowed causes. There is one event for each broker of `each`. An event
    that is not `sure` may be missing. It depends on the time of the fault between two heartbeats, or on the
    order in which members of a group join or leave.
    """

    types: tuple[str, ...]
    on: tuple[str, ...]
    within: float
    where: Mapping[str, Any] = {}
    causes: tuple[str, ...] = ()
    each: tuple[str, ...] = ()
    sure: bool = True


class Deed(NamedTuple):
    """A line of the log: the begin or the end (`phase`) of a fault, or of the run itself (fault "run").

    `time` is in ms since 1970, `at` in seconds since the start. `on` are brokers or name servers.
    """

    time: int
    at: float
    fault: str
    phase: str
    on: tuple[str, ...] = ()
    details: Mapping[str, Any] = {}
    expected: tuple[ExpectedEvent, ...] = ()


class TruthLog:
    """Writes the file line by line, so that other programs can follow it."""

    def __init__(self, log_path: Path) -> None:
        self.deeds: list[Deed] = []
        self._log_file = log_path.open("a", encoding="utf-8")

    def __enter__(self) -> "TruthLog":
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._log_file.close()

    def append_deed(self, deed: Deed) -> None:
        self.deeds.append(deed)
        self._log_file.write(encode_deed(deed))
        self._log_file.flush()


def encode_deed(deed: Deed) -> str:
    """Encode a deed as a line, with its newline."""
    deed_fields = deed._asdict() | {
        "expected": [_encode_expected(expected_event) for expected_event in deed.expected]
    }
    return json.dumps({"v": FORMAT_VERSION, **deed_fields}) + "\n"


def _encode_expected(expected_event: ExpectedEvent) -> dict[str, Any]:
    return {
        field_name: field_value
        for field_name, field_value in expected_event._asdict().items()
        # No server may be concerned: a fault during which all of them are down.
        if field_value not in ((), {}) or field_name not in ExpectedEvent._field_defaults
    }


def read_deeds(log_path: Path) -> list[Deed]:
    """Read the deeds of a file. Raises ValueError for an invalid file."""
    with log_path.open(encoding="utf-8") as log_file:
        return [_decode_deed(json.loads(json_line)) for json_line in log_file]


def _decode_deed(json_object: dict[str, Any]) -> Deed:
    if json_object.pop("v", None) != FORMAT_VERSION:
        raise ValueError(f"a line with another version than {FORMAT_VERSION}")
    expected_events = tuple(
        ExpectedEvent(**_lists_to_tuples(expected_object)) for expected_object in json_object.pop("expected")
    )
    return Deed(**_lists_to_tuples(json_object), expected=expected_events)


def _lists_to_tuples(json_object: dict[str, Any]) -> dict[str, Any]:
    """Convert lists to tuples, because JSON has no tuples."""
    return {
        field_name: tuple(field_value) if isinstance(field_value, list) else field_value
        for field_name, field_value in json_object.items()
    }


def limit_certainty(expected_events: Iterable[ExpectedEvent], is_sure: bool) -> Sequence[ExpectedEvent]:
    """The same expected events, all of them uncertain unless `is_sure`."""
    return [
        expected_event._replace(sure=expected_event.sure and is_sure) for expected_event in expected_events
    ]
