"""What a large registration will change, found out in steps before it is applied, so that this takes no time.

It holds only as long as nobody else has changed queues of that broker; whoever applies it looks.
"""

from collections.abc import Generator, Mapping
from typing import NamedTuple

from namesrv_core.events import QueueData, TopicChange
from namesrv_core.protocol.registration import TopicConfig
from namesrv_core.state.tables import RouteTables

_AT_ONCE = 512
_NOWHERE: dict[str, QueueData] = {}


class Foreseen(NamedTuple):
    """Topics whose queues a broker will change, as seen when `RouteTables.moves_of` it was `moves`."""

    broker_name: str
    changes: tuple[TopicChange, ...]
    moves: int

    def holds(self, tables: RouteTables, broker_name: str) -> bool:
        """Whether it is of that broker, and nothing has come in between."""
        return self.broker_name == broker_name and self.moves == tables.moves_of(broker_name)

    def apply(self, tables: RouteTables, *, new_only: bool) -> tuple[TopicChange, ...]:
        """Put the queues, or only those of topics that the broker did not have; what that changed."""
        found = self.changes
        if new_only:
            found = tuple(change for change in found if change.before is None)
        if found:
            tables.set_queues(self.broker_name, found)
        return found


def foresee(
    tables: RouteTables, broker_name: str, topics: Mapping[str, TopicConfig]
) -> Generator[None, None, Foreseen | None]:
    """With pauses; None where a topic's name is not its key in the table, for it may come twice."""
    moves = tables.moves_of(broker_name)
    found: list[TopicChange] = []
    alike: dict[tuple[int, int, int, int], QueueData] = {}
    for number, (topic, config) in enumerate(topics.items()):
        if number % _AT_ONCE == 0:
            yield
        if config.topicName != topic:
            return None
        numbers = (config.readQueueNums, config.writeQueueNums, config.perm, config.topicSysFlag)
        queue = alike.get(numbers)
        if queue is None:
            queue = alike[numbers] = tables.shared(QueueData(broker_name, *numbers))
        before = tables.topics.get(topic, _NOWHERE).get(broker_name)
        if before is not queue and before != queue:
            found.append(TopicChange(topic, before, queue))
    return Foreseen(broker_name, tuple(found), moves)
