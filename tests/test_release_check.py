"""A release needs a tag, a version and a changelog that agree."""

import pytest

from tests.support.release_check import find_mistakes

DATED = "# Changelog\n\n## 1.2.0 (2026-12-01)\n\n- x\n"


def test_a_release_whose_tag_version_and_changelog_agree_has_no_mistakes() -> None:
    assert find_mistakes("v1.2.0", "1.2.0", DATED) == []


@pytest.mark.parametrize(
    ("tag", "version", "changelog", "mistake"),
    [
        ("v1.2.1", "1.2.0", DATED, "is not v1.2.0"),
        ("1.2.0", "1.2.0", DATED, "is not v1.2.0"),
        ("v1.3.0", "1.3.0", DATED, 'no section "## 1.3.0'),
        ("v1.2.0", "1.2.0", DATED.replace("2026-12-01", "unreleased"), "instead of the day"),
    ],
)
def test_a_mistake_is_named(tag: str, version: str, changelog: str, mistake: str) -> None:
    [found_mistake] = find_mistakes(tag, version, changelog)
    assert mistake in found_mistake
