"""Rows in each format, byte for byte as the files in tests/golden/output have them."""

import io
import json
import sys
from pathlib import Path

import pytest

from namesrv_core.protocol.codes import Perm
from nsadmin.output import Rows, Style, as_json, as_text, cell, write_rows, write_text

GOLDEN = Path(__file__).parents[1] / "golden" / "output"

ROWS = Rows(
    ("topic", "perm", "brokerAddrs", "consumerGroups", "queues", "inTps", "reachable", "error"),
    [
        {
            "topic": "OrderT",
            "perm": Perm(6),
            "brokerAddrs": {0: "127.0.0.1:10911", 1: "127.0.0.1:10921"},
            "consumerGroups": ("G1", "G2"),
            "queues": 8,
            "inTps": 12.5,
            "reachable": True,
            "error": None,
        },
        {
            "topic": "тема\x1b[31m",
            "perm": Perm(5),
            "brokerAddrs": {},
            "consumerGroups": (),
            "queues": 16,
            "inTps": None,
            "reachable": False,
            "error": "no answer within 3 s",
        },
    ],
)


class Terminal(io.TextIOWrapper):
    """A stdout that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def written(rows: Rows, style: Style, monkeypatch: pytest.MonkeyPatch, kind: type[io.TextIOWrapper]) -> bytes:
    sink = io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", kind(sink, encoding="utf-8"))
        patch.setenv("COLUMNS", "120")
        patch.setenv("TERM", "xterm-256color")
        patch.delenv("NO_COLOR", raising=False)
        patch.delenv("FORCE_COLOR", raising=False)
        write_rows(rows, style)
        sys.stdout.flush()
        return sink.getvalue()


@pytest.mark.parametrize(
    ("golden", "style", "kind"),
    [
        ("rows.json", Style("json"), io.TextIOWrapper),
        ("rows.text.txt", Style("table"), io.TextIOWrapper),
        ("rows.terminal.txt", Style("table"), Terminal),
        ("rows.terminal-no-color.txt", Style("table", color=False), Terminal),
        ("rows.json", Style("json"), Terminal),
    ],
)
def test_each_format_byte_for_byte(
    golden: str, style: Style, kind: type[io.TextIOWrapper], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert written(ROWS, style, monkeypatch, kind) == (GOLDEN / golden).read_bytes()


def test_a_narrow_terminal_folds_free_text_and_cuts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("brokerName", "value")
    rows = Rows(names, [{"brokerName": "b" * 100, "value": "x" * 300}])
    lines = written(rows, Style("table", color=False), monkeypatch, Terminal).splitlines()
    assert sum(line.count(b"x") for line in lines) == 300
    assert [line for line in lines if b"b" * 100 in line]
    assert len(lines) > 10


def test_no_rows_are_an_empty_array_or_the_names_alone() -> None:
    assert as_json(Rows(("a", "b"), [])) == "[]"
    assert as_text(Rows(("a", "b"), [])) == "a  b"


def test_a_table_may_show_fewer_columns_than_json() -> None:
    rows = Rows(("a", "b"), [{"a": 1, "b": 2}], in_table=("b",))
    assert as_text(rows) == "b\n2"
    assert json.loads(as_json(rows)) == [{"a": 1, "b": 2}]


def test_json_has_every_column_in_every_row() -> None:
    assert json.loads(as_json(Rows(("a", "b"), [{"b": 1}]))) == [{"a": None, "b": 1}]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        ("", ""),
        (True, "true"),
        (3, "3"),
        (0.125, "0.12"),
        (Perm(7), "rwi"),
        ((), "-"),
        (("a", "b"), "a,b"),
        ({}, "-"),
        ({1: "a"}, "1=a"),
        ("two\nlines\tand\x9b\u202e", "two\\nlines\\tand\\x9b\\u202e"),
    ],
)
def test_cells(value: object, text: str) -> None:
    assert cell(value) == text


def test_text_goes_out_as_utf8_whatever_the_locale_and_odd_letters_are_escaped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sink = io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", io.TextIOWrapper(sink, encoding="ascii"))
        write_text("é\udc80")
        assert sink.getvalue() == b"\xc3\xa9\\udc80\n"
