"""What one line of a table shows."""

from nsadmin.tui.views import pieces
from nsadmin.tui.views.grouping import Heading
from nsadmin.tui.views.pieces import Pieces, Standing
from nsadmin.tui.views.table import Cell, Column, Sort

COLUMNS = [
    (Column("name", "NAME", 5, lambda r: r[0], lambda r: Cell(r[0], "strong")), 5),
    (Column("number", "N", 4, lambda r: r[1], lambda r: Cell(str(r[1]), "bad"), right=True), 4),
]


def test_the_head_marks_what_rows_are_sorted_by() -> None:
    assert pieces.head(COLUMNS, 1, Sort("number", True)) == Pieces(
        "head", ((" ", "head", False), ("NAME  ", "head", False), ("  N▼ ", "headChosen", False))
    )


def test_a_row_has_its_cells_cut_and_free_of_what_moves_the_cursor() -> None:
    found = pieces.row(COLUMNS, 1, ("a\x1b[2J", 7), {"number"}, Standing(is_odd=True))
    assert found == Pieces(
        "odd", ((" ", "mark", False), ("a\\x1… ", "strong", False), ("   7 ", "bad", True))
    )


def test_the_chosen_row_is_marked_and_bright_only_with_the_focus() -> None:
    chosen = Standing(is_chosen=True)
    assert pieces.row(COLUMNS, 1, ("a", 7), (), chosen).ground == "base"
    assert pieces.row(COLUMNS, 1, ("a", 7), (), chosen._replace(has_focus=True)).ground == "cursor"
    assert pieces.row(COLUMNS, 1, ("a", 7), (), chosen).texts[0] == ("▌", "mark", False)


def test_a_heading_goes_over_all_columns() -> None:
    found = pieces.heading(Heading("prod", (Cell("2 rows", "dim"),), False), Standing())
    assert found == Pieces(
        "panel", ((" ", "mark", False), ("▾ prod  ", "accent", False), ("2 rows", "dim", False))
    )


def test_what_is_said_is_no_row() -> None:
    assert pieces.said("nothing here") == Pieces("base", (("nothing here", "dim", False),))
