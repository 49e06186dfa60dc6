"""Runs sequences against two servers and compares every outcome."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.interop.differential.cases import Case, Tolerance
from tests.interop.differential.generator import Generator
from tests.interop.differential.ledger import Ledger
from tests.interop.differential.operations import Kind, Op, Outcome
from tests.interop.differential.subject import Subject
from tests.interop.differential.views import differences, view

LENGTH = 40


class Difference(AssertionError):
    """Two servers answered one operation differently, and no entry of the table explains it."""


@dataclass
class Report:
    """What a run has covered."""

    operations: int = 0
    sequences: int = 0
    ended_early: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    answered: Counter[int] = field(default_factory=Counter)
    tolerated: Counter[str] = field(default_factory=Counter)

    def note(self, op: Op, outcome: Outcome) -> None:
        self.operations += 1
        self.asked[str(op.code) if op.kind is Kind.REQUEST else op.kind.value] += 1
        self.answered.update(answer.code for answer in outcome.answers)

    def __str__(self) -> str:
        lines = [f"{self.operations} operations in {self.sequences} sequences, {self.ended_early} cut short"]
        for title, counts in (
            ("asked", self.asked),
            ("answered", self.answered),
            ("tolerated", self.tolerated),
        ):
            count_texts = ", ".join(f"{key}: {count}" for key, count in sorted(counts.items(), key=str))
            lines.append(f"{title}: {count_texts or 'nothing'}")
        return "\n".join(lines)


def pairs(op: Op, java: Outcome, ours: Outcome) -> list[tuple[Op, Outcome, Outcome]]:
    """Each request of a burst with its two answers; a lost answer leaves the burst in one piece."""
    if not op.parts or not len(op.parts) == len(java.answers) == len(ours.answers):
        return [(op, java, ours)]
    answers = zip(op.parts, java.answers, ours.answers, strict=True)
    return [
        (part, Outcome((one,), java.closed), Outcome((other,), ours.closed)) for part, one, other in answers
    ]


class Run:
    """Two servers and a table of tolerated differences."""

    def __init__(self, java: Subject, ours: Subject, table: Sequence[Tolerance]) -> None:
        self._java, self._ours, self._table = java, ours, table
        self.report = Report()

    def sequences(self, seed: str, count: int) -> Report:
        """Sequences until `count` operations are done; a seed like 7:12 means that one alone."""
        number = 0
        while ":" not in seed and self.report.operations < count:
            self.sequence(f"{seed}:{number}")
            number += 1
        if ":" in seed:
            self.sequence(seed)
        return self.report

    def sequence(self, seed: str) -> None:
        generator, ledger, done = Generator(seed), Ledger(), list[Op]()
        self.report.sequences += 1
        for op in generator.operations(LENGTH):
            done.append(op)
            if self._step(op, ledger, generator.prefix, seed, done):
                self.report.ended_early += 1
                break
        for subject in (self._java, self._ours):
            subject.close()
            for op in generator.clean():
                subject.call(op.code, dict(op.ext or {}), op.body)

    def _step(self, op: Op, ledger: Ledger, prefix: str, seed: str, done: Sequence[Op]) -> bool:
        """True when the sequence ends here because the servers' states differ on purpose."""
        java, ours = self._java.run(op), self._ours.run(op)
        self.report.note(op, java)
        ledger.record(op, java)
        cases = [
            Case(part, java_answer, other, view(part, java_answer, prefix), view(part, other, prefix), ledger)
            for part, java_answer, other in pairs(op, java, ours)
        ]
        return any([self._compare(case, seed, done) for case in cases])

    def _compare(self, case: Case, seed: str, done: Sequence[Op]) -> bool:
        before = {
            part: (case.java_view.get(part), case.our_view.get(part)) for part in self._differences(case)
        }
        ends = [self._settle(entry, case) for entry in self._table if entry.applies(case)]
        if self._differences(case):
            raise Difference(self._describe(case, before, seed, done))
        return any(ends)

    @staticmethod
    def _differences(case: Case) -> list[str]:
        return differences(case.java_view, case.our_view)

    def _settle(self, entry: Tolerance, case: Case) -> bool:
        before = self._differences(case)
        entry.settle(case)
        if entry.ends_sequence or self._differences(case) != before:
            self.report.tolerated[entry.name] += 1
        return entry.ends_sequence

    def _describe(self, case: Case, before: Mapping[str, object], seed: str, done: Sequence[Op]) -> str:
        lines = [f"the servers differ; replay with NSADMIN_DIFF_SEED={seed}", "the sequence so far:"]
        lines += [f"  {number:3} {op}" for number, op in enumerate(done)]
        for part in self._differences(case):
            lines += [f"{part}:", f"  {self._java.name}: {case.java_view.get(part)!r}"]
            lines += [f"  {self._ours.name}: {case.our_view.get(part)!r}"]
        lines.append(f"all differing parts before tolerance: {list(before)}")
        lines += [f"{self._java.name} answered {case.java}", f"{self._ours.name} answered {case.ours}"]
        return "\n".join(lines)
