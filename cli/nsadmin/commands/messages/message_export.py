"""Owns `messages export`, which writes the messages of topics to files."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from typer import Argument, Option

from namesrv_core import private_files
from namesrv_core.errors import RocketMQError
from nsadmin.client.messages.message_filter import MessageFilter
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.messages.queue_reader import QueueSpan
from nsadmin.client.results import error_text
from nsadmin.command_line.argument_values import parse_choice, parse_name_list
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.command_line.time_arguments import parse_window
from nsadmin.commands.columns.files import FILE
from nsadmin.commands.columns.servers import ERROR, result_column
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.messages.message_conditions import (
    BodyRegexOption,
    KeysOption,
    PropertiesOption,
    QueueBrokerOption,
    QueueIdOption,
    StoredSinceOption,
    TagsOption,
    parse_pairs,
    parse_regex,
)
from nsadmin.commands.messages.message_rows import MESSAGE_COLUMNS, show_message
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ByteSize, Column, Columns, ResultRows, read_row
from nsadmin.console.session import Session
from nsadmin.operations.message_files.file_form import FileForm, find_form
from nsadmin.operations.message_files.message_file import replace_message_file
from nsadmin.operations.message_files.parquet_file import MissingParquetLibraryError

_COMMAND = "messages export"
_FORMS_TEXT = ", ".join(f".{form}" for form in FileForm)


class TopicExport(NamedTuple):
    """The file of a topic, and the messages in it; `error` is the first error of a queue."""

    topic: str
    file_path: Path
    message_count: int
    body_bytes: int
    error: RocketMQError | None


EXPORT_COLUMNS: Columns[TopicExport] = (
    TOPIC,
    FILE.of(lambda e: str(e.file_path)),
    Column("messageCount", "messages of the topic in the file", lambda e: e.message_count),
    Column("bodyBytes", "size of the bodies, in bytes", lambda e: ByteSize(e.body_bytes)),
    result_column("done or failed (the file lacks messages)"),
    ERROR,
)


@command(
    columns=EXPORT_COLUMNS,
    agent_refusal="it writes local files",
    examples=("elsewhere", "simulated brokers have deleted their first messages"),
)
def messages_export(
    session: Session,
    topics_text: Annotated[
        str,
        Argument(metavar="TOPICS", help="Names of topics, separated by commas."),
        Flags("-t", "--topic"),
        Values("topics"),
    ],
    target_name: Annotated[
        str, Option("--out", metavar="FILE|DIR", help=f"File for all topics ({_FORMS_TEXT}), or folder.")
    ],
    form_name: Annotated[
        str | None,
        Option(
            "--form", metavar="|".join(FileForm), help="Form of the files in a folder. Default: jsonl.gz."
        ),
    ] = None,
    since_text: StoredSinceOption = None,
    until_text: Annotated[
        str | None, Option("--until", metavar="TIME", help="Only messages stored until this time.")
    ] = None,
    tags: TagsOption = None,
    keys: KeysOption = None,
    property_texts: PropertiesOption = None,
    body_text: BodyRegexOption = None,
    broker_name: QueueBrokerOption = None,
    queue_id: QueueIdOption = None,
    max_messages: Annotated[
        int | None, Option("--limit", metavar="N", help="Write at most N messages of each topic.", min=1)
    ] = None,
) -> ResultRows:
    """Write the messages of topics to files, with their properties, offsets and times.

    A file has the rows of `consume`: body, keys, tags, properties, ids, broker, queue, offset, times and
    flags. A body that is not UTF-8 is base64 in lines of JSON. In Parquet, each body is bytes. A folder gets
    one file per topic.

    nsadmin reads the messages that exist at the start. Messages of one queue are in order. A file appears
    under its name when it is complete, and only its owner can read it. If a queue cannot be read, the file
    lacks its messages, and the exit code is 3. No consumer offset changes. Parquet needs nsadmin[parquet].

    Examples:
        # Save the messages of a topic in a file, as lines of JSON
        nsadmin messages export payments --out payments.jsonl.gz
        # A sample of a topic
        nsadmin messages export payments --limit 1000 --out sample.jsonl
        # The last day of two topics, for a query engine
        nsadmin messages export payments,orders --from 1d --out exported --form parquet
    """
    topics = parse_name_list("TOPICS", topics_text)
    begin_ms, end_ms = parse_window(since_text, until_text)
    message_filter = MessageFilter(
        frozenset(tags or ()),
        frozenset(keys or ()),
        parse_pairs(_COMMAND, "--property", property_texts),
        parse_regex(_COMMAND, body_text),
        {},
        begin_ms,
        end_ms,
    )
    file_paths = _name_files(topics, target_name, parse_choice("--form", form_name, tuple(FileForm)))
    exporter = _TopicExporter(session, message_filter, max_messages)
    spans_by_topic = {topic: exporter.find_spans(topic, broker_name, queue_id) for topic in topics}
    try:
        exports = _export_topics(session, exporter, spans_by_topic, file_paths)
    except MissingParquetLibraryError as error:
        raise UsageError(f"{_COMMAND}: {error}") from None
    except OSError as error:
        raise UsageError(f'{_COMMAND}: cannot write "{target_name}": {error.strerror}') from None
    # Some queues of a topic can be in the file although another one failed.
    outcomes = [None for e in exports if e.error is None or e.message_count]
    errors = [e.error for e in exports if e.error is not None]
    return ResultRows.from_records(EXPORT_COLUMNS, exports, [*outcomes, *errors], exporter.notes)


def _name_files(topics: list[str], target_name: str, form: str | None) -> dict[str, Path]:
    """The file of each topic."""
    target_path, file_form = Path(target_name).expanduser(), find_form(target_name)
    if file_form is not None and not target_path.is_dir():
        if form is not None:
            raise UsageError(f"{_COMMAND}: --form is for a folder: {target_name} is a file by its name")
        return dict.fromkeys(topics, target_path)
    if not target_path.is_dir() and target_path.suffix and not target_name.endswith("/"):
        raise UsageError(
            f'{_COMMAND}: unknown form of "{target_name}": end it with {_FORMS_TEXT}, or with / for a folder'
        )
    # Topics have no / in their names.
    return {topic: target_path / f"{topic}.{form or FileForm.JSON_LINES_GZIP}" for topic in topics}


class _TopicExporter:
    """Reads the messages of topics, and counts what it wrote."""

    def __init__(self, session: Session, message_filter: MessageFilter, max_messages: int | None) -> None:
        self._session, self._filter, self._max_messages = session, message_filter, max_messages
        self._has_every_message = message_filter == MessageFilter(
            begin_ms=message_filter.begin_ms, end_ms=message_filter.end_ms
        )
        self.notes: list[str] = []
        self._errors_by_topic: dict[str, RocketMQError] = {}

    def find_spans(self, topic: str, broker_name: str | None, queue_id: int | None) -> list[QueueSpan]:
        """The parts of the queues to read."""
        admin = self._session.admin
        span_results = admin.queue_reader.get_spans(
            topic,
            admin.messages.list_queue_routes(topic, broker_name),
            queue_id=queue_id,
            begin_ms=self._filter.begin_ms,
            end_ms=self._filter.end_ms,
        )
        for span in span_results:
            if span.error is not None:
                self._note_error(topic, span.broker_name, span.queue_id, span.error)
        return [s.queue_span for s in span_results if s.queue_span is not None]

    def export_topic(
        self,
        topic: str,
        file_path: Path,
        queue_spans: list[QueueSpan],
        write_row: Callable[[Mapping[str, Any]], None],
        advance_progress: Callable[[int], None],
    ) -> TopicExport:
        """Write the messages of a topic, and count them."""
        message_count, body_bytes = 0, 0
        for page in self._session.admin.queue_reader.read_pages(topic, queue_spans):
            if page.error is not None:
                self._note_error(topic, page.broker_name, page.queue_id, page.error)
            for message in page.messages:
                if message_count == self._max_messages:
                    break
                if self._has_every_message or self._filter.is_match(message):
                    shown = show_message(LocatedMessage(page.broker_name, message))
                    write_row(read_row(MESSAGE_COLUMNS, shown))
                    message_count += 1
                    body_bytes += len(message.body)
            advance_progress(len(page.messages))
            if message_count == self._max_messages:
                break
        return TopicExport(topic, file_path, message_count, body_bytes, self._errors_by_topic.get(topic))

    def _note_error(self, topic: str, broker_name: str, queue_id: int, error: RocketMQError) -> None:
        self._errors_by_topic.setdefault(topic, error)
        self.notes.append(f"{topic}, broker {broker_name}, queue {queue_id}: {error_text(error)}")


def _export_topics(
    session: Session,
    exporter: _TopicExporter,
    spans_by_topic: Mapping[str, list[QueueSpan]],
    file_paths: Mapping[str, Path],
) -> list[TopicExport]:
    total_count = sum(s.offset_count for queue_spans in spans_by_topic.values() for s in queue_spans)
    exports = []
    with session.show_progress("exporting", total_count) as advance_progress:
        for file_path in dict.fromkeys(file_paths.values()):
            private_files.make_folder(file_path.parent)
            file_form = find_form(file_path.name) or FileForm.JSON_LINES
            with replace_message_file(file_path, file_form) as write_row:
                exports += [
                    exporter.export_topic(topic, file_path, queue_spans, write_row, advance_progress)
                    for topic, queue_spans in spans_by_topic.items()
                    if file_paths[topic] == file_path
                ]
    return exports
