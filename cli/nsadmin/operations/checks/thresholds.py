"""Thresholds: all that checks measure, and above which values it is a warning or critical. Only data.

Whoever shows the same numbers elsewhere colours them by these; numbers that are only shown are here, too.
"""

from collections.abc import Iterable

from nsadmin.operations.checks.finding import Finding, Limits, Measure, Sample, State, worst
from nsadmin.operations.checks.ranges import BadRange, Range, parse

MEASURES: dict[str, tuple[Measure, ...]] = {
    "namesrv": (
        Measure("failing", "name servers that do not answer, or are not ready", warning="0"),
        Measure("serving", "name servers that answer questions about routes", critical="1:"),
        Measure("latency", "time that one small request takes on an open connection", "s", label="namesrv"),
    ),
    "brokers": (
        Measure("failing", "brokers that do not answer, and masters that are missing", warning="0"),
        Measure("masterless", "broker names without a master that answers", critical="0"),
        Measure("serving", "brokers that answer"),
    ),
    "divergence": (
        Measure("drift", "things that name servers know differently, and not only since now", warning="0"),
        Measure("routes", "of these, brokers and queues of topics", critical="0"),
        Measure("young", "things that differ, but may be equal in a moment"),
    ),
    "topic": (
        Measure("unwritable", "brokers of the topic that take no messages of it", warning="0"),
        Measure("writable", "brokers that take messages of it", critical="1:"),
        Measure("readable", "brokers of which it can be read"),
        Measure("writeQueues", "queues that can be written to"),
    ),
    "writable": (
        Measure("reduced", "topics of which some brokers take no messages", warning="0"),
        Measure("unwritable", "topics of which no broker takes messages", critical="0"),
        Measure("topics", "topics that were looked at"),
    ),
    "heartbeat": (
        Measure(
            "longest",
            "longest silence of a broker, as a part of the time that it may be silent",
            "%",
            warning="50",
            critical="75",
        ),
        Measure("silence", "the same, of the broker that was silent for longest", "s", label="namesrv"),
        Measure("unheard", "brokers that one name server lists and another one does not"),
    ),
    "drain": (
        Measure("open", "topics that clients may write to on drained brokers", critical="0"),
        Measure("oldest", "time since the oldest drain was begun", "s", warning="86400"),
        Measure("drains", "brokers that are drained, or half-way"),
    ),
    "journal": (
        Measure(
            "age",
            "time since the last record of the journal that is quiet for longest",
            "s",
            warning="120",
            critical="600",
        ),
        Measure("quiet", "time since the last record of a journal", "s", label="journal"),
        Measure("lost", "events that journals lost, of those that were looked at"),
        Measure("failing", "journals that cannot be written now, or are damaged"),
    ),
    "registrationSize": (
        Measure(
            "largest",
            "the largest registration, as a part of what a name server reads",
            "%",
            warning="50",
            critical="80",
        ),
        Measure("size", "bytes of a broker's registration", "B", label="broker"),
    ),
    "certificates": (
        Measure("first", "days until the first certificate ends", warning="30:", critical="7:"),
        Measure("days", "days until a certificate ends", label="holder"),
    ),
    "security": (
        Measure("critical", "kinds of problems that let strangers in, or tell them secrets", critical="0"),
        Measure("warnings", "kinds of problems that leave something open", warning="0"),
        Measure("servers", "servers that were looked at"),
    ),
    "lag": (
        Measure("lag", "messages that the group has not consumed yet", warning="10000", critical="100000"),
        Measure("largest", "the same, of the queue that is furthest behind"),
        Measure("delay", "age of the last consumed message, of the queue where it is oldest", "s"),
        Measure("clients", "clients of the group that are connected"),
    ),
}
"""By check."""

FIGURES = {
    # diskMaxUsedSpaceRatio deletes early from 75 on; writes stop at 90 (diskSpaceWarningLevelRatio).
    "disk": Measure("disk", "how full a broker's disk is", "%", warning="75", critical="85"),
    # waitTimeMillsInSendQueue: what waits longer than 200 ms is refused.
    "sendWait": Measure("sendWait", "ms that the oldest message has waited", warning="50", critical="200"),
    # osPageCacheBusyTimeOutMills: refused from 1000 ms on.
    "pageCache": Measure("pageCache", "ms that a write holds the page cache", warning="300", critical="1000"),
    "dispatch": Measure("dispatch", "not in queues yet", "B", warning="1048576", critical="67108864"),
    # haMaxGapNotInSync: a slave further behind is not in sync.
    "replica": Measure("replica", "not at a slave yet", "B", warning="16777216", critical="268435456"),
    "latency": Measure("latency", "ms that a small request takes", warning="100", critical="1000"),
}
"""What a broker or a name server tells of itself, and no check measures; sources are the limits of 5.5.0."""

LABELS = {"topic": "topic", "lag": "group"}
"""Checks that are asked about something, and what that is."""


class Scale:
    """What one check measures, with the limits in force."""

    def __init__(
        self,
        check: str,
        warning: str | None = None,
        critical: str | None = None,
        measures: Iterable[Measure] | None = None,
    ) -> None:
        """With other limits than its own ones; `measures` where it is no check. BadRange."""
        self.check = check
        self._measures = {each.name: each for each in (MEASURES[check] if measures is None else measures)}
        self._limits = {
            name: Limits(
                _range("--warning", measure.warning, warning),
                _range("--critical", measure.critical, critical),
            )
            for name, measure in self._measures.items()
        }

    def sample(self, name: str, value: float | None, of: str | None = None) -> Sample:
        """A value of one of its measures."""
        return Sample(self._measures[name], value, of, self._limits[name])

    def finding(
        self,
        summary: str,
        samples: Iterable[Sample],
        details: Iterable[str] = (),
        *,
        least: State = State.OK,
        about: str | None = None,
    ) -> Finding:
        """Judged by its samples, and `least` at least."""
        samples = tuple(samples)
        state = worst([least, *(sample.state for sample in samples)])
        return Finding(self.check, state, summary, samples, tuple(details), about)

    def unknown(self, summary: str, details: Iterable[str] = (), about: str | None = None) -> Finding:
        """That nobody knows, and why."""
        return Finding(self.check, State.UNKNOWN, summary, (), tuple(details), about)


def _range(option: str, usual: str | None, given: str | None) -> Range | None:
    """The range in force of a measure that has one."""
    if usual is None or given is None:
        return None if usual is None else parse(usual)
    try:
        found = parse(given)
    except BadRange as error:
        raise BadRange(f"{option}: {error}") from None
    if usual.endswith(":") and ":" not in given:
        raise BadRange(f"{option} {given} would alert above {given}, but low values are bad: give {given}:")
    return found
