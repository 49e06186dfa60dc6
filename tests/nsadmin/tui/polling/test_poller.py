"""Threads that look again and again: nobody who is slow or dead holds up the others."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from nsadmin import AdminClient
from nsadmin.client.connection.access_options import Access
from nsadmin.tui.context import ClusterContext
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import (
    AnyPoll,
    BrokerPolled,
    GroupPolled,
    GroupsPolled,
    NameServerPolled,
    TopicRatesPolled,
)
from nsadmin.tui.polling.poller import ClusterPoller
from tests.support.name_servers import DEADLINE
from tests.support.playground import Playground, start_playground


class Heard:
    """What a feed posted; `until` waits for what is to come."""

    def __init__(self) -> None:
        self.polls: list[AnyPoll] = []
        self.errors: list[BaseException] = []
        self._changed = threading.Condition()

    def post(self, polls: Sequence[AnyPoll]) -> None:
        with self._changed:
            self.polls += polls
            self._changed.notify_all()

    def until(self, condition: Callable[[], Any]) -> Any:
        with self._changed:
            assert self._changed.wait_for(condition, DEADLINE), self.polls[-5:]
            return condition()

    def of(self, kind: type, addr: str | None = None) -> list[Any]:
        return [
            poll
            for poll in self.polls
            if isinstance(poll, kind) and addr in (None, getattr(poll, "addr", None))
        ]


def connect(addrs: Sequence[str], timeout: float | None, watch: Any) -> AdminClient:
    return AdminClient(list(addrs), access=Access(timeout=timeout or 1.5), observer=watch, read_only=True)


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Playground]:
    with start_playground(tmp_path, name_servers=2) as running:
        yield running


@pytest.fixture
def heard() -> Heard:
    return Heard()


def feed_of(addrs: Sequence[str], heard: Heard, interval: float = 0.3) -> ClusterPoller:
    context = ClusterContext("lab", addrs, connect)
    return ClusterPoller(context, interval, heard.post, heard.errors.append, lambda: int(time.time() * 1000))


def test_polls_are_passed_on_with_the_types_of_their_records(heard: Heard) -> None:
    hostile: Any = {"x": [None]}
    polls: list[AnyPoll] = [
        GroupPolled(1, "g", hostile),
        TopicRatesPolled(1, hostile),
        GroupsPolled(1, ["g"]),
    ]
    feed_of(["127.0.0.1:1"], heard)._post_polls(polls)
    assert [type(poll).__name__ for poll in heard.polls] == ["GroupPolled", "GroupsPolled"]
    [group_poll] = heard.of(GroupPolled)
    assert group_poll.error.startswith("malformed answer")
    assert str(heard.errors[0]).startswith("TopicRatesPolled: malformed answer")


def test_every_server_is_looked_at_again_and_again(ground: Playground, heard: Heard) -> None:
    feed = feed_of(ground.addrs, heard)
    feed.start()
    addrs = {seat.reserved_port.socket_addr for seat in ground.world.lab_brokers.values()}
    heard.until(lambda: all(len(heard.of(BrokerPolled, addr)) >= 3 for addr in addrs))
    heard.until(lambda: all(len(heard.of(NameServerPolled, addr)) >= 3 for addr in ground.addrs))
    feed.stop(DEADLINE)
    assert {poll.addr for poll in heard.of(BrokerPolled)} == addrs
    assert heard.errors == []


def test_a_frozen_broker_and_a_dead_name_server_stop_nobody(ground: Playground, heard: Heard) -> None:
    frozen = ground.world.lab_brokers["broker-a-0:0"].reserved_port.socket_addr
    well = ground.world.lab_brokers["broker-b-0:0"].reserved_port.socket_addr
    ground.freeze_broker("broker-a-0")
    ground.stop_server(1)
    feed = feed_of(ground.addrs, heard)
    feed.start()
    heard.until(lambda: [poll for poll in heard.of(BrokerPolled, frozen) if poll.kind == "timeout"])
    before = len(heard.of(BrokerPolled, well))
    heard.until(lambda: len(heard.of(BrokerPolled, well)) >= before + 4)
    heard.until(lambda: heard.of(NameServerPolled, ground.addrs[1]))
    assert heard.of(NameServerPolled, ground.addrs[1])[-1].error
    assert heard.of(NameServerPolled, ground.addrs[0])[-1].error is None
    ground.thaw_broker("broker-a-0")
    heard.until(lambda: heard.of(BrokerPolled, frozen)[-1].table)
    feed.stop(DEADLINE)
    assert heard.errors == []


def test_a_pause_asks_nobody_until_one_goes_on(ground: Playground, heard: Heard) -> None:
    feed = feed_of(ground.addrs, heard)
    feed.start()
    heard.until(lambda: heard.of(BrokerPolled))
    feed.pause(True)
    assert feed.is_paused
    time.sleep(1.0)
    before = len(heard.polls)
    time.sleep(0.8)
    assert len(heard.polls) == before
    feed.pause(False)
    heard.until(lambda: len(heard.polls) > before)
    feed.stop(DEADLINE)


def test_questions_of_a_screen_are_asked_until_there_are_others(ground: Playground, heard: Heard) -> None:
    feed = feed_of(ground.addrs, heard)
    feed.start()
    feed.ask([DetailQuery("groups")])
    feed.ask([DetailQuery("groups")])
    heard.until(lambda: len(heard.of(GroupsPolled)) >= 2)
    feed.ask([])
    feed.stop(DEADLINE)


def test_groups_are_sampled_from_the_start_and_again_when_a_view_shows_them(
    ground: Playground, heard: Heard
) -> None:
    feed = feed_of(ground.addrs, heard)
    feed.start()
    names = heard.until(lambda: heard.of(GroupsPolled))[0].names
    heard.until(lambda: {poll.group for poll in heard.of(GroupPolled)} == set(names))
    feed.ask([DetailQuery("groups")])
    heard.until(lambda: len(heard.of(GroupsPolled)) >= 3)
    feed.ask([])
    feed.stop(DEADLINE)
    assert heard.errors == []


def test_rates_of_all_topics_are_read_while_a_view_wants_them(ground: Playground, heard: Heard) -> None:
    feed = feed_of(ground.addrs, heard)
    feed.start()
    heard.until(lambda: heard.of(GroupPolled))
    assert heard.of(TopicRatesPolled) == []
    feed.ask([DetailQuery("topicRates")])
    heard.until(lambda: any(poll.rates.get("orders") for poll in heard.of(TopicRatesPolled)))
    feed.stop(DEADLINE)
    assert heard.errors == []


def test_a_mistake_in_a_thread_is_told_and_the_thread_goes_on(ground: Playground) -> None:
    class Broken(Heard):
        def post(self, polls: Sequence[AnyPoll]) -> None:
            super().post(polls)
            if len(self.errors) < 1:
                raise ZeroDivisionError

    heard = Broken()
    feed = feed_of(ground.addrs[:1], heard)
    feed.start()
    heard.until(lambda: heard.errors and heard.of(BrokerPolled))
    feed.stop(DEADLINE)
    assert isinstance(heard.errors[0], ZeroDivisionError)


def start_samples(feed: ClusterPoller, *bodies: Callable[[], None]) -> list[threading.Thread]:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    return threads


def test_sampling_threads_that_have_not_begun_end_without_a_sample(heard: Heard) -> None:
    feed = feed_of(["127.0.0.1:1"], heard)
    threads = start_samples(feed, feed._sample_groups, feed._sample_topic_rates)
    feed.stop()
    for thread in threads:
        thread.join(DEADLINE)
    assert not any(thread.is_alive() for thread in threads)
    assert heard.polls == []


def test_nobody_waits_for_a_sample_that_was_stopped(heard: Heard) -> None:
    feed = feed_of(["127.0.0.1:1"], heard)
    feed.stop()
    assert feed._first_sample_done.is_set()


def test_rates_without_an_answering_name_server_end_when_the_view_is_left(heard: Heard) -> None:
    feed = feed_of(["127.0.0.1:1"], heard)
    feed.ask([DetailQuery("topicRates")])
    [thread] = start_samples(feed, feed._sample_topic_rates)
    feed.ask([])
    feed.stop()
    thread.join(DEADLINE)
    assert not thread.is_alive()
    assert heard.polls == []


def test_a_feed_of_nobody_ends(heard: Heard) -> None:
    feed = feed_of([], heard)
    feed.start()
    feed.stop(DEADLINE)
    assert heard.of(NameServerPolled) == heard.of(BrokerPolled) == []
