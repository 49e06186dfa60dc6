"""`python -m tests.truth` and `make truth`: plays random faults, runs the reports, and compares both."""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from nsreport.runtime import session
from tests.truth.comparison import REPORT_NAMES, ReportScore, add_scores, compare_report
from tests.truth.recorded_view import JOURNAL, SOURCES
from tests.truth.report_rows import query_reports, run_reports
from tests.truth.simulated_input import simulate_seed

_SEEDS_PER_RUN = 40
"""Spark starts once, but a run of the pipeline with more seeds would need more memory."""


def compare_seeds(
    spark: SparkSession,
    seeds: Sequence[int],
    run_folder: Path,
    report_names: Sequence[str],
    *,
    has_logs: bool,
) -> list[ReportScore]:
    """Play these seeds and compare all reports."""
    began = time.monotonic()
    sources = SOURCES if has_logs else (JOURNAL,)
    simulated_seeds = [simulate_seed(seed, run_folder, sources) for seed in seeds]
    print(f"played seeds {seeds[0]} to {seeds[-1]} in {time.monotonic() - began:.0f} s", flush=True)
    make_rows = run_reports if has_logs else query_reports
    rows = make_rows(spark, run_folder, report_names)
    print(f"made the reports after {time.monotonic() - began:.0f} s", flush=True)
    views = [view for seed in simulated_seeds for view in seed.views]
    return [score for name in report_names for score in compare_report(name, rows[name], views)]


def main() -> int:
    parser = argparse.ArgumentParser("truth", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="number of seeds")
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--dir", type=Path, help="folder for journals, logs, truth and tables (temporary)")
    parser.add_argument("--reports", nargs="*", default=REPORT_NAMES, help="reports to compare (all)")
    parser.add_argument(
        "--journals", action="store_true", help="only journals, without runs of the pipeline: much faster"
    )
    parser.add_argument(
        "--shown", type=int, default=20, help="number of wrong and missing rows to print for each report"
    )
    arguments = parser.parse_args()
    all_seeds = range(arguments.first, arguments.first + arguments.seeds)
    with tempfile.TemporaryDirectory(prefix="truth-") as temporary_folder:
        folder = arguments.dir or Path(temporary_folder)
        spark_program = session.SparkProgram(folder / "cache", "local[2]", {})
        all_scores = []
        for number in range(0, len(all_seeds), _SEEDS_PER_RUN):
            seeds = all_seeds[number : number + _SEEDS_PER_RUN]
            all_scores += compare_seeds(
                spark_program.session,
                seeds,
                folder / f"seeds-{seeds[0]}",
                arguments.reports,
                has_logs=not arguments.journals,
            )
        spark_program.stop()
    return print_scores(all_scores, arguments.shown)


def print_scores(all_scores: Sequence[ReportScore], shown_count: int) -> int:
    """Print the scores of each report and source; return 1 if a row is wrong or missing."""
    for report_name, source in dict.fromkeys((score.report, score.source) for score in all_scores):
        scores = [score for score in all_scores if (score.report, score.source) == (report_name, source)]
        total = add_scores(scores)
        print(total.describe())
        for miss in total.misses[:shown_count]:
            print(f"  {miss}")
        if len(total.misses) > shown_count:
            print(f"  and {len(total.misses) - shown_count} more: see --shown")
    return 1 if any(score.misses for score in all_scores) else 0


if __name__ == "__main__":
    sys.exit(main())
