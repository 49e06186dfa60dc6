"""The translated pages: `python -m tests.support.translations` writes the code of the sources into them.

English is the source. The last line of a translation has a hash of the source's prose. Name a page as an
argument when it says what its source says: it gets the hash of today. Pages that are older than their source
are listed, and make the exit code 1.
"""

import re
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from tests.support.documented_commands import read_blocks
from tests.support.name_servers import ROOT

LANGUAGE_FOLDER = ROOT / "docs" / "zh"
SOURCES = {
    ROOT / "README.zh-CN.md": ROOT / "README.md",
    **{page: ROOT / "docs" / page.relative_to(LANGUAGE_FOLDER) for page in LANGUAGE_FOLDER.rglob("*.md")},
}
"""The source of each translation."""
_MARK = re.compile(r"<!-- translation of (\S+), prose ([0-9a-f]{12}) -->")
_NOT_PROSE = re.compile(r"^ *```.*?^ *```$|<!--.*?-->", re.M | re.S)


def hash_prose(source: Path) -> str:
    """A hash of a page without its code blocks, comments and line breaks."""
    words = _NOT_PROSE.sub("```", source.read_text("utf-8")).split()
    return sha256(" ".join(words).encode()).hexdigest()[:12]


def is_older(page: Path) -> bool:
    """Whether the source of a translation has another text than the one that was translated."""
    mark = _MARK.search(page.read_text("utf-8"))
    return mark is None or mark[2] != hash_prose(SOURCES[page])


def refresh(page: Path) -> None:
    """Write the source's code blocks into a page."""
    source = SOURCES[page]
    lines = page.read_text("utf-8").splitlines()
    pairs = list(zip(read_blocks(source), read_blocks(page), strict=True))
    for original, block in reversed(pairs):
        begin = block.first_line
        lines[begin - 1] = f"{block.indent}```{original.language}"
        lines[begin : begin + len(block.lines)] = [(block.indent + line).rstrip() for line in original.lines]
    page.write_text("\n".join(lines) + "\n", "utf-8")


def stamp(page: Path) -> None:
    """Say that a page is the translation of its source's text of today."""
    source = SOURCES[page]
    text = _MARK.sub("", page.read_text("utf-8")).strip()
    mark = f"<!-- translation of {source.relative_to(ROOT)}, prose {hash_prose(source)} -->"
    page.write_text(f"{text}\n\n{mark}\n", "utf-8")


def main(names: Sequence[str]) -> int:
    for page in SOURCES:
        refresh(page)
    for name in names:
        stamp(Path(name).resolve())
    older = [page for page in SOURCES if is_older(page)]
    for page in older:
        print(f"{page.relative_to(ROOT)} is older than {SOURCES[page].relative_to(ROOT)}", file=sys.stderr)
    return 1 if older else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
