"""Tables: cells, widths, narrow terminals."""

import re
from datetime import UTC, datetime

import pytest

from namesrv_core.protocol.codes import Perm
from nsadmin.console.output import (
    ByteSize,
    DurationMillis,
    EpochMillisText,
    FineDurationMillis,
    OutputStyle,
    ResultRows,
    RowSelection,
)
from nsadmin.console.output.row_selection import select_rows
from nsadmin.console.output.text_table import cell_text, format_plain_table
from tests.support.rows import TerminalStdout, capture_rows


def test_a_narrow_terminal_folds_free_text_and_cuts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("brokerName", "value")
    rows = ResultRows(names, [{"brokerName": "b" * 100, "value": "x" * 300}])
    lines = capture_rows(
        rows, OutputStyle("table", uses_color=False), monkeypatch, TerminalStdout
    ).splitlines()
    assert sum(line.count(b"x") for line in lines) == 300
    assert [line for line in lines if b"b" * 100 in line]
    assert len(lines) > 10


def draw_lines(rows: ResultRows, width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    style = OutputStyle("table", uses_color=False)
    output = capture_rows(rows, style, monkeypatch, TerminalStdout, width)
    return [line.rstrip() for line in output.decode().splitlines()]


def test_a_narrow_terminal_breaks_no_address_and_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    addrs = [f"192.168.10.1{number}:10911" for number in range(6)]
    error = "the broker refused the connection because it is restarting"
    rows = ResultRows(
        ("brokerName", "brokerAddrs", "error"),
        [{"brokerName": "broker-a", "brokerAddrs": addrs, "error": error}],
    )
    words = re.split("[ ,\n]+", "\n".join(draw_lines(rows, 60, monkeypatch)))
    assert {*addrs, *error.split()} <= set(words)


def test_a_narrow_terminal_shows_no_empty_column_and_not_the_date_of_today(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cells = {
        "brokerName": "broker-a" * 4,
        "registered": f"{datetime.now(UTC):%Y-%m-%d}T08:15:00Z",
        "changed": "2025-01-31T08:15:00Z",
        "zone": None,
        "error": None,
    }
    rows = ResultRows(tuple(cells), [cells])
    narrow = " ".join(draw_lines(rows, 80, monkeypatch)).split()
    assert (narrow[:3], narrow[-3:]) == (
        ["brokerName", "registered", "changed"], ["broker-a" * 4, "08:15:00Z", "2025-01-31T08:15:00Z"],
    )  # fmt: skip
    wide = draw_lines(rows, 120, monkeypatch)
    assert wide[0].split() == list(cells)
    assert str(cells["registered"]) in wide[2]


def test_a_sentence_is_under_no_other_heading(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ResultRows(
        ("result", "step", "namesrvAddrs", "seen"),
        [
            {"result": "ok", "step": "clientList", "namesrvAddrs": None, "seen": "each has a port"},
            {"result": "ok", "step": "route", "namesrvAddrs": "127.0.0.1:9876", "seen": "it is there" * 9},
        ],
    )
    heading, first, *_ = draw_lines(rows, 80, monkeypatch)
    assert first.index("each has a port") >= heading.index("namesrvAddrs") + len("127.0.0.1:9876")


def test_headings_on_a_terminal_are_the_names_that_sort_and_columns_accept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("brokerName", "inTps", "namesrvAddr", "URL")
    rows = ResultRows(names, [dict.fromkeys(names, "x")])
    [heading, *_] = capture_rows(
        rows, OutputStyle("table", uses_color=False), monkeypatch, TerminalStdout
    ).splitlines()
    assert tuple(heading.decode().split()) == names


def test_headings_are_folded_at_capital_letters_where_the_terminal_is_too_narrow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("brokerName", *(f"name{'x' * 8}No{at}" for at in range(8)))
    rows = ResultRows(names, [dict.fromkeys(names, "x" * 10)])
    lines = (
        capture_rows(rows, OutputStyle("table", uses_color=False), monkeypatch, TerminalStdout)
        .decode()
        .splitlines()
    )
    assert lines[0].split() == ["namexxxxxxxx"] * 8
    assert lines[1].split() == ["brokerName", *(f"No{at}" for at in range(8))]


def test_sentences_stand_below_their_row_where_there_is_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ResultRows(
        ("result", "step", "seen", "next"),
        [
            {"result": "ok", "step": "clientList", "seen": "each has a port", "next": None},
            {"result": "cause", "step": "wiped", "seen": "see " * 40, "next": "do " * 60},
        ],
    )
    lines = (
        capture_rows(rows, OutputStyle("table", uses_color=False), monkeypatch, TerminalStdout)
        .decode()
        .splitlines()
    )
    assert lines[:4] == [
        "result  step",
        "ok      clientList  each has a port",
        "cause   wiped",
        "    " + "see " * 28 + "see",
    ]
    assert lines[4:] == ["    " + "see " * 10 + "see", "  → " + "do " * 38 + "do", "    " + "do " * 20 + "do"]
    alone = ResultRows(("seen",), [{"seen": "see " * 40}])
    lines = (
        capture_rows(alone, OutputStyle("table", uses_color=False), monkeypatch, TerminalStdout)
        .decode()
        .splitlines()
    )
    assert len(lines) == 2
    wide = ResultRows(("seen", "next"), [{"seen": "little", "next": "do it"}])
    assert (
        "next"
        in capture_rows(wide, OutputStyle("table", uses_color=False), monkeypatch, TerminalStdout).decode()
    )


def test_on_a_terminal_a_context_with_a_colour_stands_above_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = ResultRows(("a",), [{"a": 1}])
    style = OutputStyle(context_banner=("prod", "red"))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert capture_rows(rows, style, monkeypatch, TerminalStdout).startswith(b"\x1b[1;31m[prod]\x1b[0m\n")
    plain = capture_rows(rows, style._replace(uses_color=False), monkeypatch, TerminalStdout)
    assert plain.startswith(b"[prod]\n")
    assert b"prod" not in capture_rows(rows, style._replace(output_format="csv"), monkeypatch, TerminalStdout)


def test_the_name_of_a_context_has_its_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    rows = ResultRows(("name", "color"), [{"name": "prod", "color": "red"}, {"name": "lab", "color": None}])
    printed = capture_rows(rows, OutputStyle(), monkeypatch, TerminalStdout)
    assert b"\x1b[1;31mprod\x1b[0m" in printed
    assert b"31mlab" not in printed


def test_no_rows_are_the_names_alone() -> None:
    assert format_plain_table(ResultRows(("a", "b"), [])) == "a  b"
    assert format_plain_table(ResultRows(("a", "b"), []), shows_headers=False) == ""


def test_a_very_long_cell_makes_only_its_own_line_wide() -> None:
    rows = ResultRows(("seen", "next"), [{"seen": "s" * 101, "next": "n"}, {"seen": "short", "next": "n"}])
    assert format_plain_table(rows) == f"seen   next\n{'s' * 101}  n\nshort  n"


def test_a_table_may_show_fewer_columns_than_there_are() -> None:
    assert format_plain_table(ResultRows(("a", "b"), [{"a": 1, "b": 2}], table_columns=("b",))) == "b\n2"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        ("", ""),
        (True, "true"),
        (3, "3"),
        (0.125, "0.12"),
        (Perm(7), "rwi"),
        (EpochMillisText("1763733600000"), "2025-11-21T14:00:00.000Z"),
        (EpochMillisText("0"), "-"),
        (ByteSize(0), "0 B"),
        (ByteSize(1023), "1023 B"),
        (ByteSize(1536), "1.5 KiB"),
        (ByteSize(-(3 << 20)), "-3.0 MiB"),
        (ByteSize(5 << 50), "5120.0 TiB"),
        (DurationMillis(999), "999 ms"),
        (DurationMillis(1250), "1.25 s"),
        (DurationMillis(90_000), "1 min 30 s"),
        (DurationMillis(3_600_000), "1 h"),
        (DurationMillis(7_500_000), "2 h 5 min"),
        (DurationMillis(90_000_000), "1 d 1 h"),
        (FineDurationMillis(0.125), "0.12 ms"),
        (FineDurationMillis(61_000.5), "1 min 1 s"),
        ((), "-"),
        (("a", "b"), "a,b"),
        ({}, "-"),
        ({1: "a"}, "1=a"),
        ("two\nlines\tand\x9b\u202e", "two\\nlines\\tand\\x9b\\u202e"),
    ],
)
def test_cells(value: object, text: str) -> None:
    assert cell_text(value) == text


def test_whatever_could_forge_a_line_is_spelt_out() -> None:
    codes = [*range(0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A)]
    for forger in map(chr, codes):
        assert cell_text(f"é {forger}") == f"é {forger.encode('unicode_escape').decode()}"
    for harmless_text in ("é 名 ß", "no-break\xa0space", ""):
        assert cell_text(harmless_text) == harmless_text


def test_a_key_of_a_map_cannot_forge_what_a_table_shows() -> None:
    assert cell_text({"a\x1b[2J\u200f": "b\n"}) == "a\\x1b[2J\\u200f=b\\n"


@pytest.mark.parametrize("value", ["x" * 20_000, ["x" * 9_000, "y" * 9_000], {"k": "x" * 20_000}])
def test_a_long_cell_is_cut(value: object) -> None:
    text = cell_text(value)
    assert 10_000 < len(text) < 10_100
    assert text.endswith(" characters)")


def test_the_heading_of_durations_has_no_unit_because_the_cells_have_one() -> None:
    rows = ResultRows(["costMs", "bodyMs"], [{"costMs": DurationMillis(90_000), "bodyMs": "x"}])
    assert format_plain_table(rows).splitlines() == ["      cost  bodyMs", "1 min 30 s  x"]
    [row] = select_rows(rows, RowSelection(columns="cost", sort="cost", filters=("cost>1",))).rows
    assert row["costMs"] == 90_000
