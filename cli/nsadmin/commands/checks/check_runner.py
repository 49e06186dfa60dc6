"""Runs a check: parses its limits, waits until the state is OK if asked to, and writes the report."""

import re
from collections.abc import Callable, Iterable, Sequence
from math import ceil
from time import monotonic, sleep
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from namesrv_core.errors import BadSettings, RocketMQError
from nsadmin.client.wall_clock import time
from nsadmin.command_line.argument_values import parse_duration_seconds, parse_name_list
from nsadmin.command_line.broker_expectation import parse_expected_brokers
from nsadmin.command_line.declarations import means_several
from nsadmin.commands.checks.check_formats import REPORT_WRITERS, CheckReport
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import CheckVerdict
from nsadmin.console.session import Session
from nsadmin.operations.checks.check import WHOLE_CLUSTER, CheckLimits, CheckScale, CheckScope
from nsadmin.operations.checks.check_table import CHECKS_BY_NAME, find_check
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, CheckState
from nsadmin.operations.checks.ranges import InvalidRangeError

if TYPE_CHECKING:
    from nsadmin.operations.inventory.records import ExpectedBroker

CheckOutcome = tuple[CheckFinding, Sequence[CheckFinding]]
CheckProbe = Callable[[], CheckFinding | CheckOutcome]
"""Observes the current state. A check that consists of several checks also returns their findings."""

ClusterOption = Annotated[str | None, Option("--clusterName", metavar="CLUSTER", help="Only this cluster.")]

SettleOption = Annotated[
    float | None,
    Option(
        "--settle",
        metavar="SECONDS",
        help="If name servers differ, how long brokers may take to make them equal. Default: 50.",
    ),
]
ExpectOption = Annotated[
    str | None,
    Option(
        "--expect",
        metavar="N|BROKERS|FILE",
        help="The expected number of brokers; or the expected brokers, as broker-a,broker-b:1, a "
        "file with one broker per line, a plan, or a journal.",
    ),
]
_RETRY_PAUSE_SECONDS = 1.0
_REPORT_SECONDS = 10.0
_MAX_PATIENCE_SECONDS = 86_400.0


def warning_option(help_text: str) -> Any:
    return Option("--warning", metavar="RANGE", help=help_text)


def critical_option(help_text: str) -> Any:
    return Option("--critical", metavar="RANGE", help=help_text)


WarningKindsOption = Annotated[
    str | None, warning_option("How many kinds of warnings to accept. Default: 0.")
]
CriticalKindsOption = Annotated[
    str | None, critical_option("How many kinds of critical findings to accept. Default: 0.")
]


def parse_limits(
    check_name: str, measures: Iterable[CheckMeasure], warning: str | None, critical: str | None
) -> CheckScale:
    """Parse --warning and --critical of a check; UsageError for a malformed range."""
    try:
        return CheckScale(check_name, measures, warning, critical)
    except InvalidRangeError as error:
        raise UsageError(f"check {check_name}: {error}") from None


def parse_expectation(check_name: str, expectation: str | None) -> tuple[int | None, "list[ExpectedBroker]"]:
    """Parse --expect: a number of brokers, or the brokers themselves; UsageError if it is neither."""
    if expectation is None:
        return None, []
    if expectation.strip().isdecimal():
        return int(expectation), []
    return None, parse_expected_brokers(f"check {check_name}", expectation)


def parse_excluded(pattern: str | None) -> re.Pattern[str] | None:
    """Parse --exclude, which names of topics and groups are searched for."""
    try:
        return None if pattern is None else re.compile(pattern)
    except re.error as error:
        raise UsageError(f'invalid regular expression "{pattern}" for --exclude: {error}') from None


def parse_settle_seconds(settle_seconds: float | None) -> float:
    """How many seconds name servers may take to agree; UsageError if --settle is out of range."""
    if settle_seconds is not None and not 0 <= settle_seconds <= 3600:
        raise UsageError(f'invalid value "{settle_seconds:g}" for --settle: expected seconds, 0 to 3600')
    return WHOLE_CLUSTER.settle_seconds if settle_seconds is None else settle_seconds


def announce_wait(session: Session, wait_seconds: float) -> None:
    """Write to stderr that name servers which differ get time to agree."""
    session.write_remark(
        f"name servers differ: waiting up to {wait_seconds:.0f} s until they agree (--settle 0 does not wait)"
    )


def run_check(
    session: Session,
    check_name: str,
    warning: str | None,
    critical: str | None,
    scope: CheckScope = WHOLE_CLUSTER,
) -> CheckVerdict:
    """Run a check of the table with these limits."""
    check = find_check(check_name)
    scale = parse_limits(check_name, check.measures, warning, critical)
    scope = scope._replace(
        tls=session.options.access.tls, report_wait=lambda seconds: announce_wait(session, seconds)
    )
    subject = CHECKS_BY_NAME[check_name].subject
    named = scope.group if subject == "group" else scope.topic if subject == "topic" else None
    if means_several(named):
        return _run_check_of_each(session, check_name, (warning, critical), scope, str(named))
    return run_probe(
        session,
        check_name,
        lambda: check.judge(scale, check.observe(session.admin, scope)),
        scope.group or scope.topic,
    )


def _run_check_of_each(
    session: Session, check_name: str, limits: CheckLimits, scope: CheckScope, text: str
) -> CheckVerdict:
    """Run the check of a topic or group for each name that a list or a pattern means."""
    # Imported late: health probes check one thing.
    from nsadmin.command_line.each_name import expand_names
    from nsadmin.operations.checks import check_suite

    is_of_topics = CHECKS_BY_NAME[check_name].subject == "topic"
    words = parse_name_list("TOPIC" if is_of_topics else "GROUP", text)

    def run_each() -> CheckOutcome:
        names = expand_names(
            session, "topic" if is_of_topics else "consumer group", words, scope.cluster_name
        )
        names = [n for n in names if scope.excluded is None or not scope.excluded.search(n)]
        plan = check_suite.CheckPlan(
            scope,
            topics=names if is_of_topics else (),
            groups=() if is_of_topics else names,
            limits={check_name: limits},
        )
        return check_suite.run_check_of_each(session.open_background_client, check_name, plan)

    return run_probe(session, check_name, run_each)


def run_probe(
    session: Session, check_name: str, probe: CheckProbe, about_name: str | None = None
) -> CheckVerdict:
    """Run the probe, with --wait-until-ok until the state is OK, and write the report in the chosen format.

    If the probe fails, the state is UNKNOWN. With --out, the returned text is empty.
    """
    options = session.options.plugin_options
    write_report = REPORT_WRITERS.get(options.format or "text")
    if write_report is None:
        raise UsageError(f'unknown format "{options.format}" for --format: use {", ".join(REPORT_WRITERS)}')
    patience_seconds = (
        None
        if options.wait_until_ok is None
        else parse_duration_seconds("--wait-until-ok", options.wait_until_ok, 0, _MAX_PATIENCE_SECONDS)
    )
    overall, parts = _probe_until_ok(
        session, lambda: _probe_once(check_name, probe, about_name), patience_seconds
    )
    report_text = write_report(CheckReport(overall, int(time() * 1000), parts, session.options.context))
    if options.output_file is None:
        return CheckVerdict(report_text, overall.state)
    _write_output_file(options.output_file, report_text)
    return CheckVerdict("", overall.state)


def _probe_once(check_name: str, probe: CheckProbe, about_name: str | None) -> CheckOutcome:
    try:
        result = probe()
    except BadSettings:
        raise
    except RocketMQError as error:
        summary = str(error).split("\n", 1)[0]
        return CheckFinding(check_name, CheckState.UNKNOWN, summary, about=about_name), ()
    return (result, ()) if isinstance(result, CheckFinding) else result


def _probe_until_ok(
    session: Session, probe: Callable[[], CheckOutcome], patience_seconds: float | None
) -> CheckOutcome:
    deadline_seconds = monotonic() + (patience_seconds or 0.0)
    reported_state, next_report_seconds = None, 0.0
    while True:
        overall, parts = probe()
        seconds_left = deadline_seconds - monotonic()
        if overall.state is CheckState.OK or patience_seconds is None or seconds_left <= 0:
            return overall, parts
        # The numbers of a summary change in each second.
        if overall.state is not reported_state or monotonic() >= next_report_seconds:
            reported_state, next_report_seconds = overall.state, monotonic() + _REPORT_SECONDS
            session.write_remark(
                f"{overall.state.name}: {overall.summary}; waiting for up to {ceil(seconds_left)} s more"
            )
        sleep(min(_RETRY_PAUSE_SECONDS, seconds_left))


def _write_output_file(file_name: str, report_text: str) -> None:
    from pathlib import Path

    from namesrv_core.storage import atomic_write

    output_path = Path(file_name).expanduser()
    try:
        atomic_write.replace_file(
            output_path,
            f"{report_text.rstrip()}\n".encode("utf-8", "backslashreplace"),
            keeps_backup=False,
            # Monitoring agents such as the node exporter run as another user.
            is_private=False,
        )
    except OSError as error:
        raise UsageError(f"cannot write {output_path} (--out): {error.strerror}") from None
