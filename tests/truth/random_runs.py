"""Random runs: journals that arrive in parts, run by run, give the tables of one run over all of them.

A seed's journals are moved so that midnight is in the middle, with jumps of hours or days. Their files arrive
in any order, some of them first without their end, some a run or two later. One run is killed.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from pyspark.sql import SparkSession

from namesrv_core.storage.journal import segments
from nsreport.jobs.batch import PipelineRun, RunRequest
from nsreport.reports.catalogue import REPORTS_BY_NAME
from nsreport.runtime import session
from nsreport.sources.input_files import InputSource, decompress_file
from nsreport.tables.table_store import TableStore
from tests.bench.table_comparison import compare_folders
from tests.truth.cluster_simulation import END_MS, START_MS
from tests.truth.recorded_view import JOURNAL
from tests.truth.simulated_input import simulate_seed

DAY_MS = 86_400_000
SHOWN_DIFFERENCES = 20
_UNCOMPARED_TABLES = ("bronze/files",)


class ArrivingFile(NamedTuple):
    """A journal file: its place in the input folder, its text, and the run that finds it.

    The run before finds its first `early_length` bytes.
    """

    path: str
    text: bytes
    run_number: int
    early_length: int


class Killed(Exception):
    """As if the process had ended there."""


def compare_runs(
    spark: SparkSession,
    seed: int,
    folder: Path,
    report_names: Sequence[str] = tuple(REPORTS_BY_NAME),
    run_count: int = 4,
) -> list[str]:
    """Run the pipeline over parts of a seed's journals, and over all at once; return what differs."""
    random = Random(f"runs {seed}")
    simulate_seed(seed, folder / "seed", (JOURNAL,))
    files = list(_plan_files(folder / "seed" / "input", random, run_count))
    input_folder, killed_run = folder / "input", random.randrange(run_count)
    for run_number in range(run_count):
        if not _let_arrive(files, input_folder, run_number):
            continue
        if run_number == killed_run:
            with pytest.MonkeyPatch.context() as patch, suppress(Killed):
                _kill_at_commit(patch, random.randrange(1, 20))
                _run(spark, input_folder, folder / "parts", report_names)
        _run(spark, input_folder, folder / "parts", report_names)
    _run(spark, input_folder, folder / "once", report_names)
    return [
        f"seed {seed}: {table_name}: {sign} {row}"
        for table_name, only_parts, only_once in compare_folders(folder / "parts", folder / "once")
        if table_name not in _UNCOMPARED_TABLES
        for sign, rows in (("-", only_once), ("+", only_parts))
        for row in sorted(rows)
    ]


def _plan_files(seed_folder: Path, random: Random, run_count: int) -> Iterator[ArrivingFile]:
    midnight = START_MS - START_MS % DAY_MS + DAY_MS
    shift_ms = midnight - random.randrange(START_MS, END_MS)
    jumps = [
        (random.randrange(START_MS, END_MS), random.randint(1, 3) * DAY_MS // 2 - random.randrange(3_600_000))
        for _ in range(5)
    ]
    late_server = random.choice([*(path.name for path in sorted(seed_folder.iterdir())), None])
    for server_folder in sorted(seed_folder.iterdir()):
        lines = [
            _move_line(line, shift_ms, jumps)
            for path in sorted((server_folder / "journal").glob("*.jsonl*"))
            for line in decompress_file(path.read_bytes(), str(path)).splitlines()
        ]
        part_number = 0

        def number_part(line: tuple[int, int, bytes]) -> tuple[int, int]:
            nonlocal part_number
            part_number += random.random() < 0.002
            return line[1] // DAY_MS, part_number

        parts = [list(part) for _, part in groupby(lines, number_part)]
        for number, part in enumerate(parts):
            text = b"".join(line + b"\n" for _, _, line in part)
            delay = random.choice((0, 0, 0, 0, 0, 1, 2)) + (server_folder.name == late_server)
            yield ArrivingFile(
                f"{server_folder.name}/journal/{segments.segment_name(part[0][0], part[0][1])}",
                text,
                min(run_count - 1, number * run_count // len(parts) + delay),
                random.choice((0, random.randrange(len(text)))),
            )


def _move_line(line: bytes, shift_ms: int, jumps: list[tuple[int, int]]) -> tuple[int, int, bytes]:
    """Return the number and the new time of a record, and its line."""
    head, _, rest = line.partition(b'"time":')
    time_text = rest[: next(place for place, letter in enumerate(rest) if not chr(letter).isdigit())]
    time_ms = int(time_text)
    new_ms = time_ms + shift_ms + sum(jump_ms for at_ms, jump_ms in jumps if at_ms <= time_ms)
    seq = int(head.partition(b'"seq":')[2].rstrip(b", "))
    return seq, new_ms, head + b'"time":%d' % new_ms + rest[len(time_text) :]


def _let_arrive(files: list[ArrivingFile], input_folder: Path, run_number: int) -> bool:
    """Write the files that a run finds; return whether there are any."""
    for file in files:
        target = input_folder / file.path
        length = len(file.text) if file.run_number <= run_number else 0
        if file.run_number == run_number + 1:
            length = file.early_length
        if length and not (target.exists() and target.stat().st_size == length):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.text[:length])
    return input_folder.exists()


def _kill_at_commit(patch: pytest.MonkeyPatch, commit_number: int) -> None:
    commit: Any = TableStore._commit
    commit_count = 0

    def commit_or_die(self: TableStore, *arguments: Any, **options: Any) -> None:
        nonlocal commit_count
        commit_count += 1
        if commit_count > commit_number:
            raise Killed
        commit(self, *arguments, **options)

    patch.setattr(TableStore, "_commit", commit_or_die)


def _run(spark: SparkSession, input_folder: Path, output_folder: Path, report_names: Sequence[str]) -> None:
    request = RunRequest([InputSource(str(input_folder))], str(output_folder), report_names)
    PipelineRun(spark, request, datetime.now(UTC), lambda result: None, print).run_all()


def main() -> int:
    parser = argparse.ArgumentParser("truth.random_runs", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="number of seeds")
    parser.add_argument("--first", type=int, default=1, help="first seed")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="runs-") as folder:
        spark_program = session.SparkProgram(Path(folder, "cache"), "local[2]", {}, is_short_run=True)
        differences: list[str] = []
        for seed in range(arguments.first, arguments.first + arguments.seeds):
            differences += compare_runs(spark_program.session, seed, Path(folder, str(seed)))
            print(f"seed {seed}: {len(differences)} differences so far", flush=True)
        spark_program.stop()
    print("\n".join(differences[:SHOWN_DIFFERENCES]))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
