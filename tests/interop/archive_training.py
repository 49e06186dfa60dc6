"""Writes the class archives of a release's programs, once for each Java: about 5 seconds."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.interop import class_archives, jars
from tests.interop.java_parts import QUICK_START, JavaBroker, JavaNameServer, java
from tests.interop.processes import Child

_MAIN = "org.apache.rocketmq.tools.command.MQAdminStartup"


def prepare_releases() -> None:
    """Get the jars of both releases, and write their archives. Without Java, the test is skipped."""
    jars.require_java()
    for version in (jars.NEWEST, jars.OLD):
        jars.jars(version)
        write_archives(version)


def write_archives(version: str) -> None:
    """Write the archives that are missing, unless another process does that at this moment.

    Without archives the programs work the same, but start more slowly.
    """
    targets = {kind: jars.class_archive(version, kind) for kind in class_archives.PROGRAMS}
    if all(target.exists() for target in targets.values()):
        return
    with (jars.cache_root() / f".archives-{version}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        with tempfile.TemporaryDirectory(prefix=".archives-", dir=jars.cache_root()) as folder:
            try:
                _run_programs(version, Path(folder))
            except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"no class archives of {version}: {error}", file=sys.stderr)
                return
            for kind, target in targets.items():
                written = Path(folder) / f"{kind}.jsa"
                if written.exists():
                    os.replace(written, target)


def _run_programs(version: str, folder: Path) -> None:
    """Start each program, have it work a little, and end it: then it writes its archive."""
    flags = {
        kind: [*QUICK_START, *class_archives.writing_options(folder / f"{kind}.jsa")]
        for kind in class_archives.PROGRAMS
    }
    server = JavaNameServer(folder / "ns", version=version, jvm_flags=flags[class_archives.NAME_SERVER])
    with server:
        broker = JavaBroker(
            folder / "broker", [server.address], version=version, jvm_flags=flags[class_archives.BROKER]
        )
        with broker:
            tool_flags = [*flags[class_archives.TOOLS], f"-Drocketmq.namesrv.addr={server.address}"]
            # Both a producer and the client of the commands that administer.
            words = ["sendMessage", "-t", "Training", "-p", "text"]
            command = java(version, _MAIN, folder / "tools", tool_flags, words)
            Child(command, folder / "tools" / "stdout.log").wait(60)
            _end_program(broker.child)
        _end_program(server.child)


def _end_program(child: Child) -> None:
    """End a program, which writes its archive. The archive of a killed program may be incomplete."""
    child.stop(60)
    if child.wait(0) == -signal.SIGKILL:
        raise RuntimeError("a program did not end within 60 s")
