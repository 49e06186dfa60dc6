"""SourceReader: reads source queues ahead in a thread, while the run sends what was read."""

import threading
from collections import deque
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client import AdminClient
from nsadmin.client.messages.message_filter import MessageFilter
from nsadmin.client.messages.topic_follower import FollowedPage, TopicFollower
from nsadmin.operations.transfer.message_rules import MessageRules
from nsadmin.operations.transfer.queue_map import QueueId

MAX_BUFFERED_MESSAGES = 512
"""Per queue."""
_IDLE_SECONDS = 0.2
_ERROR_PAUSE_SECONDS = 1.0


class TopicQueue(NamedTuple):
    """A source queue of one run."""

    topic: str
    queue: QueueId


class ReadPage(NamedTuple):
    """The next part of a source queue: the messages to copy, and the offset after them.

    The client's conditions exclude `skipped_count` more, and the source deleted `lost_count` before.
    """

    messages: tuple[StoredMessage, ...]
    next_offset: int
    skipped_count: int
    lost_count: int


class _QueueState:
    """The pages of one queue that were read ahead. `end_offset` is None for a queue that is followed."""

    def __init__(self, begin_offset: int, end_offset: int | None) -> None:
        self.pages: deque[ReadPage] = deque()
        self.message_count = 0
        self.seek_offset: int | None = begin_offset
        self.read_offset = begin_offset
        self.end_offset = end_offset
        self.error: RocketMQError | None = None

    @property
    def is_read(self) -> bool:
        return (
            self.seek_offset is None and self.end_offset is not None and self.read_offset >= self.end_offset
        )

    def rewind(self, offset: int) -> None:
        self.pages.clear()
        self.message_count, self.seek_offset, self.read_offset = 0, offset, offset


class SourceReader:
    """Reads queues ahead with the follower of each topic. Only queues that were added are read."""

    def __init__(self, followers: Mapping[str, TopicFollower], message_filter: MessageFilter) -> None:
        self._followers, self._filter = followers, message_filter
        self._states: dict[TopicQueue, _QueueState] = {}
        self._new_queues: set[TopicQueue] = set()
        self._changed = threading.Condition()
        self._is_stopped = False
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="source-reader", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop, and wait for the request that is under way."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def add_queue(self, topic_queue: TopicQueue, begin_offset: int, end_offset: int | None) -> None:
        """Read this queue too; to its end, or without an end if `end_offset` is None."""
        with self._changed:
            self._states[topic_queue] = _QueueState(begin_offset, end_offset)
            self._new_queues.discard(topic_queue)
            self._changed.notify_all()

    def rewind(self, topic_queue: TopicQueue, offset: int) -> None:
        """Read a queue again from this offset."""
        with self._changed:
            self._states[topic_queue].rewind(offset)
            self._changed.notify_all()

    def take_page(self, topic_queue: TopicQueue) -> ReadPage | None:
        """Return the next page of a queue; None if there is none yet. Raises what the thread raised."""
        with self._changed:
            if self._failure is not None:
                raise self._failure
            state = self._states[topic_queue]
            if not state.pages:
                return None
            page = state.pages.popleft()
            state.message_count -= len(page.messages)
            self._changed.notify_all()
            return page

    def is_drained(self, topic_queue: TopicQueue) -> bool:
        """Return whether a queue with an end was read, and all its pages were taken."""
        with self._changed:
            state = self._states[topic_queue]
            return state.is_read and not state.pages

    def find_error(self, topic_queue: TopicQueue) -> RocketMQError | None:
        """Return the error of the last attempt to read a queue; None after a success."""
        with self._changed:
            return self._states[topic_queue].error

    def take_new_queues(self) -> set[TopicQueue]:
        """Return the queues of the topics that nobody added yet."""
        with self._changed:
            return set(self._new_queues)

    def wait_for_page(self, topic_queues: Iterable[TopicQueue], max_seconds: float) -> None:
        """Wait until one of these queues has a page, at most this long."""
        with self._changed:
            if self._failure is None and not any(self._states[queue].pages for queue in topic_queues):
                self._changed.wait(max_seconds)

    def _run(self) -> None:
        try:
            while not self._is_stopped:
                pause_seconds = self._read_round()
                with self._changed:
                    if pause_seconds and not self._is_stopped:
                        self._changed.wait(pause_seconds)
        except Exception as error:
            with self._changed:
                self._failure = error
                self._changed.notify_all()

    def _read_round(self) -> float:
        """Read a page of each queue with room; return how long to wait before the next round."""
        has_news, has_errors = False, False
        for topic, follower in self._followers.items():
            due_queues = self._apply_seeks(topic, follower)
            all_queues = [QueueId(*queue) for queue in follower.list_queues()]
            with self._changed:
                self._new_queues |= {TopicQueue(topic, queue) for queue in all_queues} - self._states.keys()
            if not due_queues:
                continue
            skipped_queues = frozenset((name, number) for name, number in set(all_queues) - due_queues)
            pages = {
                QueueId(page.broker_name, page.queue_id): page
                for page in follower.poll_queues(skipped_queues)
            }
            for queue in due_queues:
                has_news |= self._store_page(TopicQueue(topic, queue), pages.get(queue), follower)
            has_errors |= any(page.error is not None for page in pages.values())
        return 0.0 if has_news else _ERROR_PAUSE_SECONDS if has_errors else _IDLE_SECONDS

    def _apply_seeks(self, topic: str, follower: TopicFollower) -> set[QueueId]:
        """Move the follower where rewinds say; return the queues of the topic with room for a page."""
        due_queues = set()
        with self._changed:
            for topic_queue, state in self._states.items():
                if topic_queue.topic != topic:
                    continue
                if state.seek_offset is not None:
                    follower.seek(*topic_queue.queue, state.seek_offset)
                    state.seek_offset = None
                if not state.is_read and state.message_count < MAX_BUFFERED_MESSAGES:
                    due_queues.add(topic_queue.queue)
        return due_queues

    def _store_page(
        self, topic_queue: TopicQueue, page: FollowedPage | None, follower: TopicFollower
    ) -> bool:
        """Keep what was read; return whether the queue moved on."""
        next_offset = follower.get_position(*topic_queue.queue)
        with self._changed:
            state = self._states[topic_queue]
            state.error = page.error if page is not None else None
            if state.seek_offset is not None or next_offset is None or next_offset <= state.read_offset:
                return False
            if state.end_offset is not None:
                next_offset = min(next_offset, state.end_offset)
            read = [m for m in (page.messages if page is not None else ()) if m.queue_offset < next_offset]
            messages = tuple(message for message in read if self._filter.is_match(message))
            lost_count = page.lost_count if page is not None else 0
            state.pages.append(ReadPage(messages, next_offset, len(read) - len(messages), lost_count))
            state.message_count += len(messages)
            state.read_offset = next_offset
            self._changed.notify_all()
            return True


def open_reader(source: AdminClient, topics: Iterable[str], rules: MessageRules) -> SourceReader:
    """Return a reader of topics that keeps the messages of the rules. It is not started."""
    followers = {
        topic: source.message_streams.open_follower(
            topic, expression=rules.expression, expression_type=rules.expression_type
        )
        for topic in topics
    }
    return SourceReader(followers, rules.message_filter)
