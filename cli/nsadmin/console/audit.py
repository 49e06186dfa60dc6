"""Owns the audit: a line of JSON in a local file for each command that sent a change.

A change never fails or waits because of the audit. Values of settings with a secret name are replaced, and so
are passwords and bodies of messages.
"""

import json
import os
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core import operator_files, private_files
from namesrv_core.printable_text import cut_text, escape_unsafe
from nsadmin.client.redaction import HIDDEN_TEXT, hide_secrets, is_secret_name
from nsadmin.console import request_observer, stderr
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

_SETTING_TEXT_COLUMNS = ("value", "before", "after", "changes")

ORIGIN_VARIABLE = "NSADMIN_ORIGIN"
"""The environment variable with which a program that starts nsadmin names itself and its client."""
_MAX_ORIGIN_LENGTH = 100

MAX_RESULT_ROWS = 10_000
"""`produce --each` has a row for each message: the audit would be larger than the messages."""

AuditRecord = dict[str, Any]


class UnreadableAuditError(Exception):
    """The audit file cannot be read. The text is one line with the reason."""


class AuditLog(NamedTuple):
    """The records of a file, oldest first, and the numbers of unreadable lines."""

    records: list[AuditRecord]
    unreadable_lines: list[int]


def audit_path(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return NSADMIN_AUDIT, else audit.jsonl in nsadmin's folder of the user's state; None for "off"."""
    given_path = environ.get("NSADMIN_AUDIT")
    if given_path == "off":
        return None
    if given_path:
        return Path(given_path).expanduser()
    state_folder = environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(state_folder).expanduser() / "nsadmin" / "audit.jsonl"


def build_audit_record(
    session: Session,
    command_words: Sequence[str],
    argument_values: Mapping[str, Any],
    rows: ResultRows | None,
    exit_code: int,
) -> AuditRecord:
    """Build a record: time, user, origin, context, command line, sent changes with outcomes, and shown rows.

    `rows` is None if the command ended before it had any.
    """
    return {
        "time": session.started_ms,
        "user": describe_user(),
        **_describe_origin(),
        "context": session.options.own_context,
        "nameServers": list(session.namesrv_addrs),
        "command": shlex.join(_hide_secrets(command_words, argument_values)),
        "sent": [
            {
                "server": exchange.addr,
                "request": request_observer.request_name(exchange.code),
                "outcome": request_observer.outcome_text(exchange),
                **({"times": repeat_count} if repeat_count > 1 else {}),
            }
            for exchange, repeat_count in session.sent_changes.counted_exchanges
        ],
        "results": [_result_record(row) for row in (rows.rows[:MAX_RESULT_ROWS] if rows else ())],
        "exitCode": int(exit_code),
    }


def _describe_origin() -> dict[str, str]:
    """Return the program that started this command for a client, such as the MCP server."""
    origin = os.environ.get(ORIGIN_VARIABLE)
    return {"origin": cut_text(escape_unsafe(origin), _MAX_ORIGIN_LENGTH)} if origin else {}


class SentRequest(NamedTuple):
    """A change that a script sent: server, request code, header fields, and its outcome."""

    server_addr: str
    request_code: int
    ext_fields: Mapping[str, Any]
    outcome_text: str


def build_script_record(
    sent_requests: Sequence[SentRequest],
    context_name: str | None,
    namesrv_addrs: Sequence[str],
    started_ms: int,
    exit_code: int,
) -> AuditRecord:
    """Build a record of changes that a script sent at once. `results` has the distinct header fields."""
    script_name = sys.argv[0] if sys.argv and sys.argv[0] not in ("", "-", "-c") else ""
    changes = [
        {"request": request_observer.request_name(r.request_code), **r.ext_fields} for r in sent_requests
    ]
    distinct_changes = {json.dumps(change, sort_keys=True): change for change in changes}
    return {
        "time": started_ms,
        "user": describe_user(),
        "context": context_name,
        "nameServers": list(namesrv_addrs),
        "command": shlex.join(["python", script_name] if script_name else ["python"]),
        "sent": [
            {
                "server": server_addr,
                "request": request_observer.request_name(request_code),
                "outcome": outcome_text,
                **({"times": repeat_count} if repeat_count > 1 else {}),
            }
            for (server_addr, request_code, outcome_text), repeat_count in Counter(
                (request.server_addr, request.request_code, request.outcome_text) for request in sent_requests
            ).items()
        ],
        "results": [_result_record(_hide_in_value(change)) for change in distinct_changes.values()],
        "exitCode": exit_code,
    }


def append_audit_record(
    audit_record: AuditRecord,
    write_warning: Callable[[str], None] = stderr.write_stderr_line,
    *,
    syncs: bool = False,
) -> None:
    """Append a record to the file, which only its owner can read; a failure is one warning.

    With `syncs`, it is on disk when the call returns.
    """
    audit_file = audit_path()
    if audit_file is None:
        return
    json_line = json.dumps(audit_record, ensure_ascii=False, default=str) + "\n"
    try:
        private_files.make_folder(audit_file.parent, 0o700)
        private_files.append_record(audit_file, json_line.encode("utf-8", "backslashreplace"), syncs=syncs)
    except OSError as error:
        write_warning(f"the audit has no record of this change: cannot write {audit_file}: {error.strerror}")


def load_audit(audit_file: Path) -> AuditLog:
    """Load a file; empty without a file. UnreadableAuditError if it cannot be read."""
    try:
        file_lines = audit_file.read_bytes().splitlines()
    except FileNotFoundError:
        return AuditLog([], [])
    except OSError as error:
        raise UnreadableAuditError(f"cannot read {audit_file}: {error.strerror}") from None
    numbered_records = list(_parse_lines(file_lines))
    return AuditLog(
        [audit_record for _, audit_record in numbered_records if audit_record is not None],
        [line_number for line_number, audit_record in numbered_records if audit_record is None],
    )


def list_connection(audit_record: AuditRecord) -> list[str]:
    """Return the options with which another command reaches the servers of a record; [] if it needs none."""
    if audit_record.get("context"):
        return ["--context", str(audit_record["context"])]
    namesrv_addrs = audit_record.get("nameServers")
    return ["-n", ";".join(namesrv_addrs)] if namesrv_addrs else []


def _parse_lines(file_lines: Sequence[bytes]) -> Iterator[tuple[int, AuditRecord | None]]:
    for line_number, json_line in enumerate(file_lines, 1):
        if not json_line:
            # Left by a process that appended while another one was writing.
            continue
        try:
            audit_record = operator_files.parse_json(json_line)
        except ValueError:
            audit_record = None
        is_usable = isinstance(audit_record, dict) and isinstance(audit_record.get("time"), int)
        yield line_number, audit_record if is_usable else None


def describe_user() -> str:
    import getpass
    import socket

    try:
        user_name = getpass.getuser()
    except (KeyError, OSError, ImportError):
        # A user id without a name, as in containers.
        user_name = str(os.getuid()) if hasattr(os, "getuid") else "unknown"
    return f"{user_name}@{socket.gethostname()}"


def _hide_secrets(command_words: Sequence[str], argument_values: Mapping[str, Any]) -> list[str]:
    secret_values = [argument_values.get(n) for n in ("body", "template", "password", "secret_key")]
    if any(is_secret_name(str(argument_values.get(name) or "")) for name in ("namespace", "key")):
        secret_values.append(argument_values.get("value"))
    secret_texts = sorted(
        {secret_text for secret_text in secret_values if isinstance(secret_text, str) and secret_text},
        key=len,
        reverse=True,
    )
    return [_hide_in_word(word, secret_texts) for word in command_words]


def _hide_in_word(word: str, secret_texts: Sequence[str]) -> str:
    for secret_text in secret_texts:
        word = word.replace(secret_text, HIDDEN_TEXT)
    return hide_secrets(word)


def _result_record(result_row: ResultRow) -> AuditRecord:
    """Return a row without empty fields and without values of secret settings."""
    filled_fields = {n: _hide_in_value(value) for n, value in result_row.items() if value is not None}
    setting_key = result_row.get("name") if result_row.get("kind") == "kv" else result_row.get("key")
    if any(is_secret_name(str(name or "")) for name in (setting_key, result_row.get("namespace"))):
        filled_fields.update(dict.fromkeys(filled_fields.keys() & {*_SETTING_TEXT_COLUMNS}, HIDDEN_TEXT))
    return filled_fields


def _hide_in_value(value: Any) -> Any:
    """Hide secrets in a text, and in the members of an object by their names."""
    if isinstance(value, str):
        return hide_secrets(value)
    if isinstance(value, Mapping):
        return {
            name: HIDDEN_TEXT if is_secret_name(str(name)) and member else _hide_in_value(member)
            for name, member in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_hide_in_value(member) for member in value]
    return value
