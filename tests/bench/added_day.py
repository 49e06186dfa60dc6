"""Benchmark of a run that adds a day (`python -m tests.bench.added_day`), after different lengths of history.

The journals come from `tests.bench.fleet_days`: 190,000 events a day. For each length, a run reads all days
but the last. Then the run that adds the last day is measured. Beside it stand a part of this work in DuckDB
(`tests.bench.duckdb_day`), and a run over all days from nothing (not with `--added-only`). With `--compare`,
the tables of both runs must be equal, row for row. `--write` puts the figures into
docs/explanation/report-runs.md. Run it on an idle machine.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.bench import figures, fleet_days
from tests.bench.table_comparison import compare_folders

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "report-runs.md"
CACHE = Path("~/.cache/nsadmin/spark").expanduser()
EVENTS_A_DAY = 188_000
UNCOMPARED_TABLES = ("bronze/files",)
_TICKS, _PAGE_BYTES = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


class Cost(NamedTuple):
    """Seconds, seconds of processor time, and the greatest memory of a process (Java's) in MiB."""

    seconds: float
    processor_seconds: float
    peak_mib: float

    def __str__(self) -> str:
        return f"{self.seconds:.0f} s, {self.processor_seconds:.0f} s, {self.peak_mib / 1024:.1f} GiB"


def run_duckdb(input_folder: Path) -> Cost:
    """Let DuckDB fold the last day, after the one before it."""
    day_before, day = sorted({segment.name[17:25] for segment in input_folder.glob("*/*")})[-2:]
    command = [sys.executable, "-m", "tests.bench.duckdb_day", str(input_folder), day, day_before]
    return Cost(*map(float, subprocess.check_output(command, text=True).split()))


def run_pipeline(input_folder: Path, output_folder: Path, options: list[str]) -> Cost:
    """Run the pipeline in a process of its own, and measure it and its children."""
    command = [
        *(sys.executable, "-m", "nsreport", "--cache", str(CACHE), "run"),
        *("--input", str(input_folder), "--dir", str(output_folder), *options),
    ]
    began = time.monotonic()
    with tempfile.TemporaryFile() as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        seconds_by_pid: dict[int, float] = {}
        peak_bytes, ended = 0, threading.Event()

        def measure() -> None:
            nonlocal peak_bytes
            while not ended.wait(0.2):
                usage = list_usage(process.pid)
                seconds_by_pid.update({pid: seconds for pid, (seconds, _) in usage.items()})
                peak_bytes = max([peak_bytes, *(memory for _, memory in usage.values())])

        watcher = threading.Thread(target=measure)
        watcher.start()
        exit_code = process.wait()
        ended.set()
        watcher.join()
        if exit_code:
            log.seek(0)
            raise SystemExit(log.read().decode()[-2000:])
    return Cost(time.monotonic() - began, sum(seconds_by_pid.values()), peak_bytes / 2**20)


def list_usage(root_pid: int) -> dict[int, tuple[float, int]]:
    """Return the processor seconds and the bytes of memory of a process and its descendants."""
    stats: dict[int, tuple[int, float, int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        seconds = (int(fields[11]) + int(fields[12])) / _TICKS
        stats[int(name)] = int(fields[1]), seconds, int(fields[21]) * _PAGE_BYTES
    wanted = {root_pid} & set(stats)
    while more := {pid for pid, (parent, _, _) in stats.items() if parent in wanted} - wanted:
        wanted |= more
    return {pid: stats[pid][1:] for pid in wanted}


def measure_days(
    folder: Path, day_count: int, options: list[str], *, is_compared: bool, is_added_only: bool
) -> Iterator[Cost]:
    """Yield the costs of the run that adds a day to so many, of DuckDB, and of a run over all days."""
    shutil.rmtree(folder, ignore_errors=True)
    fleet_days.write(folder / "all", EVENTS_A_DAY * (day_count + 1))
    for server_folder in (folder / "all").iterdir():
        (folder / "input" / server_folder.name).mkdir(parents=True)
        for segment in sorted(server_folder.iterdir())[:day_count]:
            os.link(segment, folder / "input" / server_folder.name / segment.name)
    run_pipeline(folder / "input", folder / "tables", options)
    for segment in (folder / "all").glob("*/*"):
        target = folder / "input" / segment.relative_to(folder / "all")
        if not target.exists():
            shutil.copyfile(segment, target)
    yield run_pipeline(folder / "input", folder / "tables", options)
    yield run_duckdb(folder / "all")
    if is_added_only:
        return
    yield run_pipeline(folder / "input", folder / "tables-from-nothing", options)
    if is_compared:
        for table_name, only_added, only_whole in compare_folders(
            folder / "tables", folder / "tables-from-nothing"
        ):
            if table_name not in UNCOMPARED_TABLES and (only_added or only_whole):
                raise SystemExit(f"{table_name} differs: {[*only_added, *only_whole][:3]}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.added_day", description=__doc__)
    parser.add_argument("--days", type=int, nargs="+", default=[1, 6, 30, 60], help="days of history")
    parser.add_argument("--conf", action="append", default=[], help="setting of Spark, as of report run")
    parser.add_argument("--compare", action="store_true", help="compare the tables of both runs")
    parser.add_argument("--added-only", action="store_true", help="make no run over all days from nothing")
    parser.add_argument("--dir", type=Path, help="folder for journals and tables (temporary)")
    parser.add_argument("--write", action="store_true", help="write the figures to the page")
    arguments = parser.parse_args()
    options = [word for setting in arguments.conf for word in ("--conf", setting)]
    lines = [
        "| Days before | a day more | its events and routes in DuckDB | all days from nothing |",
        "|---:|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as temporary_folder:
        for day_count in arguments.days:
            folder = (arguments.dir or Path(temporary_folder)) / str(day_count)
            costs = measure_days(
                folder,
                day_count,
                options,
                is_compared=arguments.compare,
                is_added_only=arguments.added_only,
            )
            cells = [*map(str, costs), ""][:3]
            lines.append(f"| {day_count} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
            shutil.rmtree(folder)
    lines += ["", f"Time, processor time and peak memory. {figures.machine()}"]
    print("\n".join(lines))
    if arguments.write:
        figures.write(PAGE, "the cost of a day more", lines)


if __name__ == "__main__":
    main()
