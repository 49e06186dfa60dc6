"""Run record: what the last run made, so that the next one makes only what differs.

The record is a file of the output folder. A run removes it before it changes a table, and writes it when the
tables are complete: without a record, everything is made. This module loads neither Spark nor Java.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import namesrv_core
import nsreport
from nsreport.runtime.input_size import find_local_path, list_local_files

RECORD_FILE = "_last_run.json"


class RunRecord(NamedTuple):
    """The code that made the tables, the time range of each report, and a digest of the run's inputs.

    `outcome` holds the fields of the run's `RunOutcome`. `input_digest` is None if an input is on another
    machine.
    """

    code_digest: str
    report_ranges: Mapping[str, Sequence[int | None]] = {}
    outcome: Sequence[Any] | None = None
    input_digest: str | None = None

    def to_json(self) -> str:
        return json.dumps(self._asdict())


def parse_record(record_text: str | None) -> RunRecord:
    """Return the record of a file; an empty one if there is no file, or if other code wrote it."""
    current_code = digest_code()
    try:
        run_record = RunRecord(**json.loads(record_text or "{}"))
    except (TypeError, ValueError):
        return RunRecord(current_code)
    return run_record if run_record.code_digest == current_code else RunRecord(current_code)


def digest_code() -> str:
    """Return a digest of the modules that decide the content of tables."""
    code_hash = hashlib.sha256(namesrv_core.__version__.encode())
    for source_file in sorted(Path(nsreport.__path__[0]).rglob("*.py")):
        code_hash.update(source_file.read_bytes())
    return code_hash.hexdigest()


def digest_inputs(request_words: Sequence[str], input_paths: Iterable[str]) -> str | None:
    """Return a digest of a request, and of the names, lengths and times of its files.

    Returns None if an input is not on this machine.
    """
    input_files = list_local_files(input_paths)
    if input_files is None:
        return None
    return hashlib.sha256(json.dumps([request_words, input_files]).encode()).hexdigest()


def read_unchanged_outcome(output_folder: str, input_digest: str | None) -> Sequence[Any] | None:
    """Return the outcome of the last run if its inputs and its request were the same, and it is complete.

    Returns None for folders on other machines.
    """
    local_folder = find_local_path(output_folder)
    if local_folder is None or input_digest is None:
        return None
    try:
        run_record = parse_record(Path(local_folder, RECORD_FILE).read_text())
    except OSError:
        return None
    is_complete = all(
        Path(local_folder, "gold", report_name).is_dir() for report_name in run_record.report_ranges
    )
    return run_record.outcome if is_complete and run_record.input_digest == input_digest else None
