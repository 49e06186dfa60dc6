"""Formats for programs, read back by other parsers than ours."""

import csv
import io
import json

import yaml

from namesrv_core.protocol.codes import Perm
from nsadmin.output import ResultRows
from nsadmin.output.machine_formats import as_csv, as_json, as_jsonl, as_names, as_tsv, as_values, as_yaml

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
