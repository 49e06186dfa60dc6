"""A lab that the commands of one page are run on, in a folder of their own, through a shell."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from namesrv_core.fleet.fleet import PORT_STEP, FleetPlan
from tests.support.documented_commands import Block, ShownCommand, find_difference, read_blocks
from tests.support.lab import DOCUMENTED_BROKER_PORT
from tests.support.running import DEADLINE, ROOT

NAME_SERVER_PORT = 9876
NAME_SERVERS = 2
TIMEOUT_SECONDS = 240
HOME = "/home/operator"
"""The home folder that pages show."""
LAB_UP = (
    f"nsadmin lab up --namesrvs {NAME_SERVERS} --namesrv-port {NAME_SERVER_PORT}"
    f" --broker-port {DOCUMENTED_BROKER_PORT} --dir lab"
)
"""The lab of all pages that do not start one themselves."""


class DocumentedLab:
    """Runs the commands of a page; addresses in commands and outputs are the documented ones."""

    def __init__(self, folder: Path, program: Sequence[str], namesrv_port: int, broker_port: int) -> None:
        self.folder = folder / "work"
        self.folder.mkdir(parents=True)
        self._bin = folder / "bin"
        self._bin.mkdir()
        script = self._bin / "nsadmin"
        script.write_text(f'#!/bin/sh\nexec {" ".join(program)} "$@"\n')
        script.chmod(0o755)
        self._ports = {
            **{namesrv_port + at: NAME_SERVER_PORT + at for at in range(NAME_SERVERS)},
            **{
                broker_port + at * PORT_STEP: DOCUMENTED_BROKER_PORT + at * PORT_STEP
                for at in range(len(FleetPlan().plan_brokers()))
            },
        }
        self._namesrv_port, self._broker_port = namesrv_port, broker_port
        self._home = folder
        self._background: list[subprocess.Popen[str]] = []
        self.last_code = 0

    def start(self) -> None:
        """Start the name servers and brokers; a context `lab` is in use from then on."""
        self.start_program(LAB_UP, ["…", "# Ctrl-C …"])
        self.run("nsadmin context use lab")

    def stop(self) -> None:
        """End all programs that are still running."""
        for process in reversed(self._background):
            process.terminate()
        for process in self._background:
            process.wait(DEADLINE)

    def environment(self) -> dict[str, str]:
        """Nothing of the account's own settings; `nsadmin` is the first one on the path."""
        home, own = str(self._home), ("NSADMIN_", "NAMESRV_ADDR", "ROCKETMQ_", "XDG_")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        return clean | {
            "HOME": home,
            "PATH": f"{self._bin}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "cli", ROOT / "pipeline"))),
            "TZ": "UTC",
            "COLUMNS": "120",
        }

    def run(self, command_line: str) -> list[str]:
        """The lines that a command prints on stdout and stderr; `$?` is the code of the command before."""
        # A subshell sets $? for the command.
        script = f"(exit {self.last_code})\n{self._with_real_ports(command_line)}"
        done = subprocess.run(
            ["sh", "-c", script],
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        self.last_code = done.returncode
        return [self._with_documented_ports(line) for line in done.stdout.splitlines()]

    def start_program(self, command_line: str, shown: Sequence[str]) -> list[str]:
        """Start a program that goes on, and wait until it has printed what is shown."""
        output = self._home / f"output-{len(self._background)}"
        with output.open("w") as file:
            self._background.append(
                subprocess.Popen(
                    ["sh", "-c", f"exec {self._with_real_ports(command_line.removesuffix('&').strip())}"],
                    cwd=self.folder,
                    env=self.environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
            )
        deadline = time.monotonic() + DEADLINE
        while True:
            printed = [self._with_documented_ports(line) for line in output.read_text().splitlines()]
            if time.monotonic() > deadline or (printed and find_difference([*shown, "…"], printed) is None):
                return printed
            time.sleep(0.05)

    def run_shown(self, block: Block, command: ShownCommand) -> list[str]:
        """Run a command as its block says."""
        if block.is_background:
            return self.start_program(command.command_line, command.output_lines)
        return self.run(command.command_line)

    def prepare(self, block: Block) -> None:
        """Do what the comments before a block say."""
        for line in block.before:
            self.run(line)
        if block.file_name is not None:
            file = self.folder / block.file_name
            file.write_text(self._with_real_ports("\n".join(block.lines) + "\n"))
            file.chmod(0o600)

    def _with_real_ports(self, text: str) -> str:
        text = text.replace(f"--namesrv-port {NAME_SERVER_PORT}", f"--namesrv-port {self._namesrv_port}")
        text = text.replace(f"--broker-port {DOCUMENTED_BROKER_PORT}", f"--broker-port {self._broker_port}")
        for real, documented in self._ports.items():
            text = text.replace(f":{documented}", f":{real}")
        return text

    def _with_documented_ports(self, text: str) -> str:
        for real, documented in self._ports.items():
            text = text.replace(f":{real}", f":{documented}")
        return text.replace(str(self._home), HOME)


@contextmanager
def documented_lab(
    page: Path, folder: Path, program: Sequence[str], namesrv_port: int, broker_port: int
) -> Iterator[DocumentedLab]:
    """A lab for a page, unless its commands start one; it is stopped in the end, whatever happens."""
    running = DocumentedLab(folder, program, namesrv_port, broker_port)
    try:
        if not starts_lab(page):
            running.start()
        yield running
    finally:
        running.stop()


def starts_lab(page: Path) -> bool:
    """Whether the page itself says how a lab is started."""
    return any(
        command.command_line.startswith("nsadmin lab up")
        for block in read_blocks(page)
        if block.not_run is None
        for command in block.list_commands()
    )


SPED_UP = (sys.executable, "-m", "tests.support.documented_program")
"""The program that tests run: its waits are short."""
