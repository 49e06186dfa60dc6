"""A lab that the commands of one page are run on, in a folder of their own, through a shell."""

import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from namesrv_core.fleet.fleet import PORT_STEP, FleetPlan
from tests.support import forked_command, forked_commands
from tests.support.documented_commands import ELISION, Block, ShownCommand, find_difference, read_blocks
from tests.support.lab import DOCUMENTED_BROKER_PORT, free_ports
from tests.support.name_servers import DEADLINE, ROOT

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
FURTHER_PORTS = (19876, 19877, 19878)
"""Where the name servers listen that pages start themselves."""
_PORT = re.compile(r"(?<=[:= ])\d{4,5}(?!\w|\.\d)")


def choose_ports() -> dict[int, int]:
    """Free ports for the documented ones, with as many digits, so that tables are as wide."""
    brokers = len(FleetPlan().plan_brokers())
    first = free_ports(brokers + len(FURTHER_PORTS))
    name_server = random.randrange(7_100, 9_700)
    return {
        **{NAME_SERVER_PORT + at: name_server + at for at in range(NAME_SERVERS)},
        **{DOCUMENTED_BROKER_PORT + at * PORT_STEP: first + at * PORT_STEP for at in range(brokers)},
        **{port: first + (brokers + at) * PORT_STEP for at, port in enumerate(FURTHER_PORTS)},
    }


class DocumentedLab:
    """Runs the commands of a page; addresses in commands and outputs are the documented ones."""

    def __init__(self, folder: Path, program: Sequence[str]) -> None:
        self.folder = folder / "work"
        self.folder.mkdir(parents=True)
        self._bin = folder / "bin"
        self._bin.mkdir()
        script = self._bin / "nsadmin"
        script.write_text(f'#!/bin/sh\nexec {" ".join(program)} "$@"\n')
        script.chmod(0o755)
        self._real_ports = choose_ports()
        self._documented_ports = {real: documented for documented, real in self._real_ports.items()}
        self._home = folder
        self._background: list[subprocess.Popen[str]] = []
        self.last_code = 0

    def start(self) -> None:
        """Start the name servers and brokers; a context `lab` is in use from then on."""
        self.start_program(LAB_UP, [ELISION, f"# Ctrl-C {ELISION}"])
        self.run_command("nsadmin context use lab")

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
            "NSADMIN_LANG": "en",
            "TZ": "UTC",
            "COLUMNS": "120",
        }

    def run_command(self, command_line: str) -> list[str]:
        """The lines that a command prints on stdout and stderr; `$?` is the code of the command before."""
        # A subshell sets $? for the command.
        script = f"(exit {self.last_code})\n{self._with_real_ports(command_line)}"
        result = subprocess.run(
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
        self.last_code = result.returncode
        return [self._with_documented_ports(line) for line in result.stdout.splitlines()]

    def start_program(self, command_line: str, shown: Sequence[str], is_unordered: bool = False) -> list[str]:
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
            is_complete = printed and find_difference([*shown, ELISION], printed, is_unordered) is None
            if is_complete or time.monotonic() > deadline:
                return printed
            time.sleep(0.05)

    def run_shown(self, block: Block, command: ShownCommand) -> list[str]:
        """Run a command as its block says."""
        if block.is_background:
            return self.start_program(command.command_line, command.output_lines, block.is_unordered)
        return self.run_command(command.command_line)

    def prepare_block(self, block: Block) -> None:
        """Do what the comments before a block say."""
        for line in block.before:
            self.run_command(line)
        if block.file_name is not None:
            file = self.folder / block.file_name
            file.write_text(self._with_real_ports("\n".join(block.lines) + "\n"))
            file.chmod(0o600)

    def _with_real_ports(self, text: str) -> str:
        return _PORT.sub(lambda port: str(self._real_ports.get(int(port[0]), port[0])), text)

    def _with_documented_ports(self, text: str) -> str:
        text = _PORT.sub(lambda port: str(self._documented_ports.get(int(port[0]), port[0])), text)
        return text.replace(str(self._home), HOME)


@contextmanager
def documented_lab(page: Path, folder: Path, program: Sequence[str]) -> Iterator[DocumentedLab]:
    """A lab for a page, unless its commands start one; it is stopped in the end, whatever happens."""
    running = DocumentedLab(folder, program)
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


def shortened_program() -> Sequence[str]:
    """The program that tests run: a copy of a process, with short waits."""
    path = forked_commands.start_server("tests.support.documented_program")
    return sys.executable, "-IS", forked_command.__file__, path
