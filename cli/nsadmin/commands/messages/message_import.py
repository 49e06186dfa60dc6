"""Owns `messages import`, which sends the messages of files to a cluster."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RocketMQError, TopicNotExist
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.results import error_text, is_not_found
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.changes import RESULT
from nsadmin.commands.columns.messages import FAILED
from nsadmin.commands.columns.servers import ERROR, outcome_word
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.procedures.signals import SYSTEM_CLOCK, StopRequestedError, catch_stop_signals
from nsadmin.console.exit_codes import CommandInterrupted, UsageError
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.phrases import abbreviate_names, count_noun
from nsadmin.console.session import Session
from nsadmin.operations.installation import Installation
from nsadmin.operations.message_files.file_form import FileForm, InvalidMessageFileError, find_form
from nsadmin.operations.message_files.import_memory import ImportMemory, find_import_folder
from nsadmin.operations.message_files.import_run import ImportRun, QueueChooser, TopicImport
from nsadmin.operations.message_files.message_file import read_messages
from nsadmin.operations.message_files.parquet_file import MissingParquetLibraryError
from nsadmin.operations.run_folder import InvalidStateError
from nsadmin.operations.state_folder import find_state_home

_COMMAND = "messages import"


class FileImport(NamedTuple):
    """The import of one file: its run, and the number of messages to send."""

    file_path: Path
    run: ImportRun
    due_count: int


class ImportRow(NamedTuple):
    """What happened, or would happen, to the messages of a topic of a file."""

    file_path: Path
    topic: TopicImport
    error: RocketMQError | None
    result: str


IMPORT_COLUMNS: Columns[ImportRow] = (
    Column("file", "the file that was read", lambda r: str(r.file_path)),
    *of_part(
        lambda r: r.topic,
        (
            TOPIC.means("the topic in the file"),
            Column("toTopic", "the topic that they are sent to", lambda t: t.target_topic),
            Column("messageCount", "messages of the topic in the file", lambda t: t.message_count),
            Column("sentBefore", "messages that an earlier import of the file sent", lambda t: t.sent_before),
            Column("sent", "messages that were sent", lambda t: t.sent),
            FAILED,
        ),
    ),
    RESULT.means("done, dry-run, failed or not found"),
    ERROR,
)


@command(
    columns=IMPORT_COLUMNS,
    agent_refusal="it reads local files",
    examples=("elsewhere", "simulated brokers take no messages"),
)
def messages_import(
    session: Session,
    source_name: Annotated[
        str,
        Argument(metavar="FILE", help="File of messages, or a folder with such files."),
        Flags("--file", example="a.jsonl"),
    ],
    topic_texts: Annotated[
        list[str] | None,
        Option(
            "--to-topic",
            metavar="TOPIC|OLD=NEW",
            help="Send to this topic; OLD is a topic in the files. Repeatable. Default: the same topic.",
        ),
        Values("topics"),
    ] = None,
    rate: Annotated[
        float | None, Option("--rate", metavar="N", help="Send at most N messages per second.")
    ] = None,
    repeats: Annotated[
        bool, Option("--again", help="Send also the messages that an earlier import sent.")
    ] = False,
) -> ResultRows:
    """Send the messages of files to a cluster, such as files of `messages export`.

    The rows of `consume --output jsonl` are such a file, too. A copy has the body, keys, tag, properties,
    unique key, flag and born time of its original. The properties NSADMIN_SOURCE_* name the original: broker,
    topic, queue, offset and time. A copy gets another offset, store time and offset id. It is delivered at
    once, also if the original was delayed.

    Messages of one queue go to one queue, in order: to the same broker and queue if the topic has it there.
    Brokers do not create a missing topic.

    nsadmin reads each file before it sends: a damaged file sends nothing. Safe to interrupt, even with
    SIGKILL. Run the same command to resume. Ctrl-C repeats nothing, and a kill repeats at most 256 messages.
    A second import of a file to the same name servers sends nothing: --again sends it again. At the end,
    nsadmin compares each queue with the acknowledgements of its broker.

    Examples:
        # Count the messages by topic, and check that the topics exist
        nsadmin messages import payments.jsonl.gz --dry-run
        # Load saved messages into another topic, at most 500 per second
        nsadmin messages import payments.jsonl.gz --to-topic payments-test --rate 500 --yes
    """
    if rate is not None and not rate > 0:
        raise UsageError(f'{_COMMAND}: invalid number "{rate:g}" for --rate: use more than 0')
    try:
        files = _list_files(Path(source_name).expanduser())
        target_topics = _map_topics(topic_texts, files)
        with _open_imports(session, files, target_topics, rate, repeats) as file_imports:
            topic_imports = [topic for item in file_imports for topic in item.run.topics.values()]
            missing_topics = _find_missing_topics(session, target_topics, topic_imports)
            if session.is_dry_run:
                return _import_rows(file_imports, missing_topics, is_dry_run=True)
            if missing_topics:
                raise next(iter(missing_topics.values()))
            due_count = sum(file_import.due_count for file_import in file_imports)
            names = abbreviate_names(sorted({topic.target_topic for topic in topic_imports}), 5)
            session.confirm_change(
                f"Send {count_noun(due_count, 'message')} to {names}, and to all consumers there?"
            )
            _send_files(session, file_imports, due_count)
            return _import_rows(file_imports, {}, is_dry_run=False)
    except (InvalidMessageFileError, InvalidStateError, MissingParquetLibraryError) as error:
        raise UsageError(f"{_COMMAND}: {error}") from None
    except OSError as error:
        raise UsageError(
            f'{_COMMAND}: cannot read "{error.filename or source_name}": {error.strerror}'
        ) from None


def _list_files(source_path: Path) -> list[Path]:
    if not source_path.is_dir():
        return [source_path]
    files = sorted(path for path in source_path.iterdir() if find_form(path.name) and path.name[0] != ".")
    if not files:
        forms_text = ", ".join(f".{form}" for form in FileForm)
        raise UsageError(f'{_COMMAND}: no file in "{source_path}" ends with {forms_text}')
    return files


def _map_topics(topic_texts: list[str] | None, files: list[Path]) -> dict[str, str]:
    """The target topics by the topics in the files; a single text is for the only topic."""
    target_topics = {}
    for topic_text in topic_texts or ():
        old_topic, equals_sign, new_topic = topic_text.partition("=")
        if equals_sign and old_topic and new_topic:
            target_topics[old_topic] = new_topic
        elif equals_sign or len(topic_texts or ()) > 1:
            raise UsageError(f'{_COMMAND}: invalid value "{topic_text}" for --to-topic: use OLD=NEW')
        else:
            file_topics = {message.message.topic for path in files for message in read_messages(path)}
            if len(file_topics) > 1:
                raise UsageError(
                    f"{_COMMAND}: the files have messages of {abbreviate_names(sorted(file_topics), 5)}: "
                    f"pass --to-topic OLD=NEW for each of them"
                )
            target_topics = dict.fromkeys(file_topics, topic_text)
    return target_topics


@contextmanager
def _open_imports(
    session: Session, files: list[Path], target_topics: Mapping[str, str], rate: float | None, repeats: bool
) -> Iterator[list[FileImport]]:
    """Lock the import of each file, read what earlier runs sent, and count the messages."""
    queue_chooser, file_imports = QueueChooser(session.admin, target_topics), []
    # The same address leads to another server through a tunnel.
    tunnel = Installation(session.admin).tunnel
    servers = [*session.admin.addresses.addrs, *([tunnel] if tunnel else [])]
    with ExitStack() as held_locks:
        for file_path in files:
            folder = find_import_folder(find_state_home(), file_path, servers, target_topics)
            memory = ImportMemory(folder)
            if not session.is_dry_run:
                held_locks.enter_context(memory.lock.hold(partial(_refuse_import, file_path)))
            if not repeats:
                memory.load()
            run = ImportRun(session.admin, queue_chooser, memory, rate)
            file_imports.append(FileImport(file_path, run, run.count_messages(read_messages(file_path))))
        yield file_imports


def _refuse_import(file_path: Path, holder: str) -> NotApplied:
    return NotApplied(f"{_COMMAND}: {holder} imports {file_path} now: wait for it")


def _find_missing_topics(
    session: Session, target_topics: Mapping[str, str], topic_imports: list[TopicImport]
) -> dict[str, RocketMQError]:
    """The errors of target topics without a writable queue."""
    queue_chooser = QueueChooser(session.admin, target_topics)
    errors: dict[str, RocketMQError] = {}
    for topic_import in topic_imports:
        try:
            queue_chooser.find_queues(topic_import.topic)
        except RocketMQError as error:
            if not is_not_found(error):
                raise
            # The other reason is a topic without a writable queue, whose error says what to do.
            if isinstance(error, TopicNotExist):
                error = NotFound(
                    f'no topic "{topic_import.target_topic}": create it, or pass '
                    f"--to-topic {topic_import.topic}=NEW"
                )
            errors[topic_import.target_topic] = error
    return errors


def _send_files(session: Session, file_imports: list[FileImport], due_count: int) -> None:
    sent_count = 0
    with (
        session.show_progress("importing", due_count) as advance_progress,
        catch_stop_signals(SYSTEM_CLOCK) as stop_signal,
    ):
        try:
            for file_import in file_imports:
                messages = read_messages(file_import.file_path)
                for batch_count in file_import.run.send_messages(messages, stop_signal.stoppable_clock):
                    advance_progress(batch_count)
                    sent_count += batch_count
                if any(topic_import.error for topic_import in file_import.run.topics.values()):
                    return
        except StopRequestedError:
            raise CommandInterrupted(
                f"interrupted after {count_noun(sent_count, 'message')}: run the same command to resume"
            ) from None


def _import_rows(
    file_imports: list[FileImport], missing_topics: Mapping[str, RocketMQError], *, is_dry_run: bool
) -> ResultRows:
    rows, errors = list[ImportRow](), list[RocketMQError | None]()
    for item in file_imports:
        for topic in item.run.topics.values():
            error = topic.error or missing_topics.get(topic.target_topic)
            errors += [error] if error is None or not topic.sent else [None, error]
            result = outcome_word(error, "dry-run" if is_dry_run else "done")
            rows.append(ImportRow(item.file_path, topic, error, result))
    notes = [f"{r.topic.topic}: {error_text(r.error)}" for r in rows if r.error is not None]
    if any(r.topic.failed for r in rows):
        notes.append("run the same command to send the rest")
    return ResultRows.from_records(IMPORT_COLUMNS, rows, errors, notes)
