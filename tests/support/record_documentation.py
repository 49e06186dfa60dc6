"""Writes the outputs of today into the pages: `python -m tests.support.record_documentation [PAGE...]`.

The commands run on a lab in real time. `?` below a command is replaced by all of its output, `?5` by five
lines of it. Where `…` stands for lines, each shown line is replaced by the most similar line of the output.
"""

import re
import sys
import tempfile
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path

from tests.support import translations
from tests.support.documented_commands import ELISION, PAGES, find_difference, normalise_line, read_blocks
from tests.support.documented_lab import DocumentedLab, documented_lab
from tests.support.name_servers import ROOT

_ALL, _MINIMUM_RATIO, _SAME_RATIO = re.compile(r"\?(\d*)"), 0.5, 0.9


def main(names: Sequence[str]) -> int:
    """Record the named pages, or all of them."""
    for page in [ROOT / name for name in names] or PAGES:
        with (
            tempfile.TemporaryDirectory() as folder,
            documented_lab(page, Path(folder), (sys.executable, "-m", "nsadmin")) as lab,
        ):
            record_page(page, lab)
    for translation in translations.SOURCES:
        translations.refresh(translation)
    return 0


def record_page(page: Path, lab: DocumentedLab) -> None:
    """Run the commands of a page, and replace the outputs that it shows."""
    lines = page.read_text("utf-8").splitlines()
    moved = 0
    for block in read_blocks(page):
        if block.not_run is not None:
            continue
        lab.prepare_block(block)
        for command in block.list_commands():
            printed = [line.rstrip() for line in lab.run_shown(block, command)]
            if not command.has_output:
                print(f"{block.name}: {command.command_line}", *printed, sep="\n    ")
                continue
            new = merge_output(command.output_lines, printed)
            if find_difference(command.output_lines, printed) is not None:
                print(f"{block.name}: {command.command_line}: other output")
            first = command.first_output_line + moved
            last = command.last_output_line + moved
            lines[first:last] = [(block.indent + line).rstrip() for line in new]
            moved += len(new) - (last - first)
    page.write_text("\n".join(lines) + "\n", "utf-8")


def merge_output(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    """The lines to show, of those that were printed."""
    ends_blank = bool(shown) and not shown[-1].strip()
    wanted = [line for line in shown if line.strip()]
    tail = [""] if ends_blank else []
    if wanted and (whole := _ALL.fullmatch(wanted[0].strip())):
        limit = int(whole[1] or len(printed))
        return [*printed[:limit], *([ELISION] if len(printed) > limit else []), *tail]
    if ELISION not in (line.strip() for line in wanted):
        return [*printed, *tail]
    merged: list[str] = []
    at = 0
    for line in wanted:
        if line.strip() == ELISION:
            merged.append(line)
            continue
        ratio, best = _find_line(line, printed, at)
        if ratio < _MINIMUM_RATIO:
            print("    not printed:", line)
            continue
        merged.append(_keep_elision(line, printed[best]))
        at = best + 1
    return [*merged, *tail]


def _find_line(shown: str, printed: Sequence[str], begin: int) -> tuple[float, int]:
    """How similar the best of the printed lines is, 1 for a match, and where it is."""
    for index in range(begin, len(printed)):
        if find_difference([shown], [printed[index]]) is None:
            return 1.0, index
    ratios = [(_similarity(shown, printed[index]), index) for index in range(begin, len(printed))]
    return next((pair for pair in ratios if pair[0] > _SAME_RATIO), max(ratios, default=(0.0, 0)))


def _keep_elision(shown: str, printed: str) -> str:
    """The printed line, cut where the shown one is."""
    head, cut, tail = shown.partition(ELISION)
    if not (cut and head):
        return printed
    begin = printed[: len(head)]
    return begin + cut + (printed[printed.index(tail) :] if tail and tail in printed else "")


def _similarity(shown: str, printed: str) -> float:
    return SequenceMatcher(
        None, normalise_line(max(shown.split(ELISION), key=len)), normalise_line(printed)
    ).ratio()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
