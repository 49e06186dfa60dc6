"""check all: runs every check that applies and reports them as one."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Annotated

from typer import Option

from nsadmin.command_line.declarations import Values, command
from nsadmin.commands.checks.check_formats import finding_title
from nsadmin.commands.checks.check_runner import (
    CHECK_COLUMNS,
    CheckOutcome,
    ExpectOption,
    SettleOption,
    announce_wait,
    parse_expectation,
    parse_limits,
    parse_settle_seconds,
    run_check,
)
from nsadmin.commands.history.journal_source import JournalOption
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import CheckVerdict
from nsadmin.console.session import Session
from nsadmin.operations.checks import check_suite
from nsadmin.operations.checks.check_suite import CheckScope
from nsadmin.operations.checks.findings import CheckFinding
from nsadmin.operations.checks.thresholds import SUBJECT_LABELS
from nsadmin.operations.inventory.keeper import open_inventory

CHECK_ALL_COLUMNS = (*CHECK_COLUMNS, "checks", "notChecked")
_CHECKS_WITH_LIMITS = (*check_suite.CHECKS_BY_NAME, *SUBJECT_LABELS)


@command(columns=CHECK_ALL_COLUMNS)
def check_all(
    session: Session,
    topic_names: Annotated[
        list[str] | None,
        Option("-t", "--topic", metavar="TOPIC", help="Also check this topic. Repeatable."),
    ] = None,
    group_names: Annotated[
        list[str] | None,
        Option("-g", "--groupName", metavar="GROUP", help="Also check the lag of this group. Repeatable."),
    ] = None,
    expectation: ExpectOption = None,
    journal_folders: JournalOption = None,
    settle_seconds: SettleOption = None,
    report_folder: Annotated[
        str | None,
        Option("--reports", metavar="DIR", help="Also check the tables that report run --dir wrote here."),
    ] = None,
    warning_options: Annotated[
        list[str] | None,
        Option(
            "--warning",
            metavar="CHECK=RANGE",
            help="The warning limits of a check, such as lag=10000. Repeatable.",
        ),
    ] = None,
    critical_options: Annotated[
        list[str] | None,
        Option(
            "--critical",
            metavar="CHECK=RANGE",
            help="The critical limits of a check, such as lag=500000. Repeatable.",
        ),
    ] = None,
    skipped_checks: Annotated[
        list[str] | None,
        Option("--skip", metavar="CHECK", help="Skip this check. Repeatable."),
        Values("|".join(check_suite.CHECKS_BY_NAME)),
    ] = None,
) -> CheckVerdict:
    """Run every check that applies, at the same time. The worst state is the exit code.

    The checks namesrv, brokers, writable, heartbeat and registrationSize always run. divergence runs if there
    are several name servers, replicas if brokers have slaves, and certificates if TLS is in use. journal runs
    if a name server writes a journal or you name a folder. drain runs if this machine has a drain. reports
    runs if you name a folder. topic and lag run for the topics and groups that you name. The first line names
    what was not checked, and the report says why.

    If name servers differ, divergence waits for up to --settle seconds until they agree. Meanwhile, the other
    findings go to stderr.

    Examples:
        # Run all checks
        nsadmin check all
        # Also check a group, for node_exporter
        nsadmin check all -g warehouse --critical 'lag=~:' --format prometheus --output-file nsadmin.prom
        # Wait until a restarted cluster is healthy
        nsadmin check all --wait-until-ok 5m
    """
    unknown_checks = [
        check_name for check_name in skipped_checks or () if check_name not in check_suite.CHECKS_BY_NAME
    ]
    if unknown_checks:
        raise UsageError(
            f'unknown check "{unknown_checks[0]}" for --skip: use {", ".join(check_suite.CHECKS_BY_NAME)}'
        )
    options = session.options
    expected_count, expected_brokers = parse_expectation("all", expectation)
    check_request = CheckScope(
        tuple(dict.fromkeys(topic_names or ())),
        tuple(dict.fromkeys(group_names or ())),
        tuple(
            Path(journal_folder).expanduser()
            for journal_folder in dict.fromkeys(journal_folders or options.journal_folders)
        ),
        options.access.tls,
        parse_settle_seconds(settle_seconds),
        _limits_by_check(warning_options or (), critical_options or ()),
        expected_count,
        open_inventory(session, expected_brokers),
        report_folder=Path(report_folder).expanduser() if report_folder else None,
    )

    def run_checks() -> CheckOutcome:
        early_findings = _EarlyFindings(session)
        return check_suite.run_checks(
            session.open_background_client,
            check_request._replace(
                report_finding=early_findings.add_finding, report_wait=early_findings.announce_wait
            ),
            skipped_checks or (),
        )

    return run_check(session, "all", run_checks)


class _EarlyFindings:
    """Writes findings to stderr as they come, once it is known that name servers get time to agree."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._waiting_lines: list[str] | None = []
        self._lock = Lock()

    def add_finding(self, finding: CheckFinding) -> None:
        line = f"{finding.state.name:<8}  {finding_title(finding)}  {finding.summary}"
        with self._lock:
            if self._waiting_lines is None:
                self._session.write_remark(line)
            else:
                self._waiting_lines.append(line)

    def announce_wait(self, wait_seconds: float) -> None:
        with self._lock:
            announce_wait(self._session, wait_seconds)
            for line in self._waiting_lines or ():
                self._session.write_remark(line)
            self._waiting_lines = None


def _limits_by_check(
    warning_options: Sequence[str], critical_options: Sequence[str]
) -> dict[str, tuple[str | None, str | None]]:
    """The warning and critical ranges by check, as they were typed; UsageError for a malformed range."""
    warning_ranges, critical_ranges = (
        _ranges_by_check("--warning", warning_options),
        _ranges_by_check("--critical", critical_options),
    )
    limits_by_check = {
        check_name: (warning_ranges.get(check_name), critical_ranges.get(check_name))
        for check_name in {**warning_ranges, **critical_ranges}
    }
    for check_name, limit_pair in limits_by_check.items():
        parse_limits(check_name, *limit_pair)
    return limits_by_check


def _ranges_by_check(option_flag: str, option_texts: Sequence[str]) -> dict[str, str]:
    split_texts = [option_text.partition("=") for option_text in option_texts]
    for (check_name, equals_sign, _), option_text in zip(split_texts, option_texts, strict=True):
        if not equals_sign or check_name not in _CHECKS_WITH_LIMITS:
            raise UsageError(
                f'invalid value "{option_text}" for {option_flag}: write CHECK=RANGE '
                f"with one of {', '.join(_CHECKS_WITH_LIMITS)}"
            )
    return {check_name: option_text for check_name, _, option_text in split_texts}
