"""What became of a change."""

import pytest

from nsadmin.client.results import NotApplied
from nsadmin.operations.backups.records import Section
from nsadmin.operations.backups.restore_outcome import judge_change


@pytest.mark.parametrize(
    ("before", "after", "fails", "is_dry_run", "result"),
    [
        (1, 1, False, False, "unchanged"),
        (1, 2, False, False, "done"),
        (1, 2, False, True, "dry-run"),
        (1, 2, True, True, "failed"),
        (1, 1, True, False, "failed"),
    ],
)
def test_the_result_says_what_became_of_a_change(
    before: int, after: int, fails: bool, is_dry_run: bool, result: str
) -> None:
    error = NotApplied("no") if fails else None
    outcome = judge_change(Section.USERS, "broker-a", "alice", (before, after), error, is_dry_run=is_dry_run)
    assert (outcome.result, outcome.before, outcome.after, outcome.error) == (result, before, after, error)
