"""What name servers tell differently: a matrix, each thing, and causes."""

import pytest

from nsadmin.tui.model import Model, Silence
from nsadmin.tui.polls import AnyPoll, DivergencePolled, Found, NameServerPolled
from nsadmin.tui.questions import Question
from nsadmin.tui.views.divergence import Advice, Causes, Differences, Matrix, Sides
from nsadmin.tui.views.topic import Route
from nsadmin.tui.views.view import Line
from tests.support.screens import NOON, server

ONE, TWO, THREE = (f"10.0.0.{number}:9876" for number in (1, 2, 3))
FOUND = Found(
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


def model_of(*polls: AnyPoll) -> Model:
    model = Model([ONE, TWO])
    for poll in polls:
        model.apply(poll)
    return model


def text(lines: list[Line]) -> str:
    return "\n".join("".join(cell.text for cell in line).rstrip() for line in lines)


def test_the_matrix_of_each_two_and_by_what_they_tell() -> None:
    model = model_of(
        server(ONE), server(TWO, topics=("orders",)), NameServerPolled(NOON, THREE, error="closed")
    )
    assert (
        text(Matrix().draw(model, 120, 20))
        == """
                                10.0.0.1:9876         10.0.0.2:9876         10.0.0.3:9876
  10.0.0.1:9876                             ·                     1                     ?
  10.0.0.2:9876                             1                     ·                     ?
  10.0.0.3:9876                             ?                     ?                     ·

  by what they tell
  brokers       equal
  permissions   equal
  topics        1 differ
  KV config     equal

  Tab: what differs, and why"""
    )
    assert len(Matrix().draw(model, 40, 3)) == 3
    assert [tab.name for tab in Matrix().tabs()] == ["servers", "matrix", "differences", "causes"]


def test_one_name_server_alone_is_equal_to_nobody() -> None:
    model = model_of(server(ONE), NameServerPolled(NOON, TWO, error="closed"))
    drawn = text(Matrix().draw(model, 120, 20))
    assert "equal" not in drawn
    assert "  brokers       unknown\n" in drawn
    for view in (Differences(), Sides("topics", "orders")):
        assert view.nothing(model) == "unknown: fewer than two name servers answer"
        assert view.nothing(model_of(server(ONE), server(TWO))) == view.empty


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_narrow_matrix_has_the_ends_of_addresses_and_all_columns(width: int) -> None:
    model = Model()
    for at in (1, 2, 3):
        model.apply(server(f"127.0.0.1:2501{at}"))
    lines = text(Matrix().draw(model, width, 20)).splitlines()
    assert all(len(line) <= width for line in lines)
    assert all(lines[1].count(f"1:2501{at}") == 1 for at in (1, 2, 3))
    assert [line.split()[1:] for line in lines[2:5]] == [
        ["·", "equal", "equal"], ["equal", "·", "equal"], ["equal", "equal", "·"]
    ]  # fmt: skip


def test_columns_and_lines_that_have_no_room_are_counted() -> None:
    model = model_of(*(server(f"10.0.0.{at}:9876") for at in range(1, 8)))
    first, *_, last = text(Matrix().draw(model, 40, 8)).splitlines()
    assert first == "  … and 4 more columns: a wider screen has them"
    assert last == "  … 10 lines more"


def test_each_difference_leads_to_what_each_tells() -> None:
    model = model_of(server(ONE, perms={"broker-a": 4}), server(TWO, topics=("orders",)))
    view = Differences()
    perm, topic = view.items(model)
    assert view.columns[2].cell(perm).text == f"wiped on {ONE}; written on {TWO}"
    assert (view.key(topic), view.enter(topic)) == ("topics payments", Route("payments"))
    sides = view.enter(perm)
    assert sides == Sides("permissions", "broker-a")
    assert isinstance(sides, Sides)
    assert sides.items(model) == [(ONE, "wiped"), (TWO, "written")]
    assert (sides.key((ONE, "wiped")), sides.title) == (ONE, "broker-a")
    assert sides.items(model_of(server(ONE), server(TWO))) == []
    assert [tab.name for tab in view.tabs()][2] == "differences"


def test_causes_are_those_that_the_command_finds_with_what_to_do() -> None:
    view, model = Causes(), Model()
    assert view.headline(model)[0].text.startswith("every route")
    assert view.items(model) == []
    model.apply(DivergencePolled(NOON, "diverge", [FOUND]))
    [found] = view.items(model)
    assert [column.cell(found).text for column in view.columns] == [
        "topic", "orders and 1 more", "drift", "2 min", "it was wiped", "perm: …"
    ]  # fmt: skip
    assert "".join(cell.text for cell in view.headline(model)) == "divergence says: diverge"
    advice = view.enter(found)
    assert advice == Advice("topic", "orders", "it was wiped")
    assert (advice.title, advice.questions(model, [], None)) == ("orders", [Question("divergence")])
    assert (
        text(advice.draw(model, 80, 20))
        == f"""
  {ONE}          perm=4
  {TWO}          perm=6

  cause   it was wiped
  to do   wipe it"""
    )
    model.apply(DivergencePolled(NOON, "agree", []))
    assert "has gone" in text(advice.draw(model, 80, 20))
    model.apply(DivergencePolled(NOON, error="closed"))
    assert (view.silence(model), view.nothing(model)) == (Silence("closed", NOON), "unknown: closed")
    assert "".join(cell.text for cell in view.headline(model)) == "divergence says: agree"
    assert (view.key(found), view.questions(model, [], None)[0].kind) == (
        "topic broker-a orders it was wiped",
        "divergence",
    )
    assert [tab.name for tab in view.tabs()][3] == "causes"
