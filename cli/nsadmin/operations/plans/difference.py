"""The diff between a desired cluster and its state, as ordered steps. Pure and deterministic."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client.order_conf import NAMESPACE
from nsadmin.client.results import NotApplied, NotFound
from nsadmin.operations.plans.describing import of_cluster, user_groups, user_topics
from nsadmin.operations.plans.records import BrokerState, Desired, Live, NameServerState, Spec
from nsadmin.operations.plans.settings import Settings, SpreadKind

Kind = Literal["topic", "group", "route", "orderConf", "kv"]
Action = Literal["create", "update", "delete"]


class Step(NamedTuple):
    """One change on one server: a broker by name, or a name server by address.

    `before` and `after` are the complete settings of a topic or group, or the value of an orderConf or of a
    key in `namespace`; None means absent. A "route" step changes what a name server returns for a topic: it
    deletes the route of a topic that no broker has, or closes the queues of brokers without the topic.
    """

    kind: Kind
    name: str
    server: str
    before: Any
    after: Any
    namespace: str = ""

    def __hash__(self) -> int:
        # Settings are maps, which have no hash. A server has at most one step for each item.
        return hash((self.kind, self.namespace, self.name, self.server))

    @property
    def action(self) -> Action:
        return "create" if self.before is None else "delete" if self.after is None else "update"

    @property
    def takes_away(self) -> bool:
        """Whether a topic loses queues or its order. Brokers restore the order while it has an orderConf."""
        if self.kind != "topic" or self.action != "update":
            return False
        return any(self.after[key] < self.before[key] for key in ("readQueueNums", "writeQueueNums", "order"))


class Trouble(NamedTuple):
    """An error that hides or prevents changes on one server; `item_name` is "" for the whole server."""

    server: str
    error: RocketMQError
    kind: Kind | None = None
    name: str = ""


class Difference(NamedTuple):
    """The steps and troubles; `extra_items` are (kind, name) pairs that are not in the file and stay."""

    steps: tuple[Step, ...]
    troubles: tuple[Trouble, ...]
    extra: tuple[tuple[Kind, str], ...]

    @property
    def deleted(self) -> set[tuple[Kind, str, str]]:
        """The items that are deleted on some server, each once, as (kind, namespace, name)."""
        gone = (step for step in self.steps if step.action == "delete" and step.kind != "route")
        return {(step.kind, step.namespace, step.name) for step in gone}


def difference(desired: Desired, live: Live, *, prune: bool = False) -> Difference:
    """The steps in execution order. `prune` also deletes items that are not in the file."""
    found = _Finding(live)
    found.spread("topic", desired.topics, desired, prune)
    found.spread("group", desired.groups, desired, prune)
    found.routes(desired, prune)
    if desired.order_conf is not None:
        _of_servers(found, "orderConf", NAMESPACE, desired.order_conf, prune)
    for namespace, values in (desired.kv or {}).items():
        _of_servers(found, "kv", namespace, values, prune)
    steps = tuple(sorted(found.steps, key=lambda step: (phase(step), *_place(step))))
    return Difference(steps, tuple(found.troubles), tuple(sorted(found.extra)))


def phase(step: Step) -> int:
    """The phase of a step: queues are created before clients are sent to them, and deleted afterwards."""
    if step.kind == "route" or (step.action == "delete" and step.kind in _LAST):
        return _LAST[step.kind]
    if step.kind == "topic":
        return 4 if step.takes_away else 0
    return {"group": 1, "orderConf": 2}.get(step.kind, 3)


_LAST = {"group": 5, "topic": 6, "route": 7}


def _place(step: Step) -> tuple[str, str, str, str]:
    return step.kind, step.namespace, step.name, step.server


class _Finding:
    """Collects steps, troubles and extra items."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.known = [broker for broker in live.brokers if broker.error is None]
        self.steps: list[Step] = []
        self.troubles = [Trouble(item.name, item.error) for item in live.brokers if item.error]
        self.troubles += [Trouble(item.addr, item.error) for item in live.name_servers if item.error]
        self.extra: set[tuple[Kind, str]] = set()

    @property
    def name_servers(self) -> Iterator[NameServerState]:
        return (server for server in self.live.name_servers if server.error is None)

    def spread(
        self, kind: SpreadKind, specs: Mapping[str, Spec] | None, desired: Desired, prune: bool
    ) -> None:
        """Add the steps for topics or groups on each broker."""
        if specs is None:
            return
        ordered = self._ordered(desired, prune) if kind == "topic" else frozenset()
        names = [broker.name for broker in self.live.brokers]
        self._strangers(kind, specs, names)
        wanted = {name: _with_order(spec.on(kind, names), name in ordered) for name, spec in specs.items()}
        for broker in self.known:
            have = broker.topics if kind == "topic" else broker.groups
            for name, places in wanted.items():
                before, after = have.get(name), places.get(broker.name)
                if not same(before, after, name in ordered):
                    self._item(Step(kind, name, broker.name, before, after), broker, prune)
            users = user_topics(broker) if kind == "topic" else user_groups(broker)
            for name in users.keys() - specs.keys():
                self._leave(Step(kind, name, broker.name, users[name], None), prune)

    def _item(self, step: Step, broker: BrokerState, prune: bool) -> None:
        if step.kind == "topic" and step.name in broker.static:
            error = NotApplied("this is a static topic, which updateStaticTopic alone may change")
            self.troubles.append(Trouble(broker.name, error, step.kind, step.name))
        elif step.after is None:
            self._leave(step, prune)
        else:
            self.steps.append(step)

    def _leave(self, step: Step, prune: bool) -> None:
        """Delete an item that is not desired, or count it as extra."""
        if prune:
            self.steps.append(step)
        else:
            self.extra.add((step.kind, step.name))

    def _strangers(self, kind: SpreadKind, specs: Mapping[str, Spec], names: Iterable[str]) -> None:
        """Report the brokers that the file names and that are not registered."""
        for name in sorted({name for spec in specs.values() for name in spec.named}.difference(names)):
            items = sum(name in spec.named for spec in specs.values())
            error = NotFound(f"no such broker is registered; the file names it for {items} {kind}(s)")
            self.troubles.append(Trouble(name, error, kind))

    def _ordered(self, desired: Desired, prune: bool) -> frozenset[str]:
        """The topics that will have an order configuration. Brokers make these topics ordered."""
        there = {topic for server in self.name_servers for topic in server.kv.get(NAMESPACE, {})}
        if desired.order_conf is None:
            return frozenset(there)
        return frozenset(desired.order_conf) if prune else frozenset(there | desired.order_conf.keys())

    def routes(self, desired: Desired, prune: bool) -> None:
        """Add steps for routes of topics that no broker will have; none unless all brokers answered."""
        if desired.topics is None or not prune or len(self.known) < len(self.live.brokers):
            return
        kept = self._kept()
        for server in self.name_servers:
            for topic in server.routed - kept.keys():
                self.steps.append(Step("route", topic, server.addr, "routed", None))
            for topic, perms in server.perms.items():
                stale = {
                    name: perm for name, perm in perms.items() if perm and name in self._left(topic, kept)
                }
                if stale and topic in kept:
                    closed = dict.fromkeys(stale, 0)
                    self.steps.append(Step("route", topic, server.addr, stale, closed))

    def _left(self, topic: str, kept: Mapping[str, set[str]]) -> set[str]:
        """The brokers that will not have the topic."""
        return {broker.name for broker in self.known} - kept.get(topic, set())

    def _kept(self) -> dict[str, set[str]]:
        """Each remaining topic with the brokers that will have it."""
        kept: dict[str, set[str]] = {}
        for broker in self.known:
            for topic in broker.topics.keys() | broker.own:
                kept.setdefault(topic, set()).add(broker.name)
        for step in self.steps:
            if step.kind == "topic" and step.after is None:
                kept[step.name].discard(step.server)
            elif step.kind == "topic":
                kept.setdefault(step.name, set()).add(step.server)
        return {topic: names for topic, names in kept.items() if names}


def same(first: Any, second: Any, is_ordered: bool) -> bool:
    """Whether settings are the same. For a topic with an orderConf, `order` does not count.

    Brokers make such a topic ordered; until it has an orderConf, 4.9 brokers reset its order.
    """
    if first == second or not is_ordered or not first or not second:
        return bool(first == second)
    return bool({**first, "order": True} == {**second, "order": True})


def _with_order(places: dict[str, Settings], ordered: bool) -> dict[str, Settings]:
    if not ordered:
        return places
    return {name: {**settings, "order": True} for name, settings in places.items()}


def _of_servers(
    found: _Finding, kind: Literal["orderConf", "kv"], namespace: str, wanted: Mapping[str, str], prune: bool
) -> None:
    """Add the steps for the values of a namespace on each name server."""
    for server in found.name_servers:
        have = server.kv.get(namespace, {})
        for key, value in wanted.items():
            if have.get(key) != value:
                found.steps.append(Step(kind, key, server.addr, have.get(key), value, namespace))
        extra = of_cluster(have, found.live.brokers) if kind == "orderConf" else have
        for key in extra.keys() - wanted.keys():
            found._leave(Step(kind, key, server.addr, have[key], None, namespace), prune)
