"""An item that is written, or not."""

import pytest

from nsadmin.client.results import NotApplied
from nsadmin.operations.backups.records import Section
from nsadmin.operations.backups.restore_outcome import change_item


@pytest.mark.parametrize(
    ("before", "after", "fails", "is_dry_run", "only_missing", "result", "writes"),
    [
        (1, 1, False, False, False, "unchanged", 0),
        (1, 2, False, False, False, "done", 1),
        (1, 2, False, True, False, "dry-run", 0),
        (1, 2, True, True, False, "failed", 0),
        (1, 1, True, False, False, "failed", 0),
        (1, 2, False, False, True, "kept", 0),
        (1, 2, False, True, True, "kept", 0),
        (None, 2, False, False, True, "done", 1),
        (1, 1, False, False, True, "unchanged", 0),
    ],
)
def test_the_result_says_what_became_of_an_item(
    before: int | None,
    after: int,
    fails: bool,
    is_dry_run: bool,
    only_missing: bool,
    result: str,
    writes: int,
) -> None:
    error = NotApplied("no") if fails else None
    written = []
    outcome = change_item(
        Section.USERS, "broker-a", "alice", (before, after), error, lambda: written.append(after),
        is_dry_run=is_dry_run, only_missing=only_missing,
    )  # fmt: skip
    assert (outcome.result, outcome.before, outcome.after, outcome.error) == (result, before, after, error)
    assert len(written) == writes
