"""Owns `message track`, which tells the story of one message."""

from typing import Annotated

from typer import Argument

from namesrv_core.protocol.message_ids import parse_message_id
from nsadmin.client import NotFound
from nsadmin.client.advised_command import quote_command
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
    msg_id: Annotated[
        str,
        Argument(
            metavar="MSGID", help="An id of either kind, or a key: then the newest message that has the key."
        ),
        Flags("-i", "--msgId"),
    ],
) -> ResultRows:
    """Show the story of one message: where it is, which groups consumed it, retries, dead letters, traces.

    The events are in the order of their times. The current states of groups have no time, so they come last.
    A broker knows the groups that have committed an offset on the topic. Retries and dead letters are found
    by the id of the producer, as long as brokers keep them. Traces exist only if clients write them.

    Examples:
        # Where a message went that a producer logged, and who consumed it
        nsadmin message track payments 7F0000010B4B18B4AAC2910F8A1E0000
        # Find a message by its key, such as the number of an order, and see which groups consumed it
        nsadmin message track payments order-4711
    """
    found_messages = session.admin.messages.find_by_id(topic, msg_id)
    noun = "id"
    # Producers may give their messages any id.
    if not found_messages.messages and parse_message_id(msg_id) is None:
        found_messages, noun = session.admin.messages.find_by_key(topic, msg_id), "key"
    broker_errors = [error for error in found_messages.errors if error is not None]
    copies = sorted(found_messages.messages, key=lambda copy: copy.message.store_timestamp)
    if not copies:
        for broker_error in broker_errors:
            raise broker_error
        raise NotFound(describe_missing(session.admin, topic, noun, msg_id, found_messages))
    if noun == "key":
        ids = {copy.message.msg_id for copy in copies}
        copies = [copy for copy in copies if copy.message.msg_id == copies[-1].message.msg_id]
        if len(ids) > 1:
            list_all = quote_command("queryMsgByKey", topic, msg_id)
            session.write_remark(
                f"the newest of {len(ids)} messages with the key; to list all, run {list_all}"
            )
    story = gather_story(session.admin, copies)
    return ResultRows.from_records(
        STORY_COLUMNS,
        story.events,
        [None, *broker_errors, *(error for _, error in story.failures)],
        [
            *(error_text(error) for error in broker_errors),
            *(f"{failed_part}: {error_text(error)}" for failed_part, error in story.failures),
        ],
    )
