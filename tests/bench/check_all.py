"""Benchmark of `nsadmin check all` (`python -m tests.bench.check_all`): 1,000 groups in at most 30 s.

A name server and two simulated masters have 3,000 topics and 1,000 groups. Prints the time of the command,
its CPU time, what it did not examine, and what `check lag` found.
"""

import json
import subprocess
import sys
import time
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

from tests.bench.figures import machine
from tests.interop.command_line import ENVIRONMENT
from tests.support.name_servers import ROOT

TOPICS, GROUPS = 3000, 1000
MOST_SECONDS = 30.0


def measure(namesrv: str) -> tuple[float, float, dict[str, Any]]:
    """The seconds and CPU seconds of the command, and its finding."""
    command = [sys.executable, "-m", "nsadmin", "check", "all", "-n", namesrv, "--settle", "0", "--json"]
    begun, cpu_before = time.perf_counter(), getrusage(RUSAGE_CHILDREN)
    result = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=300)
    seconds, cpu = time.perf_counter() - begun, getrusage(RUSAGE_CHILDREN)
    cpu_seconds = cpu.ru_utime + cpu.ru_stime - cpu_before.ru_utime - cpu_before.ru_stime
    return seconds, cpu_seconds, json.loads(result.stdout)


def main() -> int:
    words = ["-m", "tests.bench.exporter", "--serve", "--topics", str(TOPICS), "--groups", str(GROUPS)]
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True, cwd=ROOT) as cluster:
        try:
            assert cluster.stdout is not None
            seconds, cpu_seconds, finding = measure(json.loads(cluster.stdout.readline())[0])
        finally:
            cluster.kill()
    print(f"{TOPICS} topics, {GROUPS} groups; {machine()}")
    print(f"{seconds:.1f} s, {cpu_seconds:.1f} s of CPU: {finding['summary']}")
    print(next(check["summary"] for check in finding["checks"] if check["check"] == "lag"))
    if seconds > MOST_SECONDS:
        print(f"FAILED: more than {MOST_SECONDS:.0f} s")
    return int(seconds > MOST_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
