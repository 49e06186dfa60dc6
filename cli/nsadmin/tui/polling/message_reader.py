"""Reads the messages of one query in small steps, each with few requests. It changes no consumer offset."""

from collections.abc import Iterator, Mapping, Sequence
from time import monotonic

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client.messages.pull_requests import PAGE_SIZE
from nsadmin.client.messages.topic_follower import FollowedPage, TopicFollower
from nsadmin.client.results import ClientClosed, error_text
from nsadmin.tui.messages.message_lines import format_value, preview_body, preview_text
from nsadmin.tui.messages.message_query import (
    FROM_LATEST,
    MAX_KEPT_MESSAGES,
    BrowsedMessage,
    MessageQuery,
    MessageTools,
)
from nsadmin.tui.polling.poll_records import MessagesPolled
from nsadmin.tui.polling.server_polls import ServerProbe

MAX_BODY_BYTES = 1 << 18
"""A longer body is cut."""
_MAX_FOUND_BY_KEY = 64
_MAX_TURN_QUEUES = 16
"""A step asks this many queues. Each answer has up to 32 messages."""
_RETRY_SECONDS = 5.0
"""A queue that did not answer is left out for this time, because the others wait for its timeout."""
_STEP_SECONDS, _IDLE_SECONDS, _ERROR_SECONDS = 0.1, 0.5, 1.0
_FULL_ROUNDS = 5
"""After this many rounds in a row with full pages, look how far the tail is behind."""


class MessageReader:
    """One run of a query. `read_step` reads on; then wait for `pause_seconds`."""

    def __init__(self, probe: ServerProbe, query: MessageQuery, run_id: int, tools: MessageTools) -> None:
        self._probe, self._tools = probe, tools
        self.query, self.run_id = query, run_id
        self.pause_seconds = 0.0
        self._follower: TopicFollower | None = None
        self._follow_start = query.follow_start
        self._examined_count = self._lost_count = self._skipped_count = self._shown_count = 0
        self._errors_by_queue: dict[tuple[str, int], str] = {}
        self._retry_at: dict[tuple[str, int], float] = {}
        self._done_queues: set[tuple[str, int]] = set()
        self._held_messages: list[BrowsedMessage] = []
        self._turn_start = 0
        self._round_is_idle, self._round_has_full_page, self._full_rounds = True, False, 0
        self._last_poll: MessagesPolled | None = None

    def raise_limit(self, read_limit: int) -> None:
        self.query = self.query._replace(read_limit=read_limit)

    def read_step(self) -> MessagesPolled | None:
        """Read the next messages. None if nothing has changed since the last step."""
        began = monotonic()
        try:
            poll = self._find_by_key() if self.query.index_key is not None else self._read_on()
        except ClientClosed:
            raise
        except RocketMQError as error:
            self.pause_seconds = _ERROR_SECONDS
            poll = self._make_poll((), "waiting", {"": error_text(error)})
        # Rest as long as the step took: half of the time the brokers hear nothing.
        self.pause_seconds = max(self.pause_seconds, monotonic() - began)
        last_poll, self._last_poll = self._last_poll, poll
        if last_poll is not None and not poll.messages and _without_time(last_poll) == _without_time(poll):
            return None
        return poll

    def _find_by_key(self) -> MessagesPolled:
        """Look the key up in the index of each broker, once."""
        self.pause_seconds = _ERROR_SECONDS
        if self._last_poll is not None and self._last_poll.state == "done":
            return self._make_poll((), "done", self._last_poll.errors)
        with self._probe.pace.reserve_requests(1):
            count = len(self._probe.admin.messages.list_queue_routes(self.query.topic))
        with self._probe.pace.reserve_requests(count):
            key = self.query.index_key or ""
            found = self._probe.admin.messages.find_by_key(self.query.topic, key, max_num=_MAX_FOUND_BY_KEY)
        self._examined_count = len(found.messages)
        located = [(match.broker_name or "", match.message) for match in found.messages]
        messages = [message for place in located for message in self._browse_matching(*place)]
        errors = {r.addr: error_text(r.error) for r in found.broker_results if r.error is not None}
        return self._make_poll(messages, "done", errors)

    def _read_on(self) -> MessagesPolled:
        is_limited = not self.query.is_tail
        free_count = self.query.read_limit - self._shown_count if is_limited else MAX_KEPT_MESSAGES
        if is_limited and free_count <= 0:
            self.pause_seconds = _IDLE_SECONDS
            return self._make_poll((), "full")
        if not self._held_messages:
            self._held_messages = list(self._read_turn())
        messages = self._held_messages[:free_count]
        del self._held_messages[:free_count]
        self._shown_count += len(messages)
        if is_limited and self._shown_count >= self.query.read_limit:
            return self._make_poll(messages, "full")
        return self._make_poll(messages, self._describe_state(messages))

    def _describe_state(self, messages: Sequence[BrowsedMessage]) -> str:
        if self._held_messages or messages:
            return "reading"
        assert self._follower is not None
        if self._done_queues >= set(self._follower.list_queues()):
            return "done"
        return "waiting" if self.pause_seconds >= _IDLE_SECONDS else "reading"

    def _read_turn(self) -> Iterator[BrowsedMessage]:
        """Ask the next few queues."""
        follower = self._open_follower()
        queues = [queue for queue in follower.list_queues() if queue not in self._done_queues]
        next_queues = queues[self._turn_start : self._turn_start + _MAX_TURN_QUEUES]
        turn_queues = [queue for queue in next_queues if self._retry_at.get(queue, 0) <= monotonic()]
        self._turn_start += _MAX_TURN_QUEUES
        # The first request to a queue asks for its offset.
        request_count = sum(1 if follower.get_position(*queue) is not None else 2 for queue in turn_queues)
        with self._probe.pace.reserve_requests(request_count):
            for queue in turn_queues:
                self._errors_by_queue.pop(queue, None)
            for page in follower.read_pages(frozenset(follower.list_queues()) - frozenset(turn_queues)):
                self._note_page(page)
                yield from self._select_messages(page)
        self.pause_seconds = _STEP_SECONDS
        if self._turn_start >= len(queues):
            self._end_round()

    def _open_follower(self) -> TopicFollower:
        if self._follower is None:
            with self._probe.pace.reserve_requests(2):
                self._follower = self._probe.admin.message_streams.open_follower(
                    self.query.topic,
                    self._follow_start,
                    expression=self.query.expression,
                    expression_type=self.query.expression_type,
                    broker_name=self.query.broker_name,
                    queue_id=self.query.queue_id,
                )
        return self._follower

    def _note_page(self, page: FollowedPage) -> None:
        self._lost_count += page.lost_count
        self._examined_count += len(page.messages)
        if page.error is not None:
            self._errors_by_queue[page.broker_name, page.queue_id] = error_text(page.error)
            self._retry_at[page.broker_name, page.queue_id] = monotonic() + _RETRY_SECONDS
        self._round_is_idle &= not page.messages
        self._round_has_full_page |= len(page.messages) >= PAGE_SIZE

    def _end_round(self) -> None:
        """All queues were asked. Without a message, wait; if the tail is far behind, skip messages."""
        if self._round_is_idle:
            self.pause_seconds = _ERROR_SECONDS if self._errors_by_queue else _IDLE_SECONDS
        self._full_rounds = self._full_rounds + 1 if self._round_has_full_page else 0
        self._turn_start, self._round_is_idle, self._round_has_full_page = 0, True, False
        if self._full_rounds >= _FULL_ROUNDS:
            self._full_rounds = 0
            self._skip_if_behind()

    def _skip_if_behind(self) -> None:
        """Begin again at the end if the screen would drop the messages in between anyway."""
        follower = self._open_follower()
        queue_count = len(follower.list_queues())
        if not self.query.is_tail or self.query.has_client_filter:
            return
        if queue_count > self._probe.pace.per_second:
            return
        with self._probe.pace.reserve_requests(queue_count):
            end_offsets = follower.find_ends()
        positions = {queue: follower.get_position(*queue) for queue in end_offsets}
        behind = (max(0, end_offsets[queue] - at) for queue, at in positions.items() if at is not None)
        behind_count = sum(behind)
        if behind_count > MAX_KEPT_MESSAGES:
            self._skipped_count += behind_count
            self._follower, self._follow_start = None, FROM_LATEST

    def _select_messages(self, page: FollowedPage) -> Iterator[BrowsedMessage]:
        for message in page.messages:
            if message.store_timestamp > self.query.message_filter.end_ms:
                self._done_queues.add((page.broker_name, page.queue_id))
            else:
                yield from self._browse_matching(page.broker_name, message)

    def _browse_matching(self, broker_name: str, message: StoredMessage) -> Iterator[BrowsedMessage]:
        """The message as the screen keeps it, if it meets the conditions. They see the decoded body."""
        value, problem = None, message.body_error
        if self.query.decoders and problem is None:
            value, problem = self._tools.decode_body(message.body, self.query.decoders)
        if not self.query.message_filter.is_match(message, None if problem else value):
            return
        if problem is not None:
            preview = f"({problem})"
        elif self.query.decoders:
            preview = preview_text(format_value(value))
        else:
            preview = preview_body(message.body)
        cut_message = message._replace(body=message.body[:MAX_BODY_BYTES])
        yield BrowsedMessage(broker_name, cut_message, len(message.body), preview)

    def _make_poll(
        self, messages: Sequence[BrowsedMessage], state: str, errors: Mapping[str, str] | None = None
    ) -> MessagesPolled:
        if errors is None:
            errors = {name: text for (name, _), text in self._errors_by_queue.items()}
        return MessagesPolled(
            self._probe.clock(), self.query, self.run_id, tuple(messages), self._examined_count,
            self._lost_count, self._skipped_count, errors, state,
        )  # fmt: skip


def _without_time(poll: MessagesPolled) -> tuple[object, ...]:
    return (poll.query, poll.examined, poll.lost, poll.skipped, poll.errors, poll.state)
