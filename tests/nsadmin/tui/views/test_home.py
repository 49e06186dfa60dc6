"""The home screen: problems first."""

from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import (
    GroupPolled,
    GroupsPolled,
    ProblemRecord,
    ProblemsPolled,
    QueueLag,
)
from nsadmin.tui.views.base_view import CommandTarget
from nsadmin.tui.views.groups.group_detail import GroupQueuesView
from nsadmin.tui.views.home import HomeView, list_problems
from tests.support.screens import NOON, join_cells, make_broker_poll, make_model, make_server_poll

REMEDY = "run `nsadmin repair wipe broker-a`, which restores the broker's own permissions"
DIVERGED = ProblemRecord("divergence", None, "CRITICAL", "topic orders of broker-a: perm differs", REMEDY)
SILENT = ProblemRecord("namesrv", None, "WARNING", "127.0.0.1:2 does not answer")


def model_of(*problems: ProblemRecord) -> ClusterModel:
    return make_model(
        make_server_poll(),
        make_broker_poll("10.0.1.1:10911", commitLogDiskRatio="0.9"),
        ProblemsPolled(NOON, problems, 9),
    )


def headline(model: ClusterModel) -> str:
    return join_cells(HomeView().render_headline(model))


def test_the_worst_problem_comes_first_with_its_age_and_remedy() -> None:
    model = model_of(SILENT, DIVERGED)
    model.now_ms = NOON + 60_000
    view = HomeView()
    rows = view.build_rows(model)
    cells = [[column.render_cell(row).text for column in view.columns] for row in rows]
    assert cells == [
        ["✕ critical", "divergence", DIVERGED.text, "1 min", REMEDY],
        ["! warning", "namesrv", SILENT.text, "1 min", ""],
    ]
    assert headline(model).startswith("✕ 1 critical  ! 1 warning  1 broker  ")
    assert headline(model).endswith("disk 90%")


def test_a_problem_keeps_its_age_until_its_check_is_ok_again() -> None:
    model = model_of(DIVERGED)
    model.apply_poll(ProblemsPolled(NOON + 30_000, [DIVERGED, SILENT], 9))
    model.now_ms = NOON + 30_000
    found = {row.check_words: row.age_ms for row in list_problems(model)}
    assert found == {"divergence": 30_000, "namesrv": 0}
    model.apply_poll(ProblemsPolled(NOON + 40_000, [], 9))
    model.apply_poll(ProblemsPolled(NOON + 50_000, [DIVERGED], 9))
    assert [row.age_ms for row in list_problems(model)] == [0]


def test_a_group_beyond_the_limits_of_check_lag_is_a_problem() -> None:
    model = model_of()
    model.apply_poll(GroupPolled(NOON, "slow", 1.0, [QueueLag("t", "b", 0, 2_000_000, 0, 0, None)]))
    model.apply_poll(GroupPolled(NOON, "fast", 1.0, [QueueLag("t", "b", 0, 9, 2, 0, None)]))
    [row] = list_problems(model)
    assert (row.record.state, row.record.text) == ("CRITICAL", "slow has a lag of 2.0M messages")
    assert HomeView().open_row(row) == GroupQueuesView("slow")


def test_enter_shows_the_check_and_x_runs_the_first_command_that_fixes_it() -> None:
    view, model = HomeView(), model_of(DIVERGED, SILENT)
    diverged, silent = view.build_rows(model)
    assert view.open_row(diverged) == CommandTarget(("check", "divergence"))
    assert view.subject_of_row(diverged) == RowSubject(remedy_words=["repair", "wipe", "broker-a"])
    assert view.subject_of_row(silent) == RowSubject(remedy_words=[])


def test_no_problem_is_said_only_after_the_checks_have_run() -> None:
    view, model = HomeView(), ClusterModel()
    model.apply_poll(make_server_poll())
    assert view.empty_message(model) == "the checks are running"
    model.apply_poll(ProblemsPolled(NOON, [], 9))
    assert view.empty_message(model) == "no problem in 9 checks"
    assert HomeView().empty_message(ClusterModel(["h:1"])) == "unknown: asking the name servers"


def test_what_no_check_looked_at_is_told() -> None:
    model = model_of()
    polled = ProblemsPolled(NOON, [], 9, ["topic", "lag", "clients"])
    model.apply_poll(polled)
    assert HomeView().empty_message(model) == "no problem in 9 checks. Not checked: topic, lag, clients"
    model.apply_poll(GroupsPolled(NOON, ["a", "b"]))
    model.apply_poll(GroupPolled(NOON, "a", 1.0, []))
    found = HomeView().empty_message(model)
    assert found == "no problem in 9 checks. Not checked: topic, lag of 1 group, clients"
    model.apply_poll(GroupPolled(NOON, "b", 1.0, []))
    assert HomeView().empty_message(model) == "no problem in 9 checks. Not checked: topic, clients"
    model.apply_poll(ProblemsPolled(NOON, [SILENT], 9, polled.unchecked))
    assert headline(model).endswith("not checked: topic, clients")


def test_a_lag_that_nobody_reports_any_more_has_its_age() -> None:
    model = model_of()
    model.apply_poll(GroupPolled(NOON, "g", 1.0, [QueueLag("t", "broker-a", 0, 10**6, 0, 0, None)]))
    model.apply_poll(GroupPolled(NOON + 60_000, "g", error="no answer within 5 s"))
    [row] = list_problems(model)
    assert row.record.text == "g has a lag of 1.0M messages (1 min ago: no answer within 5 s)"
    assert "behind" not in headline(model)


def test_the_fullest_disk_is_one_of_a_broker_that_answers() -> None:
    model = model_of()
    model.apply_poll(make_server_poll(at=NOON + 1, groups={}))
    assert "disk" not in headline(model)
