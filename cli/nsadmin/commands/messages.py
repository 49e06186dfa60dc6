"""Owns queryMsgByKey, queryMsgByUniqueKey, queryMsgById and queryMsgByOffset, which find messages."""

from collections.abc import Sequence
from typing import Annotated

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotFound
from nsadmin.client.messages import FOREVER, Found, Located
from nsadmin.client.results import ServerResult, error_text
from nsadmin.client.tracks import Track, track_problems, track_table
from nsadmin.commands import sending
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.delivery import (
    HANDED_COLUMNS,
    PushClient,
    PushGroup,
    hand_over,
    is_wanted,
    send_again,
)
from nsadmin.commands.message_rows import COLUMNS, PLACE_IN_TABLE, WHOLE_IN_TABLE, Topic, charset, found_rows
from nsadmin.commands.moments import HELP, moment
from nsadmin.commands.values import flag
from nsadmin.diagnostics import UsageError
from nsadmin.output import Rows
from nsadmin.session import Session

_HOUR = 3_600_000
BROKER_MAX = 64
"""The most messages that a broker returns for one query (its maxMsgsNumBatch)."""

TRACKED_COLUMNS = (*COLUMNS, "tracks")
TRACKED_IN_TABLE = (*WHOLE_IN_TABLE, "tracks")

Route = Annotated[
    str | None,
    Option("-c", "--cluster", metavar="TOPIC", help="Ask the brokers of this topic or cluster instead."),
]
Charset = Annotated[
    str | None,
    Option("-f", "--bodyFormat", metavar="CHARSET", help="Read bodies in this encoding, not in UTF-8."),
]


@shows(COLUMNS, ("indexKey",))
def query_msg_by_key(
    session: Session,
    topic: Topic,
    key: Annotated[str, Word(("-k", "--msgKey"), "KEY", "One of the keys of a message.")],
    begin: Annotated[
        str | None, Option("-b", "--beginTimestamp", metavar="TIME", help=f"Stored since: {HELP}")
    ] = None,
    end: Annotated[
        str | None, Option("-e", "--endTimestamp", metavar="TIME", help="Stored until, likewise.")
    ] = None,
    max_num: Annotated[int, Option("-m", "--maxNum", metavar="N", help="The newest N messages.")] = 64,
    key_type: Annotated[
        str, Option("-p", "--keyType", metavar="K|T", help="K: a key; T: a tag, with a RocksDB index only.")
    ] = "K",
    last_key: Annotated[
        str | None,
        Option("-l", "--lastKey", metavar="KEY", help="Go on behind this indexKey, with a RocksDB index."),
    ] = None,
    route_topic: Route = None,
) -> Rows:
    """Find messages by a business key (property KEYS), on every broker of their topic.

    The newest come last. Brokers know keys of messages as old as their index files. Bodies and properties
    are in JSON: see also queryMsgById.

    Examples:
        # Messages with a business key
        nsadmin queryMsgByKey payments order-4711
        # The newest of them, with body and properties
        nsadmin queryMsgByKey payments order-4711 -m 1 --json
    """
    if key_type not in ("K", "T"):
        raise UsageError(f"queryMsgByKey: -p {key_type} cannot be: give K for a key or T for a tag")
    if max_num < 1:
        raise UsageError(f"queryMsgByKey: -m {max_num} cannot be: give 1 or more")
    found = session.admin.messages.by_key(
        topic,
        key,
        max_num=max_num,
        begin=moment("queryMsgByKey", "-b", begin, 0),
        end=moment("queryMsgByKey", "-e", end, FOREVER),
        by_tag=key_type == "T",
        last_key=last_key,
        route_topic=route_topic,
    )
    at_most = [
        item.addr for item in found.brokers if (item.result or 0) >= BROKER_MAX and max_num > BROKER_MAX
    ]
    found = found._replace(messages=found.messages[-max_num:])
    what = "tag" if key_type == "T" else "key"
    rows = found_rows(found, f"no message of {topic} has the {what} {key!r}", PLACE_IN_TABLE)
    indexed = [
        {**row, "indexKey": _index_key(item, topic, key_type, key)}
        for row, item in zip(rows.rows, found.messages, strict=True)
    ]
    notes = [
        f"broker {addr} gave as many as it gives at a time: there may be older ones (-e)" for addr in at_most
    ]
    return rows._replace(columns=(*COLUMNS, "indexKey"), rows=indexed, notes=[*rows.notes, *notes])


def _index_key(item: Located, topic: str, key_type: str, key: str) -> str:
    """The key of the message's entry in a RocksDB index; it starts with the hour, in ms."""
    message = item.message
    hour = message.store_timestamp // _HOUR * _HOUR
    return f"{hour}@{topic}@{key_type}@{key}@{message.msg_id}@{message.physical_offset}"


@shows(TRACKED_COLUMNS, HANDED_COLUMNS)
def query_msg_by_unique_key(
    session: Session,
    topic: Topic,
    msg_id: Annotated[str, Word(("-i", "--msgId"), "MSGID", "The id that a producer has in its log.")],
    show_all: Annotated[
        bool, Option("-a", "--showAll", help="Accepted from mqadmin: all that there are is the rule.")
    ] = False,
    start: Annotated[
        str | None, Option("-s", "--startTime", metavar="TIME", help=f"Stored since: {HELP}")
    ] = None,
    end: Annotated[
        str | None, Option("-e", "--endTime", metavar="TIME", help="Stored until, likewise.")
    ] = None,
    route_topic: Route = None,
    group: PushGroup = None,
    client: PushClient = None,
) -> Rows:
    """Find the messages that a producer gave this id (property UNIQ_KEY), on every broker of their topic.

    There is more than one where a producer sent one again. tracks says of each consumer group whether it has
    consumed the message: CONSUMED, NOT_CONSUME_YET, CONSUMED_BUT_FILTERED (its tag was not wanted),
    NOT_ONLINE; PULL and CONSUME_BROADCASTING where brokers do not know. With -g and -d the messages are
    handed to that client once more, whatever it did with them before; off a terminal that needs --yes.

    Examples:
        # The message that a producer logged
        nsadmin queryMsgByUniqueKey payments 7F0000010B4B18B4AAC2910F8A1E0000
    """
    pushes = is_wanted("queryMsgByUniqueKey", group, client)
    found = session.admin.messages.by_unique_key(
        topic,
        msg_id,
        begin=moment("queryMsgByUniqueKey", "-s", start, 0),
        end=moment("queryMsgByUniqueKey", "-e", end, FOREVER),
        route_topic=route_topic,
    )
    missing = f"no message of {topic} has the id {msg_id}"
    if pushes:
        return hand_over(session, "queryMsgByUniqueKey", _all_of(found, missing), group, client)
    return _tracked(session, found_rows(found, missing, WHOLE_IN_TABLE), found)


@shows(TRACKED_COLUMNS, HANDED_COLUMNS, sending.COLUMNS)
def query_msg_by_id(
    session: Session,
    topic: Topic,
    msg_ids: Annotated[str, Word(("-i", "--msgId"), "MSGID", "One id of either kind, or several: A,B.")],
    body_format: Charset = None,
    route_topic: Route = None,
    unit: Annotated[
        str | None, Option("-u", "--unitName", metavar="UNIT", help="Accepted from mqadmin, without meaning.")
    ] = None,
    group: PushGroup = None,
    client: PushClient = None,
    resend: Annotated[
        str | None,
        Option("-s", "--sendMessage", metavar="true|false", help="true: send it once more to its topic."),
    ] = None,
) -> Rows:
    """Show the message of an id: where it is stored (offset id), or what its producer called it.

    An offset id names a broker's address and a position there. If that address does not answer from here,
    all brokers of the topic are asked for the position; slaves have it too. tracks is as in
    queryMsgByUniqueKey, and so are -g and -d. With -s true every group of the topic gets the message again,
    under the id that it has. Off a terminal these need --yes.

    Examples:
        # By the id in a producer's log
        nsadmin queryMsgById payments 7F0000010B4B18B4AAC2910F8A1E0000
        # Where it would be sent once more
        nsadmin queryMsgById payments 7F0000010B4B18B4AAC2910F8A1E0000 -s true --dry-run
        # By the id of its place, body only
        nsadmin queryMsgById payments 7F00000100002A9F0000000000000000 --columns body --output value
    """
    command = "queryMsgById"
    resends = flag(command, "-s", resend) is True
    pushes = is_wanted(command, group, client)
    if pushes and resends:
        raise UsageError(f"{command}: -s and -g with -d exclude each other: leave one out")
    encoding = charset(command, "-f", body_format)
    names = list(dict.fromkeys(name.strip() for name in msg_ids.split(",") if name.strip()))
    if not names:
        raise UsageError(f"{command}: an id is missing")
    if pushes or resends:
        items = [item for name in names for item in _all_of(*_by_id(session, topic, name, route_topic))]
        return (
            hand_over(session, command, items, group, client)
            if pushes
            else send_again(session, command, items)
        )
    if len(names) == 1:
        found, missing = _by_id(session, topic, names[0], route_topic)
        return _tracked(session, found_rows(found, missing, WHOLE_IN_TABLE, encoding), found)
    rows = Rows(TRACKED_COLUMNS, [], (), (), TRACKED_IN_TABLE)
    for name in names:
        try:
            found, missing = _by_id(session, topic, name, route_topic)
            one = _tracked(session, found_rows(found, missing, WHOLE_IN_TABLE, encoding), found)
        except NotFound as error:
            one = Rows((), (), [error], [str(error)])
        rows = rows._replace(
            rows=[*rows.rows, *one.rows], errors=[*rows.errors, *one.errors], notes=[*rows.notes, *one.notes]
        )
    return rows


def _by_id(session: Session, topic: str, msg_id: str, route_topic: str | None) -> tuple[Found, str]:
    found = session.admin.messages.by_id(topic, msg_id, route_topic=route_topic)
    return found, f"no message of {topic} has the id {msg_id}"


def _all_of(found: Found, missing: str) -> Sequence[Located]:
    """The messages found; if there are none, raise the first broker's error, or NotFound."""
    if not found.messages:
        raise next((error for error in found.errors if error is not None), None) or NotFound(missing)
    return found.messages


def _tracked(session: Session, rows: Rows, found: Found) -> Rows:
    """Add the column `tracks`: the groups that have consumed each message, null if no broker reports them."""
    told, notes, errors = [], [*rows.notes], [*rows.errors]
    for row, item in zip(rows.rows, found.messages, strict=True):
        tracks: Sequence[Track] | None = None
        try:
            tracks = session.admin.tracks.of(item)
            notes += track_problems(tracks)
        except RocketMQError as error:
            errors.append(error)
            notes.append(f"who consumed {item.message.msg_id} is not known: {error_text(error)}")
        told.append({**row, "tracks": None if tracks is None else track_table(tracks)})
    return Rows(TRACKED_COLUMNS, told, errors, notes, TRACKED_IN_TABLE)


@shows(TRACKED_COLUMNS)
def query_msg_by_offset(
    session: Session,
    topic: Topic,
    broker: Annotated[str, Word(("-b", "--brokerName"), "BROKER", "Name of a broker.")],
    queue: Annotated[str, Word(("-i", "--queueId"), "QUEUE", "Number of a queue, from 0.")],
    offset: Annotated[str, Word(("-o", "--offset"), "OFFSET", "Place in the queue.")],
    body_format: Charset = None,
    route_topic: Annotated[
        str | None,
        Option("-r", "--routeTopic", metavar="TOPIC", help="Ask the broker of this topic instead."),
    ] = None,
) -> Rows:
    """Show the message at one place of a queue, and who has consumed it: see queryMsgByUniqueKey.

    Examples:
        # The first message of a queue
        nsadmin queryMsgByOffset payments broker-a-0 0 0
    """
    encoding = charset("queryMsgByOffset", "-f", body_format)
    item = session.admin.messages.at_offset(
        topic,
        broker,
        number("queryMsgByOffset", "QUEUE", queue),
        number("queryMsgByOffset", "OFFSET", offset),
        route_topic=route_topic,
    )
    found = Found((item,), (ServerResult(item.message.store_host, 1, None),))
    return _tracked(session, found_rows(found, "", WHOLE_IN_TABLE, encoding), found)


def number(command: str, what: str, text: str) -> int:
    """A number of 0 or more, with at most 18 digits."""
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise UsageError(f"{command}: {what} {text} is no number from 0")
    return int(text)
