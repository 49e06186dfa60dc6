"""Comparison with Java (`python -m tests.fuzz.java_comparison`): mutated frames to both name servers.

A reaction is: answered (with code, opaque, and the remark if it repeats the request), closed, or silent.
`differences.py` lists the intended differences, with reasons.
"""

import argparse
import asyncio
import logging
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.fuzz.conversations import Heard, Talk, agree, frames
from tests.fuzz.differences import LEAVES_OTHER_TABLES, Case, named, spoils
from tests.fuzz.direct_server import Near
from tests.fuzz.frames import kept
from tests.fuzz.socket_server import Far
from tests.interop.java_parts import QUIET_LOGBACK, JavaNameServer

# Ours is told one frame after the other, and would wait for the disk at each put.
_MEMORY = Path("/dev/shm")
_AGAIN = 5_000_000
"""What is added to a talk's number when it is held once more."""


class Unlike(NamedTuple):
    """A frame to which the two servers react differently."""

    seed: int
    number: int
    case: Case

    def __str__(self) -> str:
        return f"--seed {self.seed} --at {self.number}: {self.case}"


class Versus:
    """One run; `differences` counts those that have a name."""

    def __init__(self, seed: int, home: Path, port: int, loop: asyncio.Runner) -> None:
        self._seed, self._loop, self._port = seed, loop, port
        self._near = loop.run(self._begin(home))
        self._corpus = kept()
        self.frames = self.talks = self.left_out = 0
        self.verdicts: Counter[str] = Counter()
        self.differences: Counter[str] = Counter()
        self.once = 0

    @staticmethod
    async def _begin(home: Path) -> Near:
        return Near(home)

    def talk(self, number: int, again: int = 0) -> Talk:
        """What ours makes of a talk, up to where a frame would spoil Java's server."""
        conversation = frames(Random(f"{self._seed}:{number}"), f"n{number + again:07}-", self._corpus)
        safe = next((at for at, frame in enumerate(conversation) if spoils(frame)), len(conversation))
        self.left_out += safe < len(conversation)
        return self._loop.run(self._near.hear(number, conversation[:safe]))

    def _counted(self, wanted: int) -> Iterator[Talk]:
        while self.frames < wanted:
            talk = self.talk(self.talks)
            self.talks += 1
            self.frames += len(talk.heard)
            if talk.heard:
                yield talk

    def run(self, wanted: int) -> list[Unlike]:
        """So many frames; those that nothing explains, each heard twice."""
        doubtful = list(self._unlike(Far(self._port).hear(self._counted(wanted))))
        again = (self.talk(number.number, _AGAIN) for number in doubtful)
        sure = list(self._unlike(Far(self._port, 1, 5.0, 1.0).hear(again)))
        self.once += len(doubtful) - len(sure)
        return sure

    def one(self, number: int) -> list[Unlike]:
        """One talk, alone."""
        talk = self.talk(number)
        self.talks += 1
        self.frames += len(talk.heard)
        return list(self._unlike(Far(self._port, 1, 5.0, 1.0).hear(iter([talk]))))

    def _unlike(self, ended: Iterable[tuple[Talk, list[Heard]]]) -> Iterator[Unlike]:
        for talk, theirs in ended:
            rows = zip(talk.frames, talk.heard, theirs, strict=False)
            for number, (frame, ours, other) in enumerate(rows):
                for answer in other.answers:
                    self.verdicts[f"code {answer.code}"] += 1
                self.verdicts["closed"] += other.is_closed
                self.verdicts["silent"] += other.is_silent
                if agree(ours, other):
                    continue
                case = Case(frame, ours, other, number == 0)
                name = named(case)
                if name is None:
                    yield Unlike(self._seed, talk.number, case)
                else:
                    self.differences[name] += 1
                if name in LEAVES_OTHER_TABLES:
                    break

    def lines(self, seconds: float) -> list[str]:
        verdicts = ", ".join(f"{key}: {count}" for key, count in sorted(self.verdicts.items()))
        return [
            f"{self.frames} frames over {self.talks} connections, {self.frames / seconds:.0f} a second",
            f"Java's verdicts: {verdicts}",
            *(f"different, {name}: {count}" for name, count in self.differences.most_common()),
            f"left out: {self.left_out}; different once, and alike when repeated alone: {self.once}",
        ]


def quiet(home: Path) -> Path:
    """A home in which Java writes no log: a stack trace for each frame would be most of its work."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "logback.xml").write_text(QUIET_LOGBACK)
    return home


def main() -> int:
    flags = argparse.ArgumentParser(prog="python -m tests.fuzz.java_comparison", description=__doc__)
    flags.add_argument("--frames", type=int, default=200_000, help="how many frames (200000)")
    flags.add_argument("--seed", type=int, default=int(time.time()), help="which frames (another each time)")
    flags.add_argument("--at", type=int, help="only that connection of the seed")
    asked = flags.parse_args()
    print(f"seed {asked.seed}", flush=True)
    logging.getLogger("namesrv").setLevel(logging.ERROR)
    with (
        tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder,
        JavaNameServer(quiet(Path(folder) / "java")) as java,
        asyncio.Runner() as loop,
    ):
        versus = Versus(asked.seed, Path(folder), java.port, loop)
        begun = time.monotonic()
        unlike = versus.run(asked.frames) if asked.at is None else versus.one(asked.at)
        print(*versus.lines(time.monotonic() - begun), sep="\n")
    print(*unlike[:20], sep="\n")
    print(f"{len(unlike)} differences that nothing explains")
    return int(bool(unlike))


if __name__ == "__main__":
    sys.exit(main())
