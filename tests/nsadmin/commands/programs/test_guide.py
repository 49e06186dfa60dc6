"""nsadmin guide."""

import json
import re
import shutil
from pathlib import Path

import pytest

import nsadmin
from nsadmin.commands.programs import guide
from nsadmin.console import guides as guides_module
from nsadmin.console.guides import find_guides
from nsadmin.manual.rendered_files import render_site_pages
from tests.nsadmin.conftest import Run
from tests.support.name_servers import ROOT

NAMED_PAGE = re.compile(r"nsadmin guide (\w+-[\w-]+)")


def test_pages_are_listed(run: Run) -> None:
    rows = json.loads(run("guide", "--json").out)
    assert {"page": "monitor", "title": "Monitor a cluster"} in rows


def test_a_page_is_found_by_its_name_and_by_a_command_and_links_are_commands(run: Run) -> None:
    result = run("guide", "drain")
    assert result.out.startswith("# Drain and stop a broker\n")
    assert "Spread topics over brokers (`nsadmin guide spread-topics`)" in result.out
    assert result.out == run("guide", "drain-and-stop-a-broker").out


@pytest.mark.parametrize("words", [("guide", "drain"), ("errors", "17"), ("mqadminMap", "topicList")])
def test_an_explanation_ignores_connection_options(run: Run, words: tuple[str, ...]) -> None:
    assert run("--context", "no-such-context", *words) == run(*words)
    assert run(*words, "-n", "127.0.0.1:1") == run(*words)
    assert run(*words).code == 0


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


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_installation_has_each_page_that_a_page_or_a_message_names(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, language: str
) -> None:
    monkeypatch.setenv("NSADMIN_LANG", language)
    shutil.copytree(ROOT / "docs", tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("images"))
    for name, text in render_site_pages().items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(guides_module, "_page_folders", lambda: (tmp_path,))
    pages = {name: found.translate(language).read_text() for name, found in find_guides().items()}
    links = {name: {link[2] for link in guide._PAGE_LINK.finditer(text)} for name, text in pages.items()}
    # The page of the site about commands, and files beside the documentation, stay links.
    links["index"] -= {"commands", "CHANGELOG", "SECURITY"}
    links["upgrading"] -= {"CHANGELOG", "SECURITY"}
    named = {name: {*links[name], *NAMED_PAGE.findall(text)} for name, text in pages.items()}
    for path in Path(nsadmin.__file__).parent.rglob("*.py"):
        named[path.name] = {*NAMED_PAGE.findall(path.read_text())}
    assert {name: found - pages.keys() for name, found in named.items() if found - pages.keys()} == {}
    assert "limits of the checks (`nsadmin guide check-limits`)" in run("guide", "index").out.lower()
