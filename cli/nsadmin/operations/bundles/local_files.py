"""The files of this machine that a bundle contains: journals, the audit log, and saved state."""

import json
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from namesrv_core.storage.journal import segments
from namesrv_core.storage.journal.segments import InvalidSegmentError, JournalSegment
from nsadmin.client.bundles.bundle_file import JOURNAL_FOLDER, STATE_FOLDER, LeftOut
from nsadmin.operations.bundles.redaction import Redactor
from nsadmin.operations.state_folder import escape_file_name

_MAX_JOURNAL_BYTES = 200 * 1024 * 1024
_MAX_STATE_FILE_BYTES = 10 * 1024 * 1024
_STATE_SUFFIXES = (".json", ".jsonl")


class LocalFiles:
    """Collects files without secrets. `members` are the contents by name, `left_out` what is missing."""

    def __init__(self, redactor: Redactor, since_ms: int) -> None:
        self._redactor = redactor
        self._since_ms = since_ms
        self.members: dict[str, bytes] = {}
        self.left_out: list[LeftOut] = []

    def add_journals(self, folders: Iterable[str]) -> None:
        """Add the segments of journals that have records since the time."""
        for folder_name in dict.fromkeys(folders):
            folder = Path(folder_name).expanduser()
            try:
                subfolders = [folder, *(path for path in sorted(folder.iterdir()) if path.is_dir())]
                found_journals = [(s, files) for s in subfolders if (files := segments.list_segments(s))]
            except OSError as error:
                self.leave_out(f"journal {folder_name}", str(error.strerror))
                continue
            for journal_folder, journal_segments in found_journals:
                self._add_segments(journal_folder, journal_segments)

    def _add_segments(self, folder: Path, journal_segments: Sequence[JournalSegment]) -> None:
        # A segment begins with a snapshot, so the last one that began before the time is needed, too.
        older_count = sum(segment.started_at_ms <= self._since_ms for segment in journal_segments)
        recent_segments = journal_segments[max(0, older_count - 1) :]
        if skipped_count := len(journal_segments) - len(recent_segments):
            self.leave_out(f"segments of the journal {folder}", "they are older than --since", skipped_count)
        member_folder = f"{JOURNAL_FOLDER}{escape_file_name(folder.name)}"
        used_bytes = sum(map(len, self.members.values()))
        for segment in reversed(recent_segments):
            try:
                content = self._redact_lines(segments.read_lines(segment))
            except (OSError, InvalidSegmentError) as error:
                self.leave_out(f"segment {segment.file_path.name} of {folder}", str(error))
                continue
            used_bytes += len(content)
            if used_bytes > _MAX_JOURNAL_BYTES:
                self.leave_out(f"older segments of the journal {folder}", "journals are limited to 200 MiB")
                return
            name = segment.file_path.name.removesuffix(".zst")
            self.members[f"{member_folder}/{name}"] = content

    def leave_out(self, item: str, reason: str, quantity: int = 1) -> None:
        """Note something that the bundle does not contain."""
        self.left_out.append(LeftOut(item, quantity, reason))

    def add_audit(self, audit_file: Path | None, namesrv_addrs: Collection[str]) -> None:
        """Add the records of the audit log since the time that are about these name servers."""
        if audit_file is None or not audit_file.exists():
            return
        try:
            lines = audit_file.read_bytes().splitlines()
        except OSError as error:
            self.leave_out("audit log", str(error.strerror))
            return
        recent_lines = [line for line in lines if self._is_wanted_record(line, namesrv_addrs)]
        self.members[f"{STATE_FOLDER}audit.jsonl"] = self._redact_lines(recent_lines)

    def add_state(self, state_home: Path, folders: Iterable[Path]) -> None:
        for folder in folders:
            with suppress(OSError):
                for file_path in sorted(path for path in folder.rglob("*") if path.suffix in _STATE_SUFFIXES):
                    if file_path.stat().st_size > _MAX_STATE_FILE_BYTES:
                        self.leave_out(f"state {file_path}", "it is larger than 10 MiB")
                        continue
                    name = file_path.relative_to(state_home).as_posix()
                    self.members[STATE_FOLDER + name] = self._redact_file(file_path.read_bytes())

    def _redact_file(self, content: bytes) -> bytes:
        try:
            return json.dumps(self._redactor.redact_json(json.loads(content))).encode()
        except (ValueError, RecursionError):
            return self._redact_lines(content.splitlines())

    def _redact_lines(self, lines: Iterable[bytes]) -> bytes:
        """Redact lines of JSON; a line that is no JSON is redacted as text."""
        return b"".join(self._redact_line(line) + b"\n" for line in lines)

    def _redact_line(self, line: bytes) -> bytes:
        text = line.decode("utf-8", "surrogateescape").rstrip("\n")
        try:
            redacted_record: Any = self._redactor.redact_json(json.loads(text))
        except (ValueError, RecursionError):
            return self._redactor.redact_text(text).encode("utf-8", "surrogateescape")
        return json.dumps(redacted_record, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "surrogatepass"
        )

    def _is_wanted_record(self, line: bytes, addrs: Collection[str]) -> bool:
        try:
            record = json.loads(line)
            return int(record["time"]) >= self._since_ms and not set(addrs).isdisjoint(record["nameServers"])
        except (ValueError, TypeError, KeyError, RecursionError):
            return False
