"""A verdict finds what is missed, too late, of the wrong cause, and what nobody did."""

from typing import Any

import pytest

from namesrv_core.history.records import JournalRecord, RecordOrigin
from namesrv_core.lab.truth_log import Deed, ExpectedEvent
from namesrv_core.lab.verdict import judge_journals

T = 1_000_000
LOST = ExpectedEvent(
    ("BrokerUnregistered",), ("ns-1",), 5, {"reason": ["expired", "closed"]}, ("no heartbeat",), ("b:0",)
)


def deeds(*expected: ExpectedEvent, skew: float = 0) -> list[Deed]:
    return [
        Deed(T, 0, "run", "begin"),
        Deed(T + 1000, 1, "skew", "begin", ("ns-1",), {"seconds": skew}),
        Deed(T + 10_000, 10, "kill", "begin", ("b:0",), {}, expected),
        Deed(T + 60_000, 60, "run", "end"),
    ]


def record(
    after: float, kind: str = "BrokerUnregistered", cause: str = "no heartbeat", **own: Any
) -> JournalRecord:
    fields = {"brokerName": "b", "brokerId": 0, "reason": "expired", **own}
    return JournalRecord(
        int(after * 1000), "ns-1", RecordOrigin(T + 10_000 + int(after * 1000), cause), kind, fields
    )


def test_what_was_expected_is_found_in_time() -> None:
    verdict = judge_journals(deeds(LOST), {"ns-1": [record(4)]})
    assert (verdict.missed_findings, verdict.unexplained, verdict.findings[0].after_seconds) == ([], [], 4)


@pytest.mark.parametrize(
    "seen",
    [
        record(6), record(-1), record(4, cause="channel closed"), record(4, reason="left"),
        record(4, brokerId=1), record(4, "BrokerRegistered"),
    ],
)  # fmt: skip
def test_anything_else_is_missed_and_unexplained(seen: JournalRecord) -> None:
    verdict = judge_journals(deeds(LOST), {"ns-1": [seen]})
    assert len(verdict.missed_findings) == 1
    assert verdict.unexplained == [("ns-1", seen)]


def test_what_is_not_sure_may_be_missing_and_explains() -> None:
    unsure = LOST._replace(is_sure=False)
    assert judge_journals(deeds(unsure), {"ns-1": []}).missed_findings == []
    assert judge_journals(deeds(unsure), {"ns-1": [record(4)]}).unexplained == []


def test_what_is_due_after_the_end_is_not_missed() -> None:
    assert judge_journals(deeds(LOST._replace(within_seconds=51)), {"ns-1": []}).findings == []


def test_a_clock_that_was_set_is_allowed_for() -> None:
    shifted_record = record(4)
    shifted = shifted_record._replace(
        origin=shifted_record.origin._replace(time_ms=shifted_record.time_ms + 3_600_000)
    )
    assert judge_journals(deeds(LOST, skew=3600), {"ns-1": [shifted]}).findings[0].after_seconds == 4
    assert len(judge_journals(deeds(LOST, skew=3600), {"ns-1": [shifted_record]}).missed_findings) == 1


def test_paths_go_into_lists_and_ranges() -> None:
    changes = [{"topics": ["a"], "before": {"perm": 6}}, {"topics": ["b", "c"], "before": {"perm": 4}}]
    changed_record = record(1, "TopicsChanged", changes=changes, pauseMillis=40)
    expected = ExpectedEvent(("TopicsChanged",), ("ns-1",), 5)
    for where, is_there in (
        ({"changes.topics": "c"}, True),
        ({"changes.before.perm": 4}, True),
        ({"changes.after.perm": 4}, False),
        ({"pauseMillis": {"min": 30, "max": 40}}, True),
        ({"pauseMillis": {"min": 41, "max": 50}}, False),
    ):
        verdict = judge_journals(deeds(expected._replace(field_values=where)), {"ns-1": [changed_record]})
        assert (not verdict.missed_findings) is is_there
