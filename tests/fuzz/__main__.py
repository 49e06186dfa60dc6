"""The fuzzer (`python -m tests.fuzz`, `make fuzz`): mutated frames against a complete name server."""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from namesrv_core.transport.event_loop import run_coroutine
from tests.fuzz.frames import kept, pieces, stream
from tests.fuzz.server_check import Fault, Judge

_WARM = 20_000


def resident() -> int:
    """The resident memory of this process in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


class Report:
    """What a run has done."""

    def __init__(self) -> None:
        self.frames = self.connections = self.began_with = 0
        self.grown = 0
        self.lines: list[str] = []


async def fuzz(seed: int, frames: int, home: Path, loud: bool = False) -> Report:
    """So many frames; Fault names the seed and number that repeats what went wrong."""
    judge, report, corpus = Judge(home), Report(), kept()
    begun = last_report = time.monotonic()
    for data in corpus:
        await judge.send([data])
    while report.frames < frames:
        rng = Random(f"{seed}:{report.connections}")
        data, mutation = stream(rng, corpus)
        try:
            await judge.send(pieces(rng, data))
        except Exception as error:
            raise Fault(f"--seed {seed} --at {report.connections}: {error}\nsent: {data!r}") from error
        report.frames += mutation
        report.connections += 1
        if report.connections % 50 == 0:
            # What is due besides: writing what was put.
            await asyncio.sleep(0)
        if not report.began_with and report.frames >= min(_WARM, frames // 2):
            report.began_with = resident()
        if loud and time.monotonic() - last_report > 10:
            last_report = time.monotonic()
            print(f"{report.frames} frames, {resident() >> 20} MiB", flush=True)
    await judge.end()
    report.grown = resident() - report.began_with
    rate = report.frames / (time.monotonic() - begun)
    verdicts = ", ".join(f"{key}: {count}" for key, count in sorted(judge.verdicts.items()))
    report.lines = [
        f"{report.frames} frames over {report.connections} connections, {rate:.0f} a second; no fault",
        f"verdicts: {verdicts}",
        f"memory since it was warm: {report.grown / (1 << 20):+.1f} MiB",
        f"slowest connection: {judge.slowest * 1000:.1f} ms for {len(judge.slowest_data)} bytes",
    ]
    return report


async def again(seed: int, number: int, home: Path) -> None:
    """One connection of a run, alone."""
    judge, rng = Judge(home), Random(f"{seed}:{number}")
    data, _ = stream(rng, kept())
    await judge.send(pieces(rng, data))
    await judge.end()


def main() -> int:
    flags = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    flags.add_argument("--frames", type=int, default=1_000_000, help="how many frames (1000000)")
    flags.add_argument("--seed", type=int, default=int(time.time()), help="which frames (another each time)")
    flags.add_argument("--at", type=int, help="only that connection of the seed")
    asked = flags.parse_args()
    print(f"seed {asked.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        if asked.at is not None:
            run_coroutine(again(asked.seed, asked.at, Path(folder)))
        else:
            print(*run_coroutine(fuzz(asked.seed, asked.frames, Path(folder), loud=True)).lines, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
