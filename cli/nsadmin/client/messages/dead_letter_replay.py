"""DeadLetterReplay: sends dead letters to their group again, so that a killed run can continue.

Rule: a batch is noted before it is sent. If its outcome is unknown, the queue that it was sent to is read.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from time import monotonic, sleep
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError, TopicNotExist
from namesrv_core.protocol.resource_names import DLQ_PREFIX, RETRY_PREFIX
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.brokers.brokers import BrokerAdmin, wait_for_dispatch
from nsadmin.client.messages.dead_letter_selection import (
    REPLAY_COUNT_PROPERTY,
    REPLAY_ID_PROPERTY,
    REPLAY_RUN_PROPERTY,
    DeadLetter,
    DeadLetterSelection,
)
from nsadmin.client.messages.delayed_messages import LEVEL_TOPIC
from nsadmin.client.messages.message_copies import build_copy
from nsadmin.client.messages.message_sender import (
    MessageSender,
    OutgoingMessage,
    SendQueue,
    SentMessage,
    is_stored_unsafely,
)
from nsadmin.client.messages.pull_requests import PAGE_SIZE
from nsadmin.client.messages.queue_reader import QueueReader, QueueSpan
from nsadmin.client.messages.replay_memory import PendingBatch, ReplayMemory, ReplayPlace
from nsadmin.client.results import ClientClosed, NotApplied, NotFound, ServerResult
from nsadmin.client.topic_routes import QueueRoute
from nsadmin.client.topics.topics import TopicAdmin

_WATCH_PERIOD_SECONDS = 1.0
_FIRST_RETRY_QUEUE = 2
"""Where brokers keep a message between the first failure and the retry: the queue of delay level 3."""


class DeadLetterSpan(NamedTuple):
    """A part of a queue of the dead-letter topic.

    Attributes:
        cluster_name: The cluster.
        queue_span: The part of the queue.
    """

    cluster_name: str
    queue_span: QueueSpan

    @property
    def place(self) -> ReplayPlace:
        """The queue."""
        return ReplayPlace(self.cluster_name, self.queue_span.broker_name, self.queue_span.queue_id)


class ReplayOptions(NamedTuple):
    """How dead letters are replayed.

    Attributes:
        to_origin: Send to the origin topic, where every group gets the message, not to the retry topic.
        messages_per_second: The maximum rate; None for none.
        max_replays: Skip a message that was replayed so often and died again; None to replay it all the same.
        max_failures: Stop if more replayed messages than this failed again; None for never.
        repeats_replays: Replay also the messages that earlier runs replayed.
        settle_seconds: How long to count failures after the last message, in seconds.
    """

    to_origin: bool = False
    messages_per_second: float | None = None
    max_replays: int | None = 3
    max_failures: int | None = None
    repeats_replays: bool = False
    settle_seconds: float = 0


DEFAULT_REPLAY_OPTIONS = ReplayOptions()


def describe_run(selection: DeadLetterSelection, options: ReplayOptions) -> dict[str, object]:
    """Return the rules of a run in JSON's types. An interrupted run with the same rules is resumed."""
    return selection.describe_rules() | {
        "toOrigin": options.to_origin,
        "repeatsReplays": options.repeats_replays,
    }


class BrokerReplay(NamedTuple):
    """The progress of a replay on one broker.

    Attributes:
        broker_name: The broker.
        total: The dead letters in the time range of the selection.
        examined: Those that were read.
        replayed: Those that were sent.
        known: Those that were skipped because they were replayed before, also by an interrupted run.
        guarded: Those that were skipped because they were replayed too often.
        failed: Those that could not be sent.
        failed_again: Replayed messages that the group failed to consume again, until now.
        copies: Those that were skipped because they are further copies of a dead letter.
        error: The first error on this broker; None after a success.
    """

    broker_name: str
    total: int = 0
    examined: int = 0
    replayed: int = 0
    known: int = 0
    guarded: int = 0
    failed: int = 0
    failed_again: int = 0
    copies: int = 0
    error: RocketMQError | None = None


class LetterCopies:
    """Recognizes further copies of a dead letter, so that its group gets the message once in a run.

    A proxy stores a dead letter, then acknowledges the message (ProducerProcessor upstream). If that fails,
    the message comes again, and becomes another dead letter. A client that restarts in between does the same.
    Copies name the same message, and the same replay of it, if any.
    """

    def __init__(self) -> None:
        # Hashes, because a run can read millions. None for a dead letter that was replayed.
        self._waiting_copies: dict[int, list[DeadLetter] | None] = {}

    def note_replayed(self, letter: DeadLetter) -> None:
        """Note a dead letter that was replayed before."""
        self._waiting_copies[_hash_death(letter)] = None

    def is_copy(self, letter: DeadLetter) -> bool:
        """Whether a dead letter is a copy of an earlier one. If not, it is the original from now on."""
        if letter.origin_id is None:
            return False
        death_hash = _hash_death(letter)
        if death_hash not in self._waiting_copies:
            self._waiting_copies[death_hash] = []
            return False
        waiting_copies = self._waiting_copies[death_hash]
        if waiting_copies is not None:
            waiting_copies.append(letter)
        return True

    def is_settled(self, letter: DeadLetter) -> bool:
        """Return whether the original of a copy was replayed."""
        return self._waiting_copies.get(_hash_death(letter), []) is None

    def end_batch(
        self, replayed_letters: Iterable[DeadLetter], failed_letters: Sequence[DeadLetter]
    ) -> list[DeadLetter]:
        """Note the outcome of originals, and return the copies that need no replay any more."""
        settled_copies: list[DeadLetter] = []
        for letter in replayed_letters:
            settled_copies += self._waiting_copies.get(_hash_death(letter)) or ()
            self.note_replayed(letter)
        for letter in failed_letters:
            self._waiting_copies.pop(_hash_death(letter), None)
        return settled_copies


def _hash_death(letter: DeadLetter) -> int:
    replay_id = letter.message.properties.get(REPLAY_ID_PROPERTY)
    return hash(
        (letter.group, letter.origin_topic, letter.origin_id or letter.message.offset_msg_id, replay_id)
    )


class ReplayedLetters:
    """Finds dead letters whose replay is in a retry topic, also those of other accounts.

    Reads each retry topic once, when the first dead letter of it comes.
    """

    def __init__(
        self,
        queue_reader: QueueReader,
        topics: TopicAdmin,
        letter_routes: Sequence[QueueRoute],
        oldest_ms: int | None,
    ) -> None:
        self._queue_reader, self._topics = queue_reader, topics
        self._letter_routes, self._oldest_ms = letter_routes, oldest_ms or 0
        self._ids_by_topic: dict[str, set[str]] = {}

    def has_replay(self, letter: DeadLetter) -> bool:
        """Return whether the replay of a dead letter is in its retry topic."""
        topic = letter.retry_topic
        if topic not in self._ids_by_topic:
            self._ids_by_topic[topic] = self._read_ids(topic)
        return letter.message.offset_msg_id in self._ids_by_topic[topic]

    def _read_ids(self, topic: str) -> set[str]:
        queue_spans: list[QueueSpan] = []
        for result in self._queue_reader.get_spans(topic, self._find_routes(topic), begin_ms=self._oldest_ms):
            if result.queue_span is not None:
                queue_spans.append(result.queue_span)
            elif not isinstance(result.error, TopicNotExist):
                raise result.error or RocketMQError(f"{topic} is unreadable")
        replayed_ids: set[str] = set()
        for message_page in self._queue_reader.read_pages(topic, queue_spans):
            if message_page.error is not None:
                raise message_page.error
            replayed_ids.update(m.properties.get(REPLAY_ID_PROPERTY, "") for m in message_page.messages)
        return replayed_ids

    def _find_routes(self, topic: str) -> list[QueueRoute]:
        """The brokers of a retry topic. A broker registers a new one, of one queue, up to 30 seconds late."""
        try:
            known_routes = {r.broker_name: r for r in self._topics.get_route(topic).queues}
        except TopicNotExist:
            known_routes = {}
        return [known_routes.get(route.broker_name, route) for route in self._letter_routes]


class FailureWatch:
    """Counts the replayed messages that their group failed to consume again.

    Reads the messages that brokers store after a failure: dead letters, and delayed messages.
    """

    def __init__(
        self, queue_reader: QueueReader, group: str, run_id: str, brokers: Sequence[tuple[str, str]]
    ) -> None:
        self._queue_reader, self._group, self._run_id = queue_reader, group, run_id
        self._failed_ids: dict[str, set[str]] = {broker_name: set() for broker_name, _ in brokers}
        watched_queues = (
            (broker_name, broker_addr, *topic_and_queue)
            for broker_name, broker_addr in brokers
            for topic_and_queue in ((LEVEL_TOPIC, _FIRST_RETRY_QUEUE), (DLQ_PREFIX + group, 0))
        )
        self._next_offsets = {queue: self._find_end(*queue[1:]) for queue in watched_queues}

    def add_retry_queue(self, send_queue: SendQueue) -> None:
        """Watch a queue that replayed messages go to, whose consumers pop them.

        A broker puts a popped message there again if it is not acknowledged (PopReviveService upstream).
        """
        topic, broker_name, broker_addr, queue_id = send_queue
        watched_queue = (broker_name, broker_addr, topic, queue_id)
        if watched_queue not in self._next_offsets:
            self._next_offsets[watched_queue] = self._find_end(broker_addr, topic, queue_id) or 0

    def count_failures(self) -> Mapping[str, int]:
        """Return the number of different messages that failed again until now, by broker name."""
        for watched_queue, next_offset in list(self._next_offsets.items()):
            broker_name, broker_addr, topic, queue_id = watched_queue
            end_offset = self._find_end(broker_addr, topic, queue_id)
            if next_offset is not None and end_offset is not None and end_offset > next_offset:
                queue_span = QueueSpan(broker_name, broker_addr, queue_id, next_offset, end_offset)
                self._read_failures(topic, queue_span)
            self._next_offsets[watched_queue] = end_offset if end_offset is not None else next_offset
        return {broker_name: len(failed_ids) for broker_name, failed_ids in self._failed_ids.items()}

    def _read_failures(self, topic: str, queue_span: QueueSpan) -> None:
        for message_page in self._queue_reader.read_pages(topic, [queue_span]):
            for message in message_page.messages:
                properties = message.properties
                if topic == LEVEL_TOPIC:
                    is_failure = properties.get("REAL_TOPIC") in (
                        RETRY_PREFIX + self._group,
                        DLQ_PREFIX + self._group,
                    )
                else:
                    is_failure = topic.startswith(DLQ_PREFIX) or message.reconsume_times > 0
                if is_failure and properties.get(REPLAY_RUN_PROPERTY) == self._run_id:
                    self._failed_ids[queue_span.broker_name].add(properties.get(REPLAY_ID_PROPERTY, ""))

    def _find_end(self, broker_addr: str, topic: str, queue_id: int) -> int | None:
        """Return the end of a queue; None if the broker does not say, because then it is not watched."""
        try:
            return self._queue_reader.get_end_offset(broker_addr, topic, queue_id)
        except ClientClosed:
            raise
        except RocketMQError:
            return None


class DeadLetterReplay:
    """One run of a replay. `memory` outlives the run if it is saved."""

    def __init__(
        self,
        queue_reader: QueueReader,
        message_sender: MessageSender,
        brokers: BrokerAdmin,
        group: str,
        selection: DeadLetterSelection,
        options: ReplayOptions,
        memory: ReplayMemory,
        run_id: str,
        replayed_letters: ReplayedLetters | None = None,
    ) -> None:
        self._replayed_letters, self._copies = replayed_letters, LetterCopies()
        self._queue_reader, self._message_sender, self._brokers = queue_reader, message_sender, brokers
        self._group, self._selection, self._options = group, selection, options
        self._memory, self._run_id = memory, run_id
        self._progress: dict[str, BrokerReplay] = {}
        self._broken_brokers: set[str] = set()
        self._began_at, self._sent_count, self._watched_at = monotonic(), 0, monotonic()
        self._remaining: int | None = None
        self._watch: FailureWatch

    def run(self, letter_spans: Sequence[DeadLetterSpan]) -> Iterator[BrokerReplay]:
        """Replay dead letters, and yield the progress of a broker after each page of messages."""
        for _, queue_span in letter_spans:
            self._progress.setdefault(queue_span.broker_name, BrokerReplay(queue_span.broker_name))
            self._add_counts(queue_span.broker_name, total=queue_span.offset_count)
        try:
            # Find out which messages of a killed run's batches were stored.
            for pending_batch in list(self._memory.pending.values()):
                if pending_batch.place.broker_name in self._progress:
                    self._resolve_batch(pending_batch)
                    yield self._progress[pending_batch.place.broker_name]
            if self._selection.max_messages is not None:
                self._remaining = max(0, self._selection.max_messages - self._memory.run_count)
            self._watch = FailureWatch(
                self._queue_reader,
                self._group,
                self._run_id,
                sorted({(queue_span.broker_name, queue_span.broker_addr) for _, queue_span in letter_spans}),
            )
            yield from self._replay_places(letter_spans)
            yield from self._watch_until_settled()
            if not self._broken_brokers:
                self._memory.end_run()
        finally:
            self._memory.flush()

    def _replay_places(self, spans: Sequence[DeadLetterSpan]) -> Iterator[BrokerReplay]:
        places_by_queue = {(span.place.broker_name, span.place.queue_id): span.place for span in spans}
        # Those that were replayed are read, too: a later dead letter can be a copy of one.
        queue_spans = [s for _, s in spans if s.broker_name not in self._broken_brokers]
        for message_page in self._queue_reader.read_pages(DLQ_PREFIX + self._group, queue_spans):
            broker_name = message_page.broker_name
            if message_page.error is not None:
                self._break_broker(broker_name, message_page.error)
            if broker_name in self._broken_brokers:
                yield self._progress[broker_name]
                continue
            self._add_counts(broker_name, examined=len(message_page.messages))
            place = places_by_queue[broker_name, message_page.queue_id]
            letters = [DeadLetter(broker_name, message) for message in message_page.messages]
            for letter_batch in self._split_batches(self._choose_letters(place, letters)):
                self._replay_batch(place, letter_batch)
                if monotonic() - self._watched_at >= _WATCH_PERIOD_SECONDS:
                    yield from self._check_failures()
            yield self._progress[broker_name]
            if self._remaining == 0:
                return

    def _choose_letters(self, replay_place: ReplayPlace, letters: Sequence[DeadLetter]) -> list[DeadLetter]:
        """Return the dead letters of a page that are to be replayed, and count those that are skipped."""
        replayed_offsets, max_replays = self._memory.list_replayed(replay_place), self._options.max_replays
        chosen_letters: list[DeadLetter] = []
        for letter in letters:
            if not self._selection.is_match(letter) or len(chosen_letters) == self._remaining:
                continue
            is_known = letter.message.queue_offset in replayed_offsets
            if is_known or (self._replayed_letters and self._replayed_letters.has_replay(letter)):
                self._add_counts(replay_place.broker_name, known=1)
                self._copies.note_replayed(letter)
                if not is_known:
                    self._note_replayed(replay_place, letter)
            elif max_replays is not None and letter.replay_count >= max_replays:
                self._add_counts(replay_place.broker_name, guarded=1)
            elif letter.origin_topic is None:
                self._count_failure(letter, NotApplied("the dead letter does not name its origin topic"))
            elif letter.message.body_error is not None:
                self._count_failure(
                    letter, NotApplied(f"the body is unreadable: {letter.message.body_error}")
                )
            elif self._copies.is_copy(letter):
                self._add_counts(replay_place.broker_name, copies=1)
                if self._copies.is_settled(letter):
                    self._note_replayed(replay_place, letter)
            else:
                chosen_letters.append(letter)
        return chosen_letters

    def _split_batches(self, letters: Sequence[DeadLetter]) -> Iterator[list[DeadLetter]]:
        """Yield batches that go to one topic; small ones if a rate is set, so that they spread evenly."""
        rate = self._options.messages_per_second
        batch_size = PAGE_SIZE if rate is None else max(1, min(PAGE_SIZE, int(rate / 5)))
        for _, topic_letters in groupby(
            letters, lambda letter: letter.origin_topic if self._options.to_origin else letter.retry_topic
        ):
            while batch := list(islice(topic_letters, batch_size)):
                yield batch

    def _replay_batch(self, replay_place: ReplayPlace, letters: Sequence[DeadLetter]) -> None:
        if replay_place.broker_name in self._broken_brokers:
            return
        self._keep_rate(len(letters))
        try:
            send_queue = self._choose_queue(letters[0])
            if letters[0].is_popped and not self._options.to_origin:
                self._watch.add_retry_queue(send_queue)
            begin_offset = self._find_end(send_queue)
        except (NotFound, TopicNotExist) as error:
            for letter in letters:
                self._count_failure(letter, error)
            return
        except ClientClosed:
            raise
        except RocketMQError as error:
            self._break_broker(replay_place.broker_name, error)
            return
        pending_batch = PendingBatch(
            replay_place,
            {letter.message.queue_offset: letter.message.offset_msg_id for letter in letters},
            send_queue,
            begin_offset,
        )
        self._memory.begin_batch(pending_batch)
        outgoing_messages = [self._build_message(send_queue, letter) for letter in letters]
        self._note_outcome(pending_batch, letters, self._message_sender.send_patiently(outgoing_messages))

    def _choose_queue(self, letter: DeadLetter) -> SendQueue:
        """Choose a queue on the broker of a dead letter; in an origin topic also on another broker."""
        if not self._options.to_origin:
            try:
                return self._message_sender.choose_queue(letter.retry_topic, letter.broker_name)
            except TopicNotExist:
                # A broker creates retry topics, and registers a new one up to 30 seconds later.
                send_queue = self._message_sender.choose_queue(letter.message.topic, letter.broker_name)
                return send_queue._replace(topic=letter.retry_topic, queue_id=0)
        try:
            return self._message_sender.choose_queue(letter.origin_topic or "", letter.broker_name)
        except NotFound:
            return self._message_sender.choose_queue(letter.origin_topic or "")

    def _find_end(self, send_queue: SendQueue) -> int:
        """Return the end of a queue; 0 if its topic does not exist yet."""
        try:
            return self._queue_reader.get_end_offset(
                send_queue.broker_addr, send_queue.topic, send_queue.queue_id
            )
        except TopicNotExist:
            return 0

    def _build_message(self, send_queue: SendQueue, letter: DeadLetter) -> OutgoingMessage:
        message = letter.message
        properties = {
            REPLAY_ID_PROPERTY: message.offset_msg_id,
            REPLAY_COUNT_PROPERTY: str(letter.replay_count + 1),
            REPLAY_RUN_PROPERTY: self._run_id,
        }
        if not self._options.to_origin:
            properties["ORIGIN_MESSAGE_ID"] = letter.origin_id or ""
            if letter.retry_topic == RETRY_PREFIX + letter.group:
                # Consumers show this topic (DefaultMQPushConsumerImpl.resetRetryAndNamespace).
                properties["RETRY_TOPIC"] = letter.origin_topic or ""
        return build_copy(message, send_queue, properties)

    def _note_outcome(
        self,
        pending_batch: PendingBatch,
        letters: Sequence[DeadLetter],
        send_results: Sequence[ServerResult[SentMessage]],
    ) -> None:
        broker_name = pending_batch.place.broker_name
        unknown_error = next((r.error for r in send_results if isinstance(r.error, CallError)), None)
        if unknown_error is not None:
            replayed_offsets = self._resolve_batch(pending_batch)
            if len(replayed_offsets) < len(letters):
                self._break_broker(broker_name, unknown_error)
        else:
            replayed_offsets = []
            for letter, (_, _, error) in zip(letters, send_results, strict=True):
                if error is None or is_stored_unsafely(error):
                    replayed_offsets.append(letter.message.queue_offset)
                else:
                    self._count_failure(letter, error)
            self._memory.end_batch(pending_batch, replayed_offsets)
        self._add_counts(broker_name, replayed=len(replayed_offsets))
        if self._remaining is not None:
            self._remaining -= len(replayed_offsets)
        # Copies of replayed dead letters need no replay.
        for copy in self._copies.end_batch(
            [letter for letter in letters if letter.message.queue_offset in replayed_offsets],
            [letter for letter in letters if letter.message.queue_offset not in replayed_offsets],
        ):
            self._note_replayed(pending_batch.place._replace(queue_id=copy.message.queue_id), copy)

    def _note_replayed(self, replay_place: ReplayPlace, letter: DeadLetter) -> None:
        self._memory.note_replayed(replay_place, letter.message.queue_offset, letter.message.offset_msg_id)

    def _resolve_batch(self, pending_batch: PendingBatch) -> list[int]:
        """Read the queue that a batch was sent to. Record and return the offsets of the stored messages."""
        try:
            arrived_offsets = self._find_arrived_offsets(pending_batch)
        except ClientClosed:
            raise
        except RocketMQError as error:
            self._break_broker(pending_batch.place.broker_name, error)
            return []
        self._memory.end_batch(pending_batch, arrived_offsets)
        return arrived_offsets

    def _find_arrived_offsets(self, pending_batch: PendingBatch) -> list[int]:
        """Read the queue that a batch was sent to; return the offsets of the dead letters that arrived."""
        topic, broker_name, broker_addr, queue_id = pending_batch.send_queue
        wait_for_dispatch(self._brokers, broker_addr)
        end_offset = self._queue_reader.get_end_offset(broker_addr, topic, queue_id)
        queue_span = QueueSpan(broker_name, broker_addr, queue_id, pending_batch.begin_offset, end_offset)
        arrived_ids = set()
        for message_page in self._queue_reader.read_pages(topic, [queue_span]):
            if message_page.error is not None:
                raise message_page.error
            arrived_ids |= {message.properties.get(REPLAY_ID_PROPERTY) for message in message_page.messages}
        return [
            offset for offset, letter_id in pending_batch.ids_by_offset.items() if letter_id in arrived_ids
        ]

    def _watch_until_settled(self) -> Iterator[BrokerReplay]:
        """Count failures, also for some time after the last message: a consumer needs time to fail."""
        settled_at = monotonic() + self._options.settle_seconds
        while True:
            yield from self._check_failures()
            remaining_seconds = settled_at - monotonic()
            if remaining_seconds <= 0:
                return
            sleep(min(_WATCH_PERIOD_SECONDS, remaining_seconds))

    def _check_failures(self) -> Iterator[BrokerReplay]:
        failures_by_broker = self._watch.count_failures()
        self._watched_at = monotonic()
        for broker_name, count in failures_by_broker.items():
            self._update_progress(broker_name, failed_again=count)
            yield self._progress[broker_name]
        count, max_failures = sum(failures_by_broker.values()), self._options.max_failures
        if max_failures is not None and count > max_failures:
            replayed_count = sum(broker_replay.replayed for broker_replay in self._progress.values())
            raise NotApplied(
                f"stopped because {count} of {replayed_count} replayed messages failed again "
                f"(the limit is {max_failures})"
            )

    def _keep_rate(self, message_count: int) -> None:
        rate = self._options.messages_per_second
        if rate is not None:
            sleep(max(0.0, self._began_at + self._sent_count / rate - monotonic()))
        self._sent_count += message_count

    def _count_failure(self, letter: DeadLetter, error: RocketMQError) -> None:
        self._add_counts(letter.broker_name, failed=1)
        self._note_error(letter.broker_name, error)

    def _break_broker(self, broker_name: str, error: RocketMQError) -> None:
        """Read and send no more on this broker."""
        self._broken_brokers.add(broker_name)
        self._note_error(broker_name, error)

    def _note_error(self, broker_name: str, error: RocketMQError) -> None:
        self._update_progress(broker_name, error=self._progress[broker_name].error or error)

    def _update_progress(self, broker_name: str, **new_values: Any) -> None:
        self._progress[broker_name] = self._progress[broker_name]._replace(**new_values)

    def _add_counts(self, broker_name: str, **increments: int) -> None:
        counts = self._progress[broker_name]
        self._update_progress(broker_name, **{n: getattr(counts, n) + i for n, i in increments.items()})
