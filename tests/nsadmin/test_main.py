"""The first step of a command."""

import subprocess
import sys

from tests.nsadmin.test_imports import ENVIRONMENT


def run(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, env=ENVIRONMENT, check=False
    )


def test_it_runs_the_command_line_of_the_process_and_gives_its_exit_code() -> None:
    code = "from nsadmin.__main__ import main; raise SystemExit(main())"
    assert run(code, "--version").stdout.startswith("nsadmin ")
    assert run(code, "--no-such-option").returncode == 2


def test_garbage_is_collected_while_the_command_runs_but_not_among_what_was_loaded() -> None:
    code = """
import gc
import nsadmin.app
from nsadmin.__main__ import main
nsadmin.app.main = lambda: print(gc.isenabled(), gc.get_freeze_count() > 10_000)
main()
"""
    assert run(code).stdout == "True True\n"
