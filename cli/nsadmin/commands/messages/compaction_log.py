"""Owns dumpCompactionLog, which shows the messages in a file of a compaction log or commit log."""

from pathlib import Path
from typing import Annotated

from typer import Argument

from namesrv_core.protocol.stored_messages import decode_messages
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.results import NotApplied
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.messages.message_rows import BODY_TABLE, MESSAGE_COLUMNS, body_notes, show_message
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRows
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session

_BLANK_MAGIC = (0xCBD43194).to_bytes(4)
"""Magic of the entry that fills the end of a commit log file (CommitLog.BLANK_MAGIC_CODE), after its size."""


@command(
    columns=MESSAGE_COLUMNS,
    agent_refusal="it reads local files",
    examples=("elsewhere", "it reads a file of a real broker"),
)
def dump_compaction_log(
    session: Session,
    file: Annotated[
        str, Argument(metavar="FILE", help="A file of a broker on this machine."), Flags("-f", "--file")
    ],
) -> ResultRows:
    """Show the messages in a file of a broker's compaction log or commit log.

    Files of the compaction log are in store/compaction/compactionLog. nsadmin only reads the file, so the
    broker may have it open. (mqadmin opens it for writing.) If some bytes are not a message, nsadmin stops
    with an error that names their position. An incomplete end is not an error.

    Examples:
        # The remaining messages of a queue
        nsadmin dumpCompactionLog store/compaction/compactionLog/prices/0/00000000000000000000
    """
    try:
        file_content = Path(file).read_bytes()
    except OSError as read_error:
        raise UsageError(f"cannot read {file}: {read_error.strerror}") from None
    decoded_messages = decode_messages(file_content)
    end_byte = len(file_content) - decoded_messages.unread_bytes
    decode_error = None
    if (
        decoded_messages.unread_bytes
        and file_content[end_byte + 4 : end_byte + 8] != _BLANK_MAGIC
        and file_content.count(0, end_byte) < decoded_messages.unread_bytes
    ):
        decode_error = NotApplied(
            f"{file}: the bytes from {end_byte} on, after "
            f"{count_noun(len(decoded_messages.messages), 'message')}, are not a message"
        )
    messages = [show_message(LocatedMessage(None, m)) for m in decoded_messages.messages]
    notes = [*body_notes(messages), *([str(decode_error)] if decode_error else [])]
    return ResultRows.from_records(MESSAGE_COLUMNS, messages, [decode_error], notes, table=BODY_TABLE)
