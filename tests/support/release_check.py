"""`python -m tests.support.release_check v0.1.0`: are tag, version and changelog those of one release?"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def find_mistakes(tag: str, version: str, changelog: str) -> list[str]:
    """What has to be corrected before the tag can be released."""
    mistakes = []
    if tag != f"v{version}":
        mistakes.append(f"the tag {tag} is not v{version}: change __version__ in namesrv_core/__init__.py")
    heading = re.search(rf"^## {re.escape(version)} \((.*)\)$", changelog, re.MULTILINE)
    if heading is None:
        mistakes.append(f'CHANGELOG.md has no section "## {version} (YYYY-MM-DD)"')
    elif not re.fullmatch(r"\d{4}-\d{2}-\d{2}", heading[1]):
        mistakes.append(f'CHANGELOG.md: {version} has "{heading[1]}" instead of the day of the release')
    return mistakes


def main(tag: str) -> int:
    source = (ROOT / "namesrv_core" / "__init__.py").read_text()
    version = re.search(r'__version__ = "(.*)"', source)
    assert version is not None
    mistakes = find_mistakes(tag, version[1], (ROOT / "CHANGELOG.md").read_text())
    for mistake in mistakes:
        print(mistake, file=sys.stderr)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
