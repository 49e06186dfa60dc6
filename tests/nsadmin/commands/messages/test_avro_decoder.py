"""Avro bodies: containers, single objects, bare data, and what does not fit a schema."""

import io
import json
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import fastavro
import pytest

from nsadmin.commands.messages.avro_decoder import load_avro_decoder
from nsadmin.console.exit_codes import UsageError

SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "raw", "type": "bytes"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "trace", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "tags", "type": {"type": "map", "values": {"type": "array", "items": "string"}}},
        {"name": "note", "type": ["null", "string"]},
    ],
}
ORDER = {
    "id": 7,
    "raw": b"\xff\x00",
    "at": datetime(2026, 1, 2, 3, 4, 5, 6000, tzinfo=UTC),
    "day": date(2026, 1, 2),
    "price": Decimal("12.50"),
    "trace": UUID(int=1),
    "tags": {"a": ["x", "y"]},
    "note": None,
}
SHOWN = {
    "id": 7, "raw": "/wA=", "at": "2026-01-02T03:04:05.006000Z", "day": "2026-01-02", "price": "12.50",
    "trace": "00000000-0000-0000-0000-000000000001", "tags": {"a": ["x", "y"]}, "note": None,
}  # fmt: skip
PARSED = fastavro.parse_schema(SCHEMA)


@pytest.fixture
def schema_file(tmp_path: Path) -> str:
    file = tmp_path / "order.avsc"
    file.write_text(json.dumps(SCHEMA))
    return str(file)


def datum(value: Any = ORDER, schema: Any = PARSED) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, schema, value)
    return stream.getvalue()


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_a_container_is_a_list_of_its_records_and_has_its_schema(codec: str) -> None:
    stream = io.BytesIO()
    fastavro.writer(stream, PARSED, [ORDER, ORDER], codec=codec)
    decoded = load_avro_decoder("")(stream.getvalue())
    assert json.loads(json.dumps(decoded)) == [SHOWN, SHOWN]


def test_data_without_a_header_needs_a_schema(schema_file: str) -> None:
    assert load_avro_decoder(schema_file)(datum()) == SHOWN
    with pytest.raises(ValueError, match=r"no object container: pass avro:SCHEMA.avsc"):
        load_avro_decoder("")(datum())


def test_a_single_object_names_its_schema(tmp_path: Path, schema_file: str) -> None:
    # The fingerprint of "int" is 0x7275d51a3f395c8f in the specification; the lowest byte comes first.
    (tmp_path / "int.avsc").write_text('"int"')
    single = b"\xc3\x01" + (0x7275D51A3F395C8F).to_bytes(8, "little") + b"\x54"
    assert load_avro_decoder(str(tmp_path / "int.avsc"))(single) == 42
    with pytest.raises(ValueError, match="written with another schema: its fingerprint is 8f5c393f1ad57572"):
        load_avro_decoder(schema_file)(single)


@pytest.mark.parametrize("body", [b"", b"\x0e", b"Obj\x01", b"Obj\x01garbage", datum() + b"more"])
def test_a_body_that_is_something_else(schema_file: str, body: bytes) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        load_avro_decoder(schema_file)(body)


def test_a_schema_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r'--decode avro: cannot read ".*/none": No such file'):
        load_avro_decoder(str(tmp_path / "none"))
    (tmp_path / "bad").write_text('{"type": "none"}')
    with pytest.raises(UsageError, match=r'--decode avro: invalid schema in ".*/bad": '):
        load_avro_decoder(str(tmp_path / "bad"))
    monkeypatch.setitem(sys.modules, "fastavro", None)
    with pytest.raises(UsageError, match=r"Python package fastavro is missing: run .* 'fastavro>="):
        load_avro_decoder("")
