"""A TAB: what it gives at once, what it has asked anew, and how long it waits."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nsadmin.command_line.completion import tab_candidates
from nsadmin.command_line.completion.tab_candidates import PATIENCE_SECONDS, STARTUP_SECONDS, TabContext
from nsadmin.command_line.completion.value_cache import (
    ATTEMPT_PAUSE_SECONDS,
    FRESH_SECONDS,
    CachedLines,
    ValueCache,
)

NOW = 1_800_000_000.0


class Clock:
    """Time that passes when somebody waits; at a given time something happens."""

    def __init__(self, cache: ValueCache) -> None:
        self.now = NOW
        self.cache = cache
        self.refreshed: list[float] = []
        self.events: dict[float, Callable[[], None]] = {}

    def world(self) -> TabContext:
        return TabContext(self.cache, lambda: self.now, self.pause, self.refresh, self.now + PATIENCE_SECONDS)

    def refresh(self) -> None:
        self.refreshed.append(self.now)

    def pause(self, seconds: float) -> None:
        self.now += seconds
        for due in [due for due in self.events if due <= self.now]:
            self.events.pop(due)()


@pytest.fixture
def clock(tmp_path: Path) -> Clock:
    return Clock(ValueCache(tmp_path / "cache"))


def test_what_is_fresh_is_given_and_nobody_is_asked(clock: Clock) -> None:
    clock.cache.write_lines("a", ["x"], NOW - FRESH_SECONDS + 1)
    assert tab_candidates.find_values("a", clock.world()) == ["x"]
    assert (clock.refreshed, clock.now) == ([], NOW)


@pytest.mark.parametrize("age", [FRESH_SECONDS, 5 * 86400, -3600])
def test_what_is_old_is_given_at_once_and_asked_anew(clock: Clock, age: float) -> None:
    clock.cache.write_lines("a", ["x"], NOW - age)
    assert tab_candidates.find_values("a", clock.world()) == ["x"]
    assert tab_candidates.find_values("a", clock.world()) == ["x"]
    assert (clock.refreshed, clock.now) == ([NOW], NOW)


def test_what_was_never_asked_is_waited_for_a_little(clock: Clock) -> None:
    clock.events[NOW + PATIENCE_SECONDS / 2] = lambda: clock.cache.write_lines("a", ["x"], clock.now)
    assert tab_candidates.find_values("a", clock.world()) == ["x"]
    assert clock.refreshed == [NOW]
    assert NOW < clock.now < NOW + PATIENCE_SECONDS


def test_where_nothing_comes_there_is_nothing_and_the_wait_ends(clock: Clock) -> None:
    assert tab_candidates.find_values("a", clock.world()) == []
    assert clock.now == pytest.approx(NOW + PATIENCE_SECONDS, abs=0.03)


def test_a_process_that_took_long_to_start_does_not_wait_on_top(clock: Clock) -> None:
    assert tab_candidates.find_values("a", clock.world()._replace(deadline_seconds=NOW - 0.1)) == []
    assert (clock.refreshed, clock.now) == ([NOW], NOW)


def test_while_it_is_being_asked_nobody_asks_again_but_waits(clock: Clock) -> None:
    tab_candidates.find_values("a", clock.world())
    clock.events[clock.now + PATIENCE_SECONDS / 2] = lambda: clock.cache.write_lines("a", ["x"], clock.now)
    assert tab_candidates.find_values("a", clock.world()) == ["x"]
    assert clock.refreshed == [NOW]


def test_a_name_server_that_is_dead_is_waited_for_once_and_asked_now_and_then(clock: Clock) -> None:
    tab_candidates.find_values("a", clock.world())
    clock.now = before = NOW + STARTUP_SECONDS + 1
    assert tab_candidates.find_values("a", clock.world()) == []
    assert (clock.refreshed, clock.now) == ([NOW], before)
    clock.now = NOW + ATTEMPT_PAUSE_SECONDS
    tab_candidates.find_values("a", clock.world())
    assert clock.refreshed == [NOW, NOW + ATTEMPT_PAUSE_SECONDS]


def test_a_cache_that_cannot_be_written_makes_nobody_wait(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    clock = Clock(ValueCache(tmp_path / "file" / "x"))
    assert tab_candidates.find_values("a", clock.world()) == []
    assert (clock.refreshed, clock.now) == ([], NOW)


def test_values_begin_with_what_is_typed() -> None:
    lines = ["%RETRY%G", "order", "orders\tx", "users"]
    assert tab_candidates.filter_by_prefix("ord", lines) == ["order", "orders\tx"]
    assert tab_candidates.filter_by_prefix("%", lines) == ["%RETRY%G"]
    assert tab_candidates.filter_by_prefix("", lines) == ["order", "orders\tx", "users"]
    assert tab_candidates.filter_by_prefix("", ["%RETRY%G"]) == ["%RETRY%G"]
    assert tab_candidates.filter_by_prefix("z", lines) == []


def test_no_value_is_given_that_a_shell_would_interpret_between_quotes() -> None:
    safe = ["a;b", "a|b", "a&b", "a>b", "a*", "a~", "{a}", "a(b)", "%DLQ%a|b", "h:1;i:2"]
    unsafe = ["$(id)", "`id`", 'a"b', "a'b", "a\\", "a!b", "a b", "a\u00a0b"]
    assert tab_candidates.filter_by_prefix("", [*unsafe, *safe]) == [
        value for value in safe if not value.startswith("%")
    ]


def test_a_value_that_looks_like_an_option_is_not_given() -> None:
    for typed in ("", "-"):
        assert tab_candidates.filter_by_prefix(typed, ["--yes", "-n1.2.3.4:1"]) == []


def test_namespaces_are_the_known_one_and_those_that_were_used() -> None:
    assert tab_candidates.known_namespaces(None) == ["ORDER_TOPIC_CONFIG"]
    assert tab_candidates.known_namespaces(CachedLines(["N"], NOW)) == ["N", "ORDER_TOPIC_CONFIG"]
