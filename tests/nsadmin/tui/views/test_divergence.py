"""What name servers tell differently: a matrix, each thing, and causes."""

import pytest

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import Silence
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import AnyPoll, DivergenceFinding, DivergencePolled, NameServerPolled
from nsadmin.tui.views.servers import (
    DifferenceSidesView,
    DifferencesView,
    DivergenceAdviceView,
    DivergenceCausesView,
    DivergenceMatrixView,
)
from nsadmin.tui.views.topics.topic_detail import TopicRouteView
from tests.support.screens import NOON, join_cells, join_lines, make_server_poll

ONE, TWO, THREE = (f"10.0.0.{number}:9876" for number in (1, 2, 3))
FOUND = DivergenceFinding(
    "topic",
    "orders",
    "broker-a",
    2,
    "drift",
    90_000,
    "perm: …",
    "it was wiped",
    "wipe it",
    {ONE: "perm=4", TWO: "perm=6"},
)


def model_of(*polls: AnyPoll) -> ClusterModel:
    model = ClusterModel([ONE, TWO])
    for poll in polls:
        model.apply_poll(poll)
    return model


def test_the_matrix_of_each_two_and_by_what_they_tell() -> None:
    model = model_of(
        make_server_poll(ONE),
        make_server_poll(TWO, topics=("orders",)),
        NameServerPolled(NOON, THREE, error="closed"),
    )
    assert (
        join_lines(DivergenceMatrixView().draw_lines(model, 120, 20))
        == """
                                10.0.0.1:9876         10.0.0.2:9876         10.0.0.3:9876
  10.0.0.1:9876                             ·                     1                     ?
  10.0.0.2:9876                             1                     ·                     ?
  10.0.0.3:9876                             ?                     ?                     ·

  by state
  brokers       equal
  permissions   equal
  topics        1 differ
  KV config     equal

  Tab: differences and causes"""
    )
    assert len(DivergenceMatrixView().draw_lines(model, 40, 3)) == 3
    found = [tab.name for tab in DivergenceMatrixView().list_tabs()]
    assert found == ["servers", "matrix", "differences", "causes"]


def test_one_name_server_alone_is_equal_to_nobody() -> None:
    model = model_of(make_server_poll(ONE), NameServerPolled(NOON, TWO, error="closed"))
    drawn = join_lines(DivergenceMatrixView().draw_lines(model, 120, 20))
    assert "equal" not in drawn
    assert "  brokers       unknown\n" in drawn
    for view in (DifferencesView(), DifferenceSidesView("topics", "orders")):
        assert view.empty_message(model) == "unknown: fewer than two name servers answer"
        assert view.empty_message(model_of(make_server_poll(ONE), make_server_poll(TWO))) == view.empty_text


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_narrow_matrix_has_the_ends_of_addresses_and_all_columns(width: int) -> None:
    model = ClusterModel()
    for at in (1, 2, 3):
        model.apply_poll(make_server_poll(f"127.0.0.1:2501{at}"))
    lines = join_lines(DivergenceMatrixView().draw_lines(model, width, 20)).splitlines()
    assert all(len(line) <= width for line in lines)
    assert all(lines[1].count(f"1:2501{at}") == 1 for at in (1, 2, 3))
    assert [line.split()[1:] for line in lines[2:5]] == [
        ["·", "equal", "equal"], ["equal", "·", "equal"], ["equal", "equal", "·"]
    ]  # fmt: skip


def test_columns_and_lines_that_have_no_room_are_counted() -> None:
    model = model_of(*(make_server_poll(f"10.0.0.{at}:9876") for at in range(1, 8)))
    first, *_, last = join_lines(DivergenceMatrixView().draw_lines(model, 40, 8)).splitlines()
    assert first == "  … and 4 more columns: use a wider terminal to see them"
    assert last == "  … 10 lines more"


def test_each_difference_leads_to_what_each_tells() -> None:
    model = model_of(make_server_poll(ONE, perms={"broker-a": 4}), make_server_poll(TWO, topics=("orders",)))
    view = DifferencesView()
    perm, topic = view.build_rows(model)
    assert view.columns[2].render_cell(perm).text == f"wiped on {ONE}; written on {TWO}"
    assert view.row_key(topic) == "topics payments"
    assert view.open_row(topic) == TopicRouteView("payments")
    sides = view.open_row(perm)
    assert sides == DifferenceSidesView("permissions", "broker-a")
    assert isinstance(sides, DifferenceSidesView)
    assert sides.build_rows(model) == [(ONE, "wiped"), (TWO, "written")]
    assert (sides.row_key((ONE, "wiped")), sides.title) == (ONE, "broker-a")
    assert sides.build_rows(model_of(make_server_poll(ONE), make_server_poll(TWO))) == []
    assert [tab.name for tab in view.list_tabs()][2] == "differences"


def test_causes_are_those_that_the_command_finds_with_what_to_do() -> None:
    view, model = DivergenceCausesView(), ClusterModel()
    assert view.render_headline(model)[0].text.startswith("the routes of all")
    assert view.build_rows(model) == []
    model.apply_poll(DivergencePolled(NOON, "diverge", [FOUND]))
    [row] = view.build_rows(model)
    assert [column.render_cell(row).text for column in view.columns] == [
        "topic", "orders and 1 more", "drift", "2 min", "it was wiped", "perm: …"
    ]  # fmt: skip
    assert join_cells(view.render_headline(model)) == "verdict: diverge"
    advice = view.open_row(row)
    assert advice == DivergenceAdviceView("topic", "orders", "it was wiped")
    assert (advice.title, advice.list_queries(model, [])) == ("orders", [DetailQuery("divergence")])
    assert (
        join_lines(advice.draw_lines(model, 80, 20))
        == f"""
  {ONE}          perm=4
  {TWO}          perm=6

  cause   it was wiped
  to do   wipe it"""
    )
    model.apply_poll(DivergencePolled(NOON, "agree", []))
    assert "is gone" in join_lines(advice.draw_lines(model, 80, 20))
    model.apply_poll(DivergencePolled(NOON, error="closed"))
    assert view.find_silence(model) == Silence("closed", NOON)
    assert view.empty_message(model) == "unknown: closed"
    assert join_cells(view.render_headline(model)) == "verdict: agree"
    assert view.row_key(row) == "topic broker-a orders it was wiped"
    assert view.list_queries(model, [])[0].query_kind == "divergence"
    assert [tab.name for tab in view.list_tabs()][3] == "causes"
