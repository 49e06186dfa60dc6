"""The lines of a journal: a record is one JSON object in UTF-8 with a newline. Pure."""

import json
from collections.abc import Mapping

import msgspec

from namesrv_core.events import SCHEMA_VERSION, Event
from namesrv_core.history.records import ENVELOPE, BadRecord, Json, Origin, OtherVersion, Record, to_json

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def line(seq: int, server: str, origin: Origin, event: Event) -> bytes:
    """Encode an event as a line, with its newline."""
    head = {
        "v": SCHEMA_VERSION,
        "seq": seq,
        "time": origin.time,
        "server": server,
        "type": type(event).__name__,
        "cause": origin.cause,
    }
    if origin.client is not None:
        head["client"] = origin.client
    if origin.source is not None:
        head["source"] = origin.source
    return _dumps(head | to_json(event)) + b"\n"


def _dumps(value: Mapping[str, Json]) -> bytes:
    try:
        return _encode(value)
    except (UnicodeEncodeError, OverflowError):
        # A huge number, or half a surrogate pair: clients can send that in JSON, but UTF-8 cannot encode it.
        return json.dumps(value, separators=(",", ":")).encode()


def parse(text: bytes) -> Record:
    """Parse a line. Raises InvalidRecordError if it is no record, or has another schema version."""
    value = _loads(text)
    if not isinstance(value, dict) or not isinstance(value.get("seq"), int):
        raise BadRecord("no record: it has no seq")
    if value.get("v") != SCHEMA_VERSION:
        raise OtherVersion(f"schema version {value.get('v')}, and this program knows {SCHEMA_VERSION}")
    try:
        origin = Origin(value["time"], value["cause"], value.get("client"), value.get("source"))
        own = {name: item for name, item in value.items() if name not in ENVELOPE}
        return Record(value["seq"], value["server"], origin, value["type"], own)
    except KeyError as error:
        raise BadRecord(f"no record: it has no {error.args[0]}") from None


def _loads(text: bytes) -> Json:
    try:
        return _decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        # Python's decoder accepts halves of surrogate pairs, and reports the position of an error.
        return json.loads(text)
    except ValueError as error:
        raise BadRecord(f"no JSON: {error}") from None
