"""Every command that README, the tutorial and the how-to guides show is run, and prints what is shown."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from nsadmin import app
from nsadmin.command_line import registry
from nsadmin.command_line.declarations import command_parameters
from nsadmin.command_line.shared_options import list_shared_parameters
from tests.support.documented_commands import (
    PAGES,
    Block,
    find_difference,
    find_nsadmin_words,
    list_inline_commands,
    read_blocks,
)
from tests.support.documented_lab import DocumentedLab, documented_lab, shortened_program
from tests.support.name_servers import ROOT

EXISTING = [page for page in PAGES if page.exists()]
PARSED = [block for page in EXISTING for block in read_blocks(page) if block.not_run is not None]
MOST_LINES = 25
CONTEXTS = ("prod", "staging", "test")
"""Contexts that the pages name."""


@pytest.fixture
def page_lab(page: Path, tmp_path: Path) -> Iterator[DocumentedLab]:
    with documented_lab(page, tmp_path, shortened_program()) as running:
        yield running


@pytest.fixture
def parse(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """From here on `main` parses command lines and does nothing."""
    config = tmp_path / "config.yaml"
    config.write_text(f"contexts: {{{', '.join(f'{name}: {{namesrvAddr: h:9876}}' for name in CONTEXTS)}}}\n")
    config.chmod(0o600)
    monkeypatch.setenv("NSADMIN_CONFIG", str(config))
    monkeypatch.setattr(app.CommandRun, "perform", lambda run: 0)
    monkeypatch.setattr(app, "_run_batch", lambda *parsed: 0)


@pytest.mark.parametrize("page", EXISTING, ids=lambda page: page.name)
def test_each_command_of_a_page_prints_what_the_page_shows(page: Path, page_lab: DocumentedLab) -> None:
    problems = []
    for block in read_blocks(page):
        if block.not_run is not None:
            continue
        page_lab.prepare_block(block)
        for command in block.list_commands():
            printed = page_lab.run_shown(block, command)
            line = find_difference(command.output_lines, printed, block.is_unordered)
            if command.has_output and line is not None:
                problems.append(f"{block.name}: {command.command_line}\n  shown: {line}")
            elif not command.has_output and page_lab.last_code:
                problems.append(f"{block.name}: {command.command_line}: exit code {page_lab.last_code}")
            else:
                continue
            problems += [f"    {text}" for text in printed[:MOST_LINES]]
    assert problems == [], "\n".join(
        ["record them with python -m tests.support.record_documentation", *problems]
    )


@pytest.mark.parametrize("block", PARSED, ids=lambda block: block.name)
def test_a_command_that_is_not_run_is_a_valid_command_line(
    block: Block, parse: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert block.not_run
    for command in block.list_commands():
        for words in find_nsadmin_words(command.command_line):
            entry, _ = registry.take_command(words)
            if entry is not None and entry.kind == "program":
                assert_flags_exist(words, capsys)
            else:
                assert app.main(words) == 0, (words, capsys.readouterr().err)


@pytest.mark.parametrize("page", EXISTING, ids=lambda page: page.name)
def test_commands_in_running_text_exist_and_have_the_named_options(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for line in list_inline_commands(page):
        words = shlex.split(line.replace("…", ""))[1:]
        if not (words[0].startswith("-") or words[0] == "help" or words[0].isupper()):
            assert_flags_exist(words, capsys)


def assert_flags_exist(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The command, or the group, exists and has each of the options."""
    entry, rest = registry.take_command(words)
    if entry is None:
        assert app.main([words[0], "--help"]) == 0, (words, capsys.readouterr().err)
        known = set(re.findall(r"--[\w-]+", capsys.readouterr().out))
    else:
        function = entry.load_function()
        known = {
            flag
            for parameter in (*command_parameters(function), *list_shared_parameters(entry))
            for flag in parameter.flag_names
        }
    for word in rest if entry else words[1:]:
        if word.startswith("--"):
            assert word.partition("=")[0] in known | {"--help"}, words


def test_normal_pages_have_no_block_that_a_reader_would_type_and_no_test_reads() -> None:
    for page in EXISTING:
        for block in read_blocks(page):
            if block.language in ("", "text") and block.not_run is None:
                assert not any(line.startswith(("$ ", "nsadmin ")) for line in block.lines), block.name


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 200


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        (["broker-a-0  12.5  rw-"], ["broker-a-0     7.25  rw-"]),
        (["at 2026-11-24T10:00:00.000Z by 127.0.0.1:51124"], ["at 2027-01-01T00:00:00Z by 127.0.0.1:40000"]),
        (["first", "…", "last"], ["first", "second", "third", "last"]),
        (["took 3 ms … done"], ["took 2 s and more; done"]),
        (["one", "…"], ["one"]),
    ],
)
def test_an_output_may_differ_in_times_numbers_and_left_out_lines(
    shown: list[str], printed: list[str]
) -> None:
    assert find_difference(shown, printed) is None


@pytest.mark.parametrize(
    ("shown", "printed", "difference"),
    [
        (["broker-a-0  rw-"], ["broker-a-0  r--"], "broker-a-0  rw-"),
        (["broker-a-0"], ["broker-a-1"], "broker-a-0"),
        (["one"], ["one", "two"], "(nothing more; printed: two)"),
        (["one", "…", "three"], ["one", "two"], "three"),
        (["127.0.0.1:9876"], ["127.0.0.1:9877"], "127.0.0.1:9876"),
    ],
)
def test_another_text_is_a_difference(shown: list[str], printed: list[str], difference: str) -> None:
    assert find_difference(shown, printed) == difference


def test_lines_in_any_order_have_to_be_there() -> None:
    assert find_difference(["b", "a"], ["a", "c", "b"], is_unordered=True) is None
    assert find_difference(["b", "d"], ["a", "c", "b"], is_unordered=True) == "d"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nsadmin drain broker-a --yes && systemctl stop nsadmin", [["drain", "broker-a", "--yes"]]),
        ("NSADMIN_OUTPUT=json nsadmin where | head; nsadmin tui  # live", [["where"], ["tui"]]),
        ("uv tool install nsadmin", []),
    ],
)
def test_the_commands_of_a_shell_line_are_found(line: str, words: list[list[str]]) -> None:
    assert find_nsadmin_words(line) == words
