"""Decodes Avro with fastavro: object container files, single objects, and data without a header."""

import json
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from importlib import import_module
from io import BytesIO
from typing import Any
from uuid import UUID

from nsadmin.client.extras import describe_missing
from nsadmin.console.exit_codes import UsageError

_CONTAINER_MARK, _SINGLE_OBJECT_MARK = b"Obj\x01", b"\xc3\x01"
_SINGLE_OBJECT_HEADER_BYTES = 10


def load_avro_decoder(schema_file: str) -> Callable[[bytes], Any]:
    """Return a function from a body to a JSON value. Without a schema file, it reads only containers.

    The function raises ValueError for a body that it cannot decode.
    """
    try:
        library = import_module("fastavro")
    except ImportError:
        raise UsageError(describe_missing("fastavro", "decoders")) from None
    schema = _load_schema(library, schema_file) if schema_file else None

    def decode_avro(body: bytes) -> Any:
        try:
            return to_json_value(_read_body(library, body, schema))
        except ValueError:
            raise
        except Exception as error:
            # fastavro lets errors of any type out, such as IndexError and StopIteration, also without a text.
            raise ValueError(str(error) or type(error).__name__) from None

    return decode_avro


def _load_schema(library: Any, schema_file: str) -> Any:
    try:
        with open(schema_file, encoding="utf-8") as opened_file:
            return library.parse_schema(json.load(opened_file))
    except OSError as error:
        raise UsageError(f'--decode avro: cannot read "{schema_file}": {error.strerror}') from None
    except Exception as error:
        raise UsageError(f'--decode avro: invalid schema in "{schema_file}": {error}') from None


def _read_body(library: Any, body: bytes, schema: Any) -> Any:
    if body.startswith(_CONTAINER_MARK):
        return list(library.reader(BytesIO(body)))
    if schema is None:
        raise ValueError("no object container: pass avro:SCHEMA.avsc")
    if body.startswith(_SINGLE_OBJECT_MARK):
        # The Avro specification, "Single-object encoding".
        canonical_form = library.schema.to_parsing_canonical_form(schema)
        fingerprint = library.schema.fingerprint(canonical_form, "CRC-64-AVRO")
        written_fingerprint = body[2:_SINGLE_OBJECT_HEADER_BYTES].hex()
        if written_fingerprint == fingerprint:
            return _read_datum(library, body[_SINGLE_OBJECT_HEADER_BYTES:], schema)
        raise ValueError(f"written with another schema: its fingerprint is {written_fingerprint}")
    return _read_datum(library, body, schema)


def _read_datum(library: Any, body: bytes, schema: Any) -> Any:
    stream = BytesIO(body)
    datum = library.schemaless_reader(stream, schema)
    if stream.tell() != len(body):
        raise ValueError(f"{len(body) - stream.tell()} bytes are left after the value: is it another schema?")
    return datum


def to_json_value(value: Any) -> Any:
    """Return a value of Avro's types, also the logical ones, in JSON's types."""
    if isinstance(value, dict):
        return {str(name): to_json_value(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json_value(item) for item in value]
    if isinstance(value, bytes):
        return b64encode(value).decode("ascii")
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (Decimal, UUID, timedelta)):
        return str(value)
    return value
