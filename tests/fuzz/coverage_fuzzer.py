"""The coverage-guided fuzzer (`python -m tests.fuzz.coverage_fuzzer FOLDER`), based on atheris.

Frames that reach new code are stored in the folder, which starts with the corpus. Options are those of
libFuzzer.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["namesrv_core"]):
    from tests.fuzz.frames import kept, reframed
    from tests.fuzz.server_check import Judge

_JUDGED_TOGETHER = 10_000


def main() -> None:
    """libFuzzer ends the process by itself, and with what it sent in a file where something is wrong."""
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        judges = [Judge(Path(folder))]
        judged = 0

        def one(data: bytes) -> None:
            nonlocal judged
            judged += 1
            if judged % _JUDGED_TOGETHER == 0:
                runner.run(judges.pop().end())
                judges.append(Judge(Path(folder)))
            # Half of what it makes up has lengths that fit, for those are hard to come upon.
            runner.run(judges[0].send([reframed(data) if len(data) > 8 and data[-1] & 1 else data]))

        if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
            begun_with = Path(sys.argv[1])
            begun_with.mkdir(parents=True, exist_ok=True)
            for number, data in enumerate(kept()):
                (begun_with / f"corpus-{number}").write_bytes(data)
        atheris.Setup(sys.argv, one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
