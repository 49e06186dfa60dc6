"""Owns `dlq replay`, which delivers dead letters to their group again."""

from collections.abc import Iterator, Mapping, Sequence
from time import time
from typing import Annotated

from typer import Option

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.resource_names import RETRY_PREFIX
from nsadmin.client.advised_command import quote_command
from nsadmin.client.messages.dead_letter_replay import (
    BrokerReplay,
    DeadLetterSpan,
    LetterCopies,
    ReplayOptions,
)
from nsadmin.client.messages.dead_letter_selection import DeadLetterSelection
from nsadmin.client.results import NotApplied, NotFound, error_text
from nsadmin.command_line.argument_values import parse_duration_seconds
from nsadmin.command_line.declarations import command
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.changes import RESULT
from nsadmin.commands.columns.consumers import GROUP
from nsadmin.commands.columns.servers import ERROR, failure_notes, result_column
from nsadmin.commands.dead_letters.letter_options import (
    BodyOption,
    GroupArgument,
    IdOption,
    OriginOption,
    SinceOption,
    UntilOption,
    parse_selection,
)
from nsadmin.commands.messages.message_conditions import KeysOption, TagsOption
from nsadmin.console.exit_codes import CommandInterrupted, UsageError
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.phrases import abbreviate_names, count_noun
from nsadmin.console.session import Session
from nsadmin.operations.dead_letters.letter_counts import AgeCount, LetterCounter
from nsadmin.operations.dead_letters.replay_store import SavedReplayMemory

REPLAY_COLUMNS: Columns[BrokerReplay] = (
    BROKER_NAME,
    GROUP,
    Column("deadLetters", "dead letters in the time range", lambda r: r.total),
    Column("examined", "dead letters that were read", lambda r: r.examined),
    Column("replayed", "messages that were sent", lambda r: r.replayed),
    Column(
        "replayedBefore",
        "messages that were skipped because an earlier run replayed them",
        lambda r: r.known,
    ),
    Column(
        "copies",
        "messages that were skipped because they are further copies of a dead letter",
        lambda r: r.copies,
    ),
    Column(
        "skipped",
        "messages that were skipped because they died again after 3 replays",
        lambda r: r.guarded,
    ),
    Column("failed", "messages that could not be sent", lambda r: r.failed),
    Column(
        "failedAgain",
        "replayed messages that the group failed to consume again, until now",
        lambda r: r.failed_again,
    ),
    result_column("done, dry-run, failed or not found"),
    ERROR,
)
PREVIEW_COLUMNS: Columns[AgeCount] = (
    GROUP,
    Column(
        "originTopic",
        "topic that the producer sent the messages to; null if unknown",
        lambda c: c.origin_topic,
    ),
    Column("age", "upper limit of the age: 1h, 1d, 7d or 30d, or over 30d", lambda c: c.age),
    Column("messageCount", "dead letters that a replay would send", lambda c: c.message_count),
    RESULT.of(lambda c: "dry-run"),
)
DEFAULT_MAX_REPLAYS, DEFAULT_MAX_FAILURES = 3, 100
_MAX_SETTLE_SECONDS = 3600


@command(
    columns=(*REPLAY_COLUMNS, *PREVIEW_COLUMNS), examples=("elsewhere", "simulated consumers never fail")
)
def dlq_replay(
    session: Session,
    group: GroupArgument,
    since_text: SinceOption = None,
    until_text: UntilOption = None,
    origin_topics: OriginOption = None,
    keys: KeysOption = None,
    tags: TagsOption = None,
    body: BodyOption = None,
    offset_ids: IdOption = None,
    max_messages: Annotated[int | None, Option("--limit", metavar="N", help="Replay at most N.")] = None,
    rate: Annotated[
        float | None, Option("--rate", metavar="N", help="Replay at most N messages per second.")
    ] = None,
    max_failures: Annotated[
        int, Option("--max-failures", metavar="N", help="Stop if more than N fail again.", min=0)
    ] = DEFAULT_MAX_FAILURES,
    settle_text: Annotated[
        str,
        Option("--settle", metavar="DURATION", help="Count failures for this long after the last message."),
    ] = "0s",
    to_topic: Annotated[
        bool, Option("--to-topic", help="Send to the origin topic, where every group gets the message.")
    ] = False,
    repeats_replays: Annotated[
        bool, Option("--again", help="Replay also the messages that an earlier run replayed.")
    ] = False,
    force: Annotated[
        bool, Option("--force", help="Replay also messages that died again after 3 replays.")
    ] = False,
) -> ResultRows:
    """Deliver dead letters to their group again, and to no other group.

    nsadmin sends each message to the retry topic from which the group got it before it died, on the broker of
    the dead letter. Push consumers see the message under its origin topic. This is proven with Java push
    consumers of 5.5.0 and 4.9.7, with POP consumers of 5.5.0, and with gRPC consumers behind a 5.5.0 proxy.
    Pull consumers, broadcasting consumers and ordered gRPC consumers do not read retry topics: for them, pass
    --to-topic.

    Safe to interrupt, even with SIGKILL. Run the same command to resume. At most one message per kill and
    queue is delivered twice. A dead letter stays in the dead-letter topic, and nsadmin remembers that it was
    replayed. So a later run replays only new dead letters.

    The replay stops if the group fails again. nsadmin counts a failure when the broker stores the message for
    a retry. Failures after the end do not count: pass --settle to wait for them.

    A client that is interrupted can leave several copies of one dead letter. nsadmin replays the first, and
    counts the others as copies.

    Examples:
        # Count the dead letters by origin topic and age
        nsadmin dlq replay payments-consumer --dry-run
        # Resend only ten dead letters of a group, to try it first
        nsadmin dlq replay payments-consumer --limit 10 --yes
        # Replay all others, at most 50 per second
        nsadmin dlq replay payments-consumer --rate 50 --yes
    """
    command_name = "dlq replay"
    if rate is not None and not rate > 0:
        raise UsageError(f'{command_name}: invalid number "{rate:g}" for --rate: use more than 0')
    selection = parse_selection(
        command_name, since_text, until_text, origin_topics, keys, tags, body, max_messages, offset_ids
    )
    options = ReplayOptions(
        to_topic,
        rate,
        None if force else DEFAULT_MAX_REPLAYS,
        max_failures,
        repeats_replays,
        parse_duration_seconds("--settle", settle_text, 0, _MAX_SETTLE_SECONDS),
    )
    letter_spans, broker_errors = session.admin.dead_letters.list_spans(group, selection)
    letter_count = sum(span.queue_span.offset_count for span in letter_spans)
    if not (letter_count or broker_errors):
        raise NotFound(f"no dead letters for {group}")
    clusters = (span.cluster_name for span in letter_spans)
    memory = SavedReplayMemory.find(session.admin, clusters, group)
    if session.is_dry_run:
        memory.load_records()
        return _preview_rows(session, group, letter_spans, selection, options, memory, broker_errors)
    refusal = f'replays dead letters of "{group}" now: wait for it'
    with memory.open(lambda holder: NotApplied(f"{command_name}: {holder} {refusal}")):
        session.confirm_change(_build_question(session, group, letter_spans, letter_count, options))
        progress = session.admin.dead_letters.replay(group, letter_spans, selection, options, memory)
        return _replay_letters(session, group, progress, letter_count, broker_errors)


def _build_question(
    session: Session,
    group: str,
    letter_spans: Sequence[DeadLetterSpan],
    letter_count: int,
    options: ReplayOptions,
) -> str:
    """The question before a replay; it names the groups that get the messages."""
    broker_addrs = sorted({span.queue_span.broker_addr for span in letter_spans})
    connections = session.admin.consumers.get_group_connections([group], broker_addrs)[group]
    letters_text = f"up to {count_noun(letter_count, 'dead letter')}"
    if options.to_origin:
        session.write_remark(_describe_other_groups(session, group, letter_spans))
        return f"Send {letters_text} to their origin topics, where every group gets them?"
    if not connections.clients:
        if _is_ordered(session, group):
            raise NotApplied(
                f'"{group}" consumes in order (consumeMessageOrderly=true), so its gRPC consumers do not '
                f"read retry topics: pass --to-topic to send to the origin topic"
            )
        session.write_remark(
            f'no consumer of "{group}" is connected to a broker (gRPC consumers connect to proxies): '
            "the messages wait in the retry topic until the group reads it"
        )
    elif connections.is_broadcasting or connections.consume_type == "CONSUME_ACTIVELY":
        consumer_kind = "broadcasting" if connections.is_broadcasting else "pull"
        raise NotApplied(
            f'"{group}" has {consumer_kind} consumers, which do not read {RETRY_PREFIX}{group}: '
            f"pass --to-topic to send to the origin topic"
        )
    return f"Replay {letters_text} to {group}, and to no other group?"


def _is_ordered(session: Session, group: str) -> bool:
    """Whether gRPC consumers get messages in order. Brokers then skip retry topics (PopMessageProcessor)."""
    try:
        settings_by_broker = session.admin.groups.get_settings(group)
    except NotFound:
        return False
    return any((s.settings or {}).get("consumeMessageOrderly") is True for s in settings_by_broker)


def _describe_other_groups(session: Session, group: str, letter_spans: Sequence[DeadLetterSpan]) -> str:
    """A line that names the other groups of the origin topics, from a sample of dead letters."""
    counts = session.admin.dead_letters.count_letters([group], int(time() * 1000))[0]
    other_groups, errors = set[str](), list[RocketMQError]()
    for broker_addr in sorted({span.queue_span.broker_addr for span in letter_spans}):
        groups_result = session.admin.topics.list_consumer_groups(broker_addr, counts.origin_topics)
        for group_names in (groups_result.result or {}).values():
            other_groups.update(group_names)
        errors += [groups_result.error] if groups_result.error else []
    other_groups.discard(group)
    topics_text = abbreviate_names(counts.origin_topics, 5) or "the origin topics"
    if other_groups:
        return f"other groups get the messages of {topics_text} again: {', '.join(sorted(other_groups))}"
    if errors or not counts.origin_topics:
        reason = f": {error_text(errors[0])}" if errors else ""
        return f"unknown whether other groups consume {topics_text}{reason}"
    return f"no other group consumes {topics_text}"


def _replay_letters(
    session: Session,
    group: str,
    progress: Iterator[BrokerReplay],
    letter_count: int,
    broker_errors: Mapping[str, RocketMQError],
) -> ResultRows:
    progress_by_broker: dict[str, BrokerReplay] = {}
    stop_error: NotApplied | None = None
    resume_text = "run the same command to resume"
    with session.show_progress("replaying", letter_count) as advance_progress:
        try:
            for broker_replay in progress:
                before = progress_by_broker.get(broker_replay.broker_name)
                advance_progress(broker_replay.examined - (before.examined if before else 0))
                progress_by_broker[broker_replay.broker_name] = broker_replay
        except NotApplied as error:
            stop_error = NotApplied(f"{error}: fix the consumer, then {resume_text}")
        except KeyboardInterrupt:
            replayed_count = sum(item.replayed for item in progress_by_broker.values())
            raise CommandInterrupted(
                f"interrupted after {count_noun(replayed_count, 'replayed message')}: {resume_text}"
            ) from None
    replays = [
        *progress_by_broker.values(),
        *(BrokerReplay(broker_name, error=error) for broker_name, error in broker_errors.items()),
    ]
    notes = failure_notes((r.broker_name, r.error) for r in replays)
    guarded_count = sum(r.guarded for r in replays)
    if guarded_count:
        notes.append(
            f"skipped {count_noun(guarded_count, 'message')} that the group failed to consume again after "
            f"{DEFAULT_MAX_REPLAYS} replays: correct the consumer first; "
            f"`{quote_command('dlq', 'show', group)}` shows the messages"
        )
    if stop_error is not None:
        notes.append(str(stop_error))
    replays = [r._replace(error=r.error or stop_error) for r in replays]
    errors = [r.error for r in replays]
    return ResultRows.from_records(REPLAY_COLUMNS, replays, errors, notes, common={GROUP: group})


def _preview_rows(
    session: Session,
    group: str,
    letter_spans: Sequence[DeadLetterSpan],
    selection: DeadLetterSelection,
    options: ReplayOptions,
    memory: SavedReplayMemory,
    broker_errors: Mapping[str, RocketMQError],
) -> ResultRows:
    """Count the dead letters that a replay would send, by origin topic and age."""
    letter_counter, errors = LetterCounter(int(time() * 1000)), dict(broker_errors)
    letter_copies, known_count, copy_count, guarded_count = LetterCopies(), 0, 0, 0
    places = {(span.place.broker_name, span.place.queue_id): span.place for span in letter_spans}
    for page in session.admin.dead_letters.read_letters(
        group, letter_spans, selection._replace(max_messages=None)
    ):
        if page.error is not None:
            errors[page.broker_name] = page.error
        known_offsets = memory.list_replayed(places[page.broker_name, page.queue_id])
        for letter in page.letters:
            if letter.message.queue_offset in known_offsets and not options.repeats_replays:
                known_count += 1
                letter_copies.note_replayed(letter)
            elif options.max_replays is not None and letter.replay_count >= options.max_replays:
                guarded_count += 1
            elif letter_copies.is_copy(letter):
                copy_count += 1
            else:
                letter_counter.add_letters([letter])
    notes = failure_notes(errors.items())
    if known_count:
        notes.append(
            f"would skip {count_noun(known_count, 'message')} that an earlier run replayed: "
            "--again replays these too"
        )
    if copy_count:
        notes.append(f"would skip further copies of dead letters: {count_noun(copy_count, 'message')}")
    if guarded_count:
        notes.append(
            f"would skip {count_noun(guarded_count, 'message')} that the group failed to consume again after "
            f"{DEFAULT_MAX_REPLAYS} replays"
        )
    counts = letter_counter.list_counts()
    common = {GROUP: group}
    return ResultRows.from_records(PREVIEW_COLUMNS, counts, [None, *errors.values()], notes, common=common)
