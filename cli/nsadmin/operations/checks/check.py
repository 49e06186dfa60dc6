"""Check, the declaration of a check; CheckScope, what checks look at; CheckScale, their limits.

The file of each check has one `CHECK`, and `check_table` lists the checks.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from time import sleep
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from nsadmin.client import AdminClient
from nsadmin.client.advised_command import quote_command
from nsadmin.client.connection.access_options import Tls
from nsadmin.console.phrases import count_noun
from nsadmin.operations.checks.findings import (
    AlertLimits,
    CheckFinding,
    CheckMeasure,
    CheckSample,
    CheckState,
    state_weight,
    worst_state,
)
from nsadmin.operations.checks.ranges import AlertRange, InvalidRangeError, parse_range

if TYPE_CHECKING:
    import re
    from pathlib import Path

    from nsadmin.operations.divergence.observer import DivergenceObserver
    from nsadmin.operations.inventory.keeper import InventoryKeeper
    from nsadmin.operations.replicas.records import ReplicaComparison

T = TypeVar("T")

CheckLimits = tuple[str | None, str | None]
"""The warning and the critical range of a check, such as ("10", "100"); None for the default."""
IdleLimits = tuple[float | None, float]
"""The seconds without a new message after which a topic is a warning, if any, and critical."""
Figures = Mapping[str, float | Mapping[str, float | None] | None]
"""The value of each measure, None if unknown; or the values of its items by their names."""


class CheckNotApplicable(Exception):
    """The check has nothing to check. The message gives the reason."""


class CheckScope(NamedTuple):
    """What checks look at beside the cluster itself. Each check reads the fields that concern it.

    `is_part` is True in a run of all checks, where a check that does not apply is left out. `inventory` knows
    which brokers should be registered, and `expected_count` how many.

    Name servers get `settle_seconds` to agree. `divergence_observer` remembers the age of their differences
    from run to run. `journal_since` returns the time from which lost events count, for the current one in ms.

    These are called in the thread of a check: `report_replicas` with the comparison of slaves with their
    masters, `report_groups` with the groups that a check saw, and `report_wait` once if name servers differ,
    with the longest wait in seconds.
    """

    is_part: bool = False
    cluster_name: str | None = None
    topic: str | None = None
    idle_limits: IdleLimits | None = None
    group: str | None = None
    min_clients: int = 0
    excluded: "re.Pattern[str] | None" = None
    broker_addr: str | None = None
    min_version: str = "5.0.0"
    expected_count: int | None = None
    inventory: "InventoryKeeper | None" = None
    tls: Tls | None = None
    journal_folders: Sequence["Path"] = ()
    journal_since: Callable[[int], int] = lambda now_ms: now_ms - 86_400_000
    asks_journal_status: bool = True
    verifies_records: bool = False
    report_folder: "Path | None" = None
    backup_path: "Path | None" = None
    # Nearly two heartbeats, and less than the 60 s that Nagios waits for a plugin.
    settle_seconds: float = 50.0
    divergence_observer: "DivergenceObserver | None" = None
    pause_seconds: Callable[[float], object] = lambda seconds: sleep(seconds)
    report_replicas: Callable[["ReplicaComparison"], object] = lambda comparison: None
    report_groups: Callable[[Collection[str]], object] = lambda groups: None
    report_wait: Callable[[float], object] = lambda seconds: None

    def skip_if(self, is_not_applicable: bool, reason: str) -> None:
        """Leave the check out of a run of all checks. If it was asked for by name, it runs nevertheless."""
        if self.is_part and is_not_applicable:
            raise CheckNotApplicable(reason)


WHOLE_CLUSTER = CheckScope()


class CheckScale:
    """The measures of one check with their effective limits."""

    def __init__(
        self,
        check_name: str,
        measures: Iterable[CheckMeasure],
        warning: str | None = None,
        critical: str | None = None,
    ) -> None:
        """Replace default limits by the given ranges. Raises InvalidRangeError.

        A default warning that alerts on nothing that the given critical range does not alert on is left out.
        """
        self.check_name = check_name
        self._measures = {measure.name: measure for measure in measures}
        self._limits = {
            name: AlertLimits(
                _parse_limit(measure, "--warning", measure.warning, warning),
                _parse_limit(measure, "--critical", measure.critical, critical),
            )
            for name, measure in self._measures.items()
        }
        for name, limits in self._limits.items() if critical else ():
            if limits.warning and limits.critical and limits.critical.is_within(limits.warning):
                if not warning:
                    self._limits[name] = limits._replace(warning=None)
                    continue
                raise InvalidRangeError(
                    f"--warning {warning} alerts on nothing that --critical {critical} does not alert on: "
                    "exchange the two"
                )

    def judge_value(self, measure_name: str, value: float | None) -> CheckState:
        return self._limits[measure_name].judge_value(value)

    def make_finding(
        self,
        summary: str,
        figures: Figures,
        detail_lines: Iterable[str] = (),
        *,
        doubts: Sequence[str] = (),
        minimum_state: CheckState = CheckState.OK,
        about: str | None = None,
        affected: Iterable[str] = (),
    ) -> CheckFinding:
        """Return a finding with the worst state of its figures, or `minimum_state` if that is worse.

        With `doubts`, the lines about what was not examined, it is not OK. If they make it UNKNOWN, the
        summary begins with them.
        """
        samples = tuple(
            CheckSample(self._measures[name], value, item_name, self._limits[name])
            for name, values in figures.items()
            for item_name, value in (values.items() if isinstance(values, Mapping) else [(None, values)])
        )
        least_state = CheckState.UNKNOWN if doubts else CheckState.OK
        state = worst_state([least_state, minimum_state, *(sample.alert_state for sample in samples)])
        if doubts and state is CheckState.UNKNOWN:
            more = f" ({len(doubts) - 1} more below)" if doubts[1:] else ""
            summary = f"{doubts[0]}{more}; {summary}"
        details = (*detail_lines, *doubts)
        return CheckFinding(
            self.check_name, state, summary, samples, details, about, affected=tuple(dict.fromkeys(affected))
        )

    def make_unknown_finding(
        self, summary: str, detail_lines: Iterable[str] = (), about: str | None = None
    ) -> CheckFinding:
        """Return an UNKNOWN finding with its reason."""
        return CheckFinding(self.check_name, CheckState.UNKNOWN, summary, (), tuple(detail_lines), about)


def judge_kinds(
    scale: CheckScale, kinds: Iterable[CheckFinding], server_count: int, place: str = ""
) -> tuple[CheckFinding, list[CheckFinding]]:
    """Return an overall finding about findings of several kinds, and these, worst first."""
    kinds = sorted(kinds, key=lambda kind: -state_weight(kind.state))
    criticals = sum(kind.state is CheckState.CRITICAL for kind in kinds)
    warnings = sum(kind.state is CheckState.WARNING for kind in kinds)
    figures = {"critical": criticals, "warnings": warnings, "servers": server_count}
    is_incomplete = any(kind.state is CheckState.UNKNOWN for kind in kinds)
    summary = (
        f"{count_noun(criticals, 'critical problem')}, {count_noun(warnings, 'warning')}; "
        f"servers{place}: {server_count}"
    )
    minimum_state = CheckState.UNKNOWN if is_incomplete else CheckState.OK
    return scale.make_finding(summary, figures, minimum_state=minimum_state), kinds


def _parse_limit(
    measure: CheckMeasure, option_name: str, default_text: str | None, option_text: str | None
) -> AlertRange | None:
    """Return the given range or else the default one; None for a measure without a default limit."""
    if default_text is None or option_text is None:
        return None if default_text is None else parse_range(default_text)
    try:
        parsed_range = parse_range(option_text)
    except InvalidRangeError as error:
        raise InvalidRangeError(f"{option_name}: {error}") from None
    if default_text.endswith(":") and ":" not in option_text and not parsed_range.alerts_inside:
        raise InvalidRangeError(
            f"{option_name} {option_text} would alert above {option_text}, but "
            f"{measure.advise_limit(parsed_range.high_bound)}"
        )
    return parsed_range


class Check(NamedTuple, Generic[T]):
    """A check. `observe` reads the facts, and `judge` decides about them without a request or a clock.

    `measures` have the default limits. `warning_when` and `critical_when` are for the documentation. `remedy`
    is the command to run if the state is not OK; `{about}` in it is a word, the topic, group or broker.

    A check without options of its own needs no command function: `help` and the help of --warning and
    --critical describe its command, which has --clusterName with `takes_cluster`.
    """

    name: str
    measures: tuple[CheckMeasure, ...]
    observe: Callable[[AdminClient, CheckScope], T]
    judge: Callable[[CheckScale, T], CheckFinding]
    warning_when: str
    critical_when: str
    remedy: str
    help: str = ""
    warning_help: str = ""
    critical_help: str = ""
    takes_cluster: bool = False

    def format_remedy(self, about: str | None) -> str:
        # Imported late: a health probe needs no remedy.
        import shlex

        _, *words = shlex.split(self.remedy)
        if not about and "{about}" in words:
            del words[words.index("{about}") :]
            if words[-1].startswith("-"):
                words.pop()
        return quote_command(*(word.format(about=about) for word in words))

    def make_scale(self, limits: CheckLimits = (None, None)) -> CheckScale:
        """Return the measures with their limits. Raises InvalidRangeError."""
        return CheckScale(self.name, self.measures, *limits)
