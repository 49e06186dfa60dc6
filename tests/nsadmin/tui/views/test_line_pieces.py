"""What one line of a table shows."""

from nsadmin.tui.views import line_pieces
from nsadmin.tui.views.line_pieces import LinePiece, LinePieces, RowStyle
from nsadmin.tui.views.table import Cell, Column, Heading, SortOrder

COLUMNS: list[tuple[Column[tuple[str, int]], int]] = [
    (Column("name", "NAME", 5, "", lambda r: r[0], tone="strong"), 5),
    (Column("number", "N", 4, "", lambda r: r[1], tone="bad", right=True), 4),
]


def test_the_head_marks_what_rows_are_sorted_by() -> None:
    assert line_pieces.header_pieces(COLUMNS, 1, SortOrder("number", True)) == LinePieces(
        "head", (LinePiece(" ", "head"), LinePiece("NAME  ", "head"), LinePiece("  N▼ ", "headChosen"))
    )


def test_a_row_has_its_cells_cut_and_free_of_what_moves_the_cursor() -> None:
    pieces = line_pieces.row_pieces(COLUMNS, 1, ("a\x1b[2J", 7), {"number"}, RowStyle(is_odd=True))
    assert pieces == LinePieces(
        "odd", (LinePiece(" ", "mark"), LinePiece("a\\x1… ", "strong"), LinePiece("   7 ", "bad", True))
    )


def test_the_chosen_row_is_marked_and_bright_only_with_the_focus() -> None:
    chosen = RowStyle(is_at_cursor=True)
    assert line_pieces.row_pieces(COLUMNS, 1, ("a", 7), (), chosen).base_tone == "base"
    found = line_pieces.row_pieces(COLUMNS, 1, ("a", 7), (), chosen._replace(has_focus=True)).base_tone
    assert found == "cursor"
    assert line_pieces.row_pieces(COLUMNS, 1, ("a", 7), (), chosen).text_pieces[0] == LinePiece("▌", "mark")


def test_a_heading_goes_over_all_columns() -> None:
    pieces = line_pieces.heading_pieces(Heading("prod", (Cell("2 rows", "dim"),), False), RowStyle())
    assert pieces == LinePieces(
        "panel", (LinePiece(" ", "mark"), LinePiece("▾ prod  ", "accent"), LinePiece("2 rows", "dim"))
    )


def test_what_is_said_is_no_row() -> None:
    assert line_pieces.message_pieces("no \x1b[2J").text_pieces[0].text == "no \\x1b[2J"
    assert line_pieces.message_pieces("no rows") == LinePieces("base", (LinePiece("no rows", "dim"),))


def test_a_row_that_cannot_be_drawn_says_so() -> None:
    def fail(row: object) -> Cell:
        raise TypeError("no int")

    pieces = line_pieces.row_pieces([(Column("a", "A", 5, "", str, cell=fail), 5)], 1, "x", (), RowStyle())
    assert pieces.text_pieces[1].text == "this row cannot be shown: TypeError: no int"
