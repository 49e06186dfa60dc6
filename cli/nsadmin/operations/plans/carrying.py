"""Executes plan steps phase by phase. After each phase it reads the servers again; only what it reads counts.

A step is skipped if a step of an earlier phase for the same topic failed. So clients are never sent to queues
that do not exist, and routes go last.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.bulk import Closing, Value, Wanted
from nsadmin.client.order_conf import NAMESPACE
from nsadmin.client.results import NotApplied
from nsadmin.operations.plans.difference import Step, phase, same
from nsadmin.operations.plans.observing import observe_brokers, observe_name_servers
from nsadmin.operations.plans.records import Live
from nsadmin.operations.plans.sending import Advance, Errors, Lists, singly


class Outcome(NamedTuple):
    """The result of a step: "done", "failed" or "skipped"; `error` is None if it is done."""

    step: Step
    result: str
    error: RocketMQError | None


def carry_out(
    admin: AdminClient, live: Live, steps: Sequence[Step], advance: Advance = lambda _: None
) -> list[Outcome]:
    """Execute all steps as far as possible; `advance_progress` gets the number of steps just sent."""
    carrying = _Carrying(admin, live, _ordered(live, steps), advance)
    outcomes: list[Outcome] = []
    spoiled: set[str] = set()
    for _, group in groupby(sorted(steps, key=phase), key=phase):
        due = list(group)
        ready = [step for step in due if not (_is_of_topic(step) and step.name in spoiled)]
        errors = carrying.do(ready)
        outcomes += [_outcome(step, errors) for step in due]
        advance(len(due) - len(ready))
        spoiled.update(item.step.name for item in outcomes if item.error and _is_of_topic(item.step))
    return outcomes


def _is_of_topic(step: Step) -> bool:
    return step.kind in ("topic", "orderConf", "route")


def _outcome(step: Step, errors: Errors) -> Outcome:
    if step not in errors:
        return Outcome(step, "skipped", NotApplied("skipped: an earlier step for this topic failed"))
    error = errors[step]
    return Outcome(step, "done" if error is None else "failed", error)


class _Carrying:
    """Executes one phase after the other."""

    def __init__(self, admin: AdminClient, live: Live, ordered: set[str], advance: Advance) -> None:
        self._admin, self._live, self._ordered, self._advance = admin, live, ordered, advance
        self._addrs = {broker.name: broker.addr or "" for broker in live.brokers}
        self._raw: Mapping[tuple[str, str], Mapping[str, Any]] = {}

    def do(self, steps: Sequence[Step]) -> Errors:
        """Send and verify one phase; the errors by step."""
        errors = self._verified(self._sent(steps, self._advance))
        ignored = [step for step, error in errors.items() if isinstance(error, _Ignored)]
        if ignored and ignored[0].action != "delete" and ignored[0].kind in ("topic", "group"):
            # A broker ignores a whole list if it already has one of its items exactly so.
            errors |= self._verified(self._put(ignored, lambda _: None, singly=True))
        return errors

    def _sent(self, steps: Sequence[Step], advance: Advance) -> Errors:
        errors: Errors = {}
        puts = [step for step in steps if step.action != "delete" and step.kind in ("topic", "group")]
        errors |= self._put(puts, advance)
        for wanted, ask, what in self._single():
            calls = [(step, self._addr(step), what(step)) for step in steps if wanted(step)]
            errors |= singly(ask, calls, advance)
        return errors

    def _single(self) -> "Iterable[tuple[Callable[[Step], bool], Any, Callable[[Step], Any]]]":
        """Requests for single steps: which steps, how they are sent, and the content of each."""
        bulk, cluster = self._admin.bulk, self._live.cluster
        return (
            (lambda step: bool(step.namespace), bulk.put_values, _value),
            (lambda step: _goes(step, "topic"), bulk.delete_topics, _name),
            (lambda step: _goes(step, "group"), bulk.delete_groups, _name),
            (lambda step: step.kind == "route" and bool(step.after), bulk.close_queues, _closing),
            (lambda step: _goes(step, "route"), lambda calls: bulk.forget_topics(calls, cluster), _name),
        )

    def _put(self, steps: Sequence[Step], advance: Advance, *, singly: bool = False) -> Errors:
        errors: Errors = {}
        for kind, put in (("topic", self._admin.bulk.put_topics), ("group", self._admin.bulk.put_groups)):
            some = [(self._addr(step), step) for step in steps if step.kind == kind]
            if some and kind == "group":
                self._read_raw(step for _, step in some)
            errors |= Lists(put, self._wanted, advance).send(some, singly=singly)
        return errors

    def _read_raw(self, steps: Iterable[Step]) -> None:
        """Read the groups' full configs, so that unknown settings of newer releases are not overwritten."""
        addrs = list(dict.fromkeys(self._addr(step) for step in steps if step.action == "update"))
        tables = self._admin.bulk.groups(addrs)
        self._raw = {
            (table.addr, name): config for table in tables for name, config in (table.result or {}).items()
        }

    def _wanted(self, step: Step) -> Wanted:
        key = "topicName" if step.kind == "topic" else "groupName"
        raw = self._raw.get((self._addr(step), step.name), {}) if step.kind == "group" else {}
        config = {**raw, **step.after, key: step.name}
        present = {name: value for name, value in config.items() if value is not None}
        return Wanted(present, _signed((step.before or {}).get("attributes", {}), step.after["attributes"]))

    def _addr(self, step: Step) -> str:
        return self._addrs.get(step.server, step.server)

    def _verified(self, errors: Errors) -> Errors:
        """The errors after reading the servers again: a request without an answer may have taken effect."""
        found = self._look(errors)
        return {
            step: _checked(step, error, found, step.kind == "topic" and step.name in self._ordered)
            for step, error in errors.items()
        }

    def _look(self, steps: Iterable[Step]) -> "Callable[[Step], Any]":
        """A function that returns the current value for each of these steps.

        The function raises RocketMQError if the server could not be read.
        """
        steps = list(steps)
        names = {step.server for step in steps if step.server in self._addrs}
        addrs = {name: self._addrs[name] for name in sorted(names)}
        brokers = observe_brokers(self._admin, addrs, self._live.cluster) if addrs else ()
        is_about_servers = any(step.server not in self._addrs for step in steps)
        closed = sorted({step.name for step in steps if step.kind == "route" and step.after})
        namespaces = {step.namespace for step in steps if step.namespace} - {NAMESPACE}
        servers = (
            observe_name_servers(self._admin, self._live.cluster, sorted(namespaces), closed)
            if is_about_servers
            else ()
        )
        states = {broker.name: broker for broker in brokers} | {server.addr: server for server in servers}

        def look(step: Step) -> Any:
            state: Any = states[step.server]
            if state.error is not None:
                raise state.error
            if step.kind == "route" and step.after:
                return {name: state.perms.get(step.name, {}).get(name, 0) for name in step.after}
            if step.kind == "route":
                return "routed" if step.name in state.routed else None
            if step.namespace:
                return state.kv.get(step.namespace, {}).get(step.name)
            return (state.topics if step.kind == "topic" else state.groups).get(step.name)

        return look


class _Ignored(NotApplied):
    """The server answered success, but has a different value."""


def _ordered(live: Live, steps: Iterable[Step]) -> set[str]:
    """The topics that have an order configuration, or will have one."""
    there = {topic for server in live.name_servers for topic in server.kv.get(NAMESPACE, {})}
    changed = {step.name: step.after for step in steps if step.kind == "orderConf"}
    return {name for name in there | changed.keys() if changed.get(name, "") is not None}


def _checked(
    step: Step, error: RocketMQError | None, look: Callable[[Step], Any], is_ordered: bool
) -> RocketMQError | None:
    """The final error of a step. The value on the server counts more than the server's answer."""
    try:
        now = look(step)
    except RocketMQError as unknown:
        return error or unknown
    if same(now, step.after, is_ordered):
        return None
    return error or _Ignored(_difference(step, now))


def _difference(step: Step, now: Any) -> str:
    if step.action == "delete":
        return "the server said done, and has it still or again"
    if isinstance(now, Mapping) and step.kind != "route":
        names = [key for key, value in step.after.items() if now.get(key) != value]
        why = "; before 5.0 a topic without an orderConf is not ordered" if names == ["order"] else ""
        return f"ignored: the broker did not take the new {' and '.join(names)}{why}"
    return "ignored: the server said done, and has something else"


def _goes(step: Step, kind: str) -> bool:
    return step.kind == kind and step.action == "delete"


def _name(step: Step) -> str:
    return step.name


def _closing(step: Step) -> Closing:
    return Closing(step.name, tuple(step.after))


def _value(step: Step) -> Value:
    return Value(step.namespace, step.name, step.after)


def _signed(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """The attribute changes in the form that brokers expect: +NAME or -NAME."""
    added = {f"+{key}": value for key, value in after.items() if before.get(key) != value}
    return added | {f"-{key}": "" for key in before.keys() - after.keys()}
