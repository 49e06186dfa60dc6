"""A bell that wakes a selector."""

import selectors
from collections.abc import Iterator
from threading import Thread

import pytest

from namesrv_core.transport.selector_bell import SelectorBell
from tests.support.name_servers import DEADLINE


@pytest.fixture
def selector() -> Iterator[selectors.BaseSelector]:
    with selectors.DefaultSelector() as new_selector:
        yield new_selector


def test_a_bell_that_another_thread_rings_wakes_the_selector(selector: selectors.BaseSelector) -> None:
    bell = SelectorBell(selector)
    ringer = Thread(target=bell.ring)
    ringer.start()
    [(key, _)] = selector.select(DEADLINE)
    ringer.join()
    assert key.data is None
    bell.close()


def test_a_bell_that_was_silenced_rings_again_and_not_before(selector: selectors.BaseSelector) -> None:
    bell = SelectorBell(selector)
    bell.ring()
    bell.ring()
    bell.silence()
    bell.silence()
    assert selector.select(0) == []
    bell.ring()
    assert len(selector.select(DEADLINE)) == 1
    bell.close()


def test_ringing_too_often_or_too_late_harms_nobody(selector: selectors.BaseSelector) -> None:
    bell = SelectorBell(selector)
    for _ in range(100_000):
        bell.ring()
    bell.close()
    bell.ring()
