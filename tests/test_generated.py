"""man/, completions/ and docs/reference/commands are what the commands say today."""

from pathlib import Path

from nsadmin.manual.__main__ import find_outdated_files

ROOT = Path(__file__).parents[1]


def test_rendered_files_are_up_to_date() -> None:
    assert find_outdated_files(ROOT) == [], "run make generate"
