"""Memory of `nsadmin tui` over an hour (`python -m tests.bench.tui_hour`), in about two minutes.

An hour of a fleet with 1,000 brokers and 3 name servers (a poll every 5 s, with real answers whose figures
are changed) is recorded, and replayed at 60 times its speed while the test switches screens. Another
process reads the memory every minute.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from nsadmin.tui.polling.poll_records import AnyPoll, BrokerPolled, NameServerPolled
from nsadmin.tui.recording.recording_file import PollRecorder, Recording
from tests.bench.tui import Watched
from tests.support.terminal import PtyTerminal

_EVERY, _SPEED, _STEPS = 5_000, 60, 12
_MOVING = ("putTps", "getTransferredTps", "msgPutTotalTodayNow", "commitLogMaxOffset", "dispatchBehindBytes")
_SCREENS = "1246781"


def looked_at(addrs: str, home: Path) -> Recording:
    """One look at each server."""
    with PtyTerminal("tui", "-n", addrs, "--record", "look.zst", home=home, size=(120, 40)) as terminal:
        terminal.wait_for_text(" 1000 up")
        terminal.type_keys("q")
        assert terminal.wait_for_exit() == 0
    return Recording(home / "look.zst")


def hour(look: Recording, file: Path) -> None:
    """The same again and again, with other figures."""
    last: dict[str, AnyPoll] = {}
    for poll in look.start(look.begin):
        if isinstance(poll, (BrokerPolled, NameServerPolled)):
            last.setdefault(poll.addr, poll)
    recorder, chance = PollRecorder(file, "hour", look.head.addrs), random.Random(7)
    for turn in range(3_600_000 // _EVERY):
        at = look.begin + turn * _EVERY
        recorder.record_polls([_later(poll, at, chance) for poll in last.values()])
        # The thread that writes shall keep up: memory is what is measured here, too.
        while recorder.pending_batches > 50:
            time.sleep(0.01)
    recorder.close()


def _later(poll: AnyPoll, at: int, chance: random.Random) -> AnyPoll:
    if not isinstance(poll, BrokerPolled) or chance.random() < 0.01:
        # Now and then a broker is silent for a while.
        changes = {"table": None, "error": "no answer", "kind": "timeout"}
        return msgspec.structs.replace(poll, at=at, **(changes if isinstance(poll, BrokerPolled) else {}))
    moved = {key: f"{chance.random() * 1e6:.2f} 1.0 1.0" for key in _MOVING}
    return msgspec.structs.replace(
        poll, at=at, millis=chance.random() * 9, table={**(poll.table or {}), **moved}
    )


def play(file: Path, home: Path) -> Sequence[tuple[float, float, float]]:
    """Minutes that were played, memory in MB, processor time in seconds, at each step."""
    figures_seen = []
    with PtyTerminal(
        "tui", "--replay", str(file), "--speed", str(_SPEED), home=home, size=(120, 40)
    ) as terminal:
        terminal.wait_for_text("1000 brokers")
        begun, watched = time.perf_counter(), Watched(terminal.pid)
        for step in range(_STEPS):
            terminal.type_keys(_SCREENS[step % len(_SCREENS)])
            terminal.read_for(3_600 / _SPEED / _STEPS)
            figures_seen.append(
                ((time.perf_counter() - begun) * _SPEED / 60, watched.megabytes, watched.seconds)
            )
        terminal.wait_for_text("replay ended")
        figures_seen.append((60.0, watched.megabytes, watched.seconds))
        terminal.type_keys("q")
        assert terminal.wait_for_exit() == 0
    return figures_seen


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        command = [sys.executable, "-m", "tests.bench.tui", "fleet", f"{folder}/lab"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as fleet:
            assert fleet.stdout is not None
            assert fleet.stdin is not None
            try:
                look = looked_at(fleet.stdout.readline().strip(), home)
            finally:
                fleet.stdin.close()
        hour(look, home / "hour.zst")
        size = (home / "hour.zst").stat().st_size / 1e6
        print(f"load of the machine {os.getloadavg()[0]:.1f}; recording {size:.0f} MB")
        for minutes, megabytes, seconds in play(home / "hour.zst", home):
            print(f"{minutes:4.0f} min  {megabytes:6.1f} MB  {seconds:5.1f} s of a processor")


if __name__ == "__main__":
    main()
