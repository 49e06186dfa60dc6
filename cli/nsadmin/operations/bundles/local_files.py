"""The files that a bundle contains: journals, the audit log, saved state, and the logs of servers."""

import json
import shlex
import subprocess
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core.storage.journal import segments
from namesrv_core.storage.journal.segments import InvalidSegmentError, JournalSegment
from nsadmin.client.bundles.bundle_file import JOURNAL_FOLDER, LOG_FOLDER, STATE_FOLDER, LeftOut
from nsadmin.client.connection.tunnels.tunnel_targets import SshTarget, parse_ssh_target
from nsadmin.operations.bundles.redaction import Redactor
from nsadmin.operations.state_folder import escape_file_name

_MAX_JOURNAL_BYTES = 200 * 1024 * 1024
_MAX_STATE_FILE_BYTES = 10 * 1024 * 1024
_STATE_SUFFIXES = (".json", ".jsonl")
_LOG_NAMES = ("broker.log", "store.log", "namesrv.log")
_MAX_LOG_BYTES = 1024 * 1024
_SSH_SECONDS = 30.0
_MISSING_FILE = "No such file"


class LogFolder(NamedTuple):
    """A folder with the logs of a server, here or on a machine that ssh reaches (through `jump_host`)."""

    path: str
    host: SshTarget | None = None
    jump_host: SshTarget | None = None

    @property
    def title(self) -> str:
        return self.path if self.host is None else f"{self.host.destination}:{self.path}"

    def read_end(self, name: str) -> bytes:
        """Read the last part of a log. Raises OSError with the reason."""
        if self.host is None:
            with Path(self.path, name).expanduser().open("rb") as file:
                file.seek(max(0, file.seek(0, 2) - _MAX_LOG_BYTES))
                return file.read()
        jump_words = [] if self.jump_host is None else ["-J", _ssh_address(self.jump_host)]
        port_words = [] if self.host.port is None else ["-p", str(self.host.port)]
        remote = f"tail -c {_MAX_LOG_BYTES} -- {shlex.quote(f'{self.path}/{name}')}"
        command = ["ssh", "-oBatchMode=yes", *jump_words, *port_words, self.host.destination, remote]
        try:
            finished = subprocess.run(command, capture_output=True, timeout=_SSH_SECONDS)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"ssh did not answer within {_SSH_SECONDS:g} s") from None
        if finished.returncode:
            lines = finished.stderr.decode(errors="replace").splitlines()
            raise OSError(lines[-1] if lines else f"ssh ended with {finished.returncode}")
        return finished.stdout


def _ssh_address(target: SshTarget) -> str:
    return target.destination if target.port is None else f"{target.destination}:{target.port}"


def parse_log_folder(text: str, tunnel: object) -> LogFolder:
    """Parse "DIR" or "HOST:DIR"; ssh goes through the host of an SSH tunnel.

    Raises:
        BadAddress: The host is invalid.
    """
    host, colon, path = text.rpartition(":")
    if not colon:
        return LogFolder(text)
    return LogFolder(path, parse_ssh_target(host), tunnel if isinstance(tunnel, SshTarget) else None)


class LocalFiles:
    """Collects files without secrets. `members` are the contents by name, `left_out` what is missing."""

    def __init__(self, redactor: Redactor, since_ms: int) -> None:
        self._redactor = redactor
        self._since_ms = since_ms
        self.members: dict[str, bytes] = {}
        self.left_out: list[LeftOut] = []
        self._journal_counts = Counter[str]()

    def add_journals(self, folders: Iterable[str]) -> None:
        """Add the segments of journals that have records since the time."""
        found = (f for name in folders for f in segments.find_journals(Path(name).expanduser()))
        for folder in dict.fromkeys(found):
            try:
                journal_segments = segments.list_segments(folder)
            except OSError as error:
                self.leave_out(f"journal {folder}", str(error.strerror))
                continue
            self._add_segments(folder, journal_segments)

    def _add_segments(self, folder: Path, journal_segments: Sequence[JournalSegment]) -> None:
        # A segment begins with a snapshot, so the last one that began before the time is needed, too.
        older_count = sum(segment.started_at_ms <= self._since_ms for segment in journal_segments)
        recent_segments = journal_segments[max(0, older_count - 1) :]
        if skipped_count := len(journal_segments) - len(recent_segments):
            self.leave_out(f"segments of the journal {folder}", "they are older than --since", skipped_count)
        member_folder = f"{JOURNAL_FOLDER}{escape_file_name(folder.name)}"
        self._journal_counts[member_folder] += 1
        if (number := self._journal_counts[member_folder]) > 1:
            # Most journals are in a folder "journal".
            member_folder += f"-{number}"
        used_bytes = sum(map(len, self.members.values()))
        for segment in reversed(recent_segments):
            try:
                content = self._redact_lines(segments.read_lines(segment))
            except (OSError, InvalidSegmentError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                self.leave_out(f"segment {segment.file_path.name} of {folder}", reason)
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

    def add_logs(self, folders: Iterable[LogFolder]) -> None:
        """Add the end of each log that a folder has."""
        for number, folder in enumerate(folders, 1):
            problems = []
            for name in _LOG_NAMES:
                try:
                    content = folder.read_end(name)
                except OSError as error:
                    problems.append(error.strerror or str(error))
                    continue
                # A part of a line is no use.
                if len(content) >= _MAX_LOG_BYTES:
                    content = content.partition(b"\n")[2]
                text = self._redactor.redact_text(content.decode(errors="replace"))
                self.members[f"{LOG_FOLDER}{number:02}-{escape_file_name(folder.title)}/{name}"] = (
                    text.encode()
                )
            reasons = [p for p in problems if len(problems) == len(_LOG_NAMES) or _MISSING_FILE not in p]
            for reason in dict.fromkeys(reasons):
                self.leave_out(f"logs of {folder.title}", reason)

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
