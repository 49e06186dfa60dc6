"""Checks that the tables of reports are up to date, and that their input could be read."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nsadmin.client import AdminClient
from nsadmin.client.extras import describe_missing
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, CheckState

if TYPE_CHECKING:
    from nsreport.presentation.data_quality import StoreQuality

WARNING_QUARANTINE_PERCENT, CRITICAL_QUARANTINE_PERCENT = 1, 10
MAX_RUN_SECONDS = 7200
"""After this time without a new line, unfinished days are those of a run that was stopped."""


class ReportObservation(NamedTuple):
    """The tables in a folder. `problem` says why they cannot be judged, with the state that follows."""

    folder: Path
    now_ms: int
    quality: "StoreQuality | None"
    problem: str = ""
    problem_state: CheckState = CheckState.CRITICAL


def observe(admin: AdminClient, scope: CheckScope) -> ReportObservation:
    """Read the tables. Without the packages of nsadmin[spark], the state is UNKNOWN."""
    scope.skip_if(scope.report_folder is None, "pass --reports DIR")
    assert scope.report_folder is not None
    from nsreport.presentation import data_quality, report_reader

    folder, now_ms = scope.report_folder, admin.clock_ms
    try:
        return ReportObservation(folder, now_ms, data_quality.summarize_store(folder))
    except report_reader.TableNotMadeError as error:
        return ReportObservation(folder, now_ms, None, str(error))
    except ImportError as error:
        problem = describe_missing(error.name or "", "spark")
        return ReportObservation(folder, now_ms, None, problem, CheckState.UNKNOWN)


def judge(scale: CheckScale, seen: ReportObservation) -> CheckFinding:
    """Judge the age of the last line, the share of unreadable lines, and unfinished days of a store."""
    quality = seen.quality
    if quality is None:
        return CheckFinding(scale.check_name, seen.problem_state, seen.problem)
    if quality.last_read_ms is None:
        problem = f"no line was read yet into {seen.folder}"
        return CheckFinding(scale.check_name, CheckState.CRITICAL, problem)
    age_seconds = max(0.0, (seen.now_ms - quality.last_read_ms) / 1000)
    share = 100 * quality.quarantined_count / quality.line_count
    unfinished_text = (
        "1 day is" if quality.unfinished_days == 1 else f"{quality.unfinished_days} days are"
    ) + " not complete: run nsadmin report run again"
    forgotten_text = f", days before {quality.first_day} are forgotten" if quality.first_day else ""
    return scale.make_finding(
        f"the last line was read {age_seconds / 3600:.1f} h ago, "
        f"{share:.2f} % of the lines could not be read{forgotten_text}",
        {
            "age": round(age_seconds),
            "quarantine": round(share, 3),
            "unfinished": quality.unfinished_days,
            "late": quality.late_count,
            "lines": quality.line_count,
        },
        [unfinished_text] if quality.unfinished_days else [],
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


CHECK = Check(
    "reports",
    (
        CheckMeasure(
            "age", "time since report run read the last line", "s", warning="93600", critical="180000"
        ),
        CheckMeasure("quarantine", "lines of the last seven days that could not be read", "%"),
        CheckMeasure("unfinished", "days whose tables a run has not completed"),
        CheckMeasure("late", "lines of the last seven days that were read more than a day late"),
        CheckMeasure("lines", "lines of the last seven days"),
    ),
    observe,
    judge,
    warning_when="the last line was read 26 hours ago, 1 % of the lines are unreadable, or a run did not "
    "complete",
    critical_when="50 hours ago, 10 % are unreadable, or there are no tables",
    remedy="nsadmin report show data_quality",
)
