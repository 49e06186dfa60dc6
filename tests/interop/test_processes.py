"""The child processes of the tests end with the process that started them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interop.our_server import ROOT
from tests.interop.processes import wait_for

STARTS_A_CHILD = """
import sys
from pathlib import Path
from tests.interop.processes import Child
waits = "import signal; print('up', flush=True); signal.pause()"
child = Child([sys.executable, "-c", waits], Path(sys.argv[1]))
child.wait_for_line("up", 30)
print(child.pid, flush=True)
input()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT], ids=["killed", "Ctrl-C"])
def test_a_child_ends_with_the_process_that_started_it(tmp_path: Path, signal_number: signal.Signals) -> None:
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTS_A_CHILD, str(tmp_path / "log")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT,
    )  # fmt: skip
    with starter:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
        assert is_running(pid)
        os.kill(starter.pid, signal_number)
    wait_for("the end of the child", lambda: not is_running(pid))


def is_running(pid: int) -> bool:
    """Whether there is such a process, which nobody has to wait for yet."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
