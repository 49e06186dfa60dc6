"""Plans of static topics, looked for and carried out, in an order in which no message is lost.

Law: what brokers are to have is in the mapping file before any of them is told.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.mappings import Share
from nsadmin.client.results import NotApplied, NotFound
from nsadmin.operations.static_topics.planning import Plan, Shares, adopted, continued, decided, undecided

Addrs = Mapping[str, str]
"""Masters' addresses by broker name."""


class Place(NamedTuple):
    """The brokers to use, all that have to know the topic, their masters, and what they have of it."""

    targets: tuple[str, ...]
    everybody: tuple[str, ...]
    addrs: Addrs
    shares: Shares


def look(admin: AdminClient, topic: str, brokers: Sequence[str], clusters: Sequence[str]) -> Place:
    """Every master is asked, as any of them may have queues of the topic.

    NotFound for a broker or cluster that is not there; NotApplied for one without a master, and for a plain
    topic of that name. A broker that does not answer ends it: its queues would be forgotten.
    """
    info = admin.clusters.info()
    groups = {group.broker_name: group for group in info.groups}
    unknown = [name for name in brokers if name not in groups]
    if unknown:
        raise NotFound(f"no broker {', '.join(unknown)} is registered")
    chosen = [groups[name] for name in brokers]
    chosen += [group for cluster in clusters for group in info.in_cluster(cluster)]
    homeless = [group.broker_name for group in chosen if group.master is None]
    if homeless:
        raise NotApplied(f"{', '.join(homeless)} has no master now")
    addrs = {name: group.master for name, group in groups.items() if group.master is not None}
    found = dict(zip(addrs, admin.mappings.each(topic, addrs.values()), strict=True))
    for name, result in found.items():
        if result.error is not None:
            raise NotApplied(f"broker {name}: {result.error}")
    near = {group.cluster_name for group in chosen}
    return Place(
        tuple(dict.fromkeys(group.broker_name for group in chosen)),
        tuple(name for name in addrs if groups[name].cluster_name in near),
        addrs,
        {name: result.result for name, result in found.items() if result.result is not None},
    )


class Carried(NamedTuple):
    """The plan as it was done in the end; `errors` by broker, `stopped_in` the phase that was the last."""

    plan: Plan
    errors: Mapping[str, RocketMQError]
    stopped_in: str | None = None


def carry_out(
    admin: AdminClient,
    plan: Plan,
    place: Place,
    keep: Callable[[Plan], None],
    *,
    force: bool = False,
) -> Carried:
    """Give brokers what they are to have, and look again; `keep` saves a plan that has become more definite.

    A move goes on so: who gets queues is told, who loses them stops taking messages, where they end is
    asked, who gets them is told where they go on, and then all others. The first failure ends it; the same
    plan may be carried out again and again.
    """
    plan = adopted(plan, place.shares)
    carrying = _Carrying(admin, place, force)
    others = [name for name in plan.shares if name not in {*plan.map_in, *plan.map_out}]
    first = (("telling who gets queues", plan.map_in), ("stopping writes", plan.map_out))
    if undecided(plan):
        for phase, names in first:
            errors = carrying.tell(plan, names)
            if errors:
                return Carried(plan, errors, phase)
        try:
            plan = carrying.decide(plan)
        except RocketMQError as error:
            return Carried(plan, {name: error for name in plan.map_out}, "asking where queues end")
        keep(plan)
    for phase, names in (
        ("telling where queues go on", plan.map_in),
        ("telling who has lost queues", plan.map_out),
        ("telling all others", tuple(others)),
    ):
        errors = carrying.tell(plan, names)
        if errors:
            return Carried(plan, errors, phase)
    return Carried(plan, carrying.check(plan))


class _Carrying:
    """Sends and reads shares."""

    def __init__(self, admin: AdminClient, place: Place, force: bool) -> None:
        self._admin, self._addrs, self._force = admin, place.addrs, force

    def tell(self, plan: Plan, names: Iterable[str]) -> dict[str, RocketMQError]:
        names = list(names)
        gone = [name for name in names if name not in self._addrs]
        if gone:
            return {name: NotApplied("it has no master now") for name in gone}
        shares = [(self._addrs[name], name, plan.shares[name]) for name in names]
        answers = self._admin.mappings.put(plan.topic, shares, force=self._force)
        return {name: answer.error for name, answer in zip(names, answers, strict=True) if answer.error}

    def decide(self, plan: Plan) -> Plan:
        """The plan with where its queues go on, by where they end on the brokers that had them."""
        ends: dict[str, Mapping[int, int]] = {}
        offsets = {}
        for queue, items in undecided(plan).items():
            old = items[-2]
            if old.bname not in ends:
                found = self._admin.mappings.ends(plan.topic, self._addrs[old.bname])
                if found.error is not None or found.result is None:
                    raise found.error or NotApplied(f"{old.bname} does not tell where its queues end")
                ends[old.bname] = found.result
            if old.queue_id not in ends[old.bname]:
                raise NotApplied(f"{old.bname} does not tell where its queue {old.queue_id} ends")
            offsets[queue] = continued(old, ends[old.bname][old.queue_id])
        return decided(plan, offsets)

    def check(self, plan: Plan) -> dict[str, RocketMQError]:
        """Who has something else than it was told."""
        names = list(plan.shares)
        found = self._admin.mappings.each(plan.topic, [self._addrs[name] for name in names])
        return {
            name: result.error or NotApplied("the broker answered success, but has another mapping")
            for name, result in zip(names, found, strict=True)
            if result.error is not None or not _same(result.result, plan.shares[name])
        }


def _same(found: Share | None, wanted: Share) -> bool:
    """Whether it is the mapping that was told; what a broker was for once, it may have forgotten."""
    if found is None or (found.epoch, found.total) != (wanted.epoch, wanted.total):
        return False
    return all(wanted.hosted.get(queue) == items for queue, items in found.hosted.items())
