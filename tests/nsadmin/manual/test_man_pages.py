"""Man pages: without a complaint of groff, and with what the commands say."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from nsadmin.manual import man_pages
from nsadmin.manual.command_descriptions import describe_all_commands
from tests.support.name_servers import ROOT

TEMPLATE = (ROOT / "man" / "nsadmin.1.in").read_text()
PAGES = {man_pages.page_name(c.entry): man_pages.render_page(c) for c in describe_all_commands()}
PAGES["nsadmin"] = man_pages.render_overview(TEMPLATE, describe_all_commands())
needs_groff = pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")


def shown(page: str) -> str:
    result = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-P-c"], input=page, capture_output=True, text=True, check=True
    )
    assert result.stderr == ""
    # Bold is a letter over itself, italic one over an underscore.
    return re.sub(".\b", "", result.stdout)


@needs_groff
def test_pages_are_set_without_a_warning() -> None:
    text = shown("".join(PAGES.values()))
    assert len(re.findall(r"^NAME$", text, re.M)) == len(PAGES)


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is not installed")
def test_mandoc_has_nothing_to_say_of_a_page(tmp_path: Path) -> None:
    for name, page in PAGES.items():
        (tmp_path / f"{name}.1").write_text(page)
    result = subprocess.run(["mandoc", "-T", "lint", *tmp_path.iterdir()], capture_output=True, text=True)
    # What is rendered from the commands has no date of its own.
    assert [line for line in result.stdout.splitlines() if "missing date" not in line] == []


@needs_groff
def test_a_page_shows_its_options_and_exit_codes_as_they_are_typed() -> None:
    text = " ".join(shown(PAGES["nsadmin-topicRoute"]).split())
    assert "nsadmin topicRoute TOPIC [options]" in text
    assert "-t, --topic TOPIC" in text
    assert "--filter" not in text.partition("EXAMPLES")[0]
    assert "The page nsadmin(1) lists the exit codes." in text
    text = " ".join(shown(PAGES["nsadmin"]).split())
    assert "perm!=6, inTps>100 or topic~^order" in text
    assert "5 The named topic, group, broker, key or message does not exist." in text


@needs_groff
def test_a_page_lists_exit_codes_that_differ_from_the_common_ones() -> None:
    text = " ".join(shown(PAGES["nsadmin-kv-diff"]).split())
    assert "EXIT STATUS 0 Equal. 1 Different. 3 A name server did not answer." in text
    assert "All other exit codes are those of nsadmin(1)." in text
    assert "2 Critical." in " ".join(shown(PAGES["nsadmin-check-lag"]).split())


@needs_groff
def test_a_page_shows_columns_and_examples_as_they_are_typed() -> None:
    text = shown(PAGES["nsadmin-topicRoute"])
    assert re.search(r"\nCOLUMNS\n +topic +Name of the topic\.\n", text)
    line = "nsadmin topicRoute '*' --filter 'perm!~w' --columns topic,brokerName,perm"
    assert (
        f"Read-only topics: which topics cannot be written, and on which brokers:\n\n           {line}\n"
        in text
    )
    assert "COLUMNS" not in shown(PAGES["nsadmin-lab-up"])
    assert "nsadmin lab up --namesrv-port 9876 --broker-port 10911" in shown(PAGES["nsadmin-lab-up"])


@needs_groff
def test_the_page_of_a_two_word_command_has_both_words_in_its_name() -> None:
    text = " ".join(shown(PAGES["nsadmin-kv-get"]).split())
    assert "nsadmin-kv-get - " in text
    assert "nsadmin kv get NAMESPACE KEY [options]" in text
    assert "nsadmin-kv-get(1)" in shown(PAGES["nsadmin"])


def test_what_roff_would_take_for_its_own_is_escaped() -> None:
    assert man_pages._escape_roff(".so x\\y --z") == "\\&.so x\\ey \\-\\-z"
