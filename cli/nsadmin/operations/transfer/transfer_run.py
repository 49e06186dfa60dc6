"""TransferRun: copies the messages of planned topics, batch by batch and queue by queue.

Rule: one batch of a queue is under way at a time. After a failure the target queue decides what was stored.
"""

from collections.abc import Generator, Sequence
from typing import NamedTuple
from uuid import uuid4

from namesrv_core.errors import NotSupported, RequestError, ResponseCode, RocketMQError
from nsadmin.client.brokers.brokers import wait_for_dispatch
from nsadmin.client.messages.message_sender import OutgoingMessage
from nsadmin.client.messages.message_streams import StoredBatch
from nsadmin.client.messages.queue_reader import QueueSpan
from nsadmin.client.results import ClientClosed, NotApplied, ServerResult
from nsadmin.operations.procedure_clock import SYSTEM_CLOCK, ProcedureClock
from nsadmin.operations.transfer.copy_queue import MAX_BATCH_MESSAGES, CopyQueue
from nsadmin.operations.transfer.copy_search import LastCopy, find_last_copies, is_copy_replaced
from nsadmin.operations.transfer.message_rules import EVERY_MESSAGE, MessageRules
from nsadmin.operations.transfer.source_reader import TopicQueue, open_reader
from nsadmin.operations.transfer.topic_plan import (
    PlannedQueue,
    TopicPair,
    TopicPlan,
    TopicPlanner,
    TransferClusters,
)
from nsadmin.operations.transfer.transfer_record import TransferRecord

GIVE_UP_SECONDS = 300.0
"""How long a queue may fail before the run gives it up, unless it follows."""
_SAVE_PERIOD_SECONDS, _RETRY_SECONDS, _IDLE_SECONDS = 10.0, 1.0, 0.2


class TransferOptions(NamedTuple):
    """How messages are copied: also those to come if it `follows`, and at most `messages_per_second`."""

    follows: bool = False
    messages_per_second: float | None = None
    rules: MessageRules = EVERY_MESSAGE


class TransferProgress(NamedTuple):
    """How far a run came. `examined_count` source messages are copied, skipped or lost.

    `error` is the last one of a queue that waits for another attempt.
    """

    examined_count: int
    copied_count: int
    error: RocketMQError | None


class TransferRun:
    """One run of a transfer. `planner` plans queues that appear later."""

    def __init__(
        self,
        clusters: TransferClusters,
        planner: TopicPlanner,
        plans: Sequence[TopicPlan],
        options: TransferOptions,
        clock: ProcedureClock = SYSTEM_CLOCK,
    ) -> None:
        self._clusters, self._planner, self._options, self._clock = clusters, planner, options, clock
        self._plans = {plan.topic_pair.topic: plan for plan in plans}
        self._run_id = uuid4().hex
        self._reader = open_reader(clusters.source, self._plans, options.rules)
        self._queues: dict[TopicQueue, CopyQueue] = {}
        self._began_at = self._saved_at = clock.read_seconds()
        self._sent_count = 0
        self._is_owner, self._planned_at = True, 0.0

    @property
    def queues(self) -> list[CopyQueue]:
        """The queues, in the order of topics, brokers and ids."""
        return [self._queues[queue] for queue in sorted(self._queues)]

    def run(self) -> Generator[TransferProgress, None, None]:
        """Copy messages, and yield the progress after each round of batches. Closing the iterator stops it.

        Raises:
            NotApplied: The record cannot be saved at first, or another run continues the transfer.
            RocketMQError: A server did not answer at first.
        """
        for plan in self._plans.values():
            for planned in plan.queues:
                self._add_queue(plan.topic_pair, planned)
        for plan in self._plans.values():
            error = plan.store.save(self._make_record(plan))
            if error is not None and plan.store.load() != self._make_record(plan):
                raise error
        self._reader.start()
        try:
            while not self._is_done():
                self._copy_round()
                if self._clock.read_seconds() - self._saved_at >= _SAVE_PERIOD_SECONDS:
                    for plan in self._plans.values():
                        self._require_owner(plan)
                    self._save_records()
                yield self._measure_progress()
        finally:
            self._reader.stop()
            if self._is_owner:
                self._save_records()

    def _add_queue(self, pair: TopicPair, planned: PlannedQueue) -> None:
        topic_queue = TopicQueue(pair.topic, planned.queue)
        self._queues[topic_queue] = CopyQueue(planned, topic_queue, planned.send_queue, planned.record)
        end_offset = None if self._options.follows else planned.end_offset
        self._reader.add_queue(topic_queue, planned.record.next_offset, end_offset)

    def _is_done(self) -> bool:
        return all(
            queue.is_failed or (queue.is_empty and not queue.is_unsettled and self._reader.is_drained(place))
            for place, queue in self._queues.items()
        )

    def _copy_round(self) -> None:
        """Send one batch of each queue that has messages."""
        if self._options.follows:
            self._add_new_queues()
        now_seconds = self._clock.read_seconds()
        due_queues = [q for q in self._queues.values() if not q.is_failed and q.retry_at <= now_seconds]
        for queue in due_queues:
            if queue.is_unsettled:
                self._settle_queue(queue)
            if not queue.is_unsettled:
                self._fill_queue(queue)
        ready_queues = [queue for queue in due_queues if not queue.is_unsettled and not queue.is_empty]
        if not ready_queues:
            self._reader.wait_for_page([queue.topic_queue for queue in due_queues], _IDLE_SECONDS)
            return
        batches = [(queue, queue.choose_batch()) for queue in ready_queues]
        self._keep_rate(sum(len(batch) for _, batch in batches))
        for (queue, batch), result in zip(batches, self._send_batches(batches), strict=True):
            self._note_result(queue, batch, result)

    def _fill_queue(self, queue: CopyQueue) -> None:
        while queue.waiting_count < MAX_BATCH_MESSAGES:
            page = self._reader.take_page(queue.topic_queue)
            if page is None:
                break
            queue.add_page(page)
        error = self._reader.find_error(queue.topic_queue)
        if queue.is_empty and error is not None:
            self._note_failure(queue, error)
        elif queue.is_empty and queue.error is not None:
            queue.error, queue.failing_since = None, None

    def _keep_rate(self, count: int) -> None:
        rate = self._options.messages_per_second
        if rate is not None:
            due_at = self._began_at + self._sent_count / rate
            self._clock.pause_seconds(max(0.0, due_at - self._clock.read_seconds()))
            self._sent_count += count

    def _send_batches(
        self, batches: Sequence[tuple[CopyQueue, Sequence[OutgoingMessage]]]
    ) -> list[ServerResult[StoredBatch]]:
        streams = self._clusters.target.message_streams
        try:
            return streams.send_batches([batch for _, batch in batches])
        except ValueError:
            return [self._send_alone(queue, batch) for queue, batch in batches]

    def _send_alone(self, queue: CopyQueue, batch: Sequence[OutgoingMessage]) -> ServerResult[StoredBatch]:
        """Send one batch; a message that no request can hold is refused like one that a broker refuses."""
        try:
            [result] = self._clusters.target.message_streams.send_batches([batch])
        except ValueError as error:
            refusal = RequestError(str(error), ResponseCode.MESSAGE_ILLEGAL)
            return ServerResult(queue.send_queue.broker_addr, None, refusal)
        return result

    def _note_result(
        self, queue: CopyQueue, batch: Sequence[OutgoingMessage], result: ServerResult[StoredBatch]
    ) -> None:
        stored_batch, error = result.result, result.error
        if stored_batch is not None and stored_batch.begin_offset >= queue.record.target_end:
            queue.confirm_batch(len(batch), stored_batch.begin_offset + len(batch))
            queue.max_batch = MAX_BATCH_MESSAGES
        elif stored_batch is not None:
            # The target lost messages that it had confirmed, such as after a failover: copy them again.
            queue.lost_from, queue.is_unsettled = stored_batch.begin_offset, True
        elif isinstance(error, RequestError) and error.code == ResponseCode.MESSAGE_ILLEGAL:
            self._note_refusal(queue, len(batch), error)
        elif error is not None:
            queue.is_unsettled = True
            self._note_failure(queue, error)

    def _note_refusal(self, queue: CopyQueue, count: int, error: RequestError) -> None:
        """Send the messages of a refused batch one by one. A message that is refused alone ends the queue."""
        if count > 1:
            queue.max_batch = 1
            return
        queue.error = NotApplied(f"the target refuses {queue.describe_next()}: {error}")
        queue.is_failed = True

    def _note_failure(self, queue: CopyQueue, error: RocketMQError) -> None:
        if isinstance(error, ClientClosed):
            raise error
        now_seconds = self._clock.read_seconds()
        queue.error, queue.retry_at = error, now_seconds + _RETRY_SECONDS
        queue.failing_since = now_seconds if queue.failing_since is None else queue.failing_since
        is_over = not self._options.follows and now_seconds - queue.failing_since >= GIVE_UP_SECONDS
        queue.is_failed = is_over or isinstance(error, NotSupported)

    def _settle_queue(self, queue: CopyQueue) -> None:
        """Find out what the target stored before a failure, and continue after it."""
        try:
            send_queues = self._clusters.target.message_sender.list_queues(queue.send_queue.topic)
            present = next(
                (
                    target
                    for target in send_queues
                    if (target.broker_name, target.queue_id) == tuple(queue.record.target)
                ),
                None,
            )
            if present is None:
                raise NotApplied(f"the target queue {queue.record.target} is not writable")
            queue.send_queue = present
            wait_for_dispatch(self._clusters.target.brokers, present.broker_addr)
            end = self._clusters.target.queue_reader.get_end_offset(
                present.broker_addr, present.topic, present.queue_id
            )
            last_copy = self._search_copies(queue, end if queue.lost_from is None else queue.lost_from)
        except RocketMQError as error:
            self._note_failure(queue, error)
            return
        if last_copy is not None and queue.record.target_end <= last_copy.target_offset:
            queue.copied_count += last_copy.copy_count
        self._rewind_queue(queue, last_copy)

    def _search_copies(self, queue: CopyQueue, end: int) -> LastCopy | None:
        """Return the last copy before this target offset. Known copies are skipped."""
        record, target, admin = queue.record, queue.send_queue, self._clusters.target
        begin = record.target_end if record.target_end <= end else record.target_begin
        span = QueueSpan(target.broker_name, target.broker_addr, target.queue_id, begin, end)
        if begin > record.target_begin and is_copy_replaced(
            admin, target.topic, span._replace(begin_offset=begin - 1, end_offset=begin), queue.source
        ):
            begin = record.target_begin
        copies = find_last_copies(admin, target.topic, [span._replace(begin_offset=begin)])
        if begin == record.target_begin < record.target_end and queue.source not in copies:
            queue.record = record._replace(next_offset=record.begin_offset, target_end=record.target_begin)
        return copies.get(queue.source)

    def _rewind_queue(self, queue: CopyQueue, copy: LastCopy | None) -> None:
        if copy is not None:
            queue.record = queue.record._replace(
                next_offset=copy.source.offset + 1, target_end=copy.target_offset + 1
            )
        queue.is_unsettled, queue.lost_from = False, None
        queue.forget_read()
        self._reader.rewind(queue.topic_queue, queue.record.next_offset)

    def _add_new_queues(self) -> None:
        """Plan and add the queues that the source topics got since the start."""
        new_topics = {queue.topic for queue in self._reader.take_new_queues() - self._queues.keys()}
        now_seconds = self._clock.read_seconds()
        if not new_topics or now_seconds - self._planned_at < _RETRY_SECONDS:
            return
        self._planned_at = now_seconds
        for topic in new_topics:
            try:
                plan = self._planner.plan_topic(self._plans[topic].topic_pair)
            except (ClientClosed, NotApplied):
                raise
            except RocketMQError:
                # A server does not answer now: the next round tries again.
                continue
            for planned in plan.queues:
                if TopicQueue(topic, planned.queue) not in self._queues:
                    self._add_queue(plan.topic_pair, planned)
            self._save_records()

    def _save_records(self) -> None:
        """Save how far the queues came. A name server that does not answer gets the next record."""
        self._saved_at = self._clock.read_seconds()
        for plan in self._plans.values():
            plan.store.save(self._make_record(plan))

    def _require_owner(self, plan: TopicPlan) -> None:
        try:
            record = plan.store.load()
        except RocketMQError:
            return
        if record is not None and record.run_id != self._run_id:
            self._is_owner = False
            raise NotApplied(
                f"{plan.topic_pair.topic}: another nsadmin continues this transfer: stop one of them"
            )

    def _make_record(self, plan: TopicPlan) -> TransferRecord:
        return TransferRecord(
            self._run_id,
            plan.rules,
            {
                **plan.unlisted,
                **{
                    queue.planned_queue.queue: queue.record
                    for queue in self._queues.values()
                    if queue.topic_queue.topic == plan.topic_pair.topic
                },
            },
        )

    def _measure_progress(self) -> TransferProgress:
        queues = list(self._queues.values())
        return TransferProgress(
            sum(queue.record.next_offset - queue.planned_queue.record.next_offset for queue in queues),
            sum(queue.copied_count for queue in queues),
            next((q.error for q in queues if q.error is not None and not q.is_failed), None),
        )
