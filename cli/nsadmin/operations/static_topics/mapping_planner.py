"""Plans the placement of a static topic's logical queues on brokers. Pure: mappings in, a plan out.

Upstream: TopicQueueMappingUtils, with the same results except for the choice among equal brokers.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from nsadmin.client.results import NotApplied
from nsadmin.client.topics.queue_mappings import GLOBAL_SCOPE, BrokerQueueShare, QueueMappingItem
from nsadmin.console.phrases import count_noun

CREATE_TYPE, REMAPPING_TYPE = "CREATE_OR_UPDATE", "REMAPPING"
OFFSET_BLOCK = 10_000
"""When a queue moves to another broker, its offsets continue at a multiple of this."""

SharesByBroker = Mapping[str, BrokerQueueShare]
"""The shares of brokers, by broker name."""


class MappingPlan(NamedTuple):
    """The planned shares. `map_in` are the brokers that receive queues, `map_out` those that lose them."""

    topic: str
    mapping_type: str
    epoch: int
    shares: SharesByBroker
    map_in: tuple[str, ...] = ()
    map_out: tuple[str, ...] = ()


class QueueMove(NamedTuple):
    """A logical queue that comes to a broker; `source_broker` is None for a new queue."""

    logical_queue: int
    source_broker: str | None
    target_broker: str
    queue_id: int
    logic_offset: int


def find_leaders(shares: SharesByBroker) -> dict[int, QueueMappingItem]:
    """The item of each logical queue that receives writes now, by queue number.

    Raises:
        NotApplied: brokers disagree about epoch, queue count or scope, or a queue is not written on exactly
            one broker.
    """
    if len({(share.epoch, share.total_queues, share.scope) for share in shares.values()}) > 1:
        epoch_texts = ", ".join(
            f"{broker}: epoch {item.epoch}, {count_noun(item.total_queues, 'queue')}"
            for broker, item in shares.items()
        )
        raise NotApplied(
            f"brokers have different mappings ({epoch_texts}): resume the last change with --mapFile"
        )
    leaders: dict[int, QueueMappingItem] = {}
    for broker, share in shares.items():
        for queue, items in share.hosted_queues.items():
            if items and items[-1].bname == broker:
                if queue in leaders:
                    raise NotApplied(f"queue {queue} is writable on {leaders[queue].bname} and on {broker}")
                leaders[queue] = items[-1]
    total_queues = max((share.total_queues for share in shares.values()), default=0)
    missing = [str(queue) for queue in range(min(total_queues, len(leaders) + 10)) if queue not in leaders]
    if missing:
        raise NotApplied(f"no broker accepts writes for queue {', '.join(missing)}")
    undecided_queues = [str(queue) for queue, item in sorted(leaders.items()) if item.logic_offset < 0]
    if undecided_queues:
        raise NotApplied(
            f"queue {', '.join(undecided_queues)} is being moved: resume the change with its .after "
            "file and --mapFile"
        )
    broker_queues = [(item.bname, item.queue_id) for item in leaders.values()]
    if len(set(broker_queues)) < len(broker_queues):
        raise NotApplied("two logical queues use the same queue of a broker")
    return dict(sorted(leaders.items()))


def plan_creation(
    topic: str,
    shares: SharesByBroker,
    targets: Sequence[str],
    informed_brokers: Collection[str],
    total_queues: int,
    now_ms: int,
) -> MappingPlan:
    """The plan for `total_queues` logical queues; new queues go to the targets with the fewest queues.

    `informed_brokers` are all brokers that must know the topic. The current number of queues gives the
    current mapping.

    Raises:
        NotApplied: the topic has more queues already.
    """
    leaders = find_leaders(shares)
    if total_queues < len(leaders):
        raise NotApplied(
            f"{topic} has {count_noun(len(leaders), 'queue')}: the number of queues of a static topic "
            "cannot decrease"
        )
    if shares and total_queues == len(leaders) and set(informed_brokers) <= shares.keys():
        return MappingPlan(topic, CREATE_TYPE, _highest_epoch(shares), shares)
    counts = {broker: sum(item.bname == broker for item in leaders.values()) for broker in targets}
    hosted = {broker: dict(share.hosted_queues) for broker, share in shares.items()}
    own_counts = {broker: share.own_queue_count for broker, share in shares.items()}
    for queue in range(len(leaders), total_queues):
        broker = min(counts, key=lambda broker: (counts[broker], targets.index(broker)))
        hosted.setdefault(broker, {})[queue] = (QueueMappingItem(0, own_counts.get(broker, 0), broker, 0),)
        own_counts[broker] = own_counts.get(broker, 0) + 1
        counts[broker] += 1
    new_epoch = max(_highest_epoch(shares) + 1000, now_ms)
    planned = _build_shares(topic, shares, informed_brokers, own_counts, hosted, new_epoch, total_queues)
    return MappingPlan(topic, CREATE_TYPE, new_epoch, planned)


def plan_remapping(
    topic: str, shares: SharesByBroker, targets: Sequence[str], informed_brokers: Collection[str], now_ms: int
) -> MappingPlan:
    """The plan that spreads all logical queues evenly over `targets` and moves as few as possible.

    The last item of a moved queue has no start offset yet; `set_offsets` adds it.
    """
    leaders = find_leaders(shares)
    wanted = _assign_queues(leaders, targets)
    moved_queues = {queue: broker for queue, broker in wanted.items() if leaders[queue].bname != broker}
    if not moved_queues:
        return MappingPlan(topic, REMAPPING_TYPE, _highest_epoch(shares), shares)
    total_queues, new_epoch = len(leaders), max(_highest_epoch(shares) + 1000, now_ms)
    hosted = {broker: dict(share.hosted_queues) for broker, share in shares.items()}
    own_counts = {broker: share.own_queue_count for broker, share in shares.items()}
    for queue, broker in moved_queues.items():
        last = leaders[queue]
        new_item = QueueMappingItem(last.gen + 1, own_counts.get(broker, 0), broker, -1)
        items = (*shares[last.bname].hosted_queues[queue], new_item)
        for holding_broker in (last.bname, broker):
            hosted.setdefault(holding_broker, {})[queue] = items
        own_counts[broker] = own_counts.get(broker, 0) + 1
    other_brokers = [*informed_brokers, *targets]
    planned = _build_shares(topic, shares, other_brokers, own_counts, hosted, new_epoch, total_queues)
    gaining_brokers = tuple(sorted(set(moved_queues.values())))
    return MappingPlan(
        topic,
        REMAPPING_TYPE,
        new_epoch,
        planned,
        gaining_brokers,
        tuple(sorted({leaders[queue].bname for queue in moved_queues})),
    )


def _assign_queues(leaders: Mapping[int, QueueMappingItem], targets: Sequence[str]) -> dict[int, str]:
    """The broker of each queue. No broker both receives and loses queues."""
    counts = {broker: sum(item.bname == broker for item in leaders.values()) for broker in targets}
    share, rest = divmod(len(leaders), len(targets))
    # The brokers with the most queues may keep one more than the others.
    order = sorted(targets, key=lambda broker: (-counts[broker], targets.index(broker)))
    room = {broker: share + (index < rest) for index, broker in enumerate(order)}
    wanted: dict[int, str] = {}
    unassigned_queues: list[int] = []
    for queue, leader in leaders.items():
        if room.get(leader.bname, 0) > 0:
            room[leader.bname] -= 1
            wanted[queue] = leader.bname
        else:
            unassigned_queues.append(queue)
    free_places = [broker for broker in targets for _ in range(room[broker])]
    return dict(sorted({**wanted, **dict(zip(unassigned_queues, free_places, strict=True))}.items()))


def list_moves(shares_before: SharesByBroker, plan: MappingPlan) -> list[QueueMove]:
    """The logical queues that are new or come to another broker."""
    brokers_before = {
        queue: items[-1].bname
        for broker, share in shares_before.items()
        for queue, items in share.hosted_queues.items()
        if items[-1].bname == broker
    }
    queue_moves = [
        QueueMove(queue, brokers_before.get(queue), broker, items[-1].queue_id, items[-1].logic_offset)
        for broker, share in plan.shares.items()
        for queue, items in share.hosted_queues.items()
        if items[-1].bname == broker and brokers_before.get(queue) != broker
    ]
    return sorted(queue_moves)


def find_undecided(plan: MappingPlan) -> dict[int, tuple[QueueMappingItem, ...]]:
    """The items of each moved logical queue whose start offset is not decided yet."""
    return {
        queue: items
        for broker, share in plan.shares.items()
        for queue, items in share.hosted_queues.items()
        if items[-1].bname == broker and items[-1].logic_offset < 0
    }


def set_offsets(plan: MappingPlan, logic_offsets: Mapping[int, int]) -> MappingPlan:
    """The plan with these start offsets for its undecided logical queues."""

    def set_last_offset(queue: int, items: tuple[QueueMappingItem, ...]) -> tuple[QueueMappingItem, ...]:
        if queue not in logic_offsets or items[-1].logic_offset >= 0:
            return items
        return (*items[:-1], items[-1]._replace(logic_offset=logic_offsets[queue]))

    planned = {
        broker: share._replace(
            hosted_queues={
                queue: set_last_offset(queue, items) for queue, items in share.hosted_queues.items()
            }
        )
        for broker, share in plan.shares.items()
    }
    return plan._replace(shares=planned)


def adopt_known_offsets(plan: MappingPlan, current: SharesByBroker) -> MappingPlan:
    """The plan with the offsets that brokers of its epoch already have from an interrupted run."""
    known_offsets = {
        queue: items[-1].logic_offset
        for share in current.values()
        if share.epoch == plan.epoch
        for queue, items in share.hosted_queues.items()
        if items and items[-1].logic_offset >= 0 and queue in find_undecided(plan)
    }
    return set_offsets(plan, known_offsets)


def next_block_offset(previous: QueueMappingItem, queue_end: int) -> int:
    """The offset at which a moved logical queue continues, after a gap (blockSeqRoundUp upstream)."""
    if queue_end < previous.start_offset:
        raise NotApplied(
            f"queue {previous.queue_id} of {previous.bname} ends at {queue_end}, "
            f"before {previous.start_offset}"
        )
    blocks, rest = divmod(previous.logic_offset + queue_end - previous.start_offset, OFFSET_BLOCK)
    return (blocks + (1 if rest < OFFSET_BLOCK // 2 else 2)) * OFFSET_BLOCK


def _highest_epoch(shares: SharesByBroker) -> int:
    return max((share.epoch for share in shares.values()), default=-1)


def _build_shares(
    topic: str,
    shares: SharesByBroker,
    other_brokers: Iterable[str],
    own_counts: Mapping[str, int],
    hosted: Mapping[str, Mapping[int, tuple[QueueMappingItem, ...]]],
    new_epoch: int,
    total_queues: int,
) -> dict[str, BrokerQueueShare]:
    planned: dict[str, BrokerQueueShare] = {}
    for broker in dict.fromkeys([*shares, *other_brokers]):
        current_share, own_queues = shares.get(broker), own_counts.get(broker, 0)
        topic_config = {
            "topicName": topic, "perm": 6, "order": False, "topicFilterType": "SINGLE_TAG", "topicSysFlag": 0,
            **(current_share.topic_config if current_share else {}),
        }  # fmt: skip
        topic_config |= {
            "readQueueNums": max(own_queues, int(topic_config.get("readQueueNums", 0))),
            "writeQueueNums": own_queues,
        }
        planned[broker] = BrokerQueueShare(
            topic_config,
            new_epoch,
            total_queues,
            dict(sorted(hosted.get(broker, {}).items())),
            current_share.scope if current_share else GLOBAL_SCOPE,
        )
    return planned
