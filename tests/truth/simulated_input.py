"""Simulated input: plays seeds, and writes their journals, Java logs and truth into the folders of a run."""

import gzip
import logging
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core.history.records import JournalRecord
from namesrv_core.lab import java_logs
from namesrv_core.storage.journal import reader
from tests.truth.cluster_simulation import END_MS, ClusterSimulation
from tests.truth.fault_actions import schedule_faults
from tests.truth.fault_plan import plan_faults
from tests.truth.recorded_view import JOURNAL, SOURCES, RecordedView, build_view
from tests.truth.true_facts import read_facts, write_facts

_LOG_TIME_OFFSET_MS = 8 * 3_600_000
_LETTERS_BY_SOURCE = {JOURNAL: "j", "5.x": "l", "4.x": "o"}
TRUTH_FILE = "truth.jsonl"


class SimulatedSeed(NamedTuple):
    """A seed with its true facts, and the views of its inputs."""

    seed: int
    true_facts: Sequence[Any]
    views: Sequence[RecordedView]


def simulate_seed(seed: int, run_folder: Path, sources: Sequence[str] = SOURCES) -> SimulatedSeed:
    """Play a seed. `run_folder/input` gets its journals and logs, `run_folder/truth/SEED` its truth.

    Each source has its own names and addresses, so that all of them fit into one run of the pipeline.
    """
    logging.getLogger("namesrv").setLevel(logging.CRITICAL)
    input_folder, truth_folder = run_folder / "input", run_folder / "truth" / str(seed)
    truth_folder.mkdir(parents=True)
    name_prefix = f"{_LETTERS_BY_SOURCE[JOURNAL]}{seed}"
    simulation = ClusterSimulation(seed, input_folder, name_prefix, f"10.{SOURCES.index(JOURNAL)}.{seed}")
    simulation.start_members()
    schedule_faults(simulation, plan_faults(seed, tuple(simulation.servers)))
    simulation.run_until_end()
    write_facts(truth_folder / TRUTH_FILE, simulation.history.facts)
    true_facts = read_facts(truth_folder / TRUTH_FILE)
    records = {s: list(reader.read_records(input_folder / s / "journal")) for s in simulation.servers}
    word_times = {server: _split_runs(records) for server, records in records.items()}
    views = [build_view(JOURNAL, name_prefix, true_facts, word_times, END_MS)]
    for source in sources:
        if source != JOURNAL:
            views.append(_write_logs(seed, source, input_folder, true_facts, records))
    return SimulatedSeed(seed, true_facts, views)


def _split_runs(server_records: Sequence[JournalRecord]) -> list[list[int]]:
    """The times of the records, run by run."""
    runs: list[list[int]] = []
    for record in server_records:
        if record.event_type == "Snapshot" and record.event_fields["reason"] == "start":
            runs.append([])
        runs[-1].append(record.time_ms)
    return runs


def _write_logs(
    seed: int,
    source: str,
    input_folder: Path,
    true_facts: Sequence[Any],
    records: dict[str, list[JournalRecord]],
) -> RecordedView:
    """Write the logs that Java name servers of this release would have written."""
    own_prefix, name_prefix = f"{_LETTERS_BY_SOURCE[JOURNAL]}{seed}-", f"{_LETTERS_BY_SOURCE[source]}{seed}-"
    own_addr, log_addr = f"10.{SOURCES.index(JOURNAL)}.{seed}.", f"10.{SOURCES.index(source)}.{seed}."

    def rename(text: str) -> str:
        return text.replace(own_prefix, name_prefix).replace(own_addr, log_addr)

    word_times: dict[str, list[list[int]]] = {}
    for server, server_records in records.items():
        lines = [rename(line) for line in java_logs.format_lines(server_records, source)]
        log_folder = input_folder / rename(server) / "logs" / "rocketmqlogs"
        log_folder.mkdir(parents=True)
        half = len(lines) // 2
        # The log rolls in the middle of a second, as logback does at a size.
        (log_folder / "namesrv.1.log.gz").write_bytes(gzip.compress("".join(lines[:half]).encode(), 1))
        (log_folder / "namesrv.log").write_text("".join(lines[half:]))
        word_times[rename(server)] = _split_log_runs(lines)
    renamed_facts = _rename_facts(true_facts, rename)
    return build_view(source, name_prefix.removesuffix("-"), renamed_facts, word_times, END_MS)


def _rename_facts(facts: Sequence[Any], rename: Any) -> list[Any]:
    return [f._replace(**{f: rename(v) for f, v in f._asdict().items() if isinstance(v, str)}) for f in facts]


def _split_log_runs(lines: Sequence[str]) -> list[list[int]]:
    runs: list[list[int]] = []
    for line, time_ms in _read_line_times(lines):
        if "kvConfigPath=" in line:
            runs.append([])
        runs[-1].append(time_ms)
    return runs


def _read_line_times(lines: Sequence[str]) -> Iterator[tuple[str, int]]:
    for line in lines:
        local_time = datetime.strptime(line[:19], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
        yield line, int(local_time.timestamp() * 1000) - _LOG_TIME_OFFSET_MS
