"""Figures replace the text between their marks and leave the rest of the page unchanged."""

from pathlib import Path

import pytest

from tests.bench import figures, messages


def test_what_stands_around_them_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a -->\nold\n<!-- end of a -->\nafter\n<!-- b -->\n<!-- end of b -->\n")
    figures.write(page, "a", ["new", "lines"])
    figures.write(page, "b", ["more"])
    assert page.read_text() == (
        "before\n<!-- a -->\nnew\nlines\n<!-- end of a -->\nafter\n<!-- b -->\nmore\n<!-- end of b -->\n"
    )


def test_a_page_without_a_place_for_them_is_said(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing\n")
    with pytest.raises(ValueError, match='no marks for "a"'):
        figures.write(page, "a", [])
    assert page.read_text() == "nothing\n"


@pytest.mark.parametrize("name", ["attacks", "soak"])
def test_the_page_has_a_place_for_each_run(name: str) -> None:
    text = figures.RELIABILITY.read_text()
    assert f"<!-- {name} -->\n" in text
    assert f"<!-- end of {name} -->\n" in text


def test_the_page_of_performance_has_a_place_for_messages() -> None:
    text = messages.PAGE.read_text()
    assert "<!-- messages -->\n" in text
    assert "<!-- end of messages -->\n" in text


def test_figures_of_messages_are_medians_and_a_ratio() -> None:
    ours = [{messages.PRODUCED: rate, "ack": rate} for rate in (100.0, 300.0, 200.0)]
    assert list(messages.list_lines(5, 1024, ours, [{messages.PRODUCED: 1000.0, "ack": 0.5}]))[2:] == [
        "| sent per second | 200 | 1,000 | 0.20 |",
        "| ack | 200.00 | 0.50 | 400.00 |",
    ]


def test_the_machine_is_named() -> None:
    assert "processors" in figures.machine()
    assert ", a program, " in figures.machine("a program")
