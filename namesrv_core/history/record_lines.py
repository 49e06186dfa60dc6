"""The lines of a journal: a record is one JSON object in UTF-8 with a newline. Pure."""

import json
from collections.abc import Mapping

import msgspec

from namesrv_core.events import SCHEMA_VERSION, Event
from namesrv_core.history.records import (
    ENVELOPE_FIELDS,
    InvalidRecordError,
    JournalRecord,
    Json,
    OtherSchemaVersionError,
    RecordOrigin,
    event_to_json,
)

_encode_json = msgspec.json.Encoder().encode
_decode_json = msgspec.json.Decoder().decode


def encode_record_line(seq: int, server_name: str, record_origin: RecordOrigin, event: Event) -> bytes:
    """Encode an event as a line, with its newline."""
    record_head = {
        "v": SCHEMA_VERSION,
        "seq": seq,
        "time": record_origin.time_ms,
        "server": server_name,
        "type": type(event).__name__,
        "cause": record_origin.cause,
    }
    if record_origin.client_addr is not None:
        record_head["client"] = record_origin.client_addr
    if record_origin.source is not None:
        record_head["source"] = record_origin.source
    return _dump_json(record_head | event_to_json(event)) + b"\n"


def _dump_json(json_value: Mapping[str, Json]) -> bytes:
    try:
        return _encode_json(json_value)
    except (UnicodeEncodeError, OverflowError):
        # A huge number, or half a surrogate pair: clients can send that in JSON, but UTF-8 cannot encode it.
        return json.dumps(json_value, separators=(",", ":")).encode()


def parse_record_line(line_bytes: bytes) -> JournalRecord:
    """Parse a line. Raises InvalidRecordError if it is not a record, or has another schema version."""
    json_value = _load_json(line_bytes)
    if not isinstance(json_value, dict) or not isinstance(json_value.get("seq"), int):
        raise InvalidRecordError("not a journal record: seq is missing")
    if json_value.get("v") != SCHEMA_VERSION:
        raise OtherSchemaVersionError(
            f"schema version {json_value.get('v')}, but this nsadmin reads version {SCHEMA_VERSION}"
        )
    try:
        record_origin = RecordOrigin(
            json_value["time"], json_value["cause"], json_value.get("client"), json_value.get("source")
        )
        event_fields = {
            field_name: field_value
            for field_name, field_value in json_value.items()
            if field_name not in ENVELOPE_FIELDS
        }
        return JournalRecord(
            json_value["seq"], json_value["server"], record_origin, json_value["type"], event_fields
        )
    except KeyError as error:
        raise InvalidRecordError(f"not a journal record: {error.args[0]} is missing") from None


def _load_json(line_bytes: bytes) -> Json:
    try:
        return _decode_json(line_bytes)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        # Python's decoder accepts halves of surrogate pairs, and reports the position of an error.
        return json.loads(line_bytes)
    except ValueError as error:
        raise InvalidRecordError(f"invalid JSON: {error}") from None
    except RecursionError:
        raise InvalidRecordError("not a journal record: nested too deeply") from None
