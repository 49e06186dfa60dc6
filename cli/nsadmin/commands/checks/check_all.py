"""check all: runs every check that applies and reports them as one."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Annotated

from typer import Option

from nsadmin.command_line.declarations import Values, command
from nsadmin.command_line.each_name import expand_names
from nsadmin.commands.checks.check_runner import (
    CheckOutcome,
    ExpectOption,
    SettleOption,
    announce_wait,
    parse_excluded,
    parse_expectation,
    parse_limits,
    parse_settle_seconds,
    run_probe,
)
from nsadmin.commands.columns.checks import CHECK_COLUMNS, CHECKS, NOT_CHECKED
from nsadmin.commands.history.journal_source import JournalOption
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import CheckVerdict
from nsadmin.console.session import Session
from nsadmin.operations.checks import check_suite
from nsadmin.operations.checks.check import CheckLimits, CheckScope
from nsadmin.operations.checks.check_suite import CHECKS_WITH_LIMITS, CLUSTER_CHECKS, CheckPlan
from nsadmin.operations.checks.check_table import find_check
from nsadmin.operations.checks.findings import CheckFinding
from nsadmin.operations.inventory.keeper import open_inventory

CHECK_ALL_COLUMNS = (*CHECK_COLUMNS, CHECKS, NOT_CHECKED)


@command(columns=CHECK_ALL_COLUMNS)
def check_all(
    session: Session,
    topic_names: Annotated[
        list[str] | None,
        Option(
            "-t",
            "--topic",
            metavar="TOPIC",
            help="Also check this topic, or a pattern: 'pay*'. Repeatable, or a list: A,B.",
        ),
    ] = None,
    group_names: Annotated[
        list[str] | None,
        Option(
            "-g",
            "--groupName",
            metavar="GROUP",
            help="Check the lag of this group, or of a pattern, instead of all. Repeatable, or a list: A,B.",
        ),
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
        Option("--skip", metavar="CHECK", help="Skip this check. Repeatable, or a list: A,B."),
        Values("|".join(CLUSTER_CHECKS)),
    ] = None,
    exclude_pattern: Annotated[
        str | None,
        Option("--exclude", metavar="REGEX", help="Skip topics and groups whose names match this pattern."),
    ] = None,
) -> CheckVerdict:
    """Run every check that applies, at the same time. The worst state is the exit code.

    namesrv, brokers, writable, lag, heartbeat, registrationSize, disk, dlq, sends, timer, clocks and
    transactions always run. divergence runs if there are several name servers, replicas if brokers have
    slaves, and certificates if a server shows one. journal runs if a name server writes a journal or you
    name a folder. drain runs if this machine has a drain. proxies runs if a proxy is known, and reports if
    you name a folder. lag examines all groups, or those that you name. topic runs for the topics that you
    name. The first line names what was not checked, and the report says why.

    If name servers differ, divergence waits for up to --settle seconds until they agree. Meanwhile, the other
    findings go to stderr.

    Examples:
        # Health check: is the whole cluster healthy, what is broken? Here a group is behind (exit code 2)
        nsadmin check all
        # All checks, but not the lag of one group, for cron or Nagios
        nsadmin check all --exclude '^analytics$'
        # Fail if a broker is missing, or a group 10,000 messages behind; here one is (exit code 2)
        nsadmin check all --expect broker-a-0,broker-a-1,broker-a-2 --critical lag=10000
        # Fail if a disk is over 75 % full: 15 points below the 90 at which brokers refuse messages
        nsadmin check all --critical disk=15: --skip lag
        # Only the lag of one group, for node_exporter
        nsadmin check all -g warehouse --critical 'lag=~:' --format prometheus --out nsadmin.prom
        # Wait until a restarted cluster is healthy
        nsadmin check all --wait-until-ok 5m --skip lag
    """
    skipped = skipped_checks or []
    for name in skipped:
        if name not in CLUSTER_CHECKS:
            raise UsageError(f'unknown check "{name}" for --skip: use {", ".join(CLUSTER_CHECKS)}')
    options = session.options
    expected_count, expected_brokers = parse_expectation("all", expectation)
    scope = CheckScope(
        expected_count=expected_count,
        journal_folders=[
            Path(folder).expanduser() for folder in dict.fromkeys(journal_folders or options.journal_folders)
        ],
        tls=options.access.tls,
        settle_seconds=parse_settle_seconds(settle_seconds),
        inventory=open_inventory(session, expected_brokers),
        report_folder=Path(report_folder).expanduser() if report_folder else None,
        excluded=parse_excluded(exclude_pattern),
    )
    limits = _limits_by_check(warning_options or (), critical_options or ())

    def run_checks() -> CheckOutcome:
        early_findings = _EarlyFindings(session)
        plan = CheckPlan(
            scope._replace(report_wait=early_findings.announce_wait),
            expand_names(session, "topic", topic_names or ()),
            expand_names(session, "consumer group", group_names or ()),
            limits,
            skipped,
            early_findings.add_finding,
        )
        return check_suite.run_checks(session.open_background_client, plan)

    return run_probe(session, "all", run_checks)


class _EarlyFindings:
    """Writes findings to stderr as they come, once it is known that name servers get time to agree."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._waiting_lines: list[str] | None = []
        self._lock = Lock()

    def add_finding(self, finding: CheckFinding) -> None:
        line = f"{finding.state.name:<8}  {finding.title}  {finding.summary}"
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
) -> dict[str, CheckLimits]:
    """The warning and critical ranges by check, as they were typed; UsageError for a malformed range."""
    warnings = _ranges_by_check("--warning", warning_options)
    criticals = _ranges_by_check("--critical", critical_options)
    limits = {name: (warnings.get(name), criticals.get(name)) for name in {**warnings, **criticals}}
    for name, check_limits in limits.items():
        parse_limits(name, find_check(name).measures, *check_limits)
    return limits


def _ranges_by_check(option_flag: str, option_texts: Sequence[str]) -> dict[str, str]:
    ranges = {}
    for option_text in option_texts:
        name, equals_sign, range_text = option_text.partition("=")
        if not equals_sign or name not in CHECKS_WITH_LIMITS:
            raise UsageError(
                f'invalid value "{option_text}" for {option_flag}: write CHECK=RANGE '
                f"with one of {', '.join(CHECKS_WITH_LIMITS)}"
            )
        ranges[name] = range_text
    return ranges
