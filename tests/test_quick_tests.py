"""Which tests `make test-quick` runs, and what the end of a run tells."""

from types import SimpleNamespace

import grimp
import pytest

from tests.support import quick_tests, run_summary


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("cli/nsadmin/app.py", "nsadmin.app"),
        ("cli/nsadmin/console/__init__.py", "nsadmin.console"),
        ("pipeline/nsreport/facts/routes.py", "nsreport.facts.routes"),
        ("namesrv_core/events.py", "namesrv_core.events"),
        ("tests/test_regexes.py", "tests.test_regexes"),
        ("README.md", None),
        ("hatch_build.py", None),
    ],
)
def test_a_file_is_known_by_its_module(path: str, module: str | None) -> None:
    assert quick_tests.find_module(path) == module


def test_tests_are_as_near_as_imports_are_few() -> None:
    graph = grimp.ImportGraph()
    for importer, imported in (
        ("tests.a.test_near", "nsadmin.changed"),
        ("nsadmin.user", "nsadmin.changed"),
        ("tests.a.test_far", "nsadmin.user"),
        ("tests.a.helpers", "nsadmin.changed"),
        ("tests.interop.test_java", "nsadmin.changed"),
        ("tests.a.test_other", "nsadmin.other"),
    ):
        graph.add_import(importer=importer, imported=imported)
    distances = quick_tests.measure_distances(graph, ["nsadmin.changed", "nsadmin.no_module"])
    assert distances == {"tests.a.test_near": 1, "tests.a.test_far": 2}
    slow = {"tests/a/test_far.py": quick_tests.MOST_SECONDS * quick_tests.WORKERS}
    assert quick_tests.choose_tests(distances, slow) == (["tests/a/test_near.py"], ["tests/a/test_far.py"])


def test_skipped_tests_are_counted_by_reason() -> None:
    reasons = ("Skipped: mandoc is not installed", "Skipped: needs sshd", "Skipped: mandoc is not installed")
    reports = [SimpleNamespace(longrepr=("test_x.py", 1, reason)) for reason in reasons]
    assert run_summary.count_skips(reports) == {"mandoc is not installed": 2, "needs sshd": 1}
