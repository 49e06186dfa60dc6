"""What a stage of a topic still needs: changes on servers, and conditions to wait for. Pure."""

from collections.abc import Iterable, Iterator

from namesrv_core.protocol.codes import Perm
from nsadmin.console.phrases import count_noun
from nsadmin.operations.rebalance.move_stages import (
    CLOSE_WRITES,
    OPEN_READS,
    SWITCH_ORDER,
    UNPIN_ORDER,
    MoveStage,
)
from nsadmin.operations.rebalance.rebalance_plan import NO_QUEUES, QueuePair
from nsadmin.operations.rebalance.run_facts import (
    CommitStart,
    DeleteTopicOn,
    MovingTopicFacts,
    PutOrderConf,
    PutTopic,
    RoutedQueues,
    RunAction,
    TopicQuestion,
)
from nsadmin.operations.rebalance.run_rules import RunRules
from nsadmin.operations.rebalance.run_state import TopicProgress

_ALL_PERMS = int(Perm.READ | Perm.WRITE)


def question_of_stage(topic: str, brokers: Iterable[str], stage: MoveStage | None) -> TopicQuestion:
    """Return what to read for a topic in this stage; None for a topic that does not move yet."""
    if stage is None:
        return TopicQuestion(topic, tuple(sorted(brokers)))
    leaving = tuple(broker for broker, ids in stage.closing_queues.items() if not ids.start)
    return TopicQuestion(
        topic,
        tuple(sorted({*brokers, *stage.counts})),
        stage.closing_queues,
        stage.opening_queues,
        stage.kind == OPEN_READS,
        leaving,
    )


def list_actions(
    topic: str, stage: MoveStage, facts: MovingTopicFacts, perm: int, progress: TopicProgress
) -> list[RunAction]:
    """Return the changes that this stage needs on servers that answer and differ."""
    if stage.opens_from:
        preparing = _prepare_new_queues(topic, stage, facts, perm)
        if preparing or facts.error is not None:
            return preparing
    actions: list[RunAction] = []
    for broker, wanted in sorted(stage.counts.items()):
        on_broker = facts.on_brokers[broker]
        if on_broker.error is not None or broker in stage.deletes_on:
            continue
        if on_broker.queues != wanted:
            models = tuple(name for name in sorted(stage.counts) if name != broker)
            actions.append(PutTopic(topic, broker, on_broker.queues, wanted, perm, models))
    actions += [DeleteTopicOn(topic, b) for b in stage.deletes_on if facts.on_brokers[b].exists]
    if actions:
        return actions
    if stage.order_conf is not None and any(
        server.error is None and server.order_conf != stage.order_conf for server in facts.at_servers.values()
    ):
        # All name servers change together, so none of them may be silent.
        if all(server.error is None for server in facts.at_servers.values()):
            actions.append(PutOrderConf(topic, stage.order_conf))
    elif stage.kind == UNPIN_ORDER:
        actions += [
            PutTopic(
                topic, broker, on_broker.queues, stage.counts[broker], perm, is_ordered=progress.was_ordered
            )
            for broker, on_broker in sorted(facts.on_brokers.items())
            if on_broker.exists and on_broker.is_ordered != progress.was_ordered and not stage.order_conf
        ]
    return actions


def _prepare_new_queues(topic: str, stage: MoveStage, facts: MovingTopicFacts, perm: int) -> list[RunAction]:
    """Return the changes that new queues need before clients see them: the topic, and where groups start.

    Without an offset, a group may skip the first messages. Brokers of 4.x keep the offsets of deleted topics.
    """
    creating: list[RunAction] = [
        PutTopic(
            topic,
            broker,
            NO_QUEUES,
            NO_QUEUES,
            perm,
            tuple(name for name in sorted(stage.counts) if name != broker),
        )
        for broker in sorted(stage.opens_from)
        if facts.on_brokers[broker].error is None and not facts.on_brokers[broker].exists
    ]
    return creating or [
        CommitStart(topic, broker, group, ids)
        for group, use in sorted(facts.new_queue_use.items())
        for broker, ids in sorted(use.without_offset.items())
        if ids
    ]


def list_unsettled_servers(stage: MoveStage, facts: MovingTopicFacts) -> Iterator[str]:
    """Yield what servers still lack, as texts that continue "waiting for"."""
    for broker, wanted in sorted(stage.counts.items()):
        on_broker = facts.on_brokers[broker]
        if on_broker.error is not None:
            yield f"{broker} to answer ({on_broker.error})"
        elif on_broker.queues != wanted and broker not in stage.deletes_on:
            yield f"{broker} to have {_describe_queues(wanted)}"
        elif broker in stage.deletes_on and on_broker.exists:
            yield f"{broker} to delete the topic"
    for namesrv_addr, at_server in sorted(facts.at_servers.items()):
        if at_server.error is not None:
            yield f"{namesrv_addr} to answer ({at_server.error})"
            continue
        yield from (
            f"{namesrv_addr} to route to {_describe_queues(queues)} of {broker}"
            for broker, queues in sorted(stage.counts.items())
            if not _is_routed(facts, at_server.routed.get(broker), broker, queues)
        )
        if stage.order_conf is not None and at_server.order_conf != stage.order_conf:
            yield (
                f"{namesrv_addr} to add the order configuration {stage.order_conf} to the route"
                if stage.order_conf
                else f"{namesrv_addr} to remove the order configuration from the route"
            )


def _is_routed(facts: MovingTopicFacts, routed: RoutedQueues | None, broker: str, wanted: QueuePair) -> bool:
    if wanted == NO_QUEUES:
        return routed is None or routed.queues == NO_QUEUES or not routed.perm & _ALL_PERMS
    if routed is None or routed.queues != wanted:
        return False
    # A drain removes the write permission in the routes only.
    on_broker = facts.on_brokers[broker]
    return on_broker.error is not None or routed.perm == on_broker.perm


def _describe_queues(queues: QueuePair) -> str:
    return f"{queues.read} read and {count_noun(queues.write, 'write queue')}"


def list_waits(
    stage: MoveStage,
    progress: TopicProgress,
    facts: MovingTopicFacts,
    rules: RunRules,
    now_ms: int,
    quiet_count: int,
) -> Iterator[str]:
    """Yield what a stage waits for once its servers are settled; nothing if the next stage may begin.

    `quiet_count` says for how many checks no message arrived in the queues that are closed to writes.
    """
    settled_ms = now_ms - (progress.routed_since or now_ms)
    seconds_left = -(-(rules.settle_ms - settled_ms) // 1000)
    if facts.error is not None:
        yield facts.error
    is_uncertain = any(not use.is_certain for use in facts.new_queue_use.values())
    if stage.kind == OPEN_READS and is_uncertain and seconds_left > 0:
        yield f"clients to refresh their routes ({seconds_left} s)"
    if stage.kind == OPEN_READS:
        for group, use in sorted(facts.new_queue_use.items()):
            if use.unowned and use.is_certain and group not in rules.ignored_groups:
                yield f"group {group} to take over {count_noun(use.unowned, 'new queue')}"
    if stage.has_settle_time and seconds_left > 0:
        yield f"clients to refresh their routes ({seconds_left} s)"
        return
    if stage.kind in (CLOSE_WRITES, SWITCH_ORDER) and stage.drains_from:
        yield from _list_undrained(facts, rules, quiet_count)


def _list_undrained(facts: MovingTopicFacts, rules: RunRules, quiet_count: int) -> Iterator[str]:
    if facts.undelivered is None:
        yield "the brokers to report their delayed and transactional messages"
    elif facts.undelivered:
        yield f"the delivery of {count_noun(facts.undelivered, 'delayed or transactional message')}"
    if quiet_count < rules.quiet_checks:
        checks = count_noun(rules.quiet_checks - quiet_count, "more check")
        yield f"{checks} without a new message in the closed queues"
    for group, lag in sorted(facts.group_lags.items()):
        if group in rules.ignored_groups:
            continue
        if lag.closing is None or lag.retries is None:
            yield f"the lag of group {group}, which is unknown"
        elif lag.closing or lag.retries:
            parts = [count_noun(lag.closing, "message")] if lag.closing else []
            parts += [count_noun(lag.retries, "retry message")] if lag.retries else []
            advice = "" if lag.is_online else f" (no client is connected; --ignore-group {group} skips it)"
            yield f"group {group} to consume {' and '.join(parts)}{advice}"
