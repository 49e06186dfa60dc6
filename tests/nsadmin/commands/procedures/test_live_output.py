"""What happens, in lines."""

import io
import json
import os
import signal
import sys
from collections.abc import Iterator

import pytest

from nsadmin.commands.procedures.live_output import ProcedureReporter
from nsadmin.console.exit_codes import CommandInterrupted, UsageError
from nsadmin.console.output import OutputStyle
from nsadmin.console.session import Session, SharedOptions
from nsadmin.operations.procedure_clock import ProcedureClock
from nsadmin.operations.run_folder import EventRecord
from tests.support.rows import TerminalStdout

RECORD = {"time": 1_700_000_000_000, "event": "safe", "unknown": []}


def teller(format: str) -> ProcedureReporter:
    return ProcedureReporter(
        Session(SharedOptions(style=OutputStyle(format))), "drain", lambda told: told["event"]
    )


def test_a_line_has_its_time_and_is_not_said_twice() -> None:
    tell = teller("table")
    assert tell(RECORD) == "2023-11-14T22:13:20.000Z safe"
    assert tell({**RECORD, "time": 1_700_000_001_000}) == ""
    assert tell({**RECORD, "event": "unsafe"}) == "2023-11-14T22:13:20.000Z unsafe"


def test_a_name_of_a_server_adds_no_line() -> None:
    assert teller("table")({**RECORD, "event": "a\nb\x1b"}) == "2023-11-14T22:13:20.000Z a\\nb\\x1b"


@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_programs_get_all_of_it(format: str) -> None:
    tell = teller(format)
    assert [json.loads(tell(RECORD)) for _ in range(2)] == [RECORD] * 2


def test_a_signal_ends_a_procedure_between_two_events_and_says_how_it_goes_on() -> None:
    steps: list[str] = []

    def run(clock: ProcedureClock) -> Iterator[EventRecord]:
        try:
            for step in ("began", "safe", "never"):
                steps.append(step)
                yield {**RECORD, "event": step, "time": clock.now_ms()}
        finally:
            steps.append("closed")

    handler = signal.getsignal(signal.SIGTERM)
    followed = teller("jsonl").follow(run, "interrupted; run it again")
    record, line = next(followed)
    assert (record["event"], json.loads(line)) == ("began", record)
    next(followed)
    os.kill(os.getpid(), signal.SIGTERM)
    with pytest.raises(CommandInterrupted, match="interrupted; run it again"):
        next(followed)
    assert (steps, signal.getsignal(signal.SIGTERM)) == (["began", "safe", "closed"], handler)


def test_what_has_no_lines_is_refused() -> None:
    with pytest.raises(
        UsageError, match='invalid format "csv" for --output: drain supports only text and jsonl'
    ):
        teller("csv")


def test_on_a_terminal_progress_stays_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    sink = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", TerminalStdout(sink, encoding="utf-8"))
    monkeypatch.setenv("TERM", "xterm-256color")
    progress = {
        "time": 1, "event": "progress", "phase": "wait", "puts": 5, "residue": {}, "lag": None, "behind": {},
        "openTopics": {"h:1": 0}, "reopened": 0, "quiet": 0, "intervals": 3, "waitingFor": ["writes to stop"],
    }  # fmt: skip
    with teller("table") as tell:
        event_texts = [
            tell(event) for event in ({"time": 1, "event": "started", "broker": "broker-a"}, progress)
        ]
        event_texts.append(tell({"time": 1, "event": "serverBack"}))
        event_texts.append(tell(RECORD))
    sys.stdout.flush()
    drawn = sink.getvalue().decode()
    # What comes before and after it is written as everywhere: a command may write in between.
    assert event_texts == [
        "1970-01-01T00:00:00.001Z started", "", "", "2023-11-14T22:13:20.000Z safe",
    ]  # fmt: skip
    assert "1970-01-01T00:00:00.001Z serverBack" in drawn
    assert "snapshot wipe settle [wait] safe" in drawn
    assert "broker-a" in drawn
