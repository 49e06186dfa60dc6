"""nsadmin guide."""

import json

import pytest

from nsadmin.commands.programs import guide
from tests.nsadmin.conftest import Run


def test_pages_are_listed(run: Run) -> None:
    rows = json.loads(run("guide", "--json").out)
    assert {"page": "monitor", "title": "Monitor a cluster"} in rows


def test_a_page_is_found_by_its_name_and_by_a_command_and_links_are_commands(run: Run) -> None:
    result = run("guide", "drain")
    assert result.out.startswith("# Drain and stop a broker\n")
    assert "Spread topics over brokers (`nsadmin guide spread-topics`)" in result.out
    assert result.out == run("guide", "drain-and-stop-a-broker").out


def test_a_reader_of_chinese_gets_the_translated_page(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSADMIN_LANG", "zh")
    result = run("guide", "drain")
    assert "# 排空并停止 Broker\n" in result.out
    assert "把 Broker 移出集群 (`nsadmin guide scale-in`)" in result.out
    assert {"page": "dead-letters", "title": "重放死信"} in json.loads(run("guide", "--json").out)


def test_a_terminal_gets_no_markdown() -> None:
    assert "`" not in guide.render("# Monitor a cluster\n\n`nsadmin`", uses_color=False)


def test_an_unknown_page_is_not_found(run: Run) -> None:
    result = run("guide", "nope")
    assert (result.code, result.out) == (5, "")
    assert result.err == (
        'nsadmin: no page "nope": nsadmin guide lists the pages, nsadmin help nope searches them\n'
    )
