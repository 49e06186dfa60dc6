"""Owns `message track`, which tells the story of one message."""

from typing import Annotated

from typer import Argument

from nsadmin.client import NotFound
from nsadmin.client.results import error_text
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.consumers import GROUP
from nsadmin.commands.columns.messages import OFFSET_MSG_ID, QUEUE_OFFSET
from nsadmin.commands.columns.topics import QUEUE_ID, TOPIC
from nsadmin.commands.messages.message_rows import MessageTopicArgument, describe_missing
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session
from nsadmin.operations.message_story.story import StoryEvent, gather_story

STORY_COLUMNS: Columns[StoryEvent] = (
    Column("time", "when it happened (UTC); null for the state of a group", lambda e: format_utc(e.time_ms)),
    Column(
        "step",
        "produced, stored, retry, replay, dead letter, trace, or group (its current state)",
        lambda e: e.step,
    ),
    GROUP.means("the consumer group; of a trace also a producer group"),
    Column("detail", "the event in words", lambda e: e.detail),
    *of_part(
        lambda e: e.located_message and e.located_message.message,
        (TOPIC.means("topic of the copy that the event is about; null without a copy").in_wide(),),
    ),
    *of_part(lambda e: e.located_message, (BROKER_NAME,)),
    *of_part(
        lambda e: e.located_message and e.located_message.message,
        (QUEUE_ID, QUEUE_OFFSET, OFFSET_MSG_ID.in_wide()),
    ),
)


@command(columns=STORY_COLUMNS, examples=("broker", "its key or id is that of a message that was sent"))
def message_track(
    session: Session,
    topic: MessageTopicArgument,
    msg_id: Annotated[str, Argument(metavar="MSGID", help="An id of either kind."), Flags("-i", "--msgId")],
) -> ResultRows:
    """Show the story of one message: where it is, which groups consumed it, retries, dead letters, traces.

    The events are in the order of their times. The current states of groups have no time, so they come last.
    A broker knows the groups that have committed an offset on the topic. Retries and dead letters are found
    by the id of the producer, as long as brokers keep them. Traces exist only if clients write them.

    Examples:
        # Where a message went that a producer logged, and who consumed it
        nsadmin message track payments 7F0000010B4B18B4AAC2910F8A1E0000
    """
    found_messages = session.admin.messages.find_by_id(topic, msg_id)
    broker_errors = [error for error in found_messages.errors if error is not None]
    if not found_messages.messages:
        for broker_error in broker_errors:
            raise broker_error
        raise NotFound(describe_missing(session.admin, topic, "id", msg_id, found_messages))
    story = gather_story(session.admin, found_messages.messages)
    return ResultRows.from_records(
        STORY_COLUMNS,
        story.events,
        [None, *broker_errors, *(error for _, error in story.failures)],
        [
            *(error_text(error) for error in broker_errors),
            *(f"{failed_part}: {error_text(error)}" for failed_part, error in story.failures),
        ],
    )
