"""Plans the placement of a static topic's logical queues on brokers. Pure: mappings in, a plan out.

Upstream: TopicQueueMappingUtils, with the same results except for the choice among equal brokers.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from nsadmin.client.mappings import GLOBAL, Item, Share
from nsadmin.client.results import NotApplied

CREATE, REMAPPING = "CREATE_OR_UPDATE", "REMAPPING"
BLOCK = 10_000
"""When a queue moves to another broker, its offsets continue at a multiple of this."""

Shares = Mapping[str, Share]
"""The shares of brokers, by broker name."""


class Plan(NamedTuple):
    """The planned shares. `map_in` are the brokers that receive queues, `map_out` those that lose them."""

    topic: str
    kind: str
    epoch: int
    shares: Shares
    map_in: tuple[str, ...] = ()
    map_out: tuple[str, ...] = ()


class Move(NamedTuple):
    """A logical queue that comes to a broker; `source_broker` is None for a new queue."""

    queue: int
    before: str | None
    after: str
    queue_id: int
    logic_offset: int


def leaders(shares: Shares) -> dict[int, Item]:
    """The item of each logical queue that receives writes now, by queue number.

    Raises:
        NotApplied: brokers disagree about epoch, queue count or scope, or a queue is not written on exactly
            one broker.
    """
    if len({(share.epoch, share.total, share.scope) for share in shares.values()}) > 1:
        told = ", ".join(f"{name}: epoch {item.epoch}, {item.total} queues" for name, item in shares.items())
        raise NotApplied(f"brokers have different mappings ({told}): carry on with the last one by --mapFile")
    found: dict[int, Item] = {}
    for name, share in shares.items():
        for queue, items in share.hosted.items():
            if items and items[-1].bname == name:
                if queue in found:
                    raise NotApplied(f"queue {queue} is written on {found[queue].bname} and on {name}")
                found[queue] = items[-1]
    total = max((share.total for share in shares.values()), default=0)
    missing = [str(queue) for queue in range(total) if queue not in found]
    if missing:
        raise NotApplied(f"nobody takes what is written to queue {', '.join(missing)}")
    undecided = [str(queue) for queue, item in sorted(found.items()) if item.logic_offset < 0]
    if undecided:
        raise NotApplied(
            f"queue {', '.join(undecided)} is being moved: carry on with its .after file, by --mapFile"
        )
    own = [(item.bname, item.queue_id) for item in found.values()]
    if len(set(own)) < len(own):
        raise NotApplied("two logical queues have the same queue of a broker")
    return dict(sorted(found.items()))


def created(
    topic: str, shares: Shares, targets: Sequence[str], everybody: Collection[str], total: int, now: int
) -> Plan:
    """The plan for `total_queues` logical queues; new queues go to the targets with the fewest queues.

    `informed_brokers` are all brokers that must know the topic. The current number of queues gives the
    current mapping.

    Raises:
        NotApplied: the topic has more queues already.
    """
    there = leaders(shares)
    if total < len(there):
        raise NotApplied(f"{topic} has {len(there)} queues: a static topic cannot have fewer than before")
    if shares and total == len(there) and set(everybody) <= shares.keys():
        return Plan(topic, CREATE, _epoch(shares), shares)
    counts = {name: sum(item.bname == name for item in there.values()) for name in targets}
    hosted = {name: dict(share.hosted) for name, share in shares.items()}
    queues = {name: share.queues for name, share in shares.items()}
    for queue in range(len(there), total):
        name = min(counts, key=lambda name: (counts[name], targets.index(name)))
        hosted.setdefault(name, {})[queue] = (Item(0, queues.get(name, 0), name, 0),)
        queues[name] = queues.get(name, 0) + 1
        counts[name] += 1
    epoch = max(_epoch(shares) + 1000, now)
    names = dict.fromkeys([*shares, *everybody])
    fresh = {
        name: _share(topic, shares.get(name), queues.get(name, 0), hosted.get(name, {}), epoch, total)
        for name in names
    }
    return Plan(topic, CREATE, epoch, fresh)


def remapped(
    topic: str, shares: Shares, targets: Sequence[str], everybody: Collection[str], now: int
) -> Plan:
    """The plan that spreads all logical queues evenly over `target_brokers` and moves as few as possible.

    The last item of a moved queue has no start offset yet; `set_offsets` adds it.
    """
    there = leaders(shares)
    wanted = _spread(there, targets)
    moves = {queue: name for queue, name in wanted.items() if there[queue].bname != name}
    if not moves:
        return Plan(topic, REMAPPING, _epoch(shares), shares)
    total, epoch = len(there), max(_epoch(shares) + 1000, now)
    hosted = {name: dict(share.hosted) for name, share in shares.items()}
    queues = {name: share.queues for name, share in shares.items()}
    for queue, name in moves.items():
        last = there[queue]
        part = Item(last.gen + 1, queues.get(name, 0), name, -1)
        items = (*shares[last.bname].hosted[queue], part)
        for holder in (last.bname, name):
            hosted.setdefault(holder, {})[queue] = items
        queues[name] = queues.get(name, 0) + 1
    names = dict.fromkeys([*shares, *everybody, *targets])
    fresh = {
        name: _share(topic, shares.get(name), queues.get(name, 0), hosted.get(name, {}), epoch, total)
        for name in names
    }
    gaining = tuple(sorted(set(moves.values())))
    return Plan(
        topic, REMAPPING, epoch, fresh, gaining, tuple(sorted({there[queue].bname for queue in moves}))
    )


def _spread(there: Mapping[int, Item], targets: Sequence[str]) -> dict[int, str]:
    """The broker of each queue. No broker both receives and loses queues."""
    counts = {name: sum(item.bname == name for item in there.values()) for name in targets}
    least, more = divmod(len(there), len(targets))
    # The brokers with the most queues may keep one more than the others.
    order = sorted(targets, key=lambda name: (-counts[name], targets.index(name)))
    room = {name: least + (at < more) for at, name in enumerate(order)}
    wanted: dict[int, str] = {}
    waiting: list[int] = []
    for queue, item in there.items():
        if room.get(item.bname, 0) > 0:
            room[item.bname] -= 1
            wanted[queue] = item.bname
        else:
            waiting.append(queue)
    places = [name for name in targets for _ in range(room[name])]
    return dict(sorted({**wanted, **dict(zip(waiting, places, strict=True))}.items()))


def moves(before: Shares, plan: Plan) -> list[Move]:
    """The logical queues that are new or come to another broker."""
    was = {
        queue: items[-1].bname
        for name, share in before.items()
        for queue, items in share.hosted.items()
        if items[-1].bname == name
    }
    found = [
        Move(queue, was.get(queue), name, items[-1].queue_id, items[-1].logic_offset)
        for name, share in plan.shares.items()
        for queue, items in share.hosted.items()
        if items[-1].bname == name and was.get(queue) != name
    ]
    return sorted(found)


def undecided(plan: Plan) -> dict[int, tuple[Item, ...]]:
    """The items of each moved logical queue whose start offset is not decided yet."""
    return {
        queue: items
        for name, share in plan.shares.items()
        for queue, items in share.hosted.items()
        if items[-1].bname == name and items[-1].logic_offset < 0
    }


def decided(plan: Plan, offsets: Mapping[int, int]) -> Plan:
    """The plan with these start offsets for its undecided logical queues."""

    def fixed(queue: int, items: tuple[Item, ...]) -> tuple[Item, ...]:
        if queue not in offsets or items[-1].logic_offset >= 0:
            return items
        return (*items[:-1], items[-1]._replace(logic_offset=offsets[queue]))

    shares = {
        name: share._replace(hosted={queue: fixed(queue, items) for queue, items in share.hosted.items()})
        for name, share in plan.shares.items()
    }
    return plan._replace(shares=shares)


def adopted(plan: Plan, live: Shares) -> Plan:
    """The plan with the offsets that brokers of its epoch already have from an interrupted run."""
    known = {
        queue: items[-1].logic_offset
        for share in live.values()
        if share.epoch == plan.epoch
        for queue, items in share.hosted.items()
        if items and items[-1].logic_offset >= 0 and queue in undecided(plan)
    }
    return decided(plan, known)


def continued(old: Item, own_end: int) -> int:
    """The offset at which a moved logical queue continues, after a gap (blockSeqRoundUp upstream)."""
    if own_end < old.start_offset:
        raise NotApplied(f"queue {old.queue_id} of {old.bname} ends at {own_end}, before {old.start_offset}")
    blocks, rest = divmod(old.logic_offset + own_end - old.start_offset, BLOCK)
    return (blocks + (1 if rest < BLOCK // 2 else 2)) * BLOCK


def _epoch(shares: Shares) -> int:
    return max((share.epoch for share in shares.values()), default=-1)


def _share(
    topic: str,
    share: Share | None,
    queues: int,
    hosted: Mapping[int, tuple[Item, ...]],
    epoch: int,
    total: int,
) -> Share:
    config = {
        "topicName": topic, "perm": 6, "order": False, "topicFilterType": "SINGLE_TAG", "topicSysFlag": 0,
        **(share.config if share else {}),
    }  # fmt: skip
    config |= {"readQueueNums": max(queues, int(config.get("readQueueNums", 0))), "writeQueueNums": queues}
    return Share(config, epoch, total, dict(sorted(hosted.items())), share.scope if share else GLOBAL)
