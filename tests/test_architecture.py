"""Architecture and code tour name files that exist, and the layers are the import contracts."""

import re
import tomllib

from tests.support.name_servers import ROOT

PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
TOUR = (ROOT / "docs" / "explanation" / "code-tour.md").read_text()
LEAST_INDEX_LINES = 50


def section_named(title: str) -> str:
    return PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def index_rows() -> list[tuple[str, list[str]]]:
    """The rows of the index, as (behaviour, paths), without its head and without headings."""
    rows = []
    for line in section_named("Find the code for a behaviour").splitlines():
        match = re.fullmatch(r"\| (.+?) \| (.*)\|", line)
        if match and "`" in match[2]:
            rows.append((match[1], re.findall(r"`([^`]+)`", match[2])))
    return rows


def test_the_index_has_enough_lines_to_be_of_use() -> None:
    assert len(index_rows()) >= LEAST_INDEX_LINES


def test_every_file_of_the_index_exists() -> None:
    missing_paths = [path for _, paths in index_rows() for path in paths if not (ROOT / path).is_file()]
    assert missing_paths == []


def test_every_file_of_the_tour_exists() -> None:
    paths = re.findall(r"`((?:cli|namesrv_core|tests)/[\w/]+\.py)`", TOUR)
    assert len(paths) > 15
    assert [path for path in paths if not (ROOT / path).is_file()] == []


def test_no_behaviour_stands_twice_in_the_index() -> None:
    behaviours = [behaviour for behaviour, _ in index_rows()]
    assert len(behaviours) == len(set(behaviours))


def test_the_layers_are_those_of_the_import_contracts() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    contracts = {
        contract["containers"][0]: " > ".join(contract["layers"])
        for contract in tools["importlinter"]["contracts"]
        if contract["type"] == "layers" and "containers" in contract
    }
    block = section_named("Layers of imports").split("```")[1]
    lines = re.split(r"\n(?=\w)", block.strip())
    assert {line.split()[0]: " ".join(line.split()[1:]) for line in lines} == contracts
