"""The sampling threads: they wait for the first turn of polls, and end at once."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from nsadmin.operations.collector.request_pace import RequestPace
from nsadmin.tui.polling.sample_threads import SamplingAccess, SamplingThreads
from tests.support.name_servers import DEADLINE


def make_threads() -> tuple[SamplingThreads, SamplingAccess]:
    @contextmanager
    def open_probe() -> Iterator[Any]:
        yield None

    def post_polls(polls: object) -> NoReturn:
        raise AssertionError("no sample is taken")

    running_event = threading.Event()
    running_event.set()
    access = SamplingAccess(
        ("10.0.0.1:9876",), open_probe, list, post_polls, RequestPace(250), threading.Event(), running_event
    )
    return SamplingThreads(access), access


def test_threads_that_have_not_begun_end_without_a_sample() -> None:
    sampling, access = make_threads()
    bodies = (sampling.sample_groups, sampling.sample_topic_rates)
    threads = [threading.Thread(target=body, args=(lambda: 5.0,)) for body in bodies]
    for thread in threads:
        thread.start()
    access.stop_event.set()
    sampling.stop()
    for thread in threads:
        thread.join(DEADLINE)
    assert not any(thread.is_alive() for thread in threads)


def test_nobody_waits_for_a_sample_that_was_stopped() -> None:
    sampling, access = make_threads()
    access.stop_event.set()
    sampling.stop()
    begun = time.monotonic()
    sampling.wait_for_first_sample()
    assert time.monotonic() - begun < 5


def test_rates_without_an_answering_name_server_end_when_the_view_is_left() -> None:
    sampling, access = make_threads()
    sampling.set_wanted(["topicRates"])
    thread = threading.Thread(target=sampling.sample_topic_rates, args=(lambda: 5.0,))
    thread.start()
    sampling.set_wanted([])
    access.stop_event.set()
    sampling.stop()
    thread.join(DEADLINE)
    assert not thread.is_alive()
