"""ListCache, the cached bodies of topic lists and of the cluster map, and their computation in turns.

A list of a million topics has 40 MB and takes half a second. So it is computed once for all readers, in steps
of less than a millisecond.
"""

from collections.abc import Callable, Generator, Hashable
from io import BytesIO

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.bounded_cache import BoundedCache
from namesrv_core.protocol.codes import TOPIC_SYS_FLAG_UNIT, TOPIC_SYS_FLAG_UNIT_SUB
from namesrv_core.state.placements import QueuePlacement
from namesrv_core.state.route_tables import RouteTables

BodySteps = Generator[None, None, bytes]
"""A computation of a body that pauses between steps of less than a millisecond."""

_MAX_CACHE_BYTES = 64 * 1024 * 1024
_ENTRY_BYTES = 500


class _ListComputation:
    """The computation of a list that began at this generation of the tables. `body` is None until it ends."""

    __slots__ = ("body", "body_steps", "generation", "key", "reader_count")

    def __init__(self, key: Hashable, generation: int, body_steps: BodySteps) -> None:
        self.key = key
        self.generation = generation
        self.body_steps = body_steps
        self.body: bytes | None = None
        self.reader_count = 0

    def take_step(self) -> None:
        try:
            next(self.body_steps)
        except StopIteration as stop:
            self.body = stop.value
            # None means that an earlier step has failed.
            assert self.body is not None


class ListCache:
    """The bodies of lists by key, valid as long as the generation of the tables stays the same."""

    def __init__(self, tables: RouteTables) -> None:
        self._tables = tables
        self._generation = tables.generation
        self._bodies: BoundedCache[Hashable, bytes] = BoundedCache(_MAX_CACHE_BYTES)
        self._computation: _ListComputation | None = None

    def get_body(self, key: Hashable) -> bytes | None:
        """The cached body of a list, if the tables have not changed since."""
        if self._tables.generation != self._generation:
            self._bodies.clear()
            self._generation = self._tables.generation
        return self._bodies.get(key)

    def compute_at_once(self, key: Hashable, body_steps: BodySteps) -> bytes:
        computation = _ListComputation(key, self._tables.generation, body_steps)
        while computation.body is None:
            computation.take_step()
        self._cache_body(computation)
        return computation.body

    def compute_in_steps(self, key: Hashable, begin_steps: Callable[[], BodySteps]) -> BodySteps:
        """Compute the body of a large list in steps, together with all others that wait for a list.

        There is one computation at a time, because each holds a copy of all names. Whoever waits for another
        list helps to finish this one first.
        """
        asked = self._tables.generation
        while True:
            cached = self.get_body(key)
            if cached is not None:
                return cached
            if self._computation is None:
                self._computation = _ListComputation(key, self._tables.generation, begin_steps())
            computation = self._computation
            yield from self._help_computation(computation)
            # An older computation may lack changes that were answered before this request.
            if computation.body is not None and computation.key == key and computation.generation >= asked:
                return computation.body

    def _help_computation(self, computation: _ListComputation) -> Generator[None, None, None]:
        """Take steps until the computation ends. The last reader that leaves before drops it."""
        computation.reader_count += 1
        try:
            while computation.body is None:
                computation.take_step()
                yield
        finally:
            computation.reader_count -= 1
            if self._computation is computation and (
                computation.body is not None or not computation.reader_count
            ):
                self._computation = None
                self._cache_body(computation)

    def _cache_body(self, computation: _ListComputation) -> None:
        if computation.body is not None and computation.generation == self._tables.generation:
            self._bodies.put(computation.key, computation.body, len(computation.body) + _ENTRY_BYTES)


PlacementTest = Callable[[QueuePlacement], bool]
"""Whether the topics of a placement belong to a list."""

_TOPICS_PER_STEP = 1024
_BOTH_UNIT_FLAGS = TOPIC_SYS_FLAG_UNIT | TOPIC_SYS_FLAG_UNIT_SUB


def encode_topics_in_steps(tables: RouteTables, is_listed: PlacementTest | None = None) -> BodySteps:
    """The body TopicList of all topics, or of those whose placement is listed.

    The list has the topics of the first step, without those that are deleted or moved until their own step.
    """
    # BytesIO grows in place, and its `getvalue` returns the buffer without a copy.
    buffer = BytesIO()
    buffer.write(b'{"topicList":[')
    separator = ""
    # In reverse, because the end of a list can be removed in steps.
    remaining = list(reversed(tables.placements_by_topic))
    while remaining:
        yield
        topics = remaining[: -_TOPICS_PER_STEP - 1 : -1]
        del remaining[-_TOPICS_PER_STEP:]
        if is_listed is not None:
            topics = [
                topic
                for topic in topics
                if (placement := tables.placements_by_topic.get(topic)) is not None and is_listed(placement)
            ]
        if topics:
            names_json = separator + ",".join(map(fastjson.encode_json_text, topics))
            buffer.write(fastjson.encode_json(fastjson.EncodedJson(names_json)))
            separator = ","
    buffer.write(b"]}")
    return buffer.getvalue()


def build_cluster_test(tables: RouteTables, cluster_name: str | None) -> PlacementTest:
    names = frozenset(() if cluster_name is None else tables.broker_names_by_cluster.get(cluster_name, ()))
    return lambda placement: not names.isdisjoint(placement.broker_queues)


def is_unit_topic(placement: QueuePlacement) -> bool:
    return bool(_sys_flags_of(placement) & TOPIC_SYS_FLAG_UNIT)


def is_unit_sub_topic(placement: QueuePlacement) -> bool:
    return bool(_sys_flags_of(placement) & TOPIC_SYS_FLAG_UNIT_SUB)


def is_unit_sub_ununit_topic(placement: QueuePlacement) -> bool:
    return _sys_flags_of(placement) & _BOTH_UNIT_FLAGS == TOPIC_SYS_FLAG_UNIT_SUB


def _sys_flags_of(placement: QueuePlacement) -> int:
    """The sysFlag of a topic's first broker."""
    return next(iter(placement.broker_queues.values())).topic_sys_flag
