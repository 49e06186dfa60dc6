"""The query of a message view, the kept messages, and what the screen needs of the message commands. Pure."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core.protocol.resource_names import DLQ_PREFIX
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client.messages.message_filter import EVERY_MESSAGE, MessageFilter
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.messages.topic_follower import FROM_EARLIEST, FollowStart

MAX_KEPT_MESSAGES = 1_000
"""The screen keeps this many messages. The oldest are dropped."""
FROM_LATEST = FollowStart(is_latest=True)


class MessageQuery(NamedTuple):
    """The messages of a topic to show.

    `conditions` are the options of `nsadmin consume`, without dashes, with their values as typed. The other
    fields are what they mean. With `index_key`, brokers look the messages up in their index. `read_limit`
    ends the reading of old messages; the operator raises it. `opened_ms` makes the same conditions, typed
    again later, a new query.
    """

    topic: str
    conditions: tuple[tuple[str, str], ...] = ()
    follow_start: FollowStart = FROM_LATEST
    index_key: str | None = None
    broker_name: str | None = None
    queue_id: int | None = None
    expression: str = "*"
    expression_type: str = "TAG"
    message_filter: MessageFilter = EVERY_MESSAGE
    decoders: tuple[str, ...] = ()
    read_limit: int = MAX_KEPT_MESSAGES
    opened_ms: int = 0

    @property
    def is_tail(self) -> bool:
        """Whether it shows only messages to come, so that reading never ends."""
        return self.follow_start.is_latest and self.index_key is None

    @property
    def has_client_filter(self) -> bool:
        """Whether messages that brokers send can be left out here."""
        return self.message_filter._replace(tags=frozenset(), begin_ms=0) != EVERY_MESSAGE

    @property
    def conditions_text(self) -> str:
        return "  ".join(f"{name} {value}" for name, value in self.conditions)

    def is_same_search(self, other: "MessageQuery") -> bool:
        """Whether the other query differs at most in the read limit."""
        return self == other._replace(read_limit=self.read_limit)

    def read_more(self) -> "MessageQuery":
        return self._replace(read_limit=self.read_limit + MAX_KEPT_MESSAGES)


def query_topic(
    topic: str, broker_name: str | None = None, queue_id: int | None = None, offset: int | None = None
) -> MessageQuery:
    """The messages to come of a topic, or of one of its brokers or queues; or those from an offset on.

    Dead letters: from the first.
    """
    follow_start = FROM_EARLIEST if topic.startswith(DLQ_PREFIX) else FROM_LATEST
    conditions = [("from", "earliest")] if follow_start == FROM_EARLIEST else []
    if offset is not None:
        follow_start, conditions = FollowStart(offset=offset), [("from", f"offset:{offset}")]
    if broker_name is not None:
        conditions.append(("broker", broker_name))
    if queue_id is not None:
        conditions.append(("queue", str(queue_id)))
    return MessageQuery(topic, tuple(conditions), follow_start, broker_name=broker_name, queue_id=queue_id)


class BrowsedMessage(NamedTuple):
    """A message on the screen.

    The body of `message` is cut to a maximum; `body_size` is the size before. `preview` is one line.
    """

    broker_name: str
    message: StoredMessage
    body_size: int
    preview: str

    @property
    def sort_key(self) -> tuple[int, str, int, int]:
        """The store time (ms), and the place for messages of the same time."""
        message = self.message
        return (message.store_timestamp, self.broker_name, message.queue_id, message.queue_offset)

    @property
    def position_text(self) -> str:
        """The queue and the offset, such as "broker-a/3 1042"."""
        return f"{self.broker_name}/{self.message.queue_id} {self.message.queue_offset}"


class InvalidMessageQueryError(ValueError):
    """The words of a query are wrong. The text is one line with the reason."""


class MessageTools(NamedTuple):
    """The functions of the message commands, which the screen cannot import.

    `parse_query` parses a topic and the options of `nsadmin consume`; it raises InvalidMessageQueryError.
    `decode_body` returns a body as text or as a JSON value, and the reason if a decoder failed; it raises
    InvalidMessageQueryError for an unknown decoder. `make_row` returns a message as `nsadmin consume --output
    jsonl` prints it. `decoder_help` names the decoders.
    """

    parse_query: Callable[[Sequence[str]], MessageQuery] = lambda words: query_topic(words[0])
    decode_body: Callable[[bytes, Sequence[str]], tuple[Any, str | None]] = lambda body, decoder_names: (
        body.decode("utf-8", "replace"), None
    )  # fmt: skip
    make_row: Callable[[LocatedMessage], Mapping[str, Any]] = lambda located: located.message._asdict()
    decoder_help: str = ""


def messages_to_jsonl(messages: Iterable[BrowsedMessage], tools: MessageTools) -> str:
    """A line of JSON for each message. `bodyError` states whether the screen cut the body."""
    lines = []
    for broker_name, message, body_size, _ in messages:
        row = dict(tools.make_row(LocatedMessage(broker_name, message)))
        if body_size > len(message.body):
            row["bodyError"] = f"cut: the first {len(message.body)} of {body_size} bytes"
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    return "".join(lines)
