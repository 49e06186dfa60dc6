"""The mapping from the queues of a source topic to those of the target topic. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from nsadmin.client.results import NotApplied
from nsadmin.console.phrases import count_noun


class QueueId(NamedTuple):
    """A queue of one topic."""

    broker_name: str
    queue_id: int

    def __str__(self) -> str:
        return f"{self.broker_name}/{self.queue_id}"


def map_queues(
    topic: str,
    source_queues: Iterable[QueueId],
    target_queues: Iterable[QueueId],
    known_targets: Mapping[QueueId, QueueId] | None = None,
    *,
    merges_queues: bool = False,
) -> dict[QueueId, QueueId]:
    """Choose a target queue for each source queue of a topic.

    A broker maps to the broker of the same name, otherwise to one of the remaining brokers, by sorted names.
    A queue maps to the same id on that broker, otherwise to any free queue. A queue that was mapped before
    keeps its target.

    Args:
        topic: The topic in the target.
        source_queues: The readable queues of the source topic.
        target_queues: The writable queues of the target topic.
        known_targets: The targets that an earlier run chose.
        merges_queues: Let source queues share target queues if there are too few.

    Raises:
        NotApplied: The target has too few queues, and `merges_queues` is not set.
    """
    sorted_sources, sorted_targets = sorted(source_queues), sorted(target_queues)
    mapping = dict(known_targets or {})
    free_targets = [queue for queue in sorted_targets if queue not in set(mapping.values())]
    waiting_queues = [queue for queue in sorted_sources if queue not in mapping]
    paired_brokers = _pair_brokers(sorted_sources, sorted_targets)
    for source_queue in list(waiting_queues):
        same_queue = QueueId(paired_brokers[source_queue.broker_name], source_queue.queue_id)
        if same_queue in free_targets:
            mapping[source_queue] = same_queue
            free_targets.remove(same_queue)
            waiting_queues.remove(source_queue)
    if len(waiting_queues) > len(free_targets) and not merges_queues:
        raise NotApplied(
            f"{topic}: the target has {count_noun(len(sorted_targets), 'writable queue')}, the source "
            f"{len(sorted_sources)}: add queues to the target topic, or pass --merge-queues"
        )
    for number, source_queue in enumerate(waiting_queues):
        merged_queue = sorted_targets[number % len(sorted_targets)]
        mapping[source_queue] = free_targets.pop(0) if free_targets else merged_queue
    return {queue: mapping[queue] for queue in sorted_sources}


def _pair_brokers(source_queues: Sequence[QueueId], target_queues: Sequence[QueueId]) -> dict[str, str]:
    source_names = list(dict.fromkeys(queue.broker_name for queue in source_queues))
    target_names = list(dict.fromkeys(queue.broker_name for queue in target_queues))
    other_names = [name for name in target_names if name not in source_names] or target_names
    pairs = {name: name for name in source_names if name in target_names}
    unpaired = [name for name in source_names if name not in pairs]
    return pairs | {name: other_names[number % len(other_names)] for number, name in enumerate(unpaired)}
