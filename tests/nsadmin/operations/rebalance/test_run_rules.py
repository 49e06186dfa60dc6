"""The limits that pause a rebalance."""

from nsadmin.operations.rebalance.run_facts import BrokerHealth, GroupLag, MovingTopicFacts
from nsadmin.operations.rebalance.run_rules import RunRules, find_exceeded_limits

HEALTHY = {"broker-c": BrokerHealth(None, 0.5, 10)}


def exceeded(
    rules: RunRules, total: int, health: dict[str, BrokerHealth], elapsed_ms: int = 60_000
) -> list[str]:
    facts = MovingTopicFacts({}, {}, group_lags={"billing": GroupLag(0, total, 0, True)})
    return list(find_exceeded_limits(rules, {"orders": facts}, health, HEALTHY, elapsed_ms))


def test_nothing_is_exceeded_by_default() -> None:
    assert exceeded(RunRules(), 1_000_000, HEALTHY) == []


def test_a_group_with_too_large_a_lag_is_named() -> None:
    text = "group billing has 501 unconsumed messages of orders, more than --max-lag 500"
    assert exceeded(RunRules(max_lag=500), 501, HEALTHY) == [text]
    assert exceeded(RunRules(max_lag=500), 500, HEALTHY) == []
    assert exceeded(RunRules(max_lag=0, ignored_groups=frozenset({"billing"})), 501, HEALTHY) == []


def test_a_full_disk_is_named() -> None:
    health = {"broker-c": BrokerHealth(None, 0.86, 10)}
    assert exceeded(RunRules(), 0, health) == ["broker-c uses 86% of its disk, more than --max-disk 85%"]


def test_failed_puts_are_counted_per_minute() -> None:
    health = {"broker-c": BrokerHealth(None, 0.5, 71)}
    text = "broker-c failed to store 61 messages in 60 s, more than --max-send-errors 60 per minute"
    assert exceeded(RunRules(), 0, health) == [text]
    assert exceeded(RunRules(), 0, health, elapsed_ms=120_000) == []


def test_a_broker_that_restarted_or_is_silent_failed_nothing() -> None:
    assert exceeded(RunRules(max_failed_puts=0), 0, {"broker-c": BrokerHealth(None, 0.5, 0)}) == []
    assert exceeded(RunRules(max_failed_puts=0), 0, {"broker-c": BrokerHealth("no answer")}) == []
