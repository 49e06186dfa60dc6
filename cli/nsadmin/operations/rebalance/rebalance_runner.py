"""Runs a rebalance plan and yields its events. The state is saved before each change is sent."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nsadmin.console.phrases import count_noun
from nsadmin.operations.drain.runner import DrainRefused
from nsadmin.operations.procedure_clock import ProcedureClock
from nsadmin.operations.rebalance import run_events
from nsadmin.operations.rebalance.rebalance_plan import RebalancePlan
from nsadmin.operations.rebalance.run_facts import (
    CommitStart,
    CreateGroupOn,
    DeleteTopicOn,
    PutOrderConf,
    PutTopic,
    RebalanceEnvironment,
    RunAction,
)
from nsadmin.operations.rebalance.run_machine import RebalanceMachine
from nsadmin.operations.rebalance.run_rules import RunRules
from nsadmin.operations.rebalance.run_state import RebalanceFolder, RunState
from nsadmin.operations.run_folder import EventRecord, RunEvent

_MAX_FAILURES = 5


class RunOrder(NamedTuple):
    """What to run: the plan, the limits, the seconds between two observations, and the direction."""

    plan: RebalancePlan
    rules: RunRules = RunRules()
    interval_seconds: float = 5.0
    is_rollback: bool = False
    by: str = ""


class RebalanceRun:
    """One run by this process. It ends when it finished, or when it paused itself."""

    def __init__(self, order: RunOrder, environment: RebalanceEnvironment, folder: RebalanceFolder) -> None:
        self._order = order
        self._environment = environment
        self._folder = folder
        self._failure_counts: dict[RunAction, int] = {}

    def run(self, new_state: RunState | None, clock: ProcedureClock) -> Iterator[EventRecord]:
        """Run or resume the plan. `new_state` is the state of a new run, None to resume a saved one.

        Raises:
            DrainRefused: Another process rebalances this cluster.
        """
        self._clock = clock
        self._steady_ms = clock.count_steadily()
        plan = self._order.plan
        with self._folder.lock.hold(
            lambda holder: DrainRefused(f"{holder} is already rebalancing {plan.cluster}")
        ):
            saved = self._folder.state.load()
            state = saved or new_state
            if state is None:
                raise DrainRefused("the saved run is gone: run the command again")
            if saved is None:
                self._folder.save_plan(plan)
            machine = RebalanceMachine(plan, self._order.rules, state)
            machine.resume()
            if self._order.is_rollback:
                machine.begin_rollback()
            self._folder.state.save(machine.state)
            yield self._folder.record(self._begin_event(machine.state, saved))
            yield from self._observe_until_over(machine)

    def _begin_event(self, state: RunState, saved: RunState | None) -> RunEvent:
        topic_count = len(self._order.plan.moves)
        if state.is_rollback:
            topic_count = len({*state.moved, *state.returned, *state.moving})
        return run_events.Began(
            self._clock.now_ms(),
            state.cluster,
            state.digest,
            topic_count,
            state.name_servers,
            None if saved is None else saved.phase,
            state.is_rollback,
        )

    def _observe_until_over(self, machine: RebalanceMachine) -> Iterator[EventRecord]:
        while True:
            observation = self._environment.observe(machine.list_questions(), self._steady_ms())
            decision = machine.process_observation(observation)
            self._folder.state.save(machine.state)
            for event in decision.events:
                yield self._folder.record(event)
            if machine.is_over:
                return
            errors = self._environment.carry_out(decision.actions)
            for action, error in zip(decision.actions, errors, strict=True):
                yield self._folder.record(self._event_of_action(action, error))
            failure = self._find_lasting_failure(decision.actions, errors)
            if failure is not None:
                machine.state = machine.state._replace(pause=failure)
                self._folder.state.save(machine.state)
                yield self._folder.record(run_events.Paused(self._clock.now_ms(), failure))
                return
            has_changed = bool(decision.actions) and not any(errors)
            if not decision.looks_again and not has_changed:
                self._clock.pause_seconds(self._order.interval_seconds)

    def _find_lasting_failure(self, actions: Sequence[RunAction], errors: Sequence[str | None]) -> str | None:
        for action, error in zip(actions, errors, strict=True):
            if error is None:
                self._failure_counts.pop(action, None)
                continue
            self._failure_counts[action] = self._failure_counts.get(action, 0) + 1
            if self._failure_counts[action] >= _MAX_FAILURES:
                topic = "" if isinstance(action, CreateGroupOn) else f"{action.topic}: "
                place = "" if isinstance(action, PutOrderConf) else f" on {action.broker}"
                return (
                    f"{topic}nsadmin tried {_MAX_FAILURES} times to {describe_action(action)}{place}: "
                    f"{error}; run the same command to try again"
                )
        return None

    def _event_of_action(self, action: RunAction, error: str | None) -> RunEvent:
        now_ms = self._clock.now_ms()
        if isinstance(action, CreateGroupOn):
            return run_events.GroupCreated(now_ms, action.group, action.broker, error)
        broker = None if isinstance(action, PutOrderConf) else action.broker
        return run_events.Changed(now_ms, action.topic, broker, describe_action(action), error)


def describe_action(action: RunAction) -> str:
    """Return what a change does, without the topic and the broker."""
    if isinstance(action, PutTopic):
        return f"set {action.queues.read} read and {count_noun(action.queues.write, 'write queue')}"
    if isinstance(action, PutOrderConf):
        conf = action.order_conf
        return f"set the order configuration {conf}" if conf else "delete the order configuration"
    if isinstance(action, CommitStart):
        return f"set the start offsets of group {action.group}"
    if isinstance(action, CreateGroupOn):
        return f"create group {action.group}"
    return "delete the topic" if isinstance(action, DeleteTopicOn) else "register the topics again"
