"""`make mutants`: whether the tests of a package notice changes of it, a random sample of mutmut's mutations.

The tests run once unchanged, with coverage. Each mutant is then a live function with another body: in a fork
of the process, or in the process itself where Spark runs, whose session no fork survives.
"""

import argparse
import contextlib
import difflib
import functools
import gc
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

import coverage
import libcst as cst
import pytest
from coverage.parser import PythonParser
from mutmut.mutation.mutators import mutation_operators

SLOWEST_TEST_SECONDS = 1.0
NEVER_MUTATED_CALLS = {"cast", "isinstance", "len"}


class Mutant(NamedTuple):
    """A changed function: its module's path, its qualified name, and the module's source before and after."""

    path: Path
    function: str
    before: str
    after: str

    @property
    def line(self) -> int:
        pairs = zip(self.before.splitlines(), self.after.splitlines(), strict=False)
        return next(number for number, (old, new) in enumerate(pairs, 1) if old != new)

    def show(self) -> str:
        lines = difflib.unified_diff(self.before.splitlines(), self.after.splitlines(), n=0, lineterm="")
        return "\n".join([f"{self.path}:{self.line} {self.function}", *list(lines)[3:], ""])

    @contextlib.contextmanager
    def applied(self, live: Iterable[FunctionType]) -> Iterator[None]:
        """Give the live functions the changed code."""
        path = str(self.path.resolve())
        codes = (list_codes(compile(c, path, "exec"), self.function) for c in (self.before, self.after))
        pairs = [pair for pair in zip(*codes, strict=False) if pair[0] != pair[1]]
        swaps = [(function, *pair) for pair in pairs for function in live if function.__code__ == pair[0]]
        assert swaps, f'no live function is "{self.function}" of "{self.path}"'
        for function, _, new in swaps:
            function.__code__ = new
        yield
        for function, old, _ in swaps:
            function.__code__ = old


Maker = Callable[[], Mutant]


def list_codes(code: CodeType, name: str) -> list[CodeType]:
    """The code of the functions of this name, and of the functions in them."""
    nested = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    own = [code] if f"{code.co_qualname}.".startswith(f"{name}.") else []
    return own + [each for constant in nested for each in list_codes(constant, name)]


def list_mutants(path: Path) -> Iterator[Maker]:
    """The mutations of functions' bodies, except those that only change the case of a string."""
    module = cst.parse_module(path.read_text())

    def make(function: str, node: cst.CSTNode, changed: cst.CSTNode) -> Mutant:
        after = cst.ensure_type(module.deep_replace(node, changed), cst.Module)
        return Mutant(path, function, module.code, after.code)

    def visit(node: cst.CSTNode, names: tuple[str, ...], function: str) -> Iterator[Maker]:
        is_call = isinstance(node, cst.Call) and getattr(node.func, "value", "") in NEVER_MUTATED_CALLS
        if is_call or isinstance(node, cst.Annotation):
            return
        if not function and isinstance(node, cst.ClassDef | cst.FunctionDef):
            names = (*names, node.name.value)
            function = ".".join(names) if isinstance(node, cst.FunctionDef) else ""
            node = node.body
        for kind, operator in mutation_operators:
            for changed in operator(node) if function and isinstance(node, kind) else ():
                texts = {module.code_for_node(each).lower() for each in (node, changed)}
                if len(texts) > 1 or not isinstance(node, cst.BaseString):
                    yield functools.partial(make, function, node, changed)
        for child in node.children:
            yield from visit(child, names, function)

    return visit(module, (), "")


class MutationRun:
    """A plugin of pytest that runs the tests unchanged and then against mutants."""

    def __init__(self, package: Path, count: int, seed: int) -> None:
        self.package, self.count, self.seed = package, count, seed
        self.forks, self.failed = package.parts[0] != "pipeline", False
        self.seconds: dict[str, float] = {}
        self.caches: list[functools._lru_cache_wrapper[object]] = []
        self.out = os.fdopen(os.dup(1), "w")
        self.measured = coverage.Coverage(data_file=None, source=[str(package)], messages=False)
        self.contexts: list[str] = []
        self.kills: Counter[Path] = Counter()

    def pytest_collection(self) -> None:
        # Imported late, because pytest has to rewrite its assertions.
        from hypothesis import Phase, settings

        settings.register_profile("mutants", phases=[Phase.explicit, Phase.generate])
        settings.load_profile("mutants")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        """What a shared fixture runs, all tests run that use it."""
        if fixturedef.scope == "function" or not self.contexts:
            return (yield)
        self.contexts.append(_name_context(fixturedef))
        self.measured.switch_context(self.contexts[-1])
        try:
            return (yield)
        finally:
            self.contexts.pop()
            self.measured.switch_context(self.contexts[-1])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        measured = self.measured
        measured.start()
        passed = []
        # Spark works in a process of its own.
        clock = time.process_time if self.forks else time.monotonic
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            self.contexts = [item.nodeid]
            measured.switch_context(item.nodeid)
            started = clock()
            if self.passes(item, following):
                passed.append(item)
            self.seconds[item.nodeid] = clock() - started
        measured.stop()
        self.contexts = []
        used = [i for i in passed if not self.forks or self.seconds[i.nodeid] <= SLOWEST_TEST_SECONDS]
        # A list of objects lacks those that tests/conftest.py froze.
        gc.unfreeze()
        # A fork copies each page of the memory that it looks at: it looks at few objects.
        objects, files = gc.get_objects(), {str(path.resolve()) for path in self.package.glob("*.py")}
        live = [o for o in objects if isinstance(o, FunctionType) and o.__code__.co_filename in files]
        modules = {function.__module__ for function in live}
        caches = (o for o in objects if isinstance(o, functools._lru_cache_wrapper))
        self.caches = [cache for cache in caches if cache.__module__ in modules]
        gc.freeze()
        contexts_by_test = {item.nodeid: _list_contexts(item) for item in used}
        self.out.write(f"{len(used)} of {len(session.items)} tests are used\n")

        makers = [make for path in sorted(self.package.glob("*.py")) for make in list_mutants(path)]
        outcomes: Counter[str] = Counter()
        sample = random.Random(self.seed).sample(makers, min(self.count, len(makers)))
        for number, mutant in enumerate((make() for make in sample), 1):
            reaching = self.find_contexts(mutant)
            tests = [item for item in used if not reaching.isdisjoint(contexts_by_test[item.nodeid])]
            outcome = self.run(mutant.applied(live), self.order(tests)) if tests else "not reached"
            outcomes[outcome or "survived"] += 1
            is_shown = outcome not in ("killed", "timeout")
            self.out.write(f"\n{number}: {outcome or 'survived'}: {mutant.show()}" if is_shown else ".")
            self.out.flush()
        counts = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
        self.out.write(f"\n{self.package}: {counts}, of {len(makers)} mutants\n")
        self.out.flush()
        return True

    def find_contexts(self, mutant: Mutant) -> set[str]:
        """The tests and fixtures that ran a line of the changed statement."""
        parser = PythonParser(text=mutant.before)
        parser.parse_source()
        changed = parser.first_line(mutant.line)
        contexts = self.measured.get_data().contexts_by_lineno(str(mutant.path.resolve()))
        return {
            name for line, names in contexts.items() if parser.first_line(line) == changed for name in names
        }

    def order(self, tests: list[pytest.Item]) -> list[pytest.Item]:
        """By file, as tests share fixtures: first those that killed many mutants or take little time."""
        files: dict[Path, list[pytest.Item]] = {}
        for item in tests:
            files.setdefault(item.path, []).append(item)
        seconds = {path: sum(self.seconds[item.nodeid] for item in items) for path, items in files.items()}
        paths = sorted(files, key=lambda path: seconds[path] / (1 + self.kills[path]))
        return [item for path in paths for item in files[path]]

    def passes(self, item: pytest.Item, following: pytest.Item | None) -> bool:
        self.failed = False
        # Without a fork, the last test leaves the session's fixtures to those after it.
        end = None if self.forks else item.session
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following or end)
        if self.failed:
            # No later test gets what changed code made for this one.
            item.session._setupstate.teardown_exact(end)  # type: ignore[arg-type]
        return not self.failed

    def run(self, change: contextlib.AbstractContextManager[None], items: list[pytest.Item]) -> str:
        """How the first test that fails ends: "killed", "timeout" or "error"; "" if none does."""
        if not self.forks:
            return self.test(change, items)
        if (child := os.fork()) == 0:
            code = 2
            # Time of the processor, as endless loops take it: on a busy machine, tests last long.
            limit = 5 + 5 * sum(self.seconds[item.nodeid] for item in items)
            try:
                for stream in (1, 2):
                    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
                signal.setitimer(signal.ITIMER_PROF, limit)
                signal.alarm(int(60 + 10 * limit))
                resource.setrlimit(resource.RLIMIT_AS, (4 << 30, resource.RLIM_INFINITY))
                code = ["", "killed", "error"].index(self.test(change, items))
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        outcome = {0: "", 1: "killed", 2: "error"}.get(code, "timeout")
        if outcome == "error" and not isinstance(change, contextlib.nullcontext):
            # A failure that leaves something behind in its fork is one if another fork passes.
            return "error" if self.run(contextlib.nullcontext(), items) else "killed"
        return outcome

    def test(self, change: contextlib.AbstractContextManager[None], items: list[pytest.Item]) -> str:
        with change:
            passed = self.count_passes(items)
        if passed == len(items):
            return ""
        self.kills[items[passed].path] += 1
        # Tests that fail in a fork or in this order anyway kill nothing. What a failed test leaves open is
        # reported in the next one.
        is_killed = any(self.count_passes(items[: passed + 1]) > passed for _ in range(2))
        return "killed" if is_killed else "error"

    def count_passes(self, items: list[pytest.Item]) -> int:
        """The number of tests before the first that fails."""
        for cache in self.caches:
            cache.cache_clear()
        pairs = enumerate(zip(items, [*items[1:], None], strict=True))
        return next((number for number, pair in pairs if not self.passes(*pair)), len(items))


def _list_contexts(item: pytest.Item) -> list[str]:
    assert isinstance(item, pytest.Function)
    fixtures = chain.from_iterable(item._fixtureinfo.name2fixturedefs.values())
    return [item.nodeid, *map(_name_context, fixtures)]


def _name_context(fixture: pytest.FixtureDef[object]) -> str:
    return f"{fixture.baseid}::{fixture.argname}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("package", type=Path)
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", nargs="+", help="in place of the tests of the package")
    given = parser.parse_args()
    parts = [part for part in given.package.parts if part not in ("cli", "pipeline")]
    tests = given.tests or [str(Path("tests", *parts))]
    run = MutationRun(given.package, given.mutants, given.seed)
    options = (f"-pno:{plugin}" for plugin in ("terminal", "cacheprovider", "xdist"))
    return pytest.main([*options, *tests], plugins=[run])


if __name__ == "__main__":
    sys.exit(main())
