"""Run record: the input and outcome of the last run, so that a run without new input does not start Spark.

The record is a file of a local output folder. A run removes it before it changes a table, and writes it when
the tables are complete. This module loads neither Spark nor Java.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import namesrv_core
import nsreport
from nsreport.runtime.input_size import find_local_path, list_local_files

RECORD_FILE = "_last_run.json"


class RunRecord(NamedTuple):
    """The code that made the tables, the names of the reports, and a digest of the run's inputs.

    `outcome` holds the fields of the run's `RunOutcome`. `input_digest` is None if an input is on another
    machine.
    """

    code_digest: str
    report_names: Sequence[str]
    outcome: Sequence[Any]
    input_digest: str | None


def write_record(output_folder: str, run_record: RunRecord) -> None:
    """Write the record of a run to its output folder, if that is on this machine."""
    if (local_folder := find_local_path(output_folder)) is not None:
        new_file = Path(local_folder, f"{RECORD_FILE}.new")
        new_file.write_text(json.dumps(run_record._asdict()))
        new_file.replace(Path(local_folder, RECORD_FILE))


def remove_record(output_folder: str) -> None:
    """Remove the record, if there is one: from now on the tables change."""
    if (local_folder := find_local_path(output_folder)) is not None:
        Path(local_folder, RECORD_FILE).unlink(missing_ok=True)


@cache
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
        run_record = RunRecord(**json.loads(Path(local_folder, RECORD_FILE).read_text()))
        is_complete = isinstance(run_record.outcome, list) and all(
            Path(local_folder, "gold", report_name).is_dir() for report_name in run_record.report_names
        )
    except (OSError, RecursionError, TypeError, ValueError):
        # A damaged record means another run, never an outcome.
        return None
    is_same = (run_record.code_digest, run_record.input_digest) == (digest_code(), input_digest)
    return run_record.outcome if is_complete and is_same else None
