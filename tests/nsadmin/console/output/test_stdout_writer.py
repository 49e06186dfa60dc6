"""Rows in each format, byte for byte as the files in tests/golden/output have them."""

import io
import json
import re
import sys
from pathlib import Path

import pytest

from nsadmin.console.output import (
    OUTPUT_FORMATS,
    InvalidSelectionError,
    OutputStyle,
    ResultRows,
    RowSelection,
    UnwritableOutputError,
    clear_screen,
    write_rows,
    write_text,
)
from tests.support.rows import ROWS, TerminalStdout, capture_rows

GOLDEN = Path(__file__).parents[3] / "golden" / "output"


@pytest.mark.parametrize(
    ("golden", "style", "kind"),
    [
        ("rows.text.txt", OutputStyle("table"), io.TextIOWrapper),
        ("rows.no-headers.txt", OutputStyle("table", shows_headers=False), io.TextIOWrapper),
        ("rows.terminal.txt", OutputStyle("table"), TerminalStdout),
        ("rows.terminal-no-color.txt", OutputStyle("table", uses_color=False), TerminalStdout),
        ("rows.json", OutputStyle("json"), io.TextIOWrapper),
        ("rows.json", OutputStyle("json"), TerminalStdout),
        ("rows.jsonl", OutputStyle("jsonl"), io.TextIOWrapper),
        ("rows.yaml", OutputStyle("yaml"), io.TextIOWrapper),
        ("rows.csv", OutputStyle("csv"), io.TextIOWrapper),
        ("rows.tsv", OutputStyle("tsv"), io.TextIOWrapper),
        ("rows.name.txt", OutputStyle("name"), io.TextIOWrapper),
        ("rows.value.txt", OutputStyle("value"), io.TextIOWrapper),
    ],
)
def test_each_format_byte_for_byte(
    golden: str, style: OutputStyle, kind: type[io.TextIOWrapper], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert capture_rows(ROWS, style, monkeypatch, kind) == (GOLDEN / golden).read_bytes()


def test_wide_shows_the_columns_that_a_table_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ResultRows(("a", "b"), [{"a": 1, "b": 2}], table_columns=("b",))
    assert capture_rows(rows, OutputStyle("table"), monkeypatch, io.TextIOWrapper) == b"b\n2\n"
    assert capture_rows(rows, OutputStyle("wide"), monkeypatch, io.TextIOWrapper) == b"a  b\n1  2\n"


def test_nothing_is_written_of_a_selection_that_cannot_be(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidSelectionError):
        write_rows(ROWS, OutputStyle("json", selection=RowSelection(columns="nope")))
    assert capsys.readouterr().out == ""


def test_only_a_table_on_a_terminal_starts_over_on_a_clear_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, style, cleared in (
        (TerminalStdout, OutputStyle("table"), True),
        (TerminalStdout, OutputStyle("jsonl"), False),
        (io.TextIOWrapper, OutputStyle("wide"), False),
    ):
        sink = io.BytesIO()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", kind(sink, encoding="utf-8"))
            clear_screen(style)
            assert (b"\x1b[2J" in sink.getvalue()) is cleared


def test_no_rows_of_a_format_without_headers_are_nothing_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("jsonl", "name", "value"):
        assert capture_rows(ResultRows(("a",), []), OutputStyle(name), monkeypatch, io.TextIOWrapper) == b""


def test_text_goes_out_as_utf8_whatever_the_locale_and_odd_letters_are_escaped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sink = io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", io.TextIOWrapper(sink, encoding="ascii"))
        write_text("é\udc80")
        assert sink.getvalue() == b"\xc3\xa9\\udc80\n"


HOSTILE = "a\x1b[2J\x9bb\u202e\u2028\n\rc\x7f"


@pytest.mark.parametrize("form", [form for form in OUTPUT_FORMATS if form != "mqadmin"])
def test_on_a_terminal_no_name_controls_it_or_forges_a_row(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ResultRows(("name", "more"), [{"name": HOSTILE, "more": {HOSTILE: [HOSTILE]}}])
    style = OutputStyle(form, uses_color=False, shows_headers=False)
    text = capture_rows(rows, style, monkeypatch, TerminalStdout).decode()
    assert [letter for letter in text if not letter.isprintable() and letter not in "\t\n"] == []
    if form == "json":
        assert json.loads(text) == [{"name": HOSTILE, "more": {HOSTILE: [HOSTILE]}}]
    elif form != "yaml":
        assert len([line for line in text.splitlines() if line.strip(" ─")]) == 1, text


def test_a_text_controls_no_terminal_and_is_unchanged_for_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, expected in (
        (TerminalStdout, b'{"a": "\\u009b\\u202e"}\n\t\\u001b\n'),
        (io.TextIOWrapper, None),
    ):
        sink, text = io.BytesIO(), '{"a": "\x9b\u202e"}\n\t\x1b'
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", kind(sink, encoding="utf-8"))
            write_text(text)
            assert sink.getvalue() == (expected or f"{text}\n".encode())


def test_a_full_disk_is_told_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with open("/dev/full", "wb", buffering=0) as full:
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(full, write_through=True))
        with pytest.raises(UnwritableOutputError) as caught:
            write_text("x")
    assert (caught.value.filename, caught.value.strerror) == ("stdout", "No space left on device")


@pytest.mark.parametrize(
    ("form", "text"),
    [("table", b""), ("wide", b""), ("json", b"[]\n"), ("csv", b"name\n"), ("tsv", b"name\n")],
)
def test_only_a_table_omits_the_column_names_of_no_rows(
    form: str, text: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert capture_rows(ResultRows(("name",), []), OutputStyle(form), monkeypatch, io.TextIOWrapper) == text


@pytest.mark.parametrize("form", ["table", "wide"])
def test_a_terminal_shows_the_beginning_of_a_body_and_wide_shows_all(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    rows = ResultRows(("msgId", "body"), [{"msgId": "0A", "body": "body " * 100}])
    text = capture_rows(rows, OutputStyle(form, uses_color=False), monkeypatch, TerminalStdout).decode()
    assert (len(re.findall(r"body body.*\n", text)) == 1, "…" in text) == (
        (True, True) if form == "table" else (False, False)
    )
