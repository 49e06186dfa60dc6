"""Several rows, one command for each object, and a result for each in words."""

import pytest

from nsadmin.tui.actions.planned_commands import (
    CommandProgress,
    CommandStage,
    PlannedCommand,
    plan_commands,
    summarize_progress,
)
from nsadmin.tui.actions.row_actions import ALL_ACTIONS, RowSubject
from tests.support.screens import join_cells

ACTIONS = {action.action_id: action for action in ALL_ACTIONS}
BROKERS = [RowSubject(broker_name=name) for name in ("a", "b", "a")]


def test_rows_of_one_object_share_a_command() -> None:
    assert plan_commands(ACTIONS["wipe"], BROKERS, {}) == [
        PlannedCommand("a", ("wipeWritePerm", "a")), PlannedCommand("b", ("wipeWritePerm", "b")),
    ]  # fmt: skip


def test_drains_of_several_brokers_are_checked_together() -> None:
    found = plan_commands(ACTIONS["drain"], BROKERS, {})[0]
    assert found == PlannedCommand("all together", ["whatIf", "--down=a,b"], is_check=True)
    assert len(plan_commands(ACTIONS["drain"], BROKERS[:1], {})) == 1


def test_fields_are_the_same_for_all_rows() -> None:
    topics = [RowSubject(topic=name) for name in ("orders", "users")]
    planned_commands = plan_commands(ACTIONS["deleteTopic"], topics, {"cluster": "c"})
    assert [planned.words for planned in planned_commands] == [
        ("deleteTopic", "-t", "orders", "-c", "c"), ("deleteTopic", "-t", "users", "-c", "c"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("stage", "exit_code", "text"),
    [
        ("waiting", None, " · a\\x1b  waits for its preview"),
        ("previewed", 0, " ○ a\\x1b  preview is ready"),
        ("previewed", 77, " ✕ a\\x1b  preview failed: exit code 77"),
        ("started", None, " ▷ a\\x1b  runs in the background"),
        ("ended", 0, " ✓ a\\x1b  done"),
        ("ended", 77, " ✕ a\\x1b  failed: exit code 77"),
        ("skipped", None, " – a\\x1b  not run"),
    ],
)
def test_a_result_is_a_sign_and_words(stage: CommandStage, exit_code: int | None, text: str) -> None:
    progress = CommandProgress(PlannedCommand("a\x1b", ["x"]), stage, exit_code)
    assert join_cells(progress.render_line(2)) == text


def test_a_known_exit_code_is_explained() -> None:
    progress = CommandProgress(PlannedCommand("a", ["x"]), "ended", 4)
    assert progress.render_line(1)[-1].text.startswith("failed: exit code 4, ")
    drain = CommandProgress(PlannedCommand("a", ["drain", "a"]), "ended", 3)
    assert drain.render_line(1)[-1].text == "failed: exit code 3, a name server did not answer"


def test_the_summary_counts_changes_and_no_checks() -> None:
    change, check = PlannedCommand("a", ["x"]), PlannedCommand("all", ["y"], is_check=True)
    progress_list = [
        CommandProgress(check, "previewed", 0), CommandProgress(change, "ended", 0),
        CommandProgress(change, "ended", 3), CommandProgress(change, "skipped"),
    ]  # fmt: skip
    assert summarize_progress(progress_list) == "3 changes: 1 done, 1 failed, 1 not run"
    assert summarize_progress([CommandProgress(change, "started")]) == "1 change: 1 done"
