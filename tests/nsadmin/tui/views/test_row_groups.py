"""Rows under headings that fold."""

from nsadmin.tui.views.row_groups import Heading, group_rows, without_headings
from nsadmin.tui.views.table import Cell

ROWS = ["a1", "b1", "a2", "b2", "c1"]


def shown(folded: set[str]) -> list[str]:
    grouped_rows = group_rows(ROWS, lambda row: row[0], lambda rows: [Cell(f"{len(rows)} of them")], folded)
    return [
        "".join(cell.text for cell in grouped_row.render_cells)
        if isinstance(grouped_row, Heading)
        else grouped_row
        for grouped_row in grouped_rows
    ]


def test_groups_come_in_the_order_of_their_first_rows() -> None:
    assert shown(set()) == [
        "▾ a  2 of them", "a1", "a2", "▾ b  2 of them", "b1", "b2", "▾ c  1 of them", "c1",
    ]  # fmt: skip


def test_a_folded_group_is_its_heading() -> None:
    assert shown({"a", "c"}) == ["▸ a  2 of them", "▾ b  2 of them", "b1", "b2", "▸ c  1 of them"]


def test_a_heading_is_no_row_and_keeps_its_name_when_it_folds() -> None:
    grouped_rows = group_rows(ROWS, lambda row: row[0], lambda rows: (), {"b"})
    assert without_headings(grouped_rows) == ["a1", "a2", "c1"]
    assert Heading("b", (), True).row_key == Heading("b", (Cell("x"),), False).row_key
