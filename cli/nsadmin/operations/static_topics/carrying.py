"""Executes mapping plans of static topics in an order that loses no message.

Rule: the mapping file holds the plan before any broker is changed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.mappings import Share
from nsadmin.client.results import NotApplied, NotFound
from nsadmin.operations.static_topics.planning import Plan, Shares, adopted, continued, decided, undecided

Addrs = Mapping[str, str]
"""Addresses of masters by broker name."""


class Place(NamedTuple):
    """The brokers to use, the brokers that must know the topic, all masters, and their current shares."""

    targets: tuple[str, ...]
    everybody: tuple[str, ...]
    addrs: Addrs
    shares: Shares


def look(admin: AdminClient, topic: str, brokers: Sequence[str], clusters: Sequence[str]) -> Place:
    """The current placement. Every master is asked, because each of them may have queues of the topic.

    Raises:
        NotFound: a broker or cluster does not exist.
        NotApplied: a broker has no master or does not answer, or a plain topic has this name.
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
    """The plan in its final form, the errors by broker, and the phase in which execution stopped early."""

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
    """Send the planned shares to the brokers and verify them; `keep_plan` saves the plan with its offsets.

    A move has these phases: prepare the receiving brokers, stop writes on the losing brokers, read where
    their queues end, send the final offsets to the receiving brokers, then update all others. The first
    failure ends the execution. Executing the same plan again is safe.
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
    """Sends shares to brokers and reads them back."""

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
        """The plan with the start offsets of moved queues, computed from their ends on the old brokers."""
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
        """The errors of brokers whose share differs from the planned one."""
        names = list(plan.shares)
        found = self._admin.mappings.each(plan.topic, [self._addrs[name] for name in names])
        return {
            name: result.error or NotApplied("the broker answered success, but has another mapping")
            for name, result in zip(names, found, strict=True)
            if result.error is not None or not _same(result.result, plan.shares[name])
        }


def _same(found: Share | None, wanted: Share) -> bool:
    """Whether the share is the wanted one. A broker may have dropped queues that it no longer serves."""
    if found is None or (found.epoch, found.total) != (wanted.epoch, wanted.total):
        return False
    return all(wanted.hosted.get(queue) == items for queue, items in found.hosted.items())
