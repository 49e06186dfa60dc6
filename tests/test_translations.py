"""Each translated page has the commands of its source, which test_documentation runs, and is as new as it."""

from pathlib import Path

import pytest

from tests.support.documented_commands import list_inline_commands, read_blocks
from tests.support.name_servers import ROOT
from tests.support.translations import SOURCES, hash_prose, is_older, refresh

PAGES = sorted(SOURCES)
UPDATE = "translate what has changed, then run python -m tests.support.translations"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_translation_is_as_new_as_its_source(page: Path) -> None:
    assert not is_older(page), f"{UPDATE} {page.relative_to(ROOT)}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_translation_shows_the_commands_of_its_source(page: Path) -> None:
    blocks, originals = ([b.lines for b in read_blocks(path)] for path in (page, SOURCES[page]))
    assert blocks == originals, "python -m tests.support.translations"
    assert set(list_inline_commands(page)) <= set(list_inline_commands(SOURCES[page]))


def test_code_is_no_prose_and_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, page = tmp_path / "source.md", tmp_path / "page.md"
    source.write_text(
        "Say *hello*.\n\n<!-- not run: no -->\n```sh\nhello\n```\n\n"
        "1. So\n\n   ```console\n   $ a\n   b\n   ```\n"
    )
    page.write_text("说你好。\n\n```\n```\n\n1. 如此\n\n   ```\n   old\n   ```\n")
    monkeypatch.setitem(SOURCES, page, source)
    before = hash_prose(source)
    refresh(page)
    assert page.read_text() == (
        "说你好。\n\n```sh\nhello\n```\n\n1. 如此\n\n   ```console\n   $ a\n   b\n   ```\n"
    )
    source.write_text(source.read_text().replace("hello\n```", "bye\n```").replace("no -->", "yes -->"))
    assert hash_prose(source) == before
    source.write_text(source.read_text().replace("*hello*", "*bye*"))
    assert hash_prose(source) != before
