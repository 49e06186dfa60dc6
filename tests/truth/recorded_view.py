"""RecordedView: a simulation as one kind of input can show it, with the clocks and the gaps of that input."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from tests.truth.true_facts import BrokerSilence, BrokerStay, ClockStep, ServerPause, ServerRun, TrueDrain

JOURNAL = "journal"
SOURCES = (JOURNAL, "5.x", "4.x")
"""The kinds of inputs: journals of our name server, and logs of Java's."""

TOLERANCE_MS = 1_000
"""How far a time in a report may be from the true one. Times of Java's logs are whole seconds."""

LOG_KNOWLEDGE_MS = 60_000
"""How far the known time of a name server may be from its last line before a stop or a pause, in a log."""

_TIME_FIELDS = {"since", "until", "at", "active_until"}
_LASTING_ENDS: Mapping[type[Any], Mapping[str, str]] = {
    ServerRun: {"end": "running"},
    BrokerStay: {"end": ""},
    BrokerSilence: {"end": "open"},
    TrueDrain: {"outcome": "holds"},
}
"""How facts end that last until the end of the simulation."""

Span = tuple[int, int]
ItemType = TypeVar("ItemType")


class RecordedView(NamedTuple):
    """`facts` have the times of the servers' wall clocks. `known_spans` says when each server is known.

    `words` are the times of all records or lines, by name server.
    """

    source: str
    name_prefix: str
    facts: Sequence[Any]
    known_spans: Mapping[str, Sequence[Span]]
    words: Mapping[str, Sequence[int]]
    end_ms: int

    def facts_of(self, fact_type: type[Any]) -> list[Any]:
        return [fact for fact in self.facts if isinstance(fact, fact_type)]

    @property
    def servers(self) -> list[str]:
        return sorted(self.known_spans)


def build_view(
    source: str,
    name_prefix: str,
    true_facts: Sequence[Any],
    word_times: Mapping[str, Sequence[Sequence[int]]],
    end_ms: int,
) -> RecordedView:
    """Build the view of a source. `word_times` has the times of its records, by name server and run."""
    facts = _show_times(true_facts, source, end_ms)
    known_spans = {
        s: [
            span
            for times in r
            if times
            for span in (
                _known_journal_spans(facts, s, times) if source == JOURNAL else _known_spans(times, source)
            )
        ]
        for s, r in word_times.items()
    }
    words = {server: sorted(time for run in runs for time in run) for server, runs in word_times.items()}
    return RecordedView(source, name_prefix, facts, known_spans, words, end_ms)


def _known_journal_spans(facts: Sequence[Any], server: str, run_times: Sequence[int]) -> Iterable[Span]:
    """A run is known from its first record to its last one, without pauses and long silences."""
    pauses = sorted((f.since, f.until) for f in facts if isinstance(f, ServerPause) and f.server == server)
    for since, end in _known_spans(run_times, JOURNAL):
        for pause_since, pause_until in pauses:
            if since < pause_until and pause_since < end:
                yield since, max(since, pause_since)
                since = pause_until
        yield since, end


_LONGEST_SILENCES_MS = {JOURNAL: 150_000, "5.x": 150_000, "4.x": 660_000}
"""A longer silence of an input makes the tables of the name server unknown."""


def _known_spans(run_times: Sequence[int], source: str) -> Iterable[Span]:
    since = before = run_times[0]
    for time in run_times[1:]:
        if time - before > _LONGEST_SILENCES_MS[source]:
            yield since, before
            since = time
        before = time
    yield since, before


def _show_times(true_facts: Sequence[Any], source: str, end_ms: int) -> list[Any]:
    """Convert true times to those that the server's wall clock showed, in logs to whole seconds.

    Only what the clocks showed before the end belongs to the view.
    """
    steps: dict[str, list[tuple[int, int]]] = {}
    for fact in true_facts:
        if isinstance(fact, ClockStep):
            total = steps.setdefault(fact.server, [(0, 0)])[-1][1] + fact.change_ms
            steps[fact.server].append((fact.at, total))
    granularity = 1 if source == JOURNAL else 1_000

    def show_time(server: str, true_ms: int) -> int:
        if true_ms >= end_ms:
            # It lasts: no clock showed its end.
            return end_ms
        server_steps = steps.get(server, [(0, 0)])
        error_ms = server_steps[bisect_right(server_steps, (true_ms, 1 << 60)) - 1][1]
        return (true_ms + error_ms) // granularity * granularity

    shown_facts = []
    for fact in true_facts:
        if "server" not in fact._fields:
            shown_facts.append(fact)
            continue
        times = {f: show_time(fact.server, getattr(fact, f)) for f in _TIME_FIELDS & {*fact._fields}}
        if isinstance(fact, ServerPause):
            # A name server measures its pause when it continues: the start is by the clock at the end.
            times["since"] = times["until"] - (fact.until - fact.since)
        if (shown_fact := _cut_at_end(fact._replace(**times), end_ms)) is not None:
            shown_facts.append(shown_fact)
    return shown_facts


def _cut_at_end(fact: Any, end_ms: int) -> Any | None:
    """Leave out what a clock that is ahead dates after the end: a report does not have it yet."""
    is_begun = getattr(fact, "since", getattr(fact, "at", 0)) < end_ms
    if not is_begun or (isinstance(fact, ServerPause) and fact.until > end_ms):
        return None
    if getattr(fact, "until", 0) > end_ms:
        return fact._replace(until=end_ms, **_LASTING_ENDS.get(type(fact), {}))
    return fact


def pair_with_next(items: Sequence[ItemType]) -> Iterator[tuple[ItemType, ItemType | None]]:
    """Yield each item with its successor; None after the last one."""
    return zip(items, [*items[1:], None], strict=True)


def is_known_at(view: RecordedView, server: str, time_ms: int) -> bool:
    return any(since <= time_ms < until for since, until in view.known_spans[server])


def list_stays(view: RecordedView) -> dict[tuple[str, str, int], list[BrokerStay]]:
    """The stays by name server and broker, in order."""
    stays: dict[tuple[str, str, int], list[BrokerStay]] = {}
    for stay in view.facts_of(BrokerStay):
        stays.setdefault((stay.server, stay.broker_name, stay.broker_id), []).append(stay)
    return {key: sorted(values, key=lambda stay: stay.since) for key, values in sorted(stays.items())}


def list_runs(view: RecordedView, server: str) -> list[ServerRun]:
    return sorted(
        (run for run in view.facts_of(ServerRun) if run.server == server), key=lambda run: run.since
    )
