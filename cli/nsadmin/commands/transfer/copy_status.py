"""Owns the progress of a copy on stderr: one line on a terminal, else a line every 10 seconds."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from nsadmin.console import progress
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.transfer.transfer_run import TransferProgress


class CopyStatus:
    """Shows how far a copy came. `total_count` is None for a copy that follows."""

    def __init__(self, session: Session, total_count: int | None) -> None:
        self._total_count, self._is_quiet = total_count, session.options.quiet
        self._status_line = progress.StatusLine(session.write_remark)
        self._began_at, self._error_text = monotonic(), ""

    def show_progress(self, transfer_progress: TransferProgress) -> None:
        """Show the progress. A new error stays on the screen."""
        error = transfer_progress.error
        new_text = "" if error is None else str(error)
        if new_text and new_text != self._error_text:
            self._status_line.write_line(f"{new_text}; trying again")
        self._error_text = new_text
        if not self._is_quiet:
            self._status_line.show_status(
                describe_progress(transfer_progress, self._total_count, monotonic() - self._began_at)
            )

    def close(self) -> None:
        """Remove the status from the screen."""
        self._status_line.close()


@contextmanager
def show_copy(session: Session, total_count: int | None) -> Iterator[CopyStatus]:
    """Show the progress until the end of the block."""
    copy_status = CopyStatus(session, total_count)
    try:
        yield copy_status
    finally:
        copy_status.close()


def describe_progress(
    transfer_progress: TransferProgress, total_count: int | None, elapsed_seconds: float
) -> str:
    """Return the progress as a line: copied messages, rate, remaining messages and remaining time."""
    rate = transfer_progress.examined_count / elapsed_seconds if elapsed_seconds > 0 else 0.0
    copied_text = f"{count_noun(transfer_progress.copied_count, 'message')} copied, {rate:.0f}/s"
    if total_count is None:
        return copied_text
    remaining_count = max(0, total_count - transfer_progress.examined_count)
    left_text = f", about {remaining_count / rate:.0f}s left" if rate else ""
    return f"{copied_text}, {remaining_count} remaining{left_text}"
