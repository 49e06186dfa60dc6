"""The stages in which the queues of an ordered topic move, so that the sequence of every key is kept. Pure.

A producer of ordered messages chooses the queue by the key and the number of queues. So a key changes its
queue when the list of queues changes. An order configuration is such a list (a generation), and all producers
of a name server change from one to the next at one moment, without a send error.

Rule: a generation may follow another if each queue that both have has the same keys in both. All other queues
of the next generation are not readable until the queues that only the previous one has are consumed. So the
earlier messages of every key that changes its queue are consumed before its later ones.
"""

import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from nsadmin.client.name_servers.order_confs import format_order_conf, parse_order_conf
from nsadmin.operations.rebalance.move_stages import (
    ADD_QUEUES,
    CLOSE_READS,
    CLOSE_WRITES,
    OPEN_READS,
    PIN_ORDER,
    READ_ON,
    SWITCH_ORDER,
    UNPIN_ORDER,
    MoveStage,
    QueuesByBroker,
    list_deletions,
)
from nsadmin.operations.rebalance.rebalance_plan import NO_QUEUES, QueuePair

Generation = tuple[tuple[str, int], ...]
"""Brokers with their numbers of queues, in the order in which producers number the queues."""


class NoOrderedPathError(ValueError):
    """The queues cannot move without a moment in which the sequence of keys could break."""


def generation_of_counts(counts: QueuesByBroker) -> Generation:
    """Return the queues as producers number them without an order configuration: in the order of names."""
    return tuple((broker, counts[broker].write) for broker in sorted(counts) if counts[broker].write)


def generation_of_conf(conf_text: str) -> Generation:
    """Return the queues of an order configuration. Raises ValueError."""
    return tuple((broker, count) for broker, count in parse_order_conf(conf_text).items() if count)


def format_generation(generation: Generation) -> str:
    """Return the order configuration of a generation."""
    return format_order_conf(dict(generation))


def can_follow(previous_generation: Generation, next_generation: Generation) -> bool:
    """Whether each queue that both generations have has the same keys in both."""
    slots_before, slots_after = _first_slots(previous_generation), _first_slots(next_generation)
    shared_brokers = slots_before.keys() & slots_after.keys()
    if not shared_brokers:
        return True
    return _count_queues(previous_generation) == _count_queues(next_generation) and all(
        slots_before[broker] == slots_after[broker] for broker in shared_brokers
    )


def find_generations(
    first_generation: Generation, last_generation: Generation, spare_brokers: Iterable[str] = ()
) -> tuple[Generation, ...]:
    """Return the shortest way from one generation to another, both included.

    The generations in between have all queues on one broker, also on one of `spare_brokers`. With two brokers
    there is always a way.

    Raises:
        NoOrderedPathError: There is none.
    """
    brokers = sorted({*dict(first_generation), *dict(last_generation), *spare_brokers})
    counts = sorted({_count_queues(first_generation), _count_queues(last_generation)})
    candidates = [last_generation, *(((broker, count),) for count in counts for broker in brokers)]
    paths: deque[tuple[Generation, ...]] = deque([(first_generation,)])
    known_generations = {first_generation}
    while paths:
        path = paths.popleft()
        if path[-1] == last_generation:
            return path
        for candidate in candidates:
            if candidate not in known_generations and can_follow(path[-1], candidate):
                known_generations.add(candidate)
                paths.append((*path, candidate))
    raise NoOrderedPathError(
        "all queues are on one broker, and their number changes: add queues on a second broker, or do not "
        "move this topic"
    )


def list_ordered_stages(
    before: QueuesByBroker,
    after: QueuesByBroker,
    conf_now: str | None = None,
    conf_after: str | None = None,
    spare_brokers: Iterable[str] = (),
) -> tuple[MoveStage, ...]:
    """Return the stages of an ordered topic; () if nothing changes. Raises NoOrderedPathError.

    `conf_now` is the order configuration in force and `conf_after` the one at the end, both None for none.
    `spare_brokers` may get all queues in between.
    """
    first_generation = generation_of_conf(conf_now) if conf_now else generation_of_counts(before)
    last_generation = generation_of_conf(conf_after) if conf_after else generation_of_counts(after)
    brokers = sorted({*before, *after, *dict(first_generation), *spare_brokers})
    old_pairs = {broker: before.get(broker, NO_QUEUES) for broker in brokers}
    final_pairs = {broker: after.get(broker, NO_QUEUES) for broker in brokers}
    if old_pairs == final_pairs and first_generation == last_generation and conf_now == conf_after:
        return list_deletions(before, after, final_pairs, conf_now)
    if not first_generation or not last_generation:
        raise NoOrderedPathError("the topic has no writable queue before or after the move")
    if any(final_pairs[broker].read < count for broker, count in last_generation):
        raise NoOrderedPathError("the order configuration after the move has more queues than the brokers")
    stages: list[MoveStage] = []
    start_pairs = _even_counts(brokers, first_generation)
    stages += _align_reads(old_pairs, start_pairs, conf_now)
    if first_generation != last_generation:
        path = find_generations(first_generation, last_generation, brokers)
        if not conf_now:
            stages.append(MoveStage(PIN_ORDER, start_pairs, format_generation(first_generation)))
        for previous_generation, next_generation in itertools.pairwise(path):
            stages += _list_switch_stages(brokers, previous_generation, next_generation)
    last_conf = stages[-1].order_conf if stages else conf_now
    stages += _finish_counts(_even_counts(brokers, last_generation), final_pairs, last_conf)
    wanted_conf = conf_after or ""
    if (last_conf or "") != wanted_conf:
        stages.append(MoveStage(UNPIN_ORDER, final_pairs, wanted_conf))
    used_brokers = {
        *before,
        *(broker for stage in stages for broker, pair in stage.counts.items() if any(pair)),
    }
    return (*stages, *list_deletions(used_brokers, after, final_pairs, wanted_conf))


def _align_reads(
    old_pairs: QueuesByBroker, start_pairs: QueuesByBroker, conf_now: str | None
) -> Iterator[MoveStage]:
    """Yield the stages after which exactly the queues of the first generation are readable."""
    if any(old_pairs[broker].read < start_pairs[broker].read for broker in start_pairs):
        raise NoOrderedPathError("producers write to queues that consumers do not read")
    surplus_reads = {b: start_pairs[b].read for b in start_pairs if old_pairs[b].read > start_pairs[b].read}
    if surplus_reads:
        held_pairs = {b: QueuePair(old_pairs[b].read, start_pairs[b].write) for b in start_pairs}
        yield MoveStage(CLOSE_WRITES, held_pairs, conf_now, drains_from=surplus_reads)
    if old_pairs != start_pairs:
        yield MoveStage(CLOSE_READS, start_pairs, conf_now)


def _list_switch_stages(
    brokers: list[str], previous_generation: Generation, next_generation: Generation
) -> Iterator[MoveStage]:
    before = _even_counts(brokers, previous_generation)
    counts_after = _even_counts(brokers, next_generation)
    gated_pairs = {
        broker: QueuePair(before[broker].read, max(before[broker].write, counts_after[broker].write))
        for broker in brokers
    }
    if gated_pairs != before:
        added_pairs = {b: before[b].read for b in brokers if counts_after[b].read > before[b].read}
        yield MoveStage(
            ADD_QUEUES, gated_pairs, format_generation(previous_generation), opens_from=added_pairs
        )
    drained_pairs = {b: counts_after[b].read for b in brokers if counts_after[b].read < before[b].read}
    yield MoveStage(SWITCH_ORDER, gated_pairs, format_generation(next_generation), drains_from=drained_pairs)
    yield MoveStage(READ_ON, counts_after, format_generation(next_generation))


def _finish_counts(
    even_pairs: QueuesByBroker, final_pairs: QueuesByBroker, order_conf: str | None
) -> Iterator[MoveStage]:
    if even_pairs != final_pairs:
        opened = {b: even_pairs[b].read for b in final_pairs if final_pairs[b].read > even_pairs[b].read}
        yield MoveStage(OPEN_READS, final_pairs, order_conf, opens_from=opened)


def _even_counts(brokers: list[str], generation: Generation) -> dict[str, QueuePair]:
    counts: Mapping[str, int] = dict(generation)
    return {broker: QueuePair(counts.get(broker, 0), counts.get(broker, 0)) for broker in brokers}


def _first_slots(generation: Generation) -> dict[str, int]:
    first_slots: dict[str, int] = {}
    next_slot = 0
    for broker, count in generation:
        first_slots[broker] = next_slot
        next_slot += count
    return first_slots


def _count_queues(generation: Generation) -> int:
    return sum(count for _, count in generation)
