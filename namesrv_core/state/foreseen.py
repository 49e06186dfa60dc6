"""What a large registration will change, found out in steps before it is applied, so that this takes no time.

It holds only as long as nobody else has changed queues of that broker; whoever applies it looks.
"""

from collections.abc import Generator, Mapping
from itertools import islice
from typing import NamedTuple

from namesrv_core.events import QueueData, TopicChange
from namesrv_core.protocol.registration import TopicConfig
from namesrv_core.state.tables import Ready, RouteTables

_AT_ONCE = 512


class Foreseen(NamedTuple):
    """Topics whose queues a broker will change, as seen when `RouteTables.moves_of` it was `moves`.

    `ready` are the same, for `RouteTables.put`. Both may be emptied once they are applied.
    """

    broker_name: str
    changes: list[TopicChange]
    ready: Ready
    moves: int

    def holds(self, tables: RouteTables, broker_name: str) -> bool:
        """Whether it is of that broker, and nothing has come in between."""
        return self.broker_name == broker_name and self.moves == tables.moves_of(broker_name)

    def apply(self, tables: RouteTables, *, new_only: bool) -> tuple[TopicChange, ...]:
        """Put the queues, once, or only those of topics that the broker did not have; what that changed."""
        found, ready = tuple(self.changes), self.ready
        if new_only:
            found = tuple(change for change in found if change.before is None)
            others = [(brokers, queue) for brokers, queue in ready.others if self.broker_name not in brokers]
            ready = ready._replace(others=others)
        if found:
            tables.put(self.broker_name, found, ready)
        return found


def foresee(
    tables: RouteTables, broker_name: str, topics: Mapping[str, TopicConfig]
) -> Generator[None, None, Foreseen | None]:
    """With pauses; None where a topic's name is not its key in the table, for it may come twice."""
    moves, known, ready = tables.moves_of(broker_name), tables.topics, Ready({}, [], tables.topics_gone)
    found: list[TopicChange] = []
    alike: dict[tuple[int, int, int, int], QueueData] = {}
    left = iter(topics.items())
    while some := list(islice(left, _AT_ONCE)):
        yield
        for topic, config in some:
            if config.topicName != topic:
                return None
            numbers = (config.readQueueNums, config.writeQueueNums, config.perm, config.topicSysFlag)
            queue = alike.get(numbers)
            if queue is None:
                queue = alike[numbers] = tables.shared(QueueData(broker_name, *numbers))
            brokers = known.get(topic)
            before = None if brokers is None else brokers.get(broker_name)
            if before is not queue and before != queue:
                found.append(TopicChange(topic, before, queue))
                if brokers is None:
                    ready.fresh[topic] = {broker_name: queue}
                else:
                    ready.others.append((brokers, queue))
    return Foreseen(broker_name, found, ready, moves)
