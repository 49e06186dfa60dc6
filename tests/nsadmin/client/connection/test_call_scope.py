"""Calls that end together."""

import pytest

from nsadmin.client.connection.call_scope import CallScope
from nsadmin.client.results import ClientClosed


def test_an_open_scope_lets_calls_begin_and_go_on() -> None:
    scope = CallScope(CallScope())
    scope.require_open()
    scope.require_unended()
    assert scope.find_end_reason() is None


def test_a_scope_ends_with_its_parents_but_not_with_its_children() -> None:
    pool = CallScope()
    client = CallScope(pool)
    task, sibling = CallScope(client), CallScope(client)
    assert task.lies_within(task)
    assert task.lies_within(pool)
    assert not client.lies_within(task)
    assert not task.lies_within(sibling)
    client.end_reason = "it is closed"
    for ended in (client, task, sibling):
        with pytest.raises(ClientClosed, match=r"^it is closed$"):
            ended.require_open()
    pool.require_open()


def test_a_pending_call_says_that_a_change_may_have_been_done() -> None:
    scope = CallScope()
    scope.end_reason = "it is closed"
    with pytest.raises(ClientClosed, match="it is closed; a change without an answer is possibly done"):
        scope.require_unended()


def test_a_scope_tells_its_own_reason_before_that_of_its_parent() -> None:
    client = CallScope()
    task = CallScope(client)
    task.end_reason, client.end_reason = "cancelled", "closed"
    assert task.find_end_reason() == "cancelled"
