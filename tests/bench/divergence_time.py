"""Benchmark of `nsadmin divergence` (`python -m tests.bench.divergence_time`): three name servers.

Four brokers register 10,000 topics each; then one broker is wiped on the last name server. With `--java` two
of the name servers are released ones of 5.5.0. Prints the time of the whole command, with and without a
difference between the name servers.
"""

import argparse
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from nsadmin import AdminClient
from tests.bench.requests import register
from tests.interop.cluster import NameServer
from tests.interop.command_line import ENVIRONMENT
from tests.interop.java_parts import JavaNameServer
from tests.interop.our_server import OurNameServer

SERVERS, BROKERS, RUNS = 3, 4, 5


def timed(addrs: str) -> tuple[float, int, str]:
    """The median seconds of the command, its exit code, and its first line."""
    command = [sys.executable, "-m", "nsadmin", "divergence", "-n", addrs, "--settle", "0"]
    times = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        result = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=120)
        times.append(time.perf_counter() - begun)
    return statistics.median(times), result.returncode, result.stderr.splitlines()[0]


def main() -> int:
    flags = argparse.ArgumentParser(prog="python -m tests.bench.divergence_time", description=__doc__)
    flags.add_argument("--topics", type=int, default=10_000)
    flags.add_argument("--java", action="store_true")
    asked = flags.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        servers: list[NameServer] = []
        for number in range(SERVERS):
            home = Path(folder) / f"ns-{number}"
            of_java = asked.java and number
            home.mkdir()
            server: NameServer = JavaNameServer(home) if of_java else OurNameServer(home)
            stack.enter_context(server)
            servers.append(server)
            for broker in range(BROKERS):
                # A broker that hangs up is forgotten.
                connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
                connection.sendall(register(broker, asked.topics))
                connection.recv(1 << 16)
        addrs = ";".join(server.address for server in servers)
        print("{:.2f} s, exit code {}: {}".format(*timed(addrs)), flush=True)
        with AdminClient(servers[-1].address) as admin:
            admin.brokers.wipe_write_perm("broker-0")
        print("{:.2f} s, exit code {}: {}".format(*timed(addrs)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
