"""Plans the transfer of a topic: which queue goes where, and at which message each queue continues."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import TopicNotExist
from nsadmin.client import AdminClient
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.brokers import wait_for_dispatch
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.message_sender import SendQueue
from nsadmin.client.messages.queue_reader import MessagePlace, QueueSpan
from nsadmin.client.results import NotApplied, NotFound
from nsadmin.client.topic_routes import QueueRoute
from nsadmin.console.phrases import abbreviate_names
from nsadmin.operations.copy_source import SourcePlace, SourceQueue
from nsadmin.operations.transfer.copy_search import BACKWARD_SCAN, LastCopy, find_last_copies
from nsadmin.operations.transfer.message_rules import SavedRules, describe_rules
from nsadmin.operations.transfer.queue_map import QueueId, map_queues
from nsadmin.operations.transfer.transfer_record import (
    QueueRecord,
    TransferRecord,
    TransferStore,
    make_source_queue,
    record_key,
)


class TopicPair(NamedTuple):
    """A topic, and the topic that gets its messages."""

    topic: str
    target_topic: str


class TransferClusters(NamedTuple):
    """The clients of both clusters, and the words of the operator for --from and --to."""

    source: AdminClient
    target: AdminClient
    source_text: str
    target_text: str

    def advise(self, noun: str, names: Iterable[str], *options: str) -> str:
        """Return the command that transfers `topics`, `groups` or `messages` of these names."""
        ends = ("--from", self.source_text, "--to", self.target_text, *options)
        return f"`{quote_command('transfer', noun, ','.join(names), *ends)}`"

    def advise_messages(self, topics: Iterable[str], *options: str) -> str:
        """Say how to copy the messages first. Within one cluster, a topic can only get another name."""
        if self.source_text == self.target_text and not options:
            return f"source and target are both {self.source_text}: pass another --to, or --map-topic OLD=NEW"
        return f"run {self.advise('messages', topics, *options)} first"

    def find_missing(self, pairs: Iterable[TopicPair]) -> list[TopicPair]:
        """Return the pairs of which the source has the topic, and the target not."""
        source_topics, target_topics = self.source.topics.list_names(), self.target.topics.list_names()
        return [p for p in pairs if p.topic in source_topics and p.target_topic not in target_topics]

    def require_topics(self, pairs: Iterable[TopicPair]) -> None:
        """Raise NotFound, with the command that creates the topics that the target lacks."""
        missing = self.find_missing(pairs)
        if not missing:
            return
        names = abbreviate_names([pair.target_topic for pair in missing], 5)
        same_names = [pair.topic for pair in missing if pair.topic == pair.target_topic]
        remedy = (
            f"run {self.advise('topics', same_names)} first"
            if same_names
            else "create it there, see `nsadmin updateTopic --help`"
        )
        raise NotFound(f"the target has no topic {names}: {remedy}")


class PlannedQueue(NamedTuple):
    """A source queue as copies name it, the target queue, and how far the copies came.

    `end_offset` is the end of the source queue when the plan was made. The queue `has_progress` if an earlier
    run copied it.
    """

    source: SourceQueue
    send_queue: SendQueue
    record: QueueRecord
    end_offset: int
    has_progress: bool

    @property
    def queue(self) -> QueueId:
        """The source queue within its topic."""
        return QueueId(self.source.broker_name, self.source.queue_id)

    @property
    def remaining_count(self) -> int:
        """The source messages that were not copied yet, before any filter."""
        return max(0, self.end_offset - self.record.next_offset)


class TopicPlan(NamedTuple):
    """The transfer of one topic, and where its record is kept.

    `unlisted` are the records of queues that were copied, and that the source does not list now.
    """

    topic_pair: TopicPair
    queues: tuple[PlannedQueue, ...]
    store: TransferStore
    rules: SavedRules
    unlisted: Mapping[QueueId, QueueRecord]

    @property
    def missing_queues(self) -> NotApplied | None:
        """What the plan leaves out."""
        if not self.unlisted:
            return None
        return NotApplied(
            f"{self.topic_pair.topic}: the source does not list {', '.join(map(str, sorted(self.unlisted)))} "
            "now: run the command again when the broker is registered"
        )


class TopicPlanner:
    """Plans transfers of messages that were stored since `begin_ms`, in ms since 1970.

    With `merges_queues`, source queues share target queues if there are too few. `write_remark` gets a line
    before a long search of the target.
    """

    def __init__(
        self,
        clusters: TransferClusters,
        rules: SavedRules,
        begin_ms: int = 0,
        *,
        merges_queues: bool = False,
        write_remark: Callable[[str], None] | None = None,
    ) -> None:
        self._clusters, self._rules, self._write_remark = clusters, rules, write_remark
        self._begin_ms, self._merges_queues = begin_ms, merges_queues

    def plan_topic(self, pair: TopicPair) -> TopicPlan:
        """Plan a topic. Nothing is changed.

        Raises:
            NotFound: A cluster does not have the topic.
            NotApplied: The topic cannot be copied there; the text says what to do.
            RocketMQError: A server did not answer.
        """
        source_routes = _list_routes(self._clusters.source, pair.topic, "source")
        routes = _list_routes(self._clusters.target, pair.target_topic, "target")
        _require_other_topic(pair, source_routes, routes)
        cluster = _find_cluster(source_routes)
        store = TransferStore(self._clusters.target, record_key(cluster, *pair))
        record = store.load()
        if record is not None and record.rules != self._rules:
            began = f"with other filters ({describe_rules(record.rules)}): pass the same ones"
            if not record.rules:
                began = "without filters: pass none"
            raise NotApplied(
                f"{pair.topic}: the transfer began {began}, or copy to another topic with --map-topic"
            )
        source_spans = self._read_source_spans(pair.topic, source_routes)
        send_queues = {
            QueueId(queue.broker_name, queue.queue_id): queue
            for queue in self._clusters.target.message_sender.list_queues(pair.target_topic)
        }
        known = record.queues if record is not None else {}
        mapping = map_queues(
            pair.target_topic,
            source_spans,
            send_queues,
            {queue: known[queue].target for queue in known},
            merges_queues=self._merges_queues,
        )
        require_targets(pair.target_topic, mapping.values(), send_queues)
        sources = {queue: make_source_queue(cluster, pair.topic, queue) for queue in mapping}
        records = self._find_positions(pair.target_topic, routes, mapping, sources, source_spans, record)
        queues = tuple(
            PlannedQueue(
                sources[queue],
                send_queues[target],
                records[queue],
                source_spans[queue].end_offset,
                queue in known,
            )
            for queue, target in mapping.items()
        )
        unlisted = {queue: known[queue] for queue in known if queue not in source_spans}
        return TopicPlan(pair, queues, store, self._rules, unlisted)

    def _read_source_spans(self, topic: str, routes: Sequence[QueueRoute]) -> dict[QueueId, QueueSpan]:
        results = self._clusters.source.queue_reader.get_spans(topic, routes, begin_ms=self._begin_ms)
        spans = [_require_span(result.queue_span, result.error) for result in results]
        if self._begin_ms > 0:
            # The search may answer an earlier message: see QueueReader.get_spans.
            firsts: dict[QueueId, int] = {}
            for page in self._clusters.source.queue_reader.read_pages(
                topic,
                [span._replace(end_offset=min(span.end_offset, span.begin_offset + 32)) for span in spans],
            ):
                if page.messages:
                    firsts.setdefault(QueueId(page.broker_name, page.queue_id), page.messages[0].queue_offset)
            spans = [
                span._replace(
                    begin_offset=firsts.get(QueueId(span.broker_name, span.queue_id), span.end_offset)
                )
                for span in spans
            ]
        return {QueueId(span.broker_name, span.queue_id): span for span in spans}

    def _find_positions(
        self,
        target_topic: str,
        target_routes: Sequence[QueueRoute],
        mapping: Mapping[QueueId, QueueId],
        sources: Mapping[QueueId, SourceQueue],
        source_spans: Mapping[QueueId, QueueSpan],
        record: TransferRecord | None,
    ) -> dict[QueueId, QueueRecord]:
        """Return how far each source queue came: the copies in the target decide, then the record."""
        target = self._clusters.target
        for addr in sorted({route.broker_addrs[0] for route in target_routes if route.has_master}):
            wait_for_dispatch(target.brokers, addr)
        target_spans = {
            QueueId(span.broker_name, span.queue_id): span
            for span in (
                _require_span(result.queue_span, result.error)
                for result in target.queue_reader.get_spans(target_topic, target_routes)
            )
        }
        require_targets(target_topic, mapping.values(), target_spans)
        known_queues = dict(record.queues) if record is not None else {}
        tails = _list_tails(mapping, target_spans, known_queues)
        count = sum(span.end_offset - span.begin_offset for span in tails)
        if self._write_remark is not None and count >= BACKWARD_SCAN:
            messages = f"the newest {count} messages of {target_topic} in the target"
            self._write_remark(f"searching {messages} for copies of an earlier run")
        copies = find_last_copies(target, target_topic, tails)
        positions = {}
        for queue, target_queue in mapping.items():
            known, span = known_queues.get(queue), target_spans[target_queue]
            last_copy = copies.get(sources[queue])
            if known is not None and _was_recreated(known, span, last_copy):
                whole_copies = find_last_copies(target, target_topic, [span])
                last_copy = whole_copies.get(sources[queue])
                known = known._replace(next_offset=0, target_begin=span.begin_offset, target_end=0)
            positions[queue] = _make_position(
                target_queue, source_spans[queue].begin_offset, span, known, last_copy
            )
            if last_copy is not None:
                self._require_same_source(source_spans[queue], last_copy.source)
        return positions

    def _require_same_source(self, source_span: QueueSpan, last_source: SourcePlace) -> None:
        """Raise NotApplied if the source queue does not have the message that was copied last."""
        queue = last_source.queue
        message_place = MessagePlace(
            source_span.broker_addr,
            MessageQueue(queue.topic, queue.broker_name, queue.queue_id),
            last_source.offset,
        )
        queue_reader = self._clusters.source.queue_reader
        [store_time] = queue_reader.get_store_times([message_place])
        if store_time.value() is None:
            # It expired, or the queue is shorter. The end may have moved on since the span was read.
            end_offset = queue_reader.get_end_offset(source_span.broker_addr, queue.topic, queue.queue_id)
            is_same = last_source.offset < end_offset
        else:
            is_same = store_time.value() == last_source.store_ms
        if not is_same:
            raise NotApplied(
                f"{queue.topic}: {queue.broker_name}/{queue.queue_id} does not have the message that was "
                "copied last. The topic was deleted and created again, or --from names another cluster: copy "
                "it to another topic with --map-topic OLD=NEW"
            )


def open_store(clusters: TransferClusters, pair: TopicPair) -> TransferStore:
    """Return the place of the record of a transfer. Raises NotFound if the source does not have the topic."""
    cluster = _find_cluster(_list_routes(clusters.source, pair.topic, "source"))
    return TransferStore(clusters.target, record_key(cluster, *pair))


def require_targets(target_topic: str, wanted: Iterable[QueueId], listed: Collection[QueueId]) -> None:
    """Raise NotApplied if a name server does not list target queues: their brokers may just register."""
    missing = sorted({str(target) for target in wanted if target not in listed})
    if missing:
        raise NotApplied(
            f"{target_topic}: the target queues {', '.join(missing)} are not writable "
            f"now: see `{quote_command('topicRoute', target_topic)}`"
        )


def _find_cluster(routes: Iterable[QueueRoute]) -> str:
    return next((route.cluster_name for route in routes if route.cluster_name), "")


def _list_routes(admin: AdminClient, topic: str, side_name: str) -> Sequence[QueueRoute]:
    try:
        routes = admin.topics.get_route(topic).queues
    except TopicNotExist:
        is_pattern = side_name == "source" and "*" in topic
        advice = ": write names, a pattern has no effect here" if is_pattern else ""
        raise NotFound(f'the {side_name} has no topic "{topic}"{advice}') from None
    if any(route.logical_queues is not None for route in routes):
        raise NotApplied(
            f'"{topic}" is a static topic on the {side_name}: static topics cannot be transferred'
        )
    return routes


def _require_other_topic(
    pair: TopicPair, source_routes: Iterable[QueueRoute], target_routes: Iterable[QueueRoute]
) -> None:
    source_addrs = {addr for route in source_routes for addr in route.broker_addrs.values()}
    target_addrs = {addr for route in target_routes for addr in route.broker_addrs.values()}
    if pair.topic == pair.target_topic and source_addrs & target_addrs:
        raise NotApplied(
            f"{pair.topic}: source and target are the same topic: pass another --to, or --map-topic OLD=NEW"
        )


def _require_span(queue_span: QueueSpan | None, error: Exception | None) -> QueueSpan:
    if queue_span is None:
        raise error or RuntimeError("no span")
    return queue_span


def _list_tails(
    mapping: Mapping[QueueId, QueueId],
    target_spans: Mapping[QueueId, QueueSpan],
    known_queues: Mapping[QueueId, QueueRecord],
) -> list[QueueSpan]:
    """The parts of target queues that can have copies that the record does not know."""
    begins: dict[QueueId, int] = {}
    for queue, target in mapping.items():
        known, span = known_queues.get(queue), target_spans[target]
        begin_offset = (
            span.end_offset - BACKWARD_SCAN
            if known is None or known.target_end > span.end_offset
            else max(known.target_begin, known.target_end - 1)
        )
        begins[target] = max(span.begin_offset, min(begin_offset, begins.get(target, begin_offset)))
    return [target_spans[target]._replace(begin_offset=begin) for target, begin in begins.items()]


def _was_recreated(known: QueueRecord, span: QueueSpan, last_copy: LastCopy | None) -> bool:
    """Whether the target queue lost copies that the record knows, so that it must be read completely."""
    if known.target_end > span.end_offset:
        return True
    has_copies = known.target_end > known.target_begin
    is_last_copy_kept = known.target_end - 1 >= span.begin_offset
    return has_copies and is_last_copy_kept and last_copy is None


def _make_position(
    target: QueueId, begin_offset: int, span: QueueSpan, known: QueueRecord | None, last_copy: LastCopy | None
) -> QueueRecord:
    copied_offset = 0 if last_copy is None else last_copy.source.offset + 1
    if known is None:
        # Copies without a record can be anywhere in the target queue.
        begin = span.end_offset if last_copy is None else span.begin_offset
        end = span.end_offset if last_copy is None else last_copy.target_offset + 1
        return QueueRecord(target, begin_offset, max(begin_offset, copied_offset), begin, end)
    return known._replace(
        next_offset=max(known.begin_offset, known.next_offset, copied_offset),
        target_end=known.target_end
        if last_copy is None
        else max(known.target_end, last_copy.target_offset + 1),
    )
