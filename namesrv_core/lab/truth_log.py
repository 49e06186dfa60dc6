"""The truth log (truth.jsonl): the faults with their times and targets, and the events expected from each."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

FORMAT_VERSION = 1
TRUTH_FILE = "truth.jsonl"

_FILE_KEYS = {
    "time_ms": "time",
    "after_seconds": "at",
    "target_names": "on",
    "server_names": "on",
    "within_seconds": "within",
    "field_values": "where",
    "broker_id_texts": "each",
    "is_sure": "sure",
}
"""The keys of fields that have another name in the file. Deeds and expected events both have the key `on`."""


class ExpectedEvent(NamedTuple):
    """An event of one of the `types`, expected on each of the servers within `within_seconds`.

    `field_values` are the expected values by field name, with dots for nested fields. A list allows any of
    its values, a map has `min` and `max`. `causes` are the allowed causes. One event is expected for each
    broker of `broker_id_texts` ("NAME:ID"). If `is_sure` is False, the event may be missing: it depends on
    the time of the fault between two heartbeats, or on the order in which members of a group join or leave.
    """

    types: tuple[str, ...]
    server_names: tuple[str, ...]
    within_seconds: float
    field_values: Mapping[str, Any] = {}
    causes: tuple[str, ...] = ()
    broker_id_texts: tuple[str, ...] = ()
    is_sure: bool = True


class Deed(NamedTuple):
    """A line of the log: the begin or the end (`phase`) of a fault, or of the run itself (fault "run").

    `time_ms` is in ms since 1970, `after_seconds` is the time since the start. `target_names` are brokers or
    name servers.
    """

    time_ms: int
    after_seconds: float
    fault: str
    phase: str
    target_names: tuple[str, ...] = ()
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
    deed_fields = deed._asdict() | {"expected": [_encode_expected(e) for e in deed.expected]}
    return json.dumps({"v": FORMAT_VERSION, **_rename_fields(deed_fields)}) + "\n"


def _rename_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {_FILE_KEYS.get(field_name, field_name): field_value for field_name, field_value in fields.items()}


def _encode_expected(expected_event: ExpectedEvent) -> dict[str, Any]:
    return _rename_fields(
        {
            field_name: field_value
            for field_name, field_value in expected_event._asdict().items()
            # `server_names` may be empty: if all servers are down during a fault, no event is expected.
            if field_value not in ((), {}) or field_name not in ExpectedEvent._field_defaults
        }
    )


def read_deeds(log_path: Path) -> list[Deed]:
    """Read the deeds of a file. Raises ValueError for an invalid file."""
    with log_path.open(encoding="utf-8") as log_file:
        return [_decode_deed(json.loads(json_line)) for json_line in log_file]


def _decode_deed(json_object: dict[str, Any]) -> Deed:
    if json_object.pop("v", None) != FORMAT_VERSION:
        raise ValueError(f"a line with another version than {FORMAT_VERSION}")
    expected_events = tuple(
        ExpectedEvent(**_decode_fields(ExpectedEvent._fields, expected_object))
        for expected_object in json_object.pop("expected")
    )
    return Deed(**_decode_fields(Deed._fields, json_object), expected=expected_events)


def _decode_fields(field_names: Iterable[str], json_object: Mapping[str, Any]) -> dict[str, Any]:
    """Rename the keys to field names, and convert lists to tuples, because JSON has no tuples."""
    names_by_key = {_FILE_KEYS.get(field_name, field_name): field_name for field_name in field_names}
    return {
        names_by_key.get(json_key, json_key): tuple(value) if isinstance(value, list) else value
        for json_key, value in json_object.items()
    }
