"""What one line of a table shows."""

from nsadmin.tui.views import line_pieces
from nsadmin.tui.views.line_pieces import LinePieces, RowStyle
from nsadmin.tui.views.row_groups import Heading
from nsadmin.tui.views.table import Cell, Column, SortOrder

COLUMNS: list[tuple[Column[tuple[str, int]], int]] = [
    (Column("name", "NAME", 5, lambda r: r[0], lambda r: Cell(r[0], "strong")), 5),
    (Column("number", "N", 4, lambda r: r[1], lambda r: Cell(str(r[1]), "bad"), is_right_aligned=True), 4),
]


def test_the_head_marks_what_rows_are_sorted_by() -> None:
    assert line_pieces.header_pieces(COLUMNS, 1, SortOrder("number", True)) == LinePieces(
        "head", ((" ", "head", False), ("NAME  ", "head", False), ("  N▼ ", "headChosen", False))
    )


def test_a_row_has_its_cells_cut_and_free_of_what_moves_the_cursor() -> None:
    found = line_pieces.row_pieces(COLUMNS, 1, ("a\x1b[2J", 7), {"number"}, RowStyle(is_odd=True))
    assert found == LinePieces(
        "odd", ((" ", "mark", False), ("a\\x1… ", "strong", False), ("   7 ", "bad", True))
    )


def test_the_chosen_row_is_marked_and_bright_only_with_the_focus() -> None:
    chosen = RowStyle(is_at_cursor=True)
    assert line_pieces.row_pieces(COLUMNS, 1, ("a", 7), (), chosen).base_tone == "base"
    assert (
        line_pieces.row_pieces(COLUMNS, 1, ("a", 7), (), chosen._replace(has_focus=True)).base_tone
        == "cursor"
    )
    assert line_pieces.row_pieces(COLUMNS, 1, ("a", 7), (), chosen).text_pieces[0] == ("▌", "mark", False)


def test_a_heading_goes_over_all_columns() -> None:
    found = line_pieces.heading_pieces(Heading("prod", (Cell("2 rows", "dim"),), False), RowStyle())
    assert found == LinePieces(
        "panel", ((" ", "mark", False), ("▾ prod  ", "accent", False), ("2 rows", "dim", False))
    )


def test_what_is_said_is_no_row() -> None:
    assert line_pieces.message_pieces("nothing here") == LinePieces("base", (("nothing here", "dim", False),))
