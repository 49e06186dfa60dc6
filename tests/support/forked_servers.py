"""Name servers as processes that are there at once: forked from one that has loaded all modules already."""

import os
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path

from namesrv_core.__main__ import main
from tests.support.name_server_flags import parse_quiet_flags

_MODULES = ["tests.support.forked_servers", "namesrv_core.server.name_server", "uvloop"]


def fork_context() -> ForkServerContext:
    """Where they are forked from; it ends with this process."""
    new_context = get_context("forkserver")
    new_context.set_forkserver_preload(_MODULES)
    return new_context


def _serve(args: list[str], home: Path, said: Connection) -> None:
    """In the new process: what `python -m namesrv_core` does."""
    os.dup2(said.fileno(), 1)
    log = os.open(home / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 2)
    raise SystemExit(main(parse_quiet_flags(*args)))


class ForkedServer:
    """A name server at `port`, with its files in `home`. AssertionError where it does not start."""

    def __init__(self, within: ForkServerContext, home: Path, *args: str) -> None:
        near, far = within.Pipe(duplex=False)
        flags = ["--home", str(home), "--bind", "127.0.0.1", "--port", "0", *args]
        self.process = within.Process(target=_serve, args=(flags, home, far), daemon=True)
        self.process.start()
        far.close()
        boot = b""
        while not boot.endswith(b"\n") and (some := os.read(near.fileno(), 1000)):
            boot += some
        near.close()
        assert b"boot success" in boot, (home / "log").read_text()[-2000:]
        self.port = int(boot.rpartition(b":")[2])

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.process.kill()
        self.process.join()
        self.process.close()
