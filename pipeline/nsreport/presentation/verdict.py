"""Verdict: whether anything was wrong: incidents, the worst brokers, and days without data. Pure."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, time, timedelta
from typing import Any, NamedTuple

from nsreport.presentation.charts import broker_labeler
from nsreport.presentation.pages import NO_CLUSTER, ReportSection, find_rows
from nsreport.presentation.report_reader import ReportRow

INCIDENT_REPORTS = ("broker_flaps", "heartbeat_gaps", "consumer_lag_trend", "drain_audit", "ns_divergence")
"""The reports whose rows can be incidents, the most serious ones first."""


class Incident(NamedTuple):
    """Something that was wrong; `end` is None if it has no length. `row` is the first row about it."""

    begin: datetime
    end: datetime | None
    is_open: bool
    subject: str
    cause: str | None
    servers: str
    report_name: str
    row: ReportRow

    @property
    def seconds(self) -> float | None:
        """Its length; of an open incident, until the end of the data."""
        return None if self.end is None else (self.end - self.begin).total_seconds()


def answer(sections: Sequence[ReportSection], incidents: Sequence[Incident]) -> tuple[str, str]:
    """Say in a word whether anything was wrong (Yes, No, or Unknown), and in a sentence what is known."""
    missing_names = [name for name in INCIDENT_REPORTS if find_rows(sections, name) is None]
    missing_text = f" Not computed: {', '.join(missing_names)}." if missing_names else ""
    if incidents:
        open_count = sum(incident.is_open for incident in incidents)
        open_text = f"{open_count:,} still open" if open_count else "none still open"
        return "Yes", f"{count(len(incidents), 'incident')}, {open_text}.{missing_text}"
    broker_rows = find_rows(sections, "broker_availability") or []
    is_known = compute_availability(broker_rows) is not None and not missing_names
    return "No" if is_known else "Unknown", (
        f"No incident was found. {describe_unknown_time(sections)}{missing_text}"
    )


def describe_unknown_time(sections: Sequence[ReportSection]) -> str:
    """Say how much of the brokers' time is in no figure."""
    broker_rows = find_rows(sections, "broker_availability")
    if not broker_rows:
        return "There are no data about brokers."
    return f"Data about brokers is missing for {format_seconds(sum_seconds(broker_rows, 'unknownSeconds'))}."


def find_incidents(sections: Sequence[ReportSection]) -> list[Incident]:
    """Find all incidents: the open ones first, then in the order of their reports, the longest first."""
    flaps, gaps, lags, audits, differences = (find_rows(sections, name) or [] for name in INCIDENT_REPORTS)
    clusters = {row["cluster"] for row in find_rows(sections, "broker_availability") or flaps}
    incidents = [
        *_find_losses(flaps, audits),
        *_find_pauses(gaps),
        *_find_stuck_groups(lags),
        *_find_undone_drains(audits),
        *_find_differences(differences, flaps),
    ]
    if len(clusters) > 1:
        incidents = [
            i
            if i.row["cluster"] in (None, NO_CLUSTER)
            else i._replace(subject=f"{i.row['cluster']}: {i.subject}")
            for i in incidents
        ]
    return sorted(
        incidents,
        key=lambda i: (not i.is_open, INCIDENT_REPORTS.index(i.report_name), -(i.seconds or 0), i.begin),
    )


_label_broker = broker_labeler(())
"""Labels a broker without its cluster."""


def _find_losses(flaps: Sequence[ReportRow], audits: Sequence[ReportRow]) -> Iterator[Incident]:
    """A stop during a drain is planned, as in broker_availability."""
    drains = dict(group_rows([row for row in audits if row["outcome"] != "missed"], _broker_key))
    for row in flaps:
        if any(
            drain["ts"] <= row["ts"] and (drain["openedTs"] is None or row["endTs"] <= drain["openedTs"])
            for drain in drains.get(_broker_key(row), ())
        ):
            continue
        times_text = "" if row["outages"] == 1 else f" {row['outages']:,} times"
        down_text = f", {format_seconds(row['downSeconds'])} in all" if row["outages"] > 1 else ""
        what = f"lost{times_text}{down_text}" if row["outages"] else "address used by another process"
        yield Incident(
            row["ts"], row["endTs"], row["ongoing"], f"{_label_broker(row)} {what}", row["cause"],
            ", ".join(row["servers"]), "broker_flaps", row,
        )  # fmt: skip


def _find_undone_drains(audits: Sequence[ReportRow]) -> Iterator[Incident]:
    undone_rows = [row for row in audits if row["outcome"] == "undone"]
    for (_, broker_name, _), rows in group_rows(undone_rows, lambda row: (*_broker_key(row), row["ts"])):
        first = rows[0]
        yield Incident(
            first["openedTs"], None, False, f"drain of {broker_name} undone",
            f"{first['openedType']} by {first['openedCause'] or 'an unknown request'}",
            ", ".join(row["server"] for row in rows), "drain_audit", first,
        )  # fmt: skip


def _find_pauses(gaps: Sequence[ReportRow]) -> Iterator[Incident]:
    for row in gaps:
        if row["brokerName"] is None:
            yield Incident(
                row["ts"], row["endTs"], row["outcome"] == "open", f"name server {row['server']} paused",
                "its process did not run", row["server"], "heartbeat_gaps", row,
            )  # fmt: skip


def _find_differences(differences: Sequence[ReportRow], flaps: Sequence[ReportRow]) -> Iterator[Incident]:
    """Differences that began together are one incident; those of a lost broker belong to its loss."""
    flaps_by_broker = dict(group_rows(flaps, _broker_key))

    def is_explained(row: ReportRow) -> bool:
        return any(f["ts"] <= row["ts"] <= f["endTs"] for f in flaps_by_broker.get(_broker_key(row), ()))

    unexplained_rows = [row for row in differences if not is_explained(row)]
    for _, rows in group_rows(unexplained_rows, lambda row: (row["cluster"], row["ts"])):
        first = max(rows, key=lambda row: row["seconds"])
        fields = ", ".join(sorted({row["field"] for row in rows})).replace("kv", "KV config")
        subjects = sorted({row["topic"] or row["brokerName"] or row["key"] for row in rows})
        brokers = sorted({row["brokerName"] for row in rows if row["topic"] and row["brokerName"]})
        subject = subjects[0] if len(subjects) == 1 else f"{len(subjects):,} topics or keys"
        place = f" on {brokers[0] if len(brokers) == 1 else count(len(brokers), 'broker')}" if brokers else ""
        yield Incident(
            first["ts"], first["endTs"], any(row["ongoing"] for row in rows),
            f"{fields} of {subject} differed{place}", "name servers disagreed",
            ", ".join(json.loads(first["values"] or "{}")), "ns_divergence", first,
        )  # fmt: skip


def _broker_key(row: ReportRow) -> tuple[Any, Any]:
    return row["cluster"], row["brokerName"]


def _find_stuck_groups(lags: Sequence[ReportRow]) -> Iterator[Incident]:
    last_day = max((row["date"] for row in lags), default=None)
    stuck_rows = [row for row in lags if row["trend"] == "stuck"]
    for (_, group, topic), rows in group_rows(
        stuck_rows, lambda row: (row["cluster"], row["consumerGroup"], row["topic"])
    ):
        first, last = rows[0]["date"], rows[-1]["date"]
        yield Incident(
            datetime.combine(first, time()), datetime.combine(last, time()) + timedelta(days=1),
            last == last_day, f"group {group} stuck on {topic}", "messages waited and none was consumed", "",
            "consumer_lag_trend", rows[0],
        )  # fmt: skip


def rank_brokers(sections: Sequence[ReportSection]) -> list[tuple[str, list[ReportRow]]]:
    """Return the days of each broker that was down; the worst broker and its worst day are first."""
    rows = find_rows(sections, "broker_availability") or []
    return _rank(rows, broker_labeler(rows), "downSeconds")


def rank_unknown_days(sections: Sequence[ReportSection]) -> list[tuple[Any, list[ReportRow]]]:
    """Return the rows of each day that lacks data; the worst day and its worst broker are first."""
    rows = find_rows(sections, "broker_availability") or []
    return _rank(rows, lambda row: row["date"], "unknownSeconds")


def _rank(
    rows: Sequence[ReportRow], key: Callable[[ReportRow], Any], column_name: str
) -> list[tuple[Any, list[ReportRow]]]:
    groups = [
        (group_key, sorted(group, key=lambda row: -row[column_name]))
        for group_key, group in group_rows(rows, key)
        if sum_seconds(group, column_name)
    ]
    return sorted(groups, key=lambda group: -sum_seconds(group[1], column_name))


def group_rows(
    rows: Sequence[ReportRow], key: Callable[[ReportRow], Any]
) -> Iterator[tuple[Any, list[ReportRow]]]:
    """Yield the rows of each key, in the order of their first row."""
    groups: dict[Any, list[ReportRow]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    yield from groups.items()


def sum_seconds(rows: Sequence[ReportRow], column_name: str) -> float:
    return float(sum(row[column_name] for row in rows))


def compute_availability(broker_rows: Sequence[ReportRow]) -> float | None:
    """Return the availability of all these rows together in percent, rounded down to three decimals."""
    up_seconds = sum_seconds(broker_rows, "upSeconds")
    observed_seconds = up_seconds + sum_seconds(broker_rows, "downSeconds")
    # Rounding must not show 100 % for brokers that were down for a moment.
    return math.floor(up_seconds / observed_seconds * 100_000) / 1_000 if observed_seconds else None


def format_seconds(seconds: float) -> str:
    """Format a length with its two largest units: 45 s, 40 min, 1 h 21 min, 2 d 3 h."""
    if 0 < seconds < 1:
        return "less than 1 s"
    whole_seconds = round(seconds)
    for unit, unit_name, part, part_name in (
        (86_400, "d", 3_600, "h"),
        (3_600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole_seconds >= unit:
            part_count = whole_seconds % unit // part
            return f"{whole_seconds // unit:,} {unit_name}" + (
                f" {part_count} {part_name}" if part_count else ""
            )
    return f"{whole_seconds} s"


def count(number: int, noun: str) -> str:
    """Format a number of things: 1 broker, 2 brokers."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
