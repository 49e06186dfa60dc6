"""The progress of a copy: what is copied, the rate, the rest, and errors."""

import pytest

from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.commands.transfer.copy_status import describe_progress, show_copy
from nsadmin.console import progress
from nsadmin.console.session import Session, SharedOptions
from nsadmin.operations.transfer.transfer_run import TransferProgress


@pytest.mark.parametrize(
    ("examined", "copied", "total", "seconds", "text"),
    [
        (500, 400, 2000, 10, "400 messages copied, 50/s, 1500 remaining, about 30s left"),
        (1, 1, None, 1, "1 message copied, 1/s"),
        (0, 0, 10, 0, "0 messages copied, 0/s, 10 remaining"),
        (20, 20, 10, 2, "20 messages copied, 10/s, 0 remaining, about 0s left"),
    ],
)
def test_the_line(examined: int, copied: int, total: int | None, seconds: float, text: str) -> None:
    assert describe_progress(TransferProgress(examined, copied, None), total, seconds) == text


def test_an_error_is_said_once_and_a_line_comes_every_10_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    error = CallError("h:1", "unreachable", "no answer")
    with show_copy(Session(SharedOptions()), None) as status:
        for _ in range(3):
            status.show_progress(TransferProgress(1, 1, error))
        monkeypatch.setattr(progress, "PLAIN_LINE_PERIOD_SECONDS", 0.0)
        status.show_progress(TransferProgress(2, 2, None))
    first, second = capsys.readouterr().err.splitlines()
    assert first == "nsadmin: h:1: no answer; trying again"
    assert second.startswith("nsadmin: 2 messages copied, ")
