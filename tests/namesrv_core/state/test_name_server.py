"""Bodies of routes that are remembered as long as nothing has changed."""

from collections.abc import Callable

import pytest

from namesrv_core.state import name_server, permissions
from namesrv_core.state.kv import KvConfig
from namesrv_core.state.name_server import NameServerState
from namesrv_core.state.settings import Settings
from tests.support.brokers import queue


@pytest.fixture
def state() -> NameServerState:
    state = NameServerState(Settings(), KvConfig(), 0)
    state.tables.set_queue("T", queue("a"))
    assert state.remembered_body(("T", True)) is None
    state.remember_body(("T", True), b"body")
    return state


def test_a_body_is_remembered_by_what_it_depends_on(state: NameServerState) -> None:
    assert state.remembered_body(("T", True)) == b"body"
    assert state.remembered_body(("T", False)) is None
    assert state.remembered_body(("U", True)) is None


def wipe(state: NameServerState) -> None:
    permissions.wipe(state.tables, "a")


def put(state: NameServerState) -> None:
    state.kv.put("n", "k", "v")


def update(state: NameServerState) -> None:
    state.settings.update({"supportActingMaster": "true"})


@pytest.mark.parametrize("change", [wipe, put, update])
def test_a_change_of_tables_kv_config_or_settings_forgets_it(
    state: NameServerState, change: Callable[[NameServerState], None]
) -> None:
    change(state)
    assert state.remembered_body(("T", True)) is None
    assert state.remembered_body(("T", True)) is None


def test_memory_for_bodies_is_bounded(state: NameServerState) -> None:
    for number in range(3):
        state.remembered_body(number)
        state.remember_body(number, bytes([number]) * (name_server._BODIES_LIMIT // 2))
    assert state.remembered_body(0) is None
