"""Owns `message track`, which tells the story of one message."""

from typing import Annotated

from typer import Argument

from nsadmin.client import NotFound
from nsadmin.client.results import error_text
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.messages.message_rows import MessageTopicArgument, describe_hidden
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session
from nsadmin.operations.message_story.story import StoryEvent, gather_story

STORY_COLUMNS = (
    "time", "step", "group", "detail", "topic", "brokerName", "queueId", "queueOffset", "offsetMsgId",
)  # fmt: skip
STORY_TABLE_COLUMNS = ("time", "step", "group", "detail", "brokerName", "queueId", "queueOffset")


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
        # The story of a message that a producer logged
        nsadmin message track payments 7F0000010B4B18B4AAC2910F8A1E0000
    """
    found_messages = session.admin.messages.find_by_id(topic, msg_id)
    broker_errors = [error for error in found_messages.errors if error is not None]
    if not found_messages.messages:
        for broker_error in broker_errors:
            raise broker_error
        hidden_text = describe_hidden(session.admin.messages.find_by_unique_key, topic, msg_id)
        raise NotFound(f'topic "{topic}" has no message with the id "{msg_id}"{hidden_text}')
    message_story = gather_story(session.admin, found_messages.messages)
    failures = [error for _, error in message_story.failures]
    notes = [f"{failed_part}: {error_text(error)}" for failed_part, error in message_story.failures]
    return ResultRows(
        STORY_COLUMNS,
        [_event_row(event) for event in message_story.events],
        [None, *broker_errors, *failures],
        [*(error_text(error) for error in broker_errors), *notes],
        STORY_TABLE_COLUMNS,
    )


def _event_row(event: StoryEvent) -> ResultRow:
    row: ResultRow = {
        "time": format_utc(event.time_ms),
        "step": event.step,
        "group": event.group,
        "detail": event.detail,
    }
    if event.located_message is None:
        return row
    message = event.located_message.message
    return {
        **row,
        "topic": message.topic,
        "brokerName": event.located_message.broker_name,
        "queueId": message.queue_id,
        "queueOffset": message.queue_offset,
        "offsetMsgId": message.offset_msg_id,
    }
