"""Owns `dlq show`, which prints or exports the dead letters of a group."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from typer import Option

from namesrv_core import private_files
from namesrv_core.errors import RocketMQError
from nsadmin.client.messages.dead_letter_selection import DeadLetter, DeadLetterSelection
from nsadmin.client.messages.dead_letters import DeadLetterPage
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.wall_clock import time
from nsadmin.command_line.declarations import Each, command
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.consumers import GROUP
from nsadmin.commands.columns.files import FILE
from nsadmin.commands.columns.messages import (
    BORN_HOST,
    BORN_TIME,
    KEYS,
    MSG_ID,
    OFFSET_MSG_ID,
    PROPERTIES,
    QUEUE_OFFSET,
    STORE_SIZE,
    STORE_TIME,
    TAGS,
)
from nsadmin.commands.columns.servers import failure_notes
from nsadmin.commands.columns.topics import QUEUE_ID
from nsadmin.commands.dead_letters.letter_options import (
    BodyOption,
    GroupArgument,
    IdOption,
    OriginOption,
    SinceOption,
    UntilOption,
    parse_selection,
)
from nsadmin.commands.messages.body_decoders import DecodeOption, parse_decoders
from nsadmin.commands.messages.message_conditions import KeysOption, TagsOption
from nsadmin.commands.messages.message_rows import (
    BODY,
    BODY_ENCODING,
    BODY_ERROR,
    MAX_KEPT_BYTES,
    MAX_SHOWN_BYTES,
    ShownMessage,
    body_notes,
    show_message,
)
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows, of_part, read_row
from nsadmin.console.output.quantities import to_millis
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session


class ShownLetter(NamedTuple):
    """A dead letter with its body, and its age in ms."""

    letter: DeadLetter
    shown: ShownMessage
    age_ms: int


LETTER_COLUMNS: Columns[ShownLetter] = (
    *of_part(lambda s: s.letter.message, (MSG_ID,)),
    *of_part(
        lambda s: s.letter,
        (
            Column(
                "originTopic",
                "topic that the producer sent the message to; null if unknown",
                lambda d: d.origin_topic,
            ),
            Column(
                "originMsgId",
                "offset id of the message in its origin topic; null if unknown",
                lambda d: d.origin_id,
                wide=True,
            ),
        ),
    ),
    *of_part(lambda s: s.letter.message, (KEYS, TAGS)),
    *of_part(
        lambda s: s.letter,
        (
            Column("attempts", "deliveries before the message became a dead letter", lambda d: d.attempts),
            Column(
                "replays", "replays with `dlq replay` before the message died again", lambda d: d.replay_count
            ),
        ),
    ),
    *of_part(lambda s: s.letter.message, (STORE_TIME,)),
    Column("ageMs", "ms since the broker stored the dead letter", lambda s: to_millis(s.age_ms)),
    *of_part(lambda s: s.letter, (BROKER_NAME.in_wide(),)),
    *of_part(
        lambda s: s.letter.message,
        (
            c.in_wide()
            for c in (QUEUE_ID, QUEUE_OFFSET, OFFSET_MSG_ID, BORN_TIME, BORN_HOST, STORE_SIZE, PROPERTIES)
        ),
    ),
    *of_part(lambda s: s.shown, (BODY, BODY_ENCODING.in_wide(), BODY_ERROR.in_wide())),
)
EXPORT_COLUMNS: Columns[tuple[str, int]] = (
    FILE,
    Column("messageCount", "messages in the file", lambda e: e[1]),
)
DEFAULT_MAX_LETTERS = 128


@command(
    columns=(GROUP, *LETTER_COLUMNS, *EXPORT_COLUMNS),
    examples=("elsewhere", "simulated consumers never fail"),
    nothing="no dead letters",
)
def dlq_show(
    session: Session,
    group: Annotated[GroupArgument, Each("consumer group")],
    since_text: SinceOption = None,
    until_text: UntilOption = None,
    origin_topics: OriginOption = None,
    keys: KeysOption = None,
    tags: TagsOption = None,
    body_text: BodyOption = None,
    offset_ids: IdOption = None,
    max_messages: Annotated[
        int | None,
        Option("--limit", metavar="N", help="Stop after N messages; 128 by default, all with --export."),
    ] = None,
    export_file: Annotated[
        str | None, Option("--out", metavar="FILE", help="Write a line of JSON for each message here.")
    ] = None,
    decoder_texts: DecodeOption = None,
) -> ResultRows:
    """Print the dead letters of a group, the oldest of each queue first.

    attempts counts the deliveries before the message became a dead letter. replays counts its replays with
    `dlq replay`. No consumer offset changes. `nsadmin produce` reads the lines of an exported file.

    Examples:
        # The messages in the dead-letter queue of a group, with their bodies; at most 128
        nsadmin dlq show payments-consumer
        # Dead letters of the last hour, with their bodies
        nsadmin dlq show payments-consumer --from 1h
        # All dead letters of one topic, as a file
        nsadmin dlq show payments-consumer --origin payments --out dead.jsonl
    """
    command_name = "dlq show"
    decoders = parse_decoders(decoder_texts)
    if decoders and export_file is not None:
        raise UsageError(
            f"{command_name}: --decode and --out exclude each other: the file has the bodies as stored"
        )
    if max_messages is None and export_file is None:
        max_messages = DEFAULT_MAX_LETTERS
    selection = parse_selection(
        command_name, since_text, until_text, origin_topics, keys, tags, body_text, max_messages, offset_ids
    )
    letter_spans, broker_errors = session.admin.dead_letters.list_spans(group, selection)
    page_errors: dict[str, RocketMQError] = dict(broker_errors)
    # One more than is shown, to know whether there are more.
    read_selection = (
        selection
        if export_file is not None or max_messages is None
        else selection._replace(max_messages=max_messages + 1)
    )
    pages = session.admin.dead_letters.read_letters(group, letter_spans, read_selection)
    letters = _list_letters(pages, page_errors)
    if export_file is not None:
        export = (export_file, _export_letters(command_name, export_file, letters))
        errors = [None, *page_errors.values()]
        return ResultRows.from_records(EXPORT_COLUMNS, [export], errors, failure_notes(page_errors.items()))
    return _letter_rows(letters, selection, page_errors, decoders)


def _list_letters(
    pages: Iterator[DeadLetterPage], page_errors: dict[str, RocketMQError]
) -> Iterator[DeadLetter]:
    for page in pages:
        if page.error is not None:
            page_errors[page.broker_name] = page.error
        yield from page.letters


def _letter_rows(
    letters: Iterator[DeadLetter],
    selection: DeadLetterSelection,
    page_errors: dict[str, RocketMQError],
    decoders: Sequence[str],
) -> ResultRows:
    now_ms = int(time() * 1000)
    shown, notes = list[ShownLetter](), []
    kept_bytes = 0
    for letter in letters:
        if len(shown) == selection.max_messages or kept_bytes > MAX_KEPT_BYTES:
            long_bodies = ", which have long bodies" if kept_bytes > MAX_KEPT_BYTES else ""
            notes.append(
                f"stopped after {count_noun(len(shown), 'message')}{long_bodies}: pass --limit N or "
                "--out FILE for more"
            )
            break
        shown.append(show_letter(letter, now_ms, decoders))
        kept_bytes += shown[-1].shown.body_length
    shown.sort(key=lambda s: s.shown.place)
    notes += [*failure_notes(page_errors.items()), *body_notes(s.shown for s in shown)]
    # Without an error the reading succeeded, also without a message.
    errors = [None, *page_errors.values()] if shown or not page_errors else [*page_errors.values()]
    return ResultRows.from_records(LETTER_COLUMNS, shown, errors, notes)


def show_letter(
    letter: DeadLetter,
    now_ms: int,
    decoders: Sequence[str] = (),
    max_body_bytes: int | None = MAX_SHOWN_BYTES,
) -> ShownLetter:
    message = LocatedMessage(letter.broker_name, letter.message)
    shown = show_message(message, decoders=decoders, max_body_bytes=max_body_bytes)
    return ShownLetter(letter, shown, max(0, now_ms - letter.message.store_timestamp))


def _export_letters(command_name: str, export_file: str, letters: Iterator[DeadLetter]) -> int:
    """Write the messages; return their number. The file appears under its name when it is complete."""
    target_path, message_count, now_ms = Path(export_file), 0, int(time() * 1000)
    temporary_path = target_path.with_name(f".{target_path.name}.new")
    try:
        with open(temporary_path, "w", encoding="utf-8", opener=private_files.open_private_file) as new_file:
            for letter in letters:
                row = read_row(LETTER_COLUMNS, show_letter(letter, now_ms, max_body_bytes=None))
                new_file.write(json.dumps(row, ensure_ascii=False) + "\n")
                message_count += 1
        temporary_path.replace(target_path)
    except OSError as error:
        raise UsageError(f'{command_name}: cannot write "{export_file}": {error.strerror}') from None
    finally:
        temporary_path.unlink(missing_ok=True)
    return message_count
