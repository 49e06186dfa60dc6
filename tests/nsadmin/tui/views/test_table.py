"""Which rows and columns are shown."""

from typing import Any

import pytest

from nsadmin.tui.views.table import (
    Cell,
    Column,
    Heading,
    InvalidFilterError,
    RowFilter,
    align_text,
    arrange_rows,
    draw_row_facts,
    escape_unprintable,
    fit_columns,
    group_rows,
    without_headings,
)
from tests.support.screens import join_cells

ROWS = ["orders", "orders-created", "payments", "Refunds"]


def text(item: str) -> str:
    return item


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("", ROWS),
        ("ORD", ["orders", "orders-created"]),
        ("!ord", ["payments", "Refunds"]),
        ("/^(orders|refunds)$/", ["orders", "Refunds"]),
        ("!/s$/", ["orders-created"]),
        ("/", []),
    ],
)
def test_filters(typed: str, shown: list[str]) -> None:
    assert arrange_rows(ROWS, text, RowFilter(typed), None, False) == shown


def test_half_a_regular_expression_is_refused_with_a_reason() -> None:
    with pytest.raises(InvalidFilterError, match=r"/\(: missing \)"):
        RowFilter("/(")


def test_what_is_not_known_comes_last_in_both_directions() -> None:
    column = Column("n", "N", 3, "", {"a": 2, "b": None, "c": 1}.get)
    assert arrange_rows("abc", text, RowFilter(), column, False) == ["c", "a", "b"]
    assert arrange_rows("abc", text, RowFilter(), column, True) == ["a", "c", "b"]


def column(key: str, width: int, rank: int = 0, grows: bool = False) -> Column[Any]:
    return Column(key, key, width, "", text, drop=rank, grow=grows)


def test_the_least_important_columns_give_way_and_one_grows() -> None:
    columns = [column("a", 10, grows=True), column("b", 5, 2), column("c", 5, 1), column("d", 5, 2)]
    found = [(each.key, width) for each, width in fit_columns(columns, 40)]
    assert found == [("a", 22), ("b", 5), ("c", 5), ("d", 5)]
    assert [(each.key, width) for each, width in fit_columns(columns, 22)] == [("a", 10), ("b", 5), ("c", 5)]
    assert [(each.key, width) for each, width in fit_columns(columns, 12)] == [("a", 12)]
    assert [(each.key, width) for each, width in fit_columns(columns, 3)] == [("a", 10)]


def test_a_text_that_is_too_long_is_cut_with_a_mark() -> None:
    found = [align_text("broker", 4, False), align_text("b", 3, True), align_text("b", 3, False)]
    assert found == ["bro…", "  b", "b  "]
    assert align_text("x", 0, False) == ""


def test_no_server_moves_the_cursor() -> None:
    assert escape_unprintable("a\x1b[31mb\n") == "a\\x1b[31mb\\n"
    assert escape_unprintable("ordinary") == "ordinary"


def test_a_column_made_of_a_value_formats_it_and_gives_it_a_tone() -> None:
    column: Column[tuple[str, int | None]] = Column(
        "lag", "LAG", 8, "", lambda row: row[1],
        show=lambda lag: f"{lag} messages", tone=lambda lag: "bad" if lag > 5 else "",
    )  # fmt: skip
    assert column.read(("orders", 7)) == 7
    assert column.render_cell(("orders", None)) == Cell("–", "dim")
    assert column.render_cell(("orders", 7)) == Cell("7 messages", "bad")
    assert column.render_cell(("orders", 3)) == Cell("3 messages", "")
    assert not column.right


GROUPED_ROWS = ["a1", "b1", "a2", "b2", "c1"]


def shown(folded: set[str]) -> list[str]:
    grouped_rows = group_rows(
        GROUPED_ROWS, lambda row: row[0], lambda rows: [Cell(f"{len(rows)} of them")], folded
    )
    return [
        join_cells(grouped_row.render_cells) if isinstance(grouped_row, Heading) else grouped_row
        for grouped_row in grouped_rows
    ]


def test_groups_come_in_the_order_of_their_first_rows() -> None:
    assert shown(set()) == [
        "▾ a  2 of them", "a1", "a2", "▾ b  2 of them", "b1", "b2", "▾ c  1 of them", "c1",
    ]  # fmt: skip


def test_a_folded_group_is_its_heading() -> None:
    assert shown({"a", "c"}) == ["▸ a  2 of them", "▾ b  2 of them", "b1", "b2", "▸ c  1 of them"]


def test_a_heading_is_no_row_and_keeps_its_name_when_it_folds() -> None:
    grouped_rows = group_rows(GROUPED_ROWS, lambda row: row[0], lambda rows: (), {"b"})
    assert without_headings(grouped_rows) == ["a1", "a2", "c1"]
    assert Heading("b", (), True).row_key == Heading("b", (Cell("x"),), False).row_key


COLUMNS: list[Column[str]] = [
    Column("a", "NAME", 5, "", lambda row: row, tone="strong"),
    Column("b", "", 5, "", lambda row: "no title"),
    Column("c", "TO DO", 5, "", lambda row: "word " * 20, tone="accent"),
    Column("d", "AGE", 5, "", lambda row: " 7 s", tone="dim"),
]


def lines(width: int) -> list[str]:
    return [join_cells(line).rstrip() for line in draw_row_facts(COLUMNS, "orders", width)]


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
    assert join_cells(line).split() == ["name", "orders", "age", "7", "s"]
