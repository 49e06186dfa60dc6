"""The name server of the crate rocketmq-namesrv, in Rust: built once by cargo, beside the jars."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.interop.jars import cache_root, publish
from tests.interop.java_parts import Running
from tests.interop.processes import Child, free_port

VERSION = "1.0.0"
CRATE = "rocketmq-namesrv"


class RustNameServer(Running):
    """`program` is what `built` returns; it writes nothing outside of `home`."""

    def __init__(self, program: Path, home: Path) -> None:
        self.home, self.port = home, free_port()
        self._program = program

    def start(self) -> None:
        flags = {
            "--listenPort": self.port,
            "--bindAddress": "127.0.0.1",
            "--rocketmqHome": self.home,
            "--kvConfigPath": self.home / "kvConfig.json",
            # What others say of it in the log is not what is measured: a line when it serves, no more.
            "--log-filter": f"off,{CRATE.replace('-', '_')}::bootstrap=info",
        }
        command = [str(self._program), *(str(word) for flag in flags.items() for word in flag)]
        self.child = Child(command, self.home / "stdout.log", env={"HOME": str(self.home)})
        try:
            self.child.wait_for_line("accepting requests", 20)
        except BaseException:
            self.child.kill()
            raise


def built() -> Path | str:
    """The program, which is built at the first use (some minutes); or why there is none."""
    target = cache_root() / f"{CRATE}-{VERSION}"
    program = target / "bin" / f"{CRATE}-rust"
    if program.is_file():
        return program
    if shutil.which("cargo") is None:
        return "there is no cargo on PATH to build it"
    print(f"building {CRATE} {VERSION} once, which takes some minutes", file=sys.stderr, flush=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    cargo = ["cargo", "install", "--quiet", "--locked", CRATE, "--version", VERSION, "--root", str(temporary)]
    try:
        result = subprocess.run(cargo, capture_output=True, text=True, timeout=3600, check=False)
        if result.returncode:
            return f"cargo did not build it: {result.stderr.strip().splitlines()[-1:]}"
        publish(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return program
