"""The schema as programs and people read it, against what is really written."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from namesrv_core.events import EVENT_TYPES_BY_NAME, Event, KvPut
from namesrv_core.history.record_lines import encode_record_line
from namesrv_core.history.record_schema import (
    FIELD_MEANINGS,
    build_document_tables,
    build_record_schema,
    record_schema_text,
)
from namesrv_core.history.records import RecordOrigin

DOCS = Path(__file__).parents[3] / "docs" / "reference"
SCHEMA = build_record_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def written(event: Event) -> dict[str, Any]:
    return dict(json.loads(encode_record_line(1, "s", RecordOrigin(1, "test", "h:1"), event)))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_record_with_something_missing_or_of_another_type_is_not() -> None:
    for kind in EVENT_TYPES_BY_NAME.values():
        rule = SCHEMA["$defs"][kind.__name__]
        assert not VALIDATOR.is_valid({**BARE, "type": kind.__name__})
        for name in rule["properties"]:
            assert not VALIDATOR.is_valid({**BARE, "type": kind.__name__, name: ("wrong",)})


BARE = {"v": 1, "seq": 1, "time": 1, "server": "s", "cause": "c"}


@pytest.mark.parametrize("name", [*BARE, "type"])
def test_a_record_says_what_all_of_them_say(name: str) -> None:
    record = written(KvPut("n", "k", None, "v"))
    assert VALIDATOR.is_valid(record)
    del record[name]
    assert not VALIDATOR.is_valid(record)


def test_what_a_later_server_adds_is_allowed() -> None:
    assert VALIDATOR.is_valid({**BARE, "type": "Later", "how": 1})
    assert VALIDATOR.is_valid({**written(KvPut("n", "k", None, "v")), "later": [1]})


def test_the_file_is_what_the_events_say() -> None:
    assert (DOCS / "journal.schema.json").read_text() == record_schema_text(), "run make generate"


@pytest.mark.parametrize("table", ["events", "fields", "parts"])
def test_the_tables_of_the_manual_are_what_the_events_say(table: str) -> None:
    rows = build_document_tables()[table]
    manual_page = (DOCS / "journal.md").read_text()
    assert "\n".join(rows) in manual_page, "docs/reference/journal.md should have:\n" + "\n".join(rows)


def test_each_field_is_explained_once() -> None:
    assert list(FIELD_MEANINGS) == sorted(FIELD_MEANINGS)
    assert FIELD_MEANINGS.keys() == {
        name for kind in EVENT_TYPES_BY_NAME for name in SCHEMA["$defs"][kind]["properties"]
    }
