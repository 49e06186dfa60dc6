"""The measures of all checks with their default warning and critical ranges.

Other views, such as the TUI, colour the same numbers by these limits. FIGURE_MEASURES has the numbers that
no check measures.
"""

from collections.abc import Iterable

from nsadmin.operations.checks.findings import (
    AlertLimits,
    CheckFinding,
    CheckMeasure,
    CheckSample,
    CheckState,
    worst_state,
)
from nsadmin.operations.checks.ranges import AlertRange, InvalidRangeError, parse_range

MEASURES_BY_CHECK: dict[str, tuple[CheckMeasure, ...]] = {
    "namesrv": (
        CheckMeasure("failing", "name servers that do not answer, or are not ready", warning="0"),
        CheckMeasure("serving", "name servers that return routes", critical="1:"),
        CheckMeasure(
            "latency", "duration of one small request on an open connection", "s", label_name="namesrv"
        ),
    ),
    "brokers": (
        CheckMeasure("failing", "brokers that do not answer, and missing masters", warning="0"),
        CheckMeasure("masterless", "broker names without a master that answers", critical="0"),
        CheckMeasure("refusing", "masters that refuse messages because their disk is full"),
        CheckMeasure("serving", "brokers that answer"),
    ),
    "divergence": (
        CheckMeasure(
            "drift", "differences between name servers that last longer than two heartbeats", warning="0"
        ),
        CheckMeasure("routes", "of these, differences in brokers and queues of topics", critical="0"),
        CheckMeasure("young", "differences that may disappear with the next heartbeat"),
        CheckMeasure("missing", "expected brokers that no name server lists"),
    ),
    "topic": (
        CheckMeasure("unwritable", "brokers of the topic that accept no messages for it", warning="0"),
        CheckMeasure("writable", "brokers that accept messages for it", critical="1:"),
        CheckMeasure("readable", "brokers that consumers can read it from"),
        CheckMeasure("writeQueues", "writable queues"),
    ),
    "writable": (
        CheckMeasure("reduced", "topics with brokers that accept no messages", warning="0"),
        CheckMeasure("unwritable", "topics without a broker that accepts messages", critical="0"),
        CheckMeasure("topics", "checked topics"),
    ),
    "heartbeat": (
        CheckMeasure(
            "longest",
            "longest time without a heartbeat, as a share of the time until the broker expires",
            "%",
            warning="50",
            critical="75",
        ),
        CheckMeasure("silence", "the same in seconds, at each name server", "s", label_name="namesrv"),
        CheckMeasure("unheard", "brokers that are missing on some name servers only"),
    ),
    "drain": (
        CheckMeasure("open", "writable topics on drained brokers", critical="0"),
        CheckMeasure("oldest", "age of the oldest drain", "s", warning="86400"),
        CheckMeasure("drains", "brokers that are drained, or whose drain is not complete"),
    ),
    "backup": (
        CheckMeasure("age", "age of the last backup", "s", warning="93600", critical="180000"),
        CheckMeasure("missing", "servers and sections that the last backup lacks"),
        CheckMeasure("size", "size of the last backup", "B"),
        CheckMeasure("backups", "backups in the folder"),
    ),
    "reports": (
        CheckMeasure(
            "age", "time since report run read the last line", "s", warning="93600", critical="180000"
        ),
        CheckMeasure("quarantine", "lines of the last seven days that could not be read", "%"),
        CheckMeasure("unfinished", "days whose tables a run has not completed"),
        CheckMeasure("late", "lines of the last seven days that were read more than a day late"),
        CheckMeasure("lines", "lines of the last seven days"),
    ),
    "replicas": (
        CheckMeasure("missing", "topics, groups and other items that a slave lacks", critical="0"),
        CheckMeasure("stopped", "slaves that copy no messages: always critical"),
        CheckMeasure("drift", "all differences that slaves do not remove", warning="0"),
        CheckMeasure("lagging", "differences that the next copy may remove"),
        # The limits are those of a slave that is not in sync (haMaxGapNotInSync).
        CheckMeasure("distance", "bytes of the commit log that a slave lacks", "B", label_name="broker"),
    ),
    "journal": (
        CheckMeasure(
            "age",
            "age of the last record, in the journal with the oldest one",
            "s",
            warning="120",
            critical="600",
        ),
        CheckMeasure("quiet", "age of a journal's last record", "s", label_name="journal"),
        CheckMeasure("lost", "lost events in the checked part of the journals"),
        CheckMeasure("failing", "journals that cannot be written, or are damaged"),
    ),
    "registrationSize": (
        CheckMeasure(
            "largest",
            "largest registration, as a share of the name server's limit",
            "%",
            warning="50",
            critical="80",
        ),
        CheckMeasure("size", "size of a broker's registration", "B", label_name="broker"),
    ),
    "certificates": (
        CheckMeasure("first", "days until the first certificate expires", warning="30:", critical="7:"),
        CheckMeasure("days", "days until a certificate expires", label_name="holder"),
    ),
    "security": (
        CheckMeasure("critical", "kinds of findings that give strangers access or secrets", critical="0"),
        CheckMeasure("warnings", "kinds of findings that leave an access open", warning="0"),
        CheckMeasure("servers", "checked servers"),
    ),
    "kubernetes": (
        CheckMeasure("critical", "kinds of findings that stop nsadmin or lose messages", critical="0"),
        CheckMeasure(
            "warnings", "kinds of findings that stand in the way of nsadmin or of restarts", warning="0"
        ),
        CheckMeasure("servers", "pods of servers"),
    ),
    "clients": (
        CheckMeasure("old", "clients with a release before --min-version", warning="0", critical="1000000"),
        CheckMeasure("unknown", "clients whose release is unknown"),
        CheckMeasure("clients", "connected clients"),
    ),
    "lag": (
        CheckMeasure("lag", "backlog of the group, in messages", warning="10000", critical="100000"),
        CheckMeasure("largest", "largest backlog of a queue"),
        CheckMeasure("delay", "age of the oldest message that waits for the group", "s"),
        CheckMeasure("clients", "connected clients of the group"),
    ),
}
"""The measures of each check, by the name of the check."""

FIGURE_MEASURES = {
    # From 75 % on brokers delete early (diskMaxUsedSpaceRatio); at 90 % writes stop
    # (diskSpaceWarningLevelRatio).
    "disk": CheckMeasure("disk", "used disk space of a broker", "%", warning="75", critical="85"),
    # Brokers refuse messages that wait longer than 200 ms (waitTimeMillsInSendQueue).
    "sendWait": CheckMeasure("sendWait", "wait of the oldest message in ms", warning="50", critical="200"),
    # Brokers refuse messages from 1000 ms on (osPageCacheBusyTimeOutMills).
    "pageCache": CheckMeasure(
        "pageCache", "time that a write holds the page cache, in ms", warning="300", critical="1000"
    ),
    "dispatch": CheckMeasure(
        "dispatch", "bytes that are not in queues yet", "B", warning="1048576", critical="67108864"
    ),
    # A slave that is further behind is not in sync (haMaxGapNotInSync).
    "replica": CheckMeasure(
        "replica", "bytes that a slave does not have yet", "B", warning="16777216", critical="268435456"
    ),
    "latency": CheckMeasure("latency", "duration of a small request, in ms", warning="100", critical="1000"),
}
"""Figures of brokers and name servers that no check measures. The limits follow RocketMQ 5.5.0."""

SUBJECT_LABELS = {"topic": "topic", "lag": "group"}
"""The checks of a single topic or group, with the label of that subject."""


class CheckScale:
    """The measures of one check with their effective limits."""

    def __init__(
        self,
        check_name: str,
        warning_text: str | None = None,
        critical_text: str | None = None,
        own_measures: Iterable[CheckMeasure] | None = None,
    ) -> None:
        """Replace default limits by the given ranges. Raises InvalidRangeError.

        Pass `own_measures` if the figures do not belong to a check.
        """
        self.check_name = check_name
        self._measures_by_name = {
            check_measure.name: check_measure
            for check_measure in (MEASURES_BY_CHECK[check_name] if own_measures is None else own_measures)
        }
        self._limits_by_measure = {
            measure_name: AlertLimits(
                _parse_limit("--warning", check_measure.warning, warning_text),
                _parse_limit("--critical", check_measure.critical, critical_text),
            )
            for measure_name, check_measure in self._measures_by_name.items()
        }

    def make_sample(
        self, measure_name: str, measured_value: float | None, item_name: str | None = None
    ) -> CheckSample:
        """Return a value of a measure together with its limits."""
        return CheckSample(
            self._measures_by_name[measure_name],
            measured_value,
            item_name,
            self._limits_by_measure[measure_name],
        )

    def make_finding(
        self,
        summary: str,
        samples: Iterable[CheckSample],
        detail_lines: Iterable[str] = (),
        *,
        minimum_state: CheckState = CheckState.OK,
        about: str | None = None,
    ) -> CheckFinding:
        """Return a finding with the worst state of its samples, or `minimum_state` if that is worse."""
        samples = tuple(samples)
        overall_state = worst_state([minimum_state, *(sample.alert_state for sample in samples)])
        return CheckFinding(self.check_name, overall_state, summary, samples, tuple(detail_lines), about)

    def make_unknown_finding(
        self, summary: str, detail_lines: Iterable[str] = (), about: str | None = None
    ) -> CheckFinding:
        """Return an UNKNOWN finding with its reason."""
        return CheckFinding(self.check_name, CheckState.UNKNOWN, summary, (), tuple(detail_lines), about)


def _parse_limit(option_name: str, default_text: str | None, option_text: str | None) -> AlertRange | None:
    """Return the given range or else the default one; None for a measure without a default limit."""
    if default_text is None or option_text is None:
        return None if default_text is None else parse_range(default_text)
    try:
        parsed_range = parse_range(option_text)
    except InvalidRangeError as error:
        raise InvalidRangeError(f"{option_name}: {error}") from None
    if default_text.endswith(":") and ":" not in option_text:
        raise InvalidRangeError(
            f"{option_name} {option_text} would alert above {option_text}, but low values are bad: "
            f"use {option_text}:"
        )
    return parsed_range
