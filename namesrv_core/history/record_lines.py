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


def encode_record_line(seq: int, server_name: str, origin: RecordOrigin, event: Event) -> bytes:
    head = {
        "v": SCHEMA_VERSION,
        "seq": seq,
        "time": origin.time_ms,
        "server": server_name,
        "type": type(event).__name__,
        "cause": origin.cause,
    }
    if origin.client_addr is not None:
        head["client"] = origin.client_addr
    if origin.source is not None:
        head["source"] = origin.source
    return _dump_json(head | event_to_json(event)) + b"\n"


def _dump_json(value: Mapping[str, Json]) -> bytes:
    try:
        return _encode_json(value)
    except (UnicodeEncodeError, OverflowError):
        # A huge number, or half a surrogate pair: clients can send that in JSON, but UTF-8 cannot encode it.
        return json.dumps(value, separators=(",", ":")).encode()


def parse_record_line(line: bytes) -> JournalRecord:
    """Parse a line. Raises InvalidRecordError if it is not a record, or has another schema version."""
    value = _load_json(line)
    if not isinstance(value, dict) or not isinstance(value.get("seq"), int):
        raise InvalidRecordError("not a journal record: seq is missing")
    if value.get("v") != SCHEMA_VERSION:
        raise OtherSchemaVersionError(
            f"schema version {value.get('v')}, but this nsadmin reads version {SCHEMA_VERSION}"
        )
    try:
        origin = RecordOrigin(value["time"], value["cause"], value.get("client"), value.get("source"))
        fields = {name: value for name, value in value.items() if name not in ENVELOPE_FIELDS}
        return JournalRecord(value["seq"], value["server"], origin, value["type"], fields)
    except KeyError as error:
        raise InvalidRecordError(f"not a journal record: {error.args[0]} is missing") from None


def _load_json(line: bytes) -> Json:
    try:
        return _decode_json(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        # Python's decoder accepts halves of surrogate pairs, and reports the position of an error.
        return json.loads(line)
    except ValueError as error:
        raise InvalidRecordError(f"invalid JSON: {error}") from None
    except RecursionError:
        raise InvalidRecordError("not a journal record: nested too deeply") from None
