"""Asking: what brokers tell of themselves and of consumer groups, in rounds of requests at an own pace.

A broker that does not tell is told of as well: nothing that is known of it by then is said again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice, zip_longest
from typing import NamedTuple, TypeVar

from namesrv_core.errors import RocketMQError
from namesrv_core.events import BrokerPollFailed, BrokerRuntime, BrokersPolled, ConsumerLag, Event, TopicLag
from nsadmin.client import AdminClient, targets
from nsadmin.client.brokers import RuntimeInfo
from nsadmin.client.committed import CommittedOffsets
from nsadmin.client.consumers import ConsumeStats, QueueLag
from nsadmin.client.groups import is_system
from nsadmin.client.results import error_text, is_unreachable
from nsadmin.operations.collector.pace import Pace
from nsadmin.operations.collector.polling import Stopped

T = TypeVar("T")

_HOUR = 3_600_000
_AT_A_TIME = 16

Say = Callable[[Sequence[Event]], None]


class Place(NamedTuple):
    """A broker process, as events name it."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str


Pair = tuple[Place, str]
"""A broker and a consumer group."""


class Questions(NamedTuple):
    """What brokers are asked for."""

    runtime: bool = False
    lag: bool = False


class Asker:
    """Asks through one client, with at most `in_flight` requests on the way, and 16; `timer` is steady ms.

    `say` is handed the events of each few answers, so that none waits for the end of a round.
    """

    def __init__(
        self,
        admin: AdminClient,
        questions: Questions,
        pace: Pace,
        in_flight: int,
        say: Say,
        timer: Callable[[], int],
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._admin = admin
        self._questions = questions
        self._pace = pace
        self._size = max(1, min(in_flight, pace.per_second, _AT_A_TIME))
        self._say = say
        self._timer = timer
        self._is_stopped = is_stopped
        self._told: dict[Pair, tuple[TopicLag, ...]] = {}
        self._told_all_at: int | None = None

    def round(self, places: Sequence[Place]) -> BrokersPolled:
        """Ask all brokers; what it came to, said as well. Stopped."""
        begun = self._timer()
        silent: set[Place] = set()
        groups = 0
        if self._questions.runtime:
            silent |= self._ask_runtime(places)
        if self._questions.lag:
            mute, groups = self._ask_lag(places, begun)
            silent |= mute
        done = BrokersPolled(len(places), len(silent), groups, self._timer() - begun)
        self._say([done])
        return done

    def _ask_runtime(self, places: Sequence[Place]) -> set[Place]:
        silent = set()
        for some in self._in_parts(places):
            with self._turn(len(some)):
                answers = self._admin.brokers.runtime_infos(place.broker_addr for place in some)
            silent |= {place for place, answer in zip(some, answers, strict=True) if answer.error}
            self._say(
                [
                    runtime(place, answer.result)
                    if answer.result
                    else failure(place, "runtime", answer.error)
                    for place, answer in zip(some, answers, strict=True)
                ]
            )
        return silent

    def _ask_lag(self, places: Sequence[Place], begun: int) -> tuple[set[Place], int]:
        """Those that did not tell their groups; and how many groups there are, each on each broker."""
        if self._told_all_at is None or begun - self._told_all_at >= _HOUR:
            self._told, self._told_all_at = {}, begun
        told: dict[Pair, tuple[TopicLag, ...]] = {}
        silent: set[Place] = set()
        count = 0
        for some in self._in_parts(_one_of_each(places), 2):
            found = self._groups(some)
            silent |= set(some) - found.keys()
            # Brokers by turns: none is asked for all its groups at once.
            pairs = _by_turns({place: names for place, (names, _) in found.items()})
            count += len(pairs)
            gone: dict[Place, RocketMQError] = {}
            for part in self._in_parts(pairs):
                told |= self._lags(part, {place: committed for place, (_, committed) in found.items()}, gone)
        self._told = told
        return silent, count

    def _groups(self, places: Sequence[Place]) -> dict[Place, tuple[list[str], CommittedOffsets]]:
        """The groups of each broker that told them, and what they have committed there."""
        addrs = [place.broker_addr for place in places]
        with self._turn(2 * len(places)):
            tables = self._admin.groups.tables(map(targets.at, addrs))
            offsets = self._admin.consumers.committed_each(addrs)
        found = {}
        for place, table, committed in zip(places, tables, offsets, strict=True):
            if table.result is None or committed.result is None:
                self._say([failure(place, "groups", table.error or committed.error)])
            else:
                found[place] = [name for name in table.result if not is_system(name)], committed.result
        return found

    def _lags(
        self,
        pairs: Sequence[Pair],
        committed: Mapping[Place, CommittedOffsets],
        gone: dict[Place, RocketMQError],
    ) -> dict[Pair, tuple[TopicLag, ...]]:
        """Whoever was `gone` a moment ago is not waited for again."""
        ready = [pair for pair in pairs if pair[0] not in gone]
        events: list[Event] = [
            failure(place, "lag", gone[place], name) for place, name in pairs if place in gone
        ]
        with self._turn(len(ready)):
            answers = self._admin.consumers.stats_each([(place.broker_addr, name) for place, name in ready])
        told = {}
        for (place, name), answer in zip(ready, answers, strict=True):
            if answer.result is None:
                events.append(failure(place, "lag", answer.error, name))
                if answer.error is not None and is_unreachable(answer.error):
                    gone[place] = answer.error
                continue
            lags = told[place, name] = lags_of(name, answer.result, committed[place])
            if self._told.get((place, name)) != lags or any(item.lag for item in lags):
                events.append(ConsumerLag(*place, name, lags))
        self._say(events)
        return told

    def _in_parts(self, items: Sequence[T], each: int = 1) -> Iterator[list[T]]:
        """As many at a time as may be under way; `each` of them takes so many requests."""
        left = iter(items)
        while some := list(islice(left, max(1, self._size // each))):
            yield some

    @contextmanager
    def _turn(self, count: int) -> Iterator[None]:
        with self._pace.turn(count):
            if self._is_stopped():
                raise Stopped
            yield


def _one_of_each(places: Sequence[Place]) -> list[Place]:
    """Of each group of brokers the one of the lowest id, the master where there is one."""
    first: dict[tuple[str, str], Place] = {}
    for place in sorted(places):
        first.setdefault(place[:2], place)
    return list(first.values())


def _by_turns(names: Mapping[Place, Sequence[str]]) -> list[Pair]:
    """Each broker's first, then each one's second, and so on."""
    turns = zip_longest(*([(place, name) for name in each] for place, each in names.items()))
    return [pair for turn in turns for pair in turn if pair is not None]


def failure(
    place: Place, question: str, error: RocketMQError | None, group: str | None = None
) -> BrokerPollFailed:
    """A broker that did not tell."""
    return BrokerPollFailed(*place, question, error_text(error) if error else "no answer", group)


def runtime(place: Place, info: RuntimeInfo) -> BrokerRuntime:
    """What a broker told of itself."""
    earliest = info.integer("earliestMessageTimeStamp")
    return BrokerRuntime(
        *place,
        info.version,
        info.integer("bootTimestamp"),
        info.is_active,
        _rounded(info.number("putTps"), 2),
        _rounded(info.out_tps, 2),
        info.integer("msgPutTotalTodayNow"),
        info.integer("msgGetTotalTodayNow"),
        _rounded(info.number("commitLogDiskRatio"), 4),
        info.integer("commitLogMinOffset"),
        info.integer("commitLogMaxOffset"),
        info.integer("dispatchBehindBytes"),
        info.integer("sendThreadPoolQueueSize"),
        info.integer("sendThreadPoolQueueHeadWaitTimeMills"),
        info.integer("pullThreadPoolQueueSize"),
        info.integer("pageCacheLockTimeMills"),
        # An empty store says -1.
        earliest if earliest is not None and earliest >= 0 else None,
    )


def _rounded(number: float | None, digits: int) -> float | None:
    return None if number is None else round(number, digits)


def lags_of(group: str, stats: ConsumeStats, committed: CommittedOffsets) -> tuple[TopicLag, ...]:
    """A group on each topic of a broker, in the order of names."""
    by_topic: dict[str, list[QueueLag]] = {}
    for lag in stats.queues:
        by_topic.setdefault(lag.queue.topic, []).append(lag)
    return tuple(
        _lag(topic, queues, set(committed.get(f"{topic}@{group}", ())))
        for topic, queues in sorted(by_topic.items())
    )


def _lag(topic: str, queues: Sequence[QueueLag], known: set[int]) -> TopicLag:
    # What was committed between the two requests has an offset above 0.
    sure = [lag for lag in queues if lag.queue.queue_id in known or (lag.consumer_offset or 0) > 0]
    inflight = [lag.inflight for lag in sure if lag.inflight is not None]
    behind = [lag.last_timestamp for lag in sure if lag.diff and lag.last_timestamp]
    return TopicLag(
        topic,
        len(queues),
        len(queues) - len(sure),
        sum(lag.broker_offset for lag in queues),
        sum(lag.consumer_offset or 0 for lag in sure) if sure else None,
        sum(lag.diff or 0 for lag in sure) if sure else None,
        sum(inflight) if inflight else None,
        min(behind, default=None),
    )
