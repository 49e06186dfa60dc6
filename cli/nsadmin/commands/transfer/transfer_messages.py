"""Owns `transfer messages`, which copies the messages of topics to another cluster."""

from collections.abc import Sequence
from contextlib import closing
from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client.messages.message_sender import SendQueue
from nsadmin.client.results import NotFound, error_text
from nsadmin.command_line.argument_values import parse_name_list
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.command_line.time_arguments import parse_time_option
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.changes import RESULT
from nsadmin.commands.columns.servers import ERROR, outcome_word
from nsadmin.commands.columns.topics import QUEUE_ID, TOPIC
from nsadmin.commands.messages.message_conditions import (
    BodyRegexOption,
    KeysOption,
    PropertiesOption,
    SqlOption,
    StoredSinceOption,
    TagsOption,
    parse_pairs,
    parse_regex,
)
from nsadmin.commands.procedures.signals import SYSTEM_CLOCK, StopRequestedError, catch_stop_signals
from nsadmin.commands.transfer.cluster_ends import SourceOption, TargetOption, open_clusters
from nsadmin.commands.transfer.copy_status import show_copy
from nsadmin.console.exit_codes import CommandInterrupted, UsageError
from nsadmin.console.output import AnyColumn, Column, Columns, ResultRows, of_part
from nsadmin.console.phrases import abbreviate_names, count_noun
from nsadmin.console.session import Session
from nsadmin.operations.transfer.message_rules import MessageRules
from nsadmin.operations.transfer.topic_plan import PlannedQueue, TopicPair, TopicPlan, TopicPlanner
from nsadmin.operations.transfer.transfer_record import QueueRecord
from nsadmin.operations.transfer.transfer_run import TransferOptions, TransferRun

TARGET_TOPIC: Column[SendQueue] = Column("targetTopic", "name of the topic in the target", lambda q: q.topic)
TARGET_BROKER: AnyColumn = Column("targetBroker", "name of the target broker", lambda q: q.broker_name)
TARGET_QUEUE: AnyColumn = Column(
    "targetQueue", "number of the target queue on its broker, from 0", lambda q: q.queue_id
)
QUEUE_COLUMNS: Columns[PlannedQueue] = (
    *of_part(
        lambda p: p.source,
        (
            TOPIC,
            BROKER_NAME.means("name of the source broker"),
            QUEUE_ID.means("number of the source queue on its broker, from 0"),
        ),
    ),
    *of_part(lambda p: p.send_queue, (TARGET_TOPIC, TARGET_BROKER, TARGET_QUEUE)),
)


class QueueTransfer(NamedTuple):
    """The transfer of a queue until now, with its error if it failed; `copied` is None in a dry run."""

    queue: PlannedQueue
    record: QueueRecord
    copied: int | None = None
    skipped: int = 0
    error: RocketMQError | None = None

    @property
    def result(self) -> str:
        return outcome_word(self.error, "dry-run" if self.copied is None else "done")


TRANSFER_COLUMNS: Columns[QueueTransfer] = (
    *of_part(lambda t: t.queue, QUEUE_COLUMNS),
    Column("beginOffset", "source offset where the transfer began", lambda t: t.record.begin_offset),
    Column("nextOffset", "first source offset that is not copied yet", lambda t: t.record.next_offset),
    Column(
        "remaining",
        "source messages that were not copied, of those at the start of the command",
        lambda t: max(0, t.queue.end_offset - t.record.next_offset),
    ),
    Column("copied", "messages that this run copied", lambda t: t.copied or 0),
    Column(
        "skipped",
        "messages that a condition such as --key excluded; those of --tag and --sql do not count",
        lambda t: t.skipped,
    ),
    Column("lost", "messages that the source deleted before they were copied", lambda t: t.record.lost_count),
    RESULT.means("done, dry-run or failed"),
    ERROR,
)
TopicsArgument = Annotated[
    str,
    Argument(metavar="TOPICS", help="Topics, separated by commas."),
    Flags("-t", "--topic"),
    Values("topics"),
]
MapTopicOption = Annotated[
    list[str] | None,
    Option("--map-topic", metavar="OLD=NEW", help="Name of a topic in the target. Repeatable."),
]


@command(
    columns=TRANSFER_COLUMNS,
    agent_refusal="it changes another cluster",
    examples=("elsewhere", "simulated brokers take no messages"),
)
def transfer_messages(
    session: Session,
    topics_text: TopicsArgument,
    source_text: SourceOption,
    target_text: TargetOption,
    since_text: StoredSinceOption = None,
    follows: Annotated[
        bool, Option("-f", "--follow", help="Copy also the messages to come, until Ctrl-C.")
    ] = False,
    rate: Annotated[
        float | None, Option("--rate", metavar="N", help="Copy at most N messages per second.")
    ] = None,
    tags: TagsOption = None,
    sql_text: SqlOption = None,
    keys: KeysOption = None,
    property_texts: PropertiesOption = None,
    body: BodyRegexOption = None,
    topic_mappings: MapTopicOption = None,
    merges_queues: Annotated[
        bool, Option("--merge-queues", help="Let source queues share target queues if the target has fewer.")
    ] = False,
) -> ResultRows:
    """Copy the messages of topics to another cluster, in the order of each queue.

    A copy keeps body, keys, tag, message id and the properties of the application. The properties
    NSADMIN_SOURCE_* name its source: cluster, broker, topic, queue, offset and time. Copies come from
    all clusters of the source that have the topic. The target topics must exist. No consumer offset changes.

    Safe to interrupt, even with SIGKILL. Run the same command to resume. The copies in the target show how
    far the transfer came. No message is lost. Each kill, and each failure of a target broker, can repeat at
    most 64 messages per queue.

    The command continues through restarts of brokers. A delayed message is copied when the source
    delivers it, and is not delayed again.

    Examples:
        # Preview the replication: which queue goes where, and how many messages
        nsadmin transfer messages orders --from prod --to dr --dry-run
        # Copy two topics
        nsadmin transfer messages orders,payments --from prod --to dr --yes
        # Copy the last two days, then everything that comes
        nsadmin transfer messages orders --from prod --to dr --since 2d --follow --yes
    """
    command_name = "transfer messages"
    if rate is not None and not rate > 0:
        raise UsageError(f'{command_name}: invalid number "{rate:g}" for --rate: use more than 0')
    if tags and sql_text:
        raise UsageError(f"{command_name}: --tag and --sql exclude each other: use TAGS in the expression")
    topic_pairs = parse_pairs_of_topics(command_name, topics_text, topic_mappings)
    parse_regex(command_name, body)
    rules = MessageRules(
        tuple(tags or ()),
        sql_text,
        tuple(keys or ()),
        tuple(parse_pairs(command_name, "--property", property_texts).items()),
        body,
    )
    options = TransferOptions(follows, rate, rules)
    begin_ms = parse_time_option("--since", since_text, 0)
    with open_clusters(session, command_name, source_text, target_text) as clusters:
        planner = TopicPlanner(
            clusters,
            rules.save(),
            begin_ms,
            merges_queues=merges_queues,
            write_remark=session.write_remark,
        )
        try:
            plans = [planner.plan_topic(topic_pair) for topic_pair in topic_pairs]
        except NotFound:
            clusters.require_topics(topic_pairs)
            raise
        if session.is_dry_run:
            queues = [QueueTransfer(queue, queue.record) for plan in plans for queue in plan.queues]
            return ResultRows.from_records(TRANSFER_COLUMNS, queues, [None])
        session.confirm_change(_build_question(plans, source_text, target_text))
        return _copy_messages(session, TransferRun(clusters, planner, plans, options), plans, follows)


def parse_pairs_of_topics(
    command_name: str, topics_text: str, topic_mappings: Sequence[str] | None
) -> list[TopicPair]:
    """Parse the topics and --map-topic."""
    topics = parse_name_list("TOPICS", topics_text)
    target_topics = parse_pairs(command_name, "--map-topic", list(topic_mappings or ()))
    unknown_topics = sorted(target_topics.keys() - set(topics))
    if unknown_topics:
        raise UsageError(
            f'{command_name}: --map-topic names "{unknown_topics[0]}", which is not among the topics'
        )
    return [TopicPair(topic, target_topics.get(topic, topic)) for topic in topics]


def _build_question(plans: Sequence[TopicPlan], source_text: str, target_text: str) -> str:
    topics_text = abbreviate_names([plan.topic_pair.topic for plan in plans], 5)
    message_count = sum(queue.remaining_count for plan in plans for queue in plan.queues)
    return (
        f"Copy {topics_text} from {source_text} to {target_text}, "
        f"{count_noun(message_count, 'message')} so far?"
    )


def _copy_messages(
    session: Session, transfer_run: TransferRun, plans: Sequence[TopicPlan], follows: bool
) -> ResultRows:
    total_count = sum(queue.remaining_count for plan in plans for queue in plan.queues)
    is_stopped = False
    with (
        catch_stop_signals(SYSTEM_CLOCK) as stop_signal,
        show_copy(session, None if follows else total_count) as copy_status,
        closing(transfer_run.run()) as rounds,
    ):
        try:
            for progress in rounds:
                copy_status.show_progress(progress)
                stop_signal.raise_if_requested()
        except StopRequestedError:
            is_stopped = True
    if is_stopped:
        copied_count = sum(queue.copied_count for queue in transfer_run.queues)
        stop_text = f"after {count_noun(copied_count, 'message')}: run the same command to resume"
        if not follows:
            raise CommandInterrupted(f"interrupted {stop_text}")
        session.write_remark(f"stopped {stop_text}")
    return _transfer_rows(transfer_run, plans)


def _transfer_rows(transfer_run: TransferRun, plans: Sequence[TopicPlan]) -> ResultRows:
    queues = [
        QueueTransfer(
            q.planned_queue, q.record, q.copied_count, q.skipped_count, q.error if q.is_failed else None
        )
        for q in transfer_run.queues
    ]
    errors = [q.error for q in queues]
    if missing := [plan.missing_queues for plan in plans if plan.unlisted]:
        errors += [None, *missing]
    notes = sorted({error_text(error) for error in errors if error is not None})
    return ResultRows.from_records(TRANSFER_COLUMNS, queues, errors, notes)
