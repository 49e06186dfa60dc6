"""`make test-quick`: the unit tests of what changed since the branch left main, for less than a minute.

The tests with the fewest imports between them and a changed module come first.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import grimp

PACKAGES = ("namesrv_core", "nsadmin", "nsreport", "tests")
ROOTS = ("cli/", "pipeline/", "")
SLOW = (
    "tests.interop", "tests.nsreport", "tests.bench", "tests.truth", "tests.fuzz", "tests.test_documentation",
    "tests.nsadmin.commands.reports", "tests.nsadmin.commands.test_examples",
)  # fmt: skip
"""Tests that start Java, Spark or labs: `make test` runs them."""
DURATIONS = Path(".pytest_cache/v/nsadmin/seconds_by_file")
UNKNOWN_SECONDS = 1.0
WORKERS, MOST_SECONDS = 2, 40.0


def main() -> int:
    changed = list_changed_files()
    graph = grimp.build_graph(*PACKAGES)
    distances = measure_distances(graph, filter(None, map(find_module, changed)))
    known = json.loads(DURATIONS.read_text()) if DURATIONS.exists() else {}
    chosen, left = choose_tests(distances, known)
    if not chosen:
        print("no unit test imports what changed since main")
        return 0
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(WORKERS), "--dist", "loadfile", *chosen]
    exit_code = subprocess.run(command, check=False).returncode
    print(f"{len(chosen)} test files ran; {len(left)} more depend on {len(changed)} changed files: make test")
    return exit_code


def list_changed_files() -> list[str]:
    """The files that differ from the commit where this branch left main, and the new ones."""
    base = _git("merge-base", "HEAD", "main") or ["HEAD"]
    return [*_git("diff", "--name-only", base[0]), *_git("ls-files", "--others", "--exclude-standard")]


def _git(*arguments: str) -> list[str]:
    return subprocess.run(
        ["git", *arguments], capture_output=True, text=True, check=False
    ).stdout.splitlines()


def find_module(path: str) -> str | None:
    """The module of a file; None if it is none of ours."""
    if not path.endswith(".py"):
        return None
    for root in ROOTS:
        if path.startswith(root):
            module = path.removeprefix(root).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            return module if module.partition(".")[0] in PACKAGES else None
    return None


def measure_distances(graph: grimp.ImportGraph, changed: Iterable[str]) -> dict[str, int]:
    """The unit tests by their modules, with the number of imports to the nearest changed module."""
    distances: dict[str, int] = {}
    nearest = {module for module in changed if module in graph.modules}
    distance = 0
    while nearest:
        distances |= dict.fromkeys(nearest, distance)
        importers = {m for module in nearest for m in graph.find_modules_that_directly_import(module)}
        nearest, distance = importers - distances.keys(), distance + 1
    return {module: steps for module, steps in distances.items() if _is_unit_test(module)}


def _is_unit_test(module: str) -> bool:
    return module.rpartition(".")[2].startswith("test_") and not module.startswith(SLOW)


def choose_tests(distances: Mapping[str, int], seconds: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """The nearest test files that end in time, and the others."""
    files = [
        f"{module.replace('.', '/')}.py" for module in sorted(distances, key=lambda m: (distances[m], m))
    ]
    chosen: list[str] = []
    left: list[str] = []
    total = 0.0
    for file in files:
        total += seconds.get(file, UNKNOWN_SECONDS)
        (chosen if total <= MOST_SECONDS * WORKERS else left).append(file)
    return chosen, left


if __name__ == "__main__":
    sys.exit(main())
