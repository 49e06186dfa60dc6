"""Formats for programs, read back by other parsers than ours."""

import csv
import io
import json

import pytest
import yaml

from namesrv_core.protocol.codes import Perm
from nsadmin.console.output import ResultRows
from nsadmin.console.output.machine_formats import (
    as_csv,
    as_json,
    as_jsonl,
    as_names,
    as_spreadsheet,
    as_tsv,
    as_values,
    as_yaml,
    escape_cells,
)

ODD = ResultRows(
    ("topic", "perm", "addrs", "note"),
    [
        {"topic": 'a,"b"', "perm": Perm(6), "addrs": {0: "x:1"}, "note": "two\nlines\tand\\"},
        {"topic": "主题", "perm": Perm(7), "addrs": {}, "note": None},
        {"topic": "主题", "perm": Perm(4), "addrs": {}, "note": "no"},
    ],
)
PLAIN = [
    {"topic": 'a,"b"', "perm": 6, "addrs": {"0": "x:1"}, "note": "two\nlines\tand\\"},
    {"topic": "主题", "perm": 7, "addrs": {}, "note": None},
    {"topic": "主题", "perm": 4, "addrs": {}, "note": "no"},
]


def test_json_json_lines_and_yaml_say_the_same() -> None:
    assert json.loads(as_json(ODD)) == PLAIN
    assert [json.loads(line) for line in as_jsonl(ODD).split("\n")] == PLAIN
    assert yaml.safe_load(as_yaml(ODD)) == PLAIN


def test_every_row_has_every_column() -> None:
    rows = ResultRows(("a", "b"), [{"b": 1}])
    assert json.loads(as_json(rows)) == [{"a": None, "b": 1}]
    assert as_csv(rows, True) == "a,b\n,1\n"


def test_no_rows_are_an_empty_array_and_the_names_alone() -> None:
    rows = ResultRows(("a", "b"), [])
    assert (as_json(rows), as_jsonl(rows)) == ("[]", "")
    assert yaml.safe_load(as_yaml(rows)) == []
    assert (as_csv(rows, True), as_tsv(rows, True), as_names(rows)) == ("a,b\n", "a\tb", "")


def test_csv_is_read_back_by_a_csv_reader() -> None:
    names, first, second, _ = csv.reader(io.StringIO(as_csv(ODD, True)))
    assert names == ["topic", "perm", "addrs", "note"]
    assert first == ['a,"b"', "6", '{"0": "x:1"}', "two\nlines\tand\\"]
    assert second == ["主题", "7", "{}", ""]


def test_tsv_has_a_line_for_each_row_whatever_is_inside() -> None:
    names, first, *_ = as_tsv(ODD, True).split("\n")
    assert names.split("\t") == ["topic", "perm", "addrs", "note"]
    assert first.split("\t") == ['a,"b"', "6", '{"0": "x:1"}', "two\\nlines\\tand\\\\"]
    assert as_values(ODD).split("\n")[0] == first


def test_names_are_the_first_column_each_once() -> None:
    assert as_names(ODD) == 'a,"b"\n主题'


@pytest.mark.parametrize("line_end", list("\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"))
def test_a_line_end_in_a_name_is_no_other_row(line_end: str) -> None:
    rows = ResultRows(("brokerName", "state"), [{"brokerName": f"a{line_end}broker-b", "state": "up"}])
    escaped = f"a{repr(line_end)[1:-1]}broker-b"
    assert as_names(rows).splitlines() == [escaped]
    assert as_values(rows).splitlines() == [f"{escaped}\tup"]
    assert as_tsv(rows, False).splitlines() == [f"{escaped}\tup"]
    assert list(csv.reader(io.StringIO(as_csv(rows, False), newline=""))) == [[f"a{line_end}broker-b", "up"]]


def test_a_backslash_in_a_name_is_told_from_an_escape() -> None:
    rows = ResultRows(("brokerName",), [{"brokerName": name} for name in ("a\nb", "a\\nb")])
    assert as_names(rows).splitlines() == ["a\\nb", "a\\\\nb"]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("=cmd|'/c calc'!A0", "'=cmd|'/c calc'!A0"),
        ("+1+cmd", "'+1+cmd"),
        ("-2+3", "'-2+3"),
        ("@SUM(1)", "'@SUM(1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("-5", "-5"),
        ("+0.25", "+0.25"),
        ("a=1", "a=1"),
        ("", ""),
    ],
)
def test_no_text_is_a_formula_in_a_spreadsheet(text: str, field: str) -> None:
    rows = ResultRows(("topic", "diff"), [{"topic": text, "diff": -3}])
    assert list(csv.reader(io.StringIO(as_spreadsheet(rows, True), newline=""))) == [
        ["topic", "diff"],
        [field, "-3"],
    ]
    assert next(csv.reader(io.StringIO(as_csv(rows, False), newline="")))[0] == text


def test_a_list_in_a_field_is_not_json() -> None:
    lists: list[object] = [["All"], ["Pub", "Sub"], [], ["=1", 2], ["-5"]]
    rows = ResultRows(("a",), [{"a": value} for value in lists])
    cells = [cell for [cell] in csv.reader(io.StringIO(as_spreadsheet(rows, False)))]
    assert cells == ["All", "Pub,Sub", "", "'=1,2", "-5"]
    assert as_values(rows).split("\n") == ["All", "Pub,Sub", "", "=1,2", "-5"]
    assert [cell for [cell] in csv.reader(io.StringIO(as_csv(rows, False)))] == as_values(rows).split("\n")


def test_a_spreadsheet_has_all_else_as_csv_has_it() -> None:
    assert as_spreadsheet(ODD, True) == as_csv(ODD, True)


def test_texts_in_cells_are_escaped_wherever_they_are() -> None:
    rows = ResultRows(("a",), [{"a": {"k\n": ("v\x1b", 1)}, "b": None, "c": Perm(6)}])
    assert escape_cells(rows).rows == [{"a": {"k\\n": ["v\\x1b", 1]}, "b": None, "c": 6}]
