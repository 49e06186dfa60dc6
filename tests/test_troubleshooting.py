"""The messages on the troubleshooting page are those that the program writes."""

import ast
import re

import pytest

from tests.support.name_servers import ROOT
from tests.support.prose_rules import PACKAGES

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text()
# Values, and the names of options that a message quotes.
VALUE = re.compile(r"\b[A-Z][A-Z]+(?::[A-Z]+)?\b|…|\(…\)|\"|--watch 5|itself")


def read_messages() -> list[str]:
    section = PAGE.split("\n## By message\n", 1)[1].split("\n### Clients and brokers\n", 1)[0]
    return re.findall(r"^\| `([^`]+)`", section, re.M)


def read_source_texts() -> str:
    texts = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text())
            texts += [
                node.value
                for node in ast.walk(tree)
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            ]
    return "\n".join(texts)


@pytest.fixture(scope="module")
def source_texts() -> str:
    return read_source_texts()


def test_there_are_messages() -> None:
    assert len(read_messages()) > 12


@pytest.mark.parametrize("message", read_messages())
def test_each_part_of_a_message_is_in_the_source(message: str, source_texts: str) -> None:
    parts = [part.strip(" ,;:()%") for part in VALUE.split(message)]
    parts = [words for part in parts for words in re.split(r": |; ", part)]
    assert [part for part in parts if part.count(" ") > 0 and part not in source_texts] == []
