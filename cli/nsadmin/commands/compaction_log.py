"""Owns dumpCompactionLog, which shows the messages in a file of a compaction log or commit log."""

from pathlib import Path
from typing import Annotated

from namesrv_core.protocol.messages import decode_messages
from nsadmin.client.messages import Located
from nsadmin.client.results import NotApplied
from nsadmin.commands.declared import Word, shows
from nsadmin.commands.message_rows import BODY_IN_TABLE, COLUMNS, body_notes, message_row
from nsadmin.diagnostics import UsageError
from nsadmin.output import Rows
from nsadmin.session import Session

_BLANK = (0xCBD43194).to_bytes(4)
"""Magic of the entry that fills the end of a commit log file (CommitLog.BLANK_MAGIC_CODE), after its size."""


@shows(COLUMNS)
def dump_compaction_log(
    session: Session, file: Annotated[str, Word(("-f", "--file"), "FILE", "A file of a broker, read here.")]
) -> Rows:
    """Show the messages in a file below store/compaction/compactionLog, or in one of a commit log.

    The file is only read, so that a broker may have it open: mqadmin opens it for writing too. What cannot be
    read as a message ends it, with an error that says where; what a broker has not written yet is no error.

    Examples:
        # What is left of a queue
        nsadmin dumpCompactionLog store/compaction/compactionLog/prices/0/00000000000000000000
    """
    try:
        data = Path(file).read_bytes()
    except OSError as failure:
        raise UsageError(f"dumpCompactionLog: {file}: {failure.strerror}") from None
    found = decode_messages(data)
    at = len(data) - found.left_over
    error = None
    if found.left_over and data[at + 4 : at + 8] != _BLANK and data.count(0, at) < found.left_over:
        error = NotApplied(
            f"{file}: what begins at byte {at} is no message; {len(found.messages)} before it are"
        )
    items = [Located(None, message) for message in found.messages]
    notes = [*body_notes(items), *([str(error)] if error else [])]
    return Rows(COLUMNS, [message_row(item) for item in items], [error], notes, BODY_IN_TABLE)
