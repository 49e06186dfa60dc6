"""How well reports give the truth of the lab's scenarios back.

Precision: what a report says has a reason in the truth. Recall: what the truth is sure of is in the report.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from pyspark.sql import Row

from tests.support.observer import Loss, ObservedCase, Play, Span

SLACK = 5
"""Ms by which clocks may be apart that show whole ones."""

Plays = Mapping[str, Play]
Why = Callable[[Any], str | None]
"""Why a row is not so, or why something is not there; None: there is no reason."""


class Score:
    """Counts what was right: `show` prints precision and recall, and each miss has to have a reason."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.told: list[tuple[Any, bool]] = []
        self.sure: list[tuple[Any, bool]] = []

    def show(self, why: Why = lambda case: None) -> Counter[str]:
        """How many misses there are, by reasons; AssertionError for those without."""
        shares = []
        for rows in (self.told, self.sure):
            assert rows, f"{self.what}: nothing to compare"
            shares.append(sum(good for _, good in rows) / len(rows))
        counts = f"of {len(self.told)}, recall {shares[1]:.3f} of {len(self.sure)}"
        print(f"{self.what}: precision {shares[0]:.3f} {counts}")
        wrong = [row for row, good in self.told if not good]
        missed = [row for row, good in self.sure if not good]
        reasons = Counter(reason for case in (*wrong, *missed) if (reason := why(case)) is not None)
        for reason, many in sorted(reasons.items()):
            print(f"  {many}: {reason}")
        unexplained = [[case for case in cases if why(case) is None] for cases in (wrong, missed)]
        assert unexplained == [[], []], self.what
        return reasons


def ms(moment: datetime) -> float:
    return moment.replace(tzinfo=UTC).timestamp() * 1000


def overlap(one: Span, other: Span, slack: float = SLACK) -> bool:
    return one[0] - slack <= other[1] and other[0] - slack <= one[1]


def seat(row: Row) -> tuple[str, str]:
    """Scenario, and the broker as the truth calls it."""
    scenario, name = row.brokerName.split("/")
    return scenario, f"{name}:{row.brokerId}"


def plain(server: str) -> str:
    return server.partition("/")[2]


def span_of(row: Row) -> Span:
    return ms(row.ts), ms(row.endTs)


def merged(spans: Sequence[Span]) -> int:
    """How many there are, those that overlap counted once."""
    count, end = 0, float("-inf")
    for since, until in sorted(spans):
        count += since > end
        end = max(end, until)
    return count


def of_flaps(rows: Sequence[Row], plays: Plays, slack: float = SLACK) -> Score:
    score = Score("flaps")
    losses = [loss for play in plays.values() for loss in play.losses()]
    conflicts = {
        (name, case.broker) for name, play in plays.items() for case in play.cases("AddressConflict")
    }
    for row in rows:
        mine = [
            loss
            for loss in losses
            if (loss.scenario, loss.broker) == seat(row) and overlap(loss.possible, span_of(row), slack)
        ]
        by_server = {loss.server for loss in mine}
        sure = merged([loss.sure for loss in mine if is_sure(loss)])
        most = len({loss.deed.time_ms for loss in mine})
        explained = {plain(server) for server in row.servers} <= by_server and sure <= row.outages <= most
        score.told.append((row, explained or (row.cause == "address conflict" and seat(row) in conflicts)))
    for loss in losses:
        if is_sure(loss):
            matching_rows = [
                row
                for row in rows
                if seat(row) == (loss.scenario, loss.broker)
                and f"{loss.scenario}/{loss.server}" in row.servers
                and span_of(row)[0] <= loss.sure[0] + slack
                and (span_of(row)[1] >= loss.sure[1] - slack)
            ]
            score.sure.append((loss, len(matching_rows) == 1))
    return score


def is_sure(loss: Loss) -> bool:
    return loss.is_sure and loss.sure[0] < loss.sure[1]


def of_drains(rows: Sequence[Row], plays: Plays, slack: float = SLACK) -> Score:
    """Of wipes, their undoing, and whom they left out."""
    score = Score("drains")
    opened = {"WritePermAdded": "given back", "TopicsChanged": "undone"}
    wiped = [(name, case) for name, play in plays.items() for case in play.cases("WritePermWiped")]
    undone = [
        (name, case, outcome)
        for name, play in plays.items()
        for kind, outcome in opened.items()
        for case in play.cases(kind)
        if kind == "WritePermAdded" or case.expected.field_values.get("changes.before.perm") == 4
    ]

    def fits(row: Row, moment: datetime | None, name: str, case: ObservedCase) -> bool:
        same = (row.server, row.brokerName) == (
            f"{name}/{case.server}",
            f"{name}/{case.expected.field_values['brokerName']}",
        )
        return same and moment is not None and case.deed.time_ms - slack <= ms(moment) <= case.due

    by_hand = [row for row in rows if row.method == "WIPE_WRITE_PERM_OF_BROKER"]
    for row in by_hand:
        known = any(fits(row, row.closedTs, name, case) for name, case in wiped)
        reasons = {outcome for name, case, outcome in undone if fits(row, row.openedTs, name, case)}
        score.told.append((row, known and (row.outcome in reasons or row.outcome in ("holds", "restarted"))))
    for name, case in wiped:
        if case.expected.is_sure:
            score.sure.append(((name, case), any(fits(row, row.closedTs, name, case) for row in by_hand)))
    for name, case, outcome in undone:
        if case.expected.is_sure:
            matching_rows = [row for row in by_hand if fits(row, row.openedTs, name, case)]
            score.sure.append(((name, case, outcome), any(row.outcome == outcome for row in matching_rows)))
    # Whom a wipe left out.
    for name, play in plays.items():
        for deed in play.deeds:
            for server in set(play.servers) - set(deed.target_names) if deed.fault == "wipe" else ():
                missed = [row for row in rows if row.server == f"{name}/{server}" and row.outcome == "missed"]
                score.sure.append(
                    ((deed, server), any(abs(ms(row.ts) - deed.time_ms) < 1000 + slack for row in missed))
                )
    return score


def of_down_time(rows: Sequence[Row], plays: Plays, proven: Mapping[str, float] = {}) -> tuple[float, float]:
    """Precision and recall of the seconds that brokers were down, also printed.

    Each name server is known to have lived until `proven` (ms), or until a minute before the end.
    """
    sure = total = precise = recalled = 0.0
    for row in rows:
        name, broker = seat(row)
        play = plays[name]
        losses = [loss for loss in play.losses() if loss.broker == broker]
        # Life is proven each minute, the last time within a minute before the end.
        ends = {server: proven.get(f"{name}/{server}", play.end - 60_000) for server in play.servers}
        least = length([until_then(spans_of(losses, server, "sure"), end) for server, end in ends.items()])
        most = length([spans_of(losses, server, "possible") for server in play.servers])
        total += row.downSeconds
        precise += min(row.downSeconds, most)
        sure += least
        recalled += min(row.downSeconds, least)
    shares = precise / total, recalled / sure
    print(f"down: precision {shares[0]:.3f} of {total:.0f} s, recall {shares[1]:.3f} of {sure:.0f} s")
    return shares


def spans_of(losses: Sequence[Loss], server: str, which: str) -> list[Span]:
    server_losses = [loss for loss in losses if loss.server == server]
    if which == "sure":
        return [loss.sure for loss in server_losses if is_sure(loss)]
    return [loss.possible for loss in server_losses]


def until_then(spans: Sequence[Span], end: float) -> list[Span]:
    return [(since, min(until, end)) for since, until in spans if since < end]


def length(by_server: Sequence[Sequence[Span]]) -> float:
    """Seconds in which spans of all servers overlap."""
    moments = sorted({moment for spans in by_server for span in spans for moment in span})
    return sum(
        (b - a) / 1000
        for a, b in pairwise(moments)
        if all(any(since <= a and b <= until for since, until in spans) for spans in by_server)
    )
