"""Polling: one look at all that a name server knows. Nothing is believed unless everything was answered."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple

from namesrv_core.errors import RocketMQError, TopicNotExist
from namesrv_core.events import QueueData
from namesrv_core.transport.calls import CallError
from nsadmin.client.secrecy import is_secret
from nsadmin.client.tables import NO_QUEUES, Listed, Queues, Tables, queues_of
from nsadmin.operations.collector.pace import Pace

_MANY = 100_000


class Stopped(Exception):
    """Somebody wants the collector to end, so the poll was given up."""


class Seen(NamedTuple):
    """What a poll saw; of routes only those whose answer is another one than the last time.

    `answers` are the hashes of all of them, for the next time.
    """

    listed: Listed
    changed: Mapping[str, Queues]
    answers: Mapping[str, int]


class Poller:
    """Polls one name server, with at most `in_flight` requests on the way to it."""

    def __init__(
        self,
        tables: Tables,
        addr: str,
        namespaces: Sequence[str],
        pace: Pace,
        in_flight: int,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._tables = tables
        self._addr = addr
        self._namespaces = tuple(namespaces)
        self._pace = pace
        self._size = min(in_flight, pace.per_second)
        self._is_stopped = is_stopped
        self._answers: Mapping[str, int] = {}
        self._same: dict[QueueData, QueueData] = {}

    def poll(self) -> Seen:
        """All tables as they are now; RocketMQError unless every answer came. Stopped."""
        listed = self._listed()
        changed: dict[str, Queues] = {}
        answers: dict[str, int] = {}
        names = iter(listed.topics)
        while topics := list(islice(names, self._size)):
            for topic, body in zip(topics, self._bodies(topics), strict=True):
                answers[topic] = hash(body)
                if self._answers.get(topic) != answers[topic]:
                    changed[topic] = self._queues(body)
        return Seen(listed, changed, answers)

    def believe(self, seen: Seen) -> None:
        """What it saw is written down: the next poll need not tell it again."""
        self._answers = seen.answers

    def _listed(self) -> Listed:
        found: Listed | None = None
        kv: dict[str, Mapping[str, str | None]] = {}
        for namespaces in self._in_parts():
            with self._turn(3 + len(namespaces)):
                found = self._tables.listed(self._addr, namespaces)
            kv.update(found.kv)
        assert found is not None
        settings = {key: value for key, value in found.settings.items() if not is_secret(key)}
        return found._replace(settings=settings, kv=kv)

    def _in_parts(self) -> list[tuple[str, ...]]:
        size = max(self._size - 3, 1)
        return [self._namespaces[at : at + size] for at in range(0, len(self._namespaces) or 1, size)]

    def _bodies(self, topics: Sequence[str]) -> list[bytes]:
        with self._turn(len(topics)):
            answers = self._tables.route_bodies(self._addr, topics)
        return [_body(found.result, found.error) for found in answers]

    @contextmanager
    def _turn(self, count: int) -> Iterator[None]:
        with self._pace.turn(count):
            if self._is_stopped():
                raise Stopped
            yield

    def _queues(self, body: bytes) -> Queues:
        if not body:
            return NO_QUEUES
        try:
            queues, mappings = queues_of(body)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise CallError(self._addr, "unreadable", f"a route cannot be read ({error})") from error
        if len(self._same) > _MANY:
            self._same.clear()
        return Queues({name: self._same.setdefault(one, one) for name, one in queues.items()}, mappings)


def _body(body: bytes | None, error: RocketMQError | None) -> bytes:
    """The answer; of a topic without a route, or one that was deleted since it was listed, nothing."""
    if isinstance(error, TopicNotExist):
        return b""
    if error is not None:
        raise error
    return body or b""
