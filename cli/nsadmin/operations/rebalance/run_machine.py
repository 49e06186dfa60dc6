"""The state machine of a rebalance: decides the next changes from the observations. Pure. Times are in ms.

Rule: a decision depends only on the state, which is saved in a file, and on observations. A killed run that
is started again goes on where it was. It only repeats settle times and the count of quiet checks.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nsadmin.console.phrases import count_noun
from nsadmin.operations.rebalance import run_events, stage_conditions
from nsadmin.operations.rebalance.move_stages import READ_ON, SWITCH_ORDER, MoveStage, QueuesByBroker
from nsadmin.operations.rebalance.rebalance_plan import NO_QUEUES, RebalanceMove, RebalancePlan
from nsadmin.operations.rebalance.run_facts import (
    AskRegistration,
    BrokerHealth,
    CreateGroupOn,
    MovingTopicFacts,
    RunAction,
    RunObservation,
    RunQuestions,
)
from nsadmin.operations.rebalance.run_rules import RunRules, find_exceeded_limits
from nsadmin.operations.rebalance.run_state import RunState, TopicProgress
from nsadmin.operations.rebalance.topic_start import find_stages
from nsadmin.operations.run_folder import RunEvent

_REGISTER_AFTER_MS = 15_000
_MINUTE_MS = 60_000


class RunDecision(NamedTuple):
    """The events of an observation, the changes to make, and whether to observe again immediately."""

    events: tuple[RunEvent, ...]
    actions: tuple[RunAction, ...]
    looks_again: bool = False


class RebalanceMachine:
    """The caller saves `state` before it carries out the actions of a decision."""

    def __init__(self, plan: RebalancePlan, rules: RunRules, state: RunState) -> None:
        self.plan = plan
        self.rules = rules
        self.state = state
        self._moves = {move.topic: move for move in plan.moves}
        self._quiet_counts: dict[str, int] = {}
        self._last_ends: dict[str, Mapping[str, tuple[int, ...] | None]] = {}
        self._asked_registrations: dict[str, int] = {}
        self._first_health: tuple[int, Mapping[str, BrokerHealth]] | None = None

    @property
    def is_over(self) -> bool:
        """Whether the run finished or paused itself."""
        return self.state.finished is not None or self.state.pause is not None

    @property
    def pending_topics(self) -> tuple[str, ...]:
        """The topics that did not begin yet, in the order in which they begin."""
        if self.state.is_rollback:
            gone_back = {*self.state.returned, *self.state.moving}
            return tuple(topic for topic in reversed(self.state.moved) if topic not in gone_back)
        known_topics = {*self.state.moved, *self.state.moving}
        return tuple(move.topic for move in self.plan.moves if move.topic not in known_topics)

    def resume(self) -> None:
        """End a pause. Nobody knows which routes clients could read meanwhile: settle times begin again."""
        moving = {t: progress._replace(routed_since=None) for t, progress in self.state.moving.items()}
        self.state = self.state._replace(pause=None, moving=moving)

    def begin_rollback(self) -> None:
        """Turn the run around: topics in motion reach a state from which they can go back, and do."""
        if not self.state.is_rollback:
            moving = {t: p._replace(is_turning=True) for t, p in self.state.moving.items() if p.stages}
            self.state = self.state._replace(is_rollback=True, moving=moving, finished=None)

    def list_questions(self) -> RunQuestions:
        """Return what the next observation must read."""
        if not self.state.has_groups:
            return RunQuestions((), tuple(sorted(self.plan.groups_to_create)), ())
        self._start_topics()
        brokers = sorted({broker for topic in self.state.moving for broker in self._moves[topic].after})
        return RunQuestions(
            tuple(
                stage_conditions.question_of_stage(
                    topic, {*self._moves[topic].before, *self._moves[topic].after}, progress.stage
                )
                for topic, progress in self.state.moving.items()
            ),
            (),
            tuple(brokers),
        )

    def process_observation(self, observation: RunObservation) -> RunDecision:
        """Update the state by an observation, and decide what to change."""
        now_ms = observation.time_ms
        self.state = self.state._replace(updated=now_ms)
        if not self.state.has_groups:
            return self._create_groups(observation)
        events: list[RunEvent] = []
        actions: list[RunAction] = []
        self._check_limits(observation)
        advanced = False
        waits: dict[str, tuple[str, ...]] = {}
        for topic, facts in observation.topics.items():
            if self.state.pause is not None:
                break
            topic_actions, topic_waits, has_advanced = self._process_topic(topic, facts, now_ms, events)
            actions += topic_actions
            advanced |= has_advanced
            if topic_waits and topic in self.state.moving:
                waits[topic] = topic_waits
        self.state = self.state._replace(waiting=waits)
        events += self._end_run(now_ms)
        return RunDecision(
            tuple(events), () if self.is_over else tuple(actions), advanced and not self.is_over
        )

    def _end_run(self, now_ms: int) -> Iterator[RunEvent]:
        yield self._build_progress(now_ms)
        if self.state.pause is not None:
            yield run_events.Paused(now_ms, self.state.pause)
        elif not self.state.moving and not self.pending_topics:
            self.state = self.state._replace(finished=now_ms)
            done_topics = self.state.returned if self.state.is_rollback else self.state.moved
            yield run_events.Finished(now_ms, self.state.cluster, len(done_topics), self.state.is_rollback)

    def _build_progress(self, now_ms: int) -> run_events.Progress:
        state = self.state
        return run_events.Progress(
            now_ms,
            state.phase,
            len(state.returned if state.is_rollback else state.moved),
            len(state.moving),
            len(self.pending_topics),
            {topic: progress.stage.kind for topic, progress in state.moving.items() if progress.stage},
            state.waiting,
        )

    def _create_groups(self, observation: RunObservation) -> RunDecision:
        missing: list[RunAction] = []
        silent = []
        for broker, groups in sorted(self.plan.groups_to_create.items()):
            known_groups = observation.groups.get(broker)
            if known_groups is None:
                silent.append(broker)
            else:
                missing += [CreateGroupOn(group, broker) for group in groups if group not in known_groups]
        is_complete = not missing and not silent
        self.state = self.state._replace(
            has_groups=is_complete,
            waiting={"": tuple(f"{broker} to answer" for broker in silent)} if silent else {},
        )
        progress = self._build_progress(observation.time_ms)
        return RunDecision((progress,), tuple(missing), is_complete or bool(missing))

    def _check_limits(self, observation: RunObservation) -> None:
        now_ms = observation.time_ms
        first_ms, first_health = self._first_health or (now_ms, observation.health)
        exceeded_limit = next(
            find_exceeded_limits(
                self.rules, observation.topics, observation.health, first_health, now_ms - first_ms
            ),
            None,
        )
        if self._first_health is None or now_ms - first_ms > _MINUTE_MS:
            self._first_health = now_ms, observation.health
        if exceeded_limit is not None:
            self._pause_run(exceeded_limit)

    def _pause_run(self, reason: str) -> None:
        self.state = self.state._replace(pause=reason)

    def _start_topics(self) -> None:
        """Add topics to those in motion as far as the limits allow. At least one topic moves."""
        moving = dict(self.state.moving)
        in_motion = sum(_count_writes(self._moves[topic]) for topic in moving)
        allowed_queues = self.rules.max_share * self.state.cluster_queues
        for topic in self.pending_topics:
            if len(moving) >= self.rules.max_topics:
                break
            in_motion += _count_writes(self._moves[topic])
            if moving and in_motion > allowed_queues:
                break
            moving[topic] = TopicProgress(since=self.state.updated)
        self.state = self.state._replace(moving=moving)

    def _process_topic(
        self, topic: str, facts: MovingTopicFacts, now_ms: int, events: list[RunEvent]
    ) -> tuple[list[RunAction], tuple[str, ...], bool]:
        """Return the changes, the missing conditions, and whether the topic entered another stage."""
        progress = self.state.moving[topic]
        stage = progress.stage
        if stage is not None and self._finds_other_change(topic, progress, facts):
            return [], (), False
        # Once producers may use the next queues of an ordered topic, it must complete the switch.
        if stage is None or (progress.is_turning and stage.kind not in (SWITCH_ORDER, READ_ON)):
            waits_for = [f"{b} to answer" for b, at in facts.on_brokers.items() if at.error is not None]
            waits_for += [
                f"{addr} to answer" for addr, at in facts.at_servers.items() if at.error is not None
            ]
            if waits_for:
                return [], tuple(waits_for), False
            return [], (), self._begin_topic(topic, progress, facts, now_ms, events)
        progress = self._note_settled(topic, progress, stage, facts, now_ms)
        actions = stage_conditions.list_actions(topic, stage, facts, self._moves[topic].perm, progress)
        unsettled = tuple(stage_conditions.list_unsettled_servers(stage, facts))
        if unsettled or actions:
            if unsettled and not actions:
                actions += self._list_registrations(topic, facts, progress, now_ms)
            self._check_timeout(topic, progress, unsettled, now_ms)
            return actions, unsettled, False
        quiet_count = self._count_quiet(topic, stage, facts)
        waits = tuple(stage_conditions.list_waits(stage, progress, facts, self.rules, now_ms, quiet_count))
        if waits:
            self._check_timeout(topic, progress, waits, now_ms)
            return [], waits, False
        if progress.is_turning and stage.kind == READ_ON:
            return [], (), self._begin_topic(topic, progress, facts, now_ms, events)
        self._enter_stage(topic, progress._replace(position=progress.position + 1), now_ms, events)
        return [], (), True

    def _note_settled(
        self, topic: str, progress: TopicProgress, stage: MoveStage, facts: MovingTopicFacts, now_ms: int
    ) -> TopicProgress:
        """Remember since when all servers have the stage: clients cannot read the routes of a silent one."""
        is_settled = not any(stage_conditions.list_unsettled_servers(stage, facts))
        if is_settled is (progress.routed_since is None):
            progress = progress._replace(routed_since=now_ms if is_settled else None)
            self._set_progress(topic, progress)
        return progress

    def _set_progress(self, topic: str, progress: TopicProgress | None) -> None:
        moving = dict(self.state.moving)
        if progress is None:
            del moving[topic]
        else:
            moving[topic] = progress
        self.state = self.state._replace(moving=moving)

    def _begin_topic(
        self,
        topic: str,
        progress: TopicProgress,
        facts: MovingTopicFacts,
        now_ms: int,
        events: list[RunEvent],
    ) -> bool:
        move, is_rollback = self._moves[topic], self.state.is_rollback
        stages = find_stages(
            move,
            facts,
            self.state.confs_before.get(topic),
            allow_ordered=self.rules.allow_ordered,
            is_rollback=is_rollback,
            was_moved=topic in self.state.moved,
        )
        if isinstance(stages, str):
            self._pause_run(stages)
            return False
        if not is_rollback:
            if facts.conf_now:
                confs_before = {**self.state.confs_before, topic: facts.conf_now}
                self.state = self.state._replace(confs_before=confs_before)
            was_ordered = any(broker.is_ordered for broker in facts.on_brokers.values())
            progress = progress._replace(was_ordered=was_ordered)
        progress = progress._replace(stages=stages, position=0, start=facts.queues_now, is_turning=False)
        self._enter_stage(topic, progress, now_ms, events)
        return True

    def _enter_stage(self, topic: str, progress: TopicProgress, now_ms: int, events: list[RunEvent]) -> None:
        self._quiet_counts.pop(topic, None)
        self._last_ends.pop(topic, None)
        progress = progress._replace(since=now_ms, routed_since=None)
        stage = progress.stage
        if stage is not None:
            self._set_progress(topic, progress)
            counts = {broker: queues._asdict() for broker, queues in sorted(stage.counts.items())}
            events.append(
                run_events.StageBegan(
                    now_ms, topic, stage.kind, progress.position + 1, len(progress.stages), counts
                )
            )
            return
        self._set_progress(topic, None)
        if self.state.is_rollback:
            self.state = self.state._replace(returned=(*self.state.returned, topic))
        else:
            self.state = self.state._replace(moved=(*self.state.moved, topic))
        events.append(run_events.TopicMoved(now_ms, topic, self.state.is_rollback))

    def _finds_other_change(self, topic: str, progress: TopicProgress, facts: MovingTopicFacts) -> bool:
        """Pause if the queues of a broker match neither this stage nor the previous one."""
        stage = progress.stages[progress.position]
        before: QueuesByBroker = (
            progress.stages[progress.position - 1].counts if progress.position else progress.start
        )
        for broker, on in sorted(facts.on_brokers.items()):
            known = (stage.counts.get(broker, NO_QUEUES), before.get(broker, NO_QUEUES))
            if on.error is None and on.queues not in known:
                self._pause_run(
                    f"{topic} has {on.queues.read} read and {count_noun(on.queues.write, 'write queue')} on "
                    f"{broker}, and the run expected {known[0].read} and {known[0].write}: "
                    "another change is in the way; undo it, and run the command again"
                )
                return True
        return False

    def _list_registrations(
        self, topic: str, facts: MovingTopicFacts, progress: TopicProgress, now_ms: int
    ) -> list[RunAction]:
        """Ask brokers to register if routes still differ a while after the change."""
        last_ms = self._asked_registrations.get(topic, progress.since)
        if now_ms - last_ms < _REGISTER_AFTER_MS:
            return []
        self._asked_registrations[topic] = now_ms
        return [AskRegistration(topic, b) for b, on in sorted(facts.on_brokers.items()) if on.error is None]

    def _check_timeout(
        self, topic: str, progress: TopicProgress, waits: tuple[str, ...], now_ms: int
    ) -> None:
        if self.rules.timeout_ms is not None and now_ms - progress.since > self.rules.timeout_ms and waits:
            self._pause_run(
                f"{topic} waits for more than {self.rules.timeout_ms // 1000} s (--step-timeout): {waits[0]}"
            )

    def _count_quiet(self, topic: str, stage: MoveStage, facts: MovingTopicFacts) -> int:
        """Count the checks in a row in which the closed queues got no message."""
        if not stage.drains_from:
            return 0
        previous_ends = self._last_ends.get(topic)
        is_known = all(ends is not None for ends in facts.queue_ends.values())
        is_quiet = is_known and previous_ends == facts.queue_ends
        self._last_ends[topic] = facts.queue_ends
        self._quiet_counts[topic] = self._quiet_counts.get(topic, 0) + 1 if is_quiet else 0
        return self._quiet_counts[topic]


def _count_writes(move: RebalanceMove) -> int:
    return max(
        sum(queues.write for queues in move.before.values()),
        sum(queues.write for queues in move.after.values()),
    )
