"""Architecture and code tour name files that exist, and the layers are the import contracts."""

import re
import tomllib

from tests.support.name_servers import ROOT

PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
TOUR = (ROOT / "docs" / "explanation" / "code-tour.md").read_text()


def section_named(title: str) -> str:
    return PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_every_file_of_the_page_exists() -> None:
    paths = re.findall(r"`((?:cli|namesrv_core|pipeline|tests)/[\w/-]+\.(?:py|yaml))`", PAGE)
    assert len(paths) > 15
    assert [path for path in paths if not (ROOT / path).is_file()] == []


def test_every_file_of_the_tour_exists() -> None:
    paths = re.findall(r"`((?:cli|namesrv_core|tests)/[\w/]+\.py)`", TOUR)
    assert len(paths) > 15
    assert [path for path in paths if not (ROOT / path).is_file()] == []


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
