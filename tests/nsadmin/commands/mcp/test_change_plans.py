"""Tokens of plans: used once, never forged, and only for the cluster that was planned."""

import pytest

from nsadmin.commands.mcp import change_plans
from nsadmin.commands.mcp.change_plans import (
    MAX_PENDING_PLANS,
    TOKEN_SECONDS,
    ChangePlan,
    PlanRefusedError,
    PlanStore,
    hash_dry_run,
    require_same_state,
)
from nsadmin.commands.mcp.command_process import CommandOutcome

PLAN = ChangePlan("plan_updateTopic", {"topic": "orders"}, "", "nsadmin updateTopic --topic=orders", "r", "m")


def test_a_token_returns_its_plan_once() -> None:
    store = PlanStore()
    token = store.add_plan(PLAN)
    assert store.take_plan(token, PLAN.command_text) == PLAN
    with pytest.raises(PlanRefusedError, match="unknown, expired or used: plan the change again"):
        store.take_plan(token, PLAN.command_text)


def test_a_forged_token_is_refused() -> None:
    store = PlanStore()
    token = store.add_plan(PLAN)
    for forged in ("", "x", token[:-1], token + "x", token.swapcase(), token[::-1], "\ud800"):
        with pytest.raises(PlanRefusedError):
            store.take_plan(forged, PLAN.command_text)
    assert store.take_plan(token, PLAN.command_text) == PLAN


def test_tokens_differ_also_for_equal_plans() -> None:
    store = PlanStore()
    tokens = {store.add_plan(PLAN) for _ in range(50)}
    assert len(tokens) == 50
    assert all(len(token) >= 43 for token in tokens)


def test_a_token_for_another_command_is_refused_and_used() -> None:
    store = PlanStore()
    token = store.add_plan(PLAN)
    with pytest.raises(
        PlanRefusedError, match='belongs to another command, "nsadmin updateTopic --topic=orders"'
    ):
        store.take_plan(token, "nsadmin deleteTopic --topic=orders")
    with pytest.raises(PlanRefusedError, match="unknown, expired or used"):
        store.take_plan(token, PLAN.command_text)


def test_a_token_expires() -> None:
    now = 100.0
    store = PlanStore(lambda: now)
    token = store.add_plan(PLAN)
    now += TOKEN_SECONDS
    with pytest.raises(PlanRefusedError, match="expired"):
        store.take_plan(token, PLAN.command_text)


def test_the_oldest_plan_goes_if_there_are_too_many() -> None:
    store = PlanStore()
    tokens = [store.add_plan(PLAN) for _ in range(MAX_PENDING_PLANS + 1)]
    with pytest.raises(PlanRefusedError):
        store.take_plan(tokens[0], PLAN.command_text)
    assert store.take_plan(tokens[1], PLAN.command_text) == PLAN


def test_a_plan_fits_only_the_same_result_and_the_same_servers() -> None:
    require_same_state(PLAN, "r", "m")
    with pytest.raises(PlanRefusedError, match="the cluster has changed: its name servers or brokers"):
        require_same_state(PLAN, "r", "other")
    with pytest.raises(PlanRefusedError, match="the cluster has changed: a new dry run has another result"):
        require_same_state(PLAN, "other", "m")


def test_the_hash_covers_all_that_a_dry_run_wrote() -> None:
    outcome = CommandOutcome("[]", "warning", 0)
    others = [
        CommandOutcome("[1]", "warning", 0),
        CommandOutcome("[]", "", 0),
        CommandOutcome("[]", "warning", 3),
    ]
    hashes = {hash_dry_run(outcome), *map(hash_dry_run, others)}
    assert len(hashes) == 4
    assert hash_dry_run(CommandOutcome("[]", "warning", 0)) == change_plans.hash_dry_run(outcome)


def test_the_hash_of_a_dry_run_does_not_count_messages() -> None:
    fewer, more = (CommandOutcome("[]", f"T has {count} messages", 0) for count in (1, 2))
    assert hash_dry_run(fewer) == hash_dry_run(more)
