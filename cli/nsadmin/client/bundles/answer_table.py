"""AnswerTable, the answers of one server by request, and its form as JSON.

A body occurs once, because thousands of routes have the same one.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from namesrv_core import operator_files
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError


class RequestKey(NamedTuple):
    """The parts of a request that distinguish it from others to the same server.

    Attributes:
        identity: How the client identified itself; see `Access.identity`.
        code: The request code.
        ext: The header fields in the order of their names, without a signature.
        body: The body.
    """

    identity: str
    code: int
    ext: tuple[tuple[str, str | None], ...]
    body: bytes


class RecordedAnswer(NamedTuple):
    """The answer of a server.

    Attributes:
        code: The response code.
        ext: The header fields; None if the header has none.
        body: The body.
        remark: The text of an error, or None.
        version: The version of the server, as an ordinal.
    """

    code: int
    ext: Mapping[str, str | None] | None
    body: bytes
    remark: str | None
    version: int

    def to_command(self) -> RemotingCommand:
        """Return the answer as a command."""
        return RemotingCommand(self.code, self.ext, self.body, remark=self.remark, version=self.version)


class RecordedFailure(NamedTuple):
    """Why a server gave no answer: the fields of a CallError."""

    kind: str
    reason: str


Outcome = RecordedAnswer | RecordedFailure
AnswerTable = Mapping[RequestKey, Outcome]


def make_key(identity: str, command: RemotingCommand) -> RequestKey:
    """Return the key of a request."""
    return RequestKey(identity, command.code, tuple(sorted((command.ext or {}).items())), command.body)


def record_outcome(outcome: RemotingCommand | CallError) -> Outcome:
    """Return the record of an answer, or of its absence."""
    if isinstance(outcome, CallError):
        return RecordedFailure(outcome.kind, outcome.reason)
    return RecordedAnswer(outcome.code, outcome.ext, outcome.body, outcome.remark, outcome.version)


def encode_table(server_addr: str, table: AnswerTable) -> bytes:
    """Encode the answers of a server as JSON."""
    index_by_body: dict[bytes, int] = {}
    rows = [
        [*key[:2], dict(key.ext), _encode_bytes(key.body), *_encode_outcome(outcome, index_by_body)]
        for key, outcome in table.items()
    ]
    document = {"server": server_addr, "bodies": list(map(_encode_bytes, index_by_body)), "answers": rows}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def decode_table(content: bytes) -> AnswerTable:
    """Decode the answers of a server."""
    document = operator_files.parse_json(content.decode("utf-8", "surrogatepass"))
    bodies = [_decode_bytes(encoded_body) for encoded_body in document["bodies"]]
    return dict(_decode_rows(document["answers"], bodies))


def _encode_outcome(outcome: Outcome, index_by_body: dict[bytes, int]) -> list[Any]:
    if isinstance(outcome, RecordedFailure):
        return list(outcome)
    body_index = index_by_body.setdefault(outcome.body, len(index_by_body)) if outcome.body else -1
    return [
        outcome.code,
        None if outcome.ext is None else dict(outcome.ext),
        body_index,
        outcome.remark,
        outcome.version,
    ]


def _decode_rows(rows: list[list[Any]], bodies: list[bytes]) -> Iterator[tuple[RequestKey, Outcome]]:
    for identity, code, ext, encoded_body, *outcome_fields in rows:
        key = RequestKey(identity, code, tuple(sorted(ext.items())), _decode_bytes(encoded_body))
        if len(outcome_fields) == len(RecordedFailure._fields):
            yield key, RecordedFailure(*outcome_fields)
            continue
        answer_code, answer_ext, body_index, remark, version = outcome_fields
        body = bodies[body_index] if body_index >= 0 else b""
        yield key, RecordedAnswer(answer_code, answer_ext, body, remark, version)


def _encode_bytes(content: bytes) -> str | list[str]:
    """Text stays readable; other bytes become a list with their base64 form."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return [base64.b64encode(content).decode()]


def _decode_bytes(encoded: str | list[str]) -> bytes:
    return encoded.encode() if isinstance(encoded, str) else base64.b64decode(encoded[0])
