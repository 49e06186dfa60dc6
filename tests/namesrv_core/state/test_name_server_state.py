"""Bodies of routes that are remembered as long as nothing has changed."""

from collections.abc import Callable

import pytest

from namesrv_core.state import name_server_state, write_permissions
from namesrv_core.state.kv_config import KvConfig
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.settings import NameServerSettings
from tests.support.brokers import make_queue


@pytest.fixture
def state() -> NameServerState:
    state = NameServerState(NameServerSettings(), KvConfig(), 0)
    state.tables.set_queue("T", make_queue("a"))
    assert state.get_cached_body(("T", True)) is None
    state.cache_body(("T", True), b"body")
    return state


def test_a_body_is_remembered_by_what_it_depends_on(state: NameServerState) -> None:
    assert state.get_cached_body(("T", True)) == b"body"
    assert state.get_cached_body(("T", False)) is None
    assert state.get_cached_body(("U", True)) is None


def wipe(state: NameServerState) -> None:
    write_permissions.wipe_write_permission(state.tables, "a")


def put(state: NameServerState) -> None:
    state.kv_config.put_value("n", "k", "v")


def update(state: NameServerState) -> None:
    state.settings.apply_update({"supportActingMaster": "true"})


@pytest.mark.parametrize("change", [wipe, put, update])
def test_a_change_of_tables_kv_config_or_settings_forgets_it(
    state: NameServerState, change: Callable[[NameServerState], None]
) -> None:
    generation = state.route_generation
    change(state)
    assert state.route_generation > generation
    assert state.get_cached_body(("T", True)) is None
    assert state.get_cached_body(("T", True)) is None


def test_memory_for_bodies_is_bounded(state: NameServerState) -> None:
    for number in range(3):
        state.get_cached_body(number)
        state.cache_body(number, bytes([number]) * (name_server_state._ROUTE_CACHE_BYTES // 2))
    assert state.get_cached_body(0) is None
