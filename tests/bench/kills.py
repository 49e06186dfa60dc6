"""Kill test (`python -m tests.bench.kills`): SIGKILL during KV writes, and a check for lost values.

Each round starts a name server, reads all values, and lets two connections put and delete, twenty requests at
a time. The server is killed at a random moment. After the next start, an answered change must be present, an
unanswered one may be, and nothing else. `NSADMIN_KILL_ROUNDS` runs the same in the tests.
"""

import argparse
import json
import random
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from multiprocessing.context import ForkServerContext
from pathlib import Path

from namesrv_core.protocol import codec
from namesrv_core.protocol.command import build_request
from namesrv_core.protocol.connection import ProtocolConnection
from tests.support.forked_servers import ForkedServer, fork_context
from tests.support.name_servers import call_server

KEYS = 7
_LONGEST = 0.012
_AT_ONCE = 20


class Kept:
    """The allowed values of each key of one writer: the last answered one, and those sent since then."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self._may_be: dict[str, list[str | None]] = {f"k{number}": [None] for number in range(KEYS)}
        self._sent = 0
        self.unanswered = 0
        self.answered = 0

    def look(self, table: dict[str, str]) -> int:
        """After a start: how many keys have what was not answered. AssertionError where one has lost it."""
        assert table.keys() <= self._may_be.keys(), table
        leftovers = 0
        for key, values in self._may_be.items():
            value = table.get(key)
            assert value in values, f"{self.namespace} {key} is {value}, but must be one of {values}"
            leftovers += value != values[0]
            values[:] = [value]
        return leftovers

    def write(self, peer: socket.socket, rng: random.Random) -> None:
        """Put and delete until the connection breaks, some at once."""
        near, under_way = ProtocolConnection(), dict[int, str]()
        try:
            while True:
                while len(under_way) < _AT_ONCE:
                    self._sent += 1
                    key = rng.choice(list(self._may_be))
                    ext = {"namespace": self.namespace, "key": key}
                    value = None if rng.random() < 0.2 else f"{self._sent}" + "v" * rng.randrange(200)
                    asked = (
                        build_request(102, ext)
                        if value is None
                        else build_request(100, {**ext, "value": value})
                    )
                    under_way[asked.opaque] = key
                    self._may_be[key].append(value)
                    peer.sendall(codec.encode_command(asked))
                data = peer.recv(1 << 16)
                if not data:
                    break
                self._take(near, data, under_way)
        except OSError:
            pass
        self.unanswered = len(under_way)

    def _take(self, near: ProtocolConnection, data: bytes, under_way: dict[int, str]) -> None:
        for answer in near.feed_bytes(data):
            assert answer.code == 0, answer
            self._may_be[under_way.pop(answer.opaque)].pop(0)
            self.answered += 1


def kept_by(port: int, namespace: str) -> dict[str, str]:
    with socket.create_connection(("127.0.0.1", port), 20) as peer:
        answer = call_server(build_request(219, {"namespace": namespace}), peer)
    table: dict[str, str] = json.loads(answer.body)["table"] if answer.code == 0 else {}
    return table


class Rounds:
    """`once` is one round; `counts` is what happened in them."""

    def __init__(self, home: Path, seed: int = 1) -> None:
        self._home, self._rng = home, random.Random(seed)
        self._within: ForkServerContext = fork_context()
        self._writers = [Kept("a"), Kept("b")]
        self.counts: Counter[str] = Counter()

    def _started(self) -> ForkedServer:
        """Start another server, and check that it has all values."""
        server = ForkedServer(self._within, self._home)
        try:
            for writer in self._writers:
                self.counts["unanswered changes that are present"] += writer.look(
                    kept_by(server.port, writer.namespace)
                )
        except BaseException:
            server.kill()
            raise
        return server

    def once(self) -> None:
        server = self._started()
        peers = [socket.create_connection(("127.0.0.1", server.port), 20) for _ in self._writers]
        seeds = [random.Random(self._rng.random()) for _ in peers]
        threads = [
            threading.Thread(target=writer.write, args=(peer, rng))
            for writer, peer, rng in zip(self._writers, peers, seeds, strict=True)
        ]
        for thread in threads:
            thread.start()
        time.sleep(self._rng.random() * _LONGEST)
        server.kill()
        for thread, peer in zip(threads, peers, strict=True):
            thread.join()
            peer.close()
        self.counts["rounds"] += 1
        self.counts["kills during changes"] += any(writer.unanswered for writer in self._writers)
        self.counts["kills during a file write"] += any(self._home.glob(".kvConfig.json*"))

    def end(self) -> Counter[str]:
        self._started().kill()
        self.counts["answered"] = sum(writer.answered for writer in self._writers)
        return self.counts


def main() -> int:
    flags = argparse.ArgumentParser(prog="python -m tests.bench.kills", description=__doc__)
    flags.add_argument("--rounds", type=int, default=1000, help="number of rounds (1000)")
    flags.add_argument(
        "--seed", type=int, default=int(time.time()), help="seed of the kill times (the current time)"
    )
    asked = flags.parse_args()
    print(f"seed {asked.seed}", flush=True)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        rounds = Rounds(Path(folder), asked.seed)
        for _ in range(asked.rounds):
            rounds.once()
        counts = rounds.end()
    print(*(f"{outcome}: {count}" for outcome, count in counts.items()), sep="\n")
    milliseconds_each = (time.monotonic() - begun) / asked.rounds * 1000
    print(f"no answered change is lost; {milliseconds_each:.0f} ms per round")
    return 0


if __name__ == "__main__":
    sys.exit(main())
