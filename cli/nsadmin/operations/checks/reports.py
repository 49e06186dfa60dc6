"""Checks that the tables of reports are up to date, and that their input could be read."""

from pathlib import Path

from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.thresholds import CheckScale

WARNING_QUARANTINE_PERCENT, CRITICAL_QUARANTINE_PERCENT = 1, 10
MAX_RUN_SECONDS = 7200
"""After this time without a new line, unfinished days are those of a run that was stopped."""


def judge_reports(scale: CheckScale, report_folder: Path, now_ms: int) -> CheckFinding:
    """Judge the age of the last line, the share of unreadable lines, and unfinished days of a store.

    A folder without tables is CRITICAL. Without the packages of nsadmin[spark], the state is UNKNOWN.
    """
    from nsreport.presentation import data_quality, report_reader

    try:
        quality = data_quality.summarize_store(report_folder)
    except report_reader.TableNotMadeError as error:
        return CheckFinding(scale.check_name, CheckState.CRITICAL, str(error))
    except ImportError as error:
        return scale.make_unknown_finding(
            f"the Python package {error.name} is missing: run pip install 'nsadmin[spark]'"
        )
    if quality.last_read_ms is None:
        return CheckFinding(
            scale.check_name, CheckState.CRITICAL, f"no line was read yet into {report_folder}"
        )
    age_seconds = max(0.0, (now_ms - quality.last_read_ms) / 1000)
    share = 100 * quality.quarantined_count / quality.line_count
    details = (
        [
            f"{'1 day is' if quality.unfinished_days == 1 else f'{quality.unfinished_days} days are'} "
            "not complete: run nsadmin report run again"
        ]
        if quality.unfinished_days
        else []
    )
    return scale.make_finding(
        f"the last line was read {age_seconds / 3600:.1f} h ago, "
        f"{share:.2f} % of the lines are in quarantine",
        [
            scale.make_sample("age", round(age_seconds)),
            scale.make_sample("quarantine", round(share, 3)),
            scale.make_sample("unfinished", quality.unfinished_days),
            scale.make_sample("late", quality.late_count),
            scale.make_sample("lines", quality.line_count),
        ],
        details,
        minimum_state=_judge_content(share, quality.unfinished_days, age_seconds),
    )


def _judge_content(quarantine_percent: float, unfinished_days: int, age_seconds: float) -> CheckState:
    if quarantine_percent > CRITICAL_QUARANTINE_PERCENT:
        return CheckState.CRITICAL
    # A job that is running has unfinished days, too.
    was_stopped = unfinished_days > 0 and age_seconds > MAX_RUN_SECONDS
    if was_stopped or quarantine_percent > WARNING_QUARANTINE_PERCENT:
        return CheckState.WARNING
    return CheckState.OK
