"""Columns, conditions and order."""

import time

import pytest

from namesrv_core.protocol.codes import Perm
from nsadmin.console.output import InvalidSelectionError, ResultRows, RowSelection
from nsadmin.console.output.row_selection import select_rows, suggest_condition
from nsadmin.console.output.timestamps import format_utc

ROWS = ResultRows(
    ("topic", "perm", "inTps", "reachable", "error"),
    [
        {"topic": "orders", "perm": Perm(6), "inTps": 20.5, "reachable": True, "error": None},
        {"topic": "Orders-old", "perm": Perm(4), "inTps": 3, "reachable": False, "error": "no answer"},
        {"topic": "bills", "perm": Perm(7), "inTps": None, "reachable": True, "error": None},
    ],
    table_columns=("topic",),
)


def topics(**selection: object) -> list[object]:
    return [row["topic"] for row in select_rows(ROWS, RowSelection(**selection)).rows]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("topic=orders", ["orders"]),
        ("topic == orders", ["orders"]),
        ("topic!=orders", ["Orders-old", "bills"]),
        ("perm!=6", ["Orders-old", "bills"]),
        ("perm=rw-", ["orders"]),
        ("perm>4", ["orders", "bills"]),
        ("inTps>3", ["orders"]),
        ("inTps>=3.0", ["orders", "Orders-old"]),
        ("INTPS<20.5", ["Orders-old"]),
        ("inTps=null", ["bills"]),
        ("error=null", ["orders", "bills"]),
        ("error!=null", ["Orders-old"]),
        ("error=", ["orders", "bills"]),
        ("error=-", ["orders", "bills"]),
        ("error!=", ["Orders-old"]),
        ("reachable=true", ["orders", "bills"]),
        ("topic~^orders", ["orders"]),
        ("topic~(?i)^orders", ["orders", "Orders-old"]),
        ("topic!~s$", ["Orders-old"]),
        ("error~.", ["Orders-old"]),
        ("error!~no", ["orders", "bills"]),
        ("topic=", []),
    ],
)
def test_a_condition_keeps_the_rows_that_meet_it(condition: str, found: list[str]) -> None:
    assert topics(filters=(condition,)) == found


@pytest.mark.parametrize(
    ("filters", "notes"),
    [
        (("inTps<20",), ["1 row has no inTps: to see it, use --filter inTps="]),
        (("inTps>=0", "topic!=bills"), []),
        (("inTps>3", "inTps<30"), []),
        (("inTps=3",), []),
        (("error>a",), ["2 rows have no error: to see them, use --filter error="]),
    ],
)
def test_rows_that_are_neither_more_nor_less_are_counted(filters: tuple[str, ...], notes: list[str]) -> None:
    assert list(select_rows(ROWS, RowSelection(filters=filters)).notes) == notes


def test_a_row_of_a_failed_server_is_not_counted_as_empty() -> None:
    rows = ResultRows(("n", "error"), [{"n": None, "error": "no answer"}])
    assert select_rows(rows, RowSelection(filters=("n>1",))).notes == ()


@pytest.mark.parametrize(
    ("condition", "meant"),
    [
        ("key=cold*", "key~^cold"),
        ("key == *Data?", "key~Data.$"),
        ("key=a.b*c", r"key~^a\.b.*c$"),
        ("key=*x*", "key~x"),
        ("key=cold", None),
        ("key~cold*", None),
        ("cold*", None),
    ],
)
def test_a_pattern_after_an_equals_sign_is_a_regular_expression(condition: str, meant: str | None) -> None:
    assert suggest_condition(condition) == meant


def test_a_limit_keeps_the_first_rows_and_says_how_many_there_are() -> None:
    limited = select_rows(ROWS, RowSelection(sort="-topic", limit=2))
    assert ([row["topic"] for row in limited.rows], limited.notes) == (["orders", "bills"], ["2 of 3 rows"])
    assert select_rows(ROWS, RowSelection(limit=3)) == ROWS


def test_a_limit_may_count_items_of_several_rows() -> None:
    rows = [{"topic": topic, "lag": lag} for topic, lag in (("a", 1), ("b", 9), ("a", 5), ("c", 2))]
    traffic = ResultRows(["topic", "lag"], rows, limited_column="topic")
    limited = select_rows(traffic, RowSelection(sort="-lag", limit=2))
    assert ([row["lag"] for row in limited.rows], limited.notes) == ([9, 5, 1], ["2 of 3 topics"])


def test_large_numbers_are_told_apart() -> None:
    numbers = (2**53, 2**53 + 1)
    rows = ResultRows(("o",), [{"o": number} for number in reversed(numbers)])
    for number in numbers:
        [row] = select_rows(rows, RowSelection(filters=(f"o={number}",))).rows
        assert row["o"] == number
    assert [row["o"] for row in select_rows(rows, RowSelection(sort="o")).rows] == list(numbers)


def test_every_condition_has_to_be_met() -> None:
    assert topics(filters=("perm>4", "inTps!=null")) == ["orders"]


@pytest.mark.parametrize(
    ("sort", "found"),
    [
        ("inTps", ["Orders-old", "orders", "bills"]),
        ("-inTps", ["orders", "Orders-old", "bills"]),
        ("topic", ["Orders-old", "bills", "orders"]),
        ("reachable,-topic", ["Orders-old", "orders", "bills"]),
    ],
)
def test_rows_are_sorted_and_nulls_come_last(sort: str, found: list[str]) -> None:
    assert topics(sort=sort) == found


def test_columns_are_chosen_in_their_order_and_also_those_a_table_leaves_out() -> None:
    chosen = select_rows(ROWS, RowSelection(columns="PERM, topic"))
    assert list(chosen.columns) == ["perm", "topic"]
    assert chosen.table_columns is None


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        (
            RowSelection(columns="topic,nope"),
            'unknown column "nope" in --columns: choose from topic, perm, inTps',
        ),
        (RowSelection(sort="-nope"), 'unknown column "nope" in --sort'),
        (RowSelection(filters=("nope=1",)), 'unknown column "nope" in --filter'),
        (RowSelection(filters=("topic",)), "invalid condition"),
        (RowSelection(filters=("topic~(",)), "invalid regular expression"),
    ],
)
def test_what_cannot_be_selected_is_said_in_one_line(selection: RowSelection, said: str) -> None:
    with pytest.raises(InvalidSelectionError) as failed:
        select_rows(ROWS, selection)
    assert said in str(failed.value)
    assert "\n" not in str(failed.value)


@pytest.mark.parametrize("condition", ["n>1,000", "n<", "n>=1k", "n>>5"])
def test_what_is_no_number_is_neither_more_nor_less_than_one(condition: str) -> None:
    rows = ResultRows(("n",), [{"n": None}, {"n": 455}])
    with pytest.raises(InvalidSelectionError, match="in --filter: the column has numbers, such as 455"):
        select_rows(rows, RowSelection(filters=(condition,)))


def test_a_time_is_compared_with_a_time_also_with_one_that_counts_from_now() -> None:
    now_ms = int(time.time() * 1000)
    times = [format_utc(now_ms - minutes * 60_000) for minutes in (5, 50)]
    rows = ResultRows(
        ("topic", "lastUpdated"), [{"topic": n, "lastUpdated": t} for n, t in zip("ab", times, strict=True)]
    )

    def found(condition: str) -> str:
        selected = select_rows(rows, RowSelection(filters=(condition,))).rows
        return "".join(str(row["topic"]) for row in selected)

    assert (found("lastUpdated<30m"), found("lastUpdated>30m"), found("lastUpdated>2h")) == ("b", "a", "ab")
    assert found(f"lastUpdated>={times[0]}") == "a"
    with pytest.raises(
        InvalidSelectionError, match=r'invalid time "soon" in --filter: use 1h \(an hour ago\)'
    ):
        found("lastUpdated<soon")
