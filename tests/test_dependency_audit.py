"""What `make audit` makes of pip-audit's answers."""

from typing import Any

import pytest

from tests.support import dependency_audit
from tests.support.dependency_audit import audit_dependencies, judge_audit, read_probe, skip_audit

GOOD: dict[str, Any] = {"name": "h11", "version": "0.16.0", "vulns": []}
BAD: dict[str, Any] = {
    "name": "rich", "version": "1.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1", "2.0"]}],
}  # fmt: skip
UNKNOWN = {"name": "rich", "skip_reason": "not found"}


def test_an_audit_without_findings_passes_and_says_how_much_it_checked() -> None:
    assert judge_audit([GOOD, GOOD]) == (0, ["2 dependencies have no known vulnerability"])


def test_a_vulnerable_dependency_fails_with_the_releases_that_fix_it() -> None:
    assert judge_audit([GOOD, BAD]) == (1, ["rich 1.0: PYSEC-1, fixed in 1.1, 2.0"])


def test_a_dependency_that_was_not_checked_fails() -> None:
    assert judge_audit([GOOD, UNKNOWN]) == (1, ["rich was not checked: not found"])
    assert judge_audit([]).exit_code == 1


def test_an_audit_that_did_not_run_says_so_and_fails_where_it_is_required() -> None:
    assert skip_audit("no network", False) == (
        0,
        ["SKIPPED: the audit of dependencies did not run: no network"],
    )
    assert skip_audit("no network", True).exit_code == 1


def test_the_service_is_asked_about_one_package_first() -> None:
    assert read_probe([GOOD]) is None
    assert read_probe(None) == "the advisory service cannot be reached"
    assert "does not know h11" in str(read_probe([UNKNOWN]))


@pytest.mark.parametrize(("probe", "asked"), [(None, 1), ([UNKNOWN], 1), ([GOOD], 2)])
def test_without_the_service_nothing_else_is_asked(
    monkeypatch: pytest.MonkeyPatch, probe: list[dict[str, Any]] | None, asked: int
) -> None:
    requests: list[list[str]] = []

    def answer(requirements: Any) -> list[dict[str, Any]] | None:
        requests.append(requirements.read_text().splitlines())
        return probe

    monkeypatch.setattr(
        dependency_audit,
        "export_requirements",
        lambda path: path.write_text(
            "h11==0.16.0 \\\n    --hash=sha256:00\nrich==15.0.0 \\\n    --hash=sha256:00\n"
        ),
    )
    monkeypatch.setattr(dependency_audit, "run_pip_audit", answer)
    outcome = audit_dependencies(is_required=False)
    assert len(requests) == asked
    assert requests[0] == ["h11==0.16.0 "]
    assert outcome.lines[0].startswith("SKIPPED") == (asked == 1)
