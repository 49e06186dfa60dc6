"""The messages that were read for one query, up to a maximum. Pure."""

from collections import deque
from collections.abc import Mapping

from nsadmin.tui.messages.message_query import MAX_KEPT_MESSAGES, BrowsedMessage, MessageQuery
from nsadmin.tui.polling.poll_records import MessagesPolled

MAX_KEPT_BYTES = 32 << 20
"""The bodies of all kept messages together."""


class MessageLog:
    """Keeps the last messages of one run of a query. Only `apply_poll` changes it.

    Counts: `dropped_count` messages were shown and are not kept any more. `examined_count` were read.
    `lost_count` were deleted by a broker before they were read. `skipped_count` were not read, because the
    topic gets more messages than the screen reads. `errors` are by broker name; "" for the whole topic.
    """

    def __init__(self, query: MessageQuery, run_id: int) -> None:
        self.query, self.run_id = query, run_id
        self.messages: deque[BrowsedMessage] = deque()
        self.dropped_count = self.examined_count = self.lost_count = self.skipped_count = 0
        self.errors: Mapping[str, str] = {}
        self.read_state = "reading"
        self._kept_bytes = 0

    def apply_poll(self, poll: MessagesPolled) -> None:
        self.query, self.read_state, self.errors = poll.query, poll.state, poll.errors
        self.examined_count, self.lost_count, self.skipped_count = poll.examined, poll.lost, poll.skipped
        for message in poll.messages:
            self.messages.append(message)
            self._kept_bytes += len(message.message.body)
        while len(self.messages) > MAX_KEPT_MESSAGES or self._kept_bytes > MAX_KEPT_BYTES:
            self._kept_bytes -= len(self.messages.popleft().message.body)
            self.dropped_count += 1
