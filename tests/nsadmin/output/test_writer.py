"""Rows in each format, byte for byte as the files in tests/golden/output have them."""

import io
import sys
from pathlib import Path

import pytest

from nsadmin.output import (
    BadSelection,
    Rows,
    Selection,
    Style,
    Unwritable,
    start_over,
    write_rows,
    write_text,
)
from tests.support.rows import ROWS, Terminal, written

GOLDEN = Path(__file__).parents[2] / "golden" / "output"


@pytest.mark.parametrize(
    ("golden", "style", "kind"),
    [
        ("rows.text.txt", Style("table"), io.TextIOWrapper),
        ("rows.no-headers.txt", Style("table", headers=False), io.TextIOWrapper),
        ("rows.terminal.txt", Style("table"), Terminal),
        ("rows.terminal-no-color.txt", Style("table", color=False), Terminal),
        ("rows.json", Style("json"), io.TextIOWrapper),
        ("rows.json", Style("json"), Terminal),
        ("rows.jsonl", Style("jsonl"), io.TextIOWrapper),
        ("rows.yaml", Style("yaml"), io.TextIOWrapper),
        ("rows.csv", Style("csv"), io.TextIOWrapper),
        ("rows.tsv", Style("tsv"), io.TextIOWrapper),
        ("rows.name.txt", Style("name"), io.TextIOWrapper),
        ("rows.value.txt", Style("value"), io.TextIOWrapper),
    ],
)
def test_each_format_byte_for_byte(
    golden: str, style: Style, kind: type[io.TextIOWrapper], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert written(ROWS, style, monkeypatch, kind) == (GOLDEN / golden).read_bytes()


def test_wide_shows_the_columns_that_a_table_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Rows(("a", "b"), [{"a": 1, "b": 2}], in_table=("b",))
    assert written(rows, Style("table"), monkeypatch, io.TextIOWrapper) == b"b\n2\n"
    assert written(rows, Style("wide"), monkeypatch, io.TextIOWrapper) == b"a  b\n1  2\n"


def test_nothing_is_written_of_a_selection_that_cannot_be(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadSelection):
        write_rows(ROWS, Style("json", selection=Selection(columns="nope")))
    assert capsys.readouterr().out == ""


def test_only_a_table_on_a_terminal_starts_over_on_a_clear_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, style, cleared in (
        (Terminal, Style("table"), True),
        (Terminal, Style("jsonl"), False),
        (io.TextIOWrapper, Style("wide"), False),
    ):
        sink = io.BytesIO()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", kind(sink, encoding="utf-8"))
            start_over(style)
            assert (b"\x1b[2J" in sink.getvalue()) is cleared


def test_no_rows_of_a_format_without_headers_are_nothing_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("jsonl", "name", "value"):
        assert written(Rows(("a",), []), Style(name), monkeypatch, io.TextIOWrapper) == b""


def test_text_goes_out_as_utf8_whatever_the_locale_and_odd_letters_are_escaped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sink = io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", io.TextIOWrapper(sink, encoding="ascii"))
        write_text("é\udc80")
        assert sink.getvalue() == b"\xc3\xa9\\udc80\n"


def test_a_full_disk_is_told_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with open("/dev/full", "wb", buffering=0) as full:
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(full, write_through=True))
        with pytest.raises(Unwritable) as caught:
            write_text("x")
    assert (caught.value.filename, caught.value.strerror) == ("stdout", "No space left on device")
