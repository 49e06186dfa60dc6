"""Plans the placement of a static topic's logical queues on brokers. Pure: mappings in, a plan out.

Upstream: TopicQueueMappingUtils, with the same results except for the choice among equal brokers.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from nsadmin.client.results import NotApplied
from nsadmin.client.topics.queue_mappings import GLOBAL_SCOPE, BrokerQueueShare, QueueMappingItem

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
            f"{broker}: epoch {item.epoch}, {item.total_queues} queues" for broker, item in shares.items()
        )
        raise NotApplied(
            f"brokers have different mappings ({epoch_texts}): resume the last change with --mapFile"
        )
    leader_items: dict[int, QueueMappingItem] = {}
    for broker_name, share in shares.items():
        for logical_queue, mapping_items in share.hosted_queues.items():
            if mapping_items and mapping_items[-1].bname == broker_name:
                if logical_queue in leader_items:
                    raise NotApplied(
                        f"queue {logical_queue} is writable on {leader_items[logical_queue].bname} and on "
                        f"{broker_name}"
                    )
                leader_items[logical_queue] = mapping_items[-1]
    total_queues = max((share.total_queues for share in shares.values()), default=0)
    missing_queues = [
        str(queue) for queue in range(min(total_queues, len(leader_items) + 10)) if queue not in leader_items
    ]
    if missing_queues:
        raise NotApplied(f"no broker accepts writes for queue {', '.join(missing_queues)}")
    undecided_queues = [str(queue) for queue, item in sorted(leader_items.items()) if item.logic_offset < 0]
    if undecided_queues:
        raise NotApplied(
            f"queue {', '.join(undecided_queues)} is being moved: resume the change with its .after "
            "file and --mapFile"
        )
    broker_queues = [(item.bname, item.queue_id) for item in leader_items.values()]
    if len(set(broker_queues)) < len(broker_queues):
        raise NotApplied("two logical queues use the same queue of a broker")
    return dict(sorted(leader_items.items()))


def plan_creation(
    topic: str,
    shares: SharesByBroker,
    target_brokers: Sequence[str],
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
    leader_items = find_leaders(shares)
    if total_queues < len(leader_items):
        raise NotApplied(
            f"{topic} has {len(leader_items)} queues: the number of queues of a static topic cannot decrease"
        )
    if shares and total_queues == len(leader_items) and set(informed_brokers) <= shares.keys():
        return MappingPlan(topic, CREATE_TYPE, _highest_epoch(shares), shares)
    counts_by_broker = {
        broker: sum(item.bname == broker for item in leader_items.values()) for broker in target_brokers
    }
    hosted_by_broker = {broker: dict(share.hosted_queues) for broker, share in shares.items()}
    queues_by_broker = {broker: share.own_queue_count for broker, share in shares.items()}
    for logical_queue in range(len(leader_items), total_queues):
        broker_name = min(
            counts_by_broker, key=lambda broker: (counts_by_broker[broker], target_brokers.index(broker))
        )
        hosted_by_broker.setdefault(broker_name, {})[logical_queue] = (
            QueueMappingItem(0, queues_by_broker.get(broker_name, 0), broker_name, 0),
        )
        queues_by_broker[broker_name] = queues_by_broker.get(broker_name, 0) + 1
        counts_by_broker[broker_name] += 1
    new_epoch = max(_highest_epoch(shares) + 1000, now_ms)
    broker_names = dict.fromkeys([*shares, *informed_brokers])
    planned_shares = {
        broker: _build_share(
            topic,
            shares.get(broker),
            queues_by_broker.get(broker, 0),
            hosted_by_broker.get(broker, {}),
            new_epoch,
            total_queues,
        )
        for broker in broker_names
    }
    return MappingPlan(topic, CREATE_TYPE, new_epoch, planned_shares)


def plan_remapping(
    topic: str,
    shares: SharesByBroker,
    target_brokers: Sequence[str],
    informed_brokers: Collection[str],
    now_ms: int,
) -> MappingPlan:
    """The plan that spreads all logical queues evenly over `target_brokers` and moves as few as possible.

    The last item of a moved queue has no start offset yet; `set_offsets` adds it.
    """
    leader_items = find_leaders(shares)
    wanted_brokers = _assign_queues(leader_items, target_brokers)
    moved_queues = {
        queue: broker for queue, broker in wanted_brokers.items() if leader_items[queue].bname != broker
    }
    if not moved_queues:
        return MappingPlan(topic, REMAPPING_TYPE, _highest_epoch(shares), shares)
    total_queues, new_epoch = len(leader_items), max(_highest_epoch(shares) + 1000, now_ms)
    hosted_by_broker = {broker: dict(share.hosted_queues) for broker, share in shares.items()}
    queues_by_broker = {broker: share.own_queue_count for broker, share in shares.items()}
    for logical_queue, broker_name in moved_queues.items():
        last_item = leader_items[logical_queue]
        new_item = QueueMappingItem(last_item.gen + 1, queues_by_broker.get(broker_name, 0), broker_name, -1)
        mapping_items = (*shares[last_item.bname].hosted_queues[logical_queue], new_item)
        for holding_broker in (last_item.bname, broker_name):
            hosted_by_broker.setdefault(holding_broker, {})[logical_queue] = mapping_items
        queues_by_broker[broker_name] = queues_by_broker.get(broker_name, 0) + 1
    broker_names = dict.fromkeys([*shares, *informed_brokers, *target_brokers])
    planned_shares = {
        broker: _build_share(
            topic,
            shares.get(broker),
            queues_by_broker.get(broker, 0),
            hosted_by_broker.get(broker, {}),
            new_epoch,
            total_queues,
        )
        for broker in broker_names
    }
    gaining_brokers = tuple(sorted(set(moved_queues.values())))
    return MappingPlan(
        topic,
        REMAPPING_TYPE,
        new_epoch,
        planned_shares,
        gaining_brokers,
        tuple(sorted({leader_items[queue].bname for queue in moved_queues})),
    )


def _assign_queues(
    leader_items: Mapping[int, QueueMappingItem], target_brokers: Sequence[str]
) -> dict[int, str]:
    """The broker of each queue. No broker both receives and loses queues."""
    counts_by_broker = {
        broker: sum(item.bname == broker for item in leader_items.values()) for broker in target_brokers
    }
    queues_per_broker, remaining_queues = divmod(len(leader_items), len(target_brokers))
    # The brokers with the most queues may keep one more than the others.
    broker_order = sorted(
        target_brokers, key=lambda broker: (-counts_by_broker[broker], target_brokers.index(broker))
    )
    room_by_broker = {
        broker: queues_per_broker + (index < remaining_queues) for index, broker in enumerate(broker_order)
    }
    wanted_brokers: dict[int, str] = {}
    unassigned_queues: list[int] = []
    for logical_queue, leader_item in leader_items.items():
        if room_by_broker.get(leader_item.bname, 0) > 0:
            room_by_broker[leader_item.bname] -= 1
            wanted_brokers[logical_queue] = leader_item.bname
        else:
            unassigned_queues.append(logical_queue)
    free_places = [broker for broker in target_brokers for _ in range(room_by_broker[broker])]
    return dict(sorted({**wanted_brokers, **dict(zip(unassigned_queues, free_places, strict=True))}.items()))


def list_moves(shares_before: SharesByBroker, mapping_plan: MappingPlan) -> list[QueueMove]:
    """The logical queues that are new or come to another broker."""
    brokers_before = {
        queue: items[-1].bname
        for broker, share in shares_before.items()
        for queue, items in share.hosted_queues.items()
        if items[-1].bname == broker
    }
    queue_moves = [
        QueueMove(queue, brokers_before.get(queue), broker, items[-1].queue_id, items[-1].logic_offset)
        for broker, share in mapping_plan.shares.items()
        for queue, items in share.hosted_queues.items()
        if items[-1].bname == broker and brokers_before.get(queue) != broker
    ]
    return sorted(queue_moves)


def find_undecided(mapping_plan: MappingPlan) -> dict[int, tuple[QueueMappingItem, ...]]:
    """The items of each moved logical queue whose start offset is not decided yet."""
    return {
        queue: items
        for broker, share in mapping_plan.shares.items()
        for queue, items in share.hosted_queues.items()
        if items[-1].bname == broker and items[-1].logic_offset < 0
    }


def set_offsets(mapping_plan: MappingPlan, logic_offsets: Mapping[int, int]) -> MappingPlan:
    """The plan with these start offsets for its undecided logical queues."""

    def set_last_offset(
        logical_queue: int, mapping_items: tuple[QueueMappingItem, ...]
    ) -> tuple[QueueMappingItem, ...]:
        if logical_queue not in logic_offsets or mapping_items[-1].logic_offset >= 0:
            return mapping_items
        return (*mapping_items[:-1], mapping_items[-1]._replace(logic_offset=logic_offsets[logical_queue]))

    planned_shares = {
        broker: share._replace(
            hosted_queues={
                queue: set_last_offset(queue, items) for queue, items in share.hosted_queues.items()
            }
        )
        for broker, share in mapping_plan.shares.items()
    }
    return mapping_plan._replace(shares=planned_shares)


def adopt_known_offsets(mapping_plan: MappingPlan, current_shares: SharesByBroker) -> MappingPlan:
    """The plan with the offsets that brokers of its epoch already have from an interrupted run."""
    known_offsets = {
        queue: items[-1].logic_offset
        for share in current_shares.values()
        if share.epoch == mapping_plan.epoch
        for queue, items in share.hosted_queues.items()
        if items and items[-1].logic_offset >= 0 and queue in find_undecided(mapping_plan)
    }
    return set_offsets(mapping_plan, known_offsets)


def next_block_offset(previous_item: QueueMappingItem, queue_end: int) -> int:
    """The offset at which a moved logical queue continues, after a gap (blockSeqRoundUp upstream)."""
    if queue_end < previous_item.start_offset:
        raise NotApplied(
            f"queue {previous_item.queue_id} of {previous_item.bname} ends at {queue_end}, "
            f"before {previous_item.start_offset}"
        )
    full_blocks, remaining_offsets = divmod(
        previous_item.logic_offset + queue_end - previous_item.start_offset, OFFSET_BLOCK
    )
    return (full_blocks + (1 if remaining_offsets < OFFSET_BLOCK // 2 else 2)) * OFFSET_BLOCK


def _highest_epoch(shares: SharesByBroker) -> int:
    return max((share.epoch for share in shares.values()), default=-1)


def _build_share(
    topic: str,
    current_share: BrokerQueueShare | None,
    own_queues: int,
    hosted_queues: Mapping[int, tuple[QueueMappingItem, ...]],
    new_epoch: int,
    total_queues: int,
) -> BrokerQueueShare:
    topic_config = {
        "topicName": topic, "perm": 6, "order": False, "topicFilterType": "SINGLE_TAG", "topicSysFlag": 0,
        **(current_share.topic_config if current_share else {}),
    }  # fmt: skip
    topic_config |= {
        "readQueueNums": max(own_queues, int(topic_config.get("readQueueNums", 0))),
        "writeQueueNums": own_queues,
    }
    return BrokerQueueShare(
        topic_config,
        new_epoch,
        total_queues,
        dict(sorted(hosted_queues.items())),
        current_share.scope if current_share else GLOBAL_SCOPE,
    )
