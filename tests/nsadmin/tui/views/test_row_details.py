"""The columns of one row below each other."""

from nsadmin.tui.views.row_details import draw_row_facts
from nsadmin.tui.views.table import Column

COLUMNS: list[Column[str]] = [
    Column("a", "NAME", 5, "", lambda row: row, tone="strong"),
    Column("b", "", 5, "", lambda row: "no title"),
    Column("c", "TO DO", 5, "", lambda row: "word " * 20, tone="accent"),
    Column("d", "AGE", 5, "", lambda row: " 7 s", tone="dim"),
]


def lines(width: int) -> list[str]:
    return ["".join(cell.text for cell in line).rstrip() for line in draw_row_facts(COLUMNS, "orders", width)]


def test_each_column_with_a_title_is_a_line_and_long_texts_are_wrapped() -> None:
    assert lines(40) == [
        "  name        orders",
        "  to do       word word word word word",
        "              word word word word word",
        "              word word word word word",
        "              word word word word word",
        "  age         7 s",
    ]


def test_a_wide_screen_has_facts_side_by_side() -> None:
    assert lines(100)[0] == "  name        orders"
    short = [COLUMNS[0], COLUMNS[3]]
    [line] = draw_row_facts(short, "orders", 100)
    assert "".join(cell.text for cell in line).split() == ["name", "orders", "age", "7", "s"]
