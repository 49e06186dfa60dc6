"""Audit: a line of JSON in a local file for each command that changed something, or tried to.

Law: a change neither fails nor waits because of it, and no secret gets into it: of a setting whose name says
that it is one the value is left out, and so is the body of a message.
"""

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import time
from typing import Any, NamedTuple

from nsadmin import diagnostics, observing
from nsadmin.client.redaction import is_secret_name
from nsadmin.output import Row, Rows
from nsadmin.session import Session

_HIDDEN = "***"
# Whatever is there instead of a file, such as a pipe that nobody reads, is not waited for.
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)
_TEXTS_OF_A_SETTING = ("value", "before", "after", "changes")

Record = dict[str, Any]


class BadAudit(Exception):
    """The audit file cannot be read; the text is one line that says why."""


class Audit(NamedTuple):
    """What a file has: records, oldest first, and the numbers of lines that are none."""

    records: list[Record]
    unreadable: list[int]


def path(environ: Mapping[str, str] = os.environ) -> Path | None:
    """NSADMIN_AUDIT, else audit.jsonl in nsadmin's folder of the user's state; None for "off"."""
    given = environ.get("NSADMIN_AUDIT")
    if given == "off":
        return None
    if given:
        return Path(given).expanduser()
    base = environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser() / "nsadmin" / "audit.jsonl"


def record(
    session: Session, words: Sequence[str], arguments: Mapping[str, Any], rows: Rows | None, code: int
) -> Record:
    """When, who, where, the command line, each request that was sent with its outcome, and the rows shown.

    `rows` is None for a command that ended before it had any.
    """
    return {
        "time": int((time() - session.elapsed) * 1000),
        "user": user(),
        "context": session.options.context,
        "nameServers": list(session.name_servers),
        "command": shlex.join(_without_secrets(words, arguments)),
        "sent": [
            {
                "server": exchange.addr,
                "request": observing.request_name(exchange.code),
                "outcome": observing.outcome(exchange),
                **({"times": times} if times > 1 else {}),
            }
            for exchange, times in session.changes.counted
        ],
        "results": [_result(row) for row in (rows.rows if rows else ())],
        "exitCode": int(code),
    }


def keep(item: Record) -> None:
    """Append it to the file, readable for its owner alone; one line on stderr where that cannot be done."""
    file = path()
    if file is None:
        return
    line = json.dumps(item, ensure_ascii=False, default=str) + "\n"
    try:
        file.parent.mkdir(0o700, parents=True, exist_ok=True)
        # One write at the end of the file: lines of commands that run at the same time do not mix.
        descriptor = os.open(file, _APPEND, 0o600)
        try:
            os.write(descriptor, line.encode("utf-8", "backslashreplace"))
        finally:
            os.close(descriptor)
    except OSError as error:
        diagnostics.say(f"no line about this in the audit: {file}: {error.strerror}")


def load(file: Path) -> Audit:
    """What a file has; nothing where there is none. BadAudit for one that cannot be read."""
    try:
        lines = file.read_bytes().splitlines()
    except FileNotFoundError:
        return Audit([], [])
    except OSError as error:
        raise BadAudit(f"{file} cannot be read: {error.strerror}") from None
    found = list(_parsed(lines))
    return Audit(
        [item for _, item in found if item is not None], [number for number, item in found if item is None]
    )


def _parsed(lines: Sequence[bytes]) -> Iterator[tuple[int, Record | None]]:
    for number, line in enumerate(lines, 1):
        try:
            item = json.loads(line)
        except ValueError:
            item = None
        usable = isinstance(item, dict) and isinstance(item.get("time"), int)
        yield number, item if usable else None


def user() -> str:
    """Who runs this, and where."""
    import getpass
    import socket

    try:
        name = getpass.getuser()
    except (KeyError, OSError, ImportError):
        # A number without a name, as containers have it.
        name = str(os.getuid()) if hasattr(os, "getuid") else "unknown"
    return f"{name}@{socket.gethostname()}"


def _without_secrets(words: Sequence[str], arguments: Mapping[str, Any]) -> list[str]:
    hidden = [arguments.get(name) for name in ("body", "password", "secret_key")]
    if is_secret_name(str(arguments.get("key") or "")):
        hidden.append(arguments.get("value"))
    texts = [text for text in hidden if isinstance(text, str) and text]
    return [next((w.replace(text, _HIDDEN) for text in texts if text in w), w) for w in words]


def _result(row: Row) -> Record:
    """A row without its empty fields."""
    kept = {name: value for name, value in row.items() if value is not None}
    key = row.get("name") if row.get("kind") == "kv" else row.get("key")
    if is_secret_name(str(key or "")):
        kept.update(dict.fromkeys(kept.keys() & {*_TEXTS_OF_A_SETTING}, _HIDDEN))
    return kept
