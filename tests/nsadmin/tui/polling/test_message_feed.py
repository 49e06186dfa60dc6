"""The thread that reads messages, with the simulated brokers of a lab."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nsadmin.client.messages.topic_follower import FROM_EARLIEST
from nsadmin.tui.messages.message_query import MessageQuery, query_topic
from nsadmin.tui.polling.poll_records import MessagesPolled
from nsadmin.tui.polling.poller import ClusterPoller
from tests.nsadmin.tui.polling.test_poller import Heard, feed_of
from tests.support.name_servers import DEADLINE
from tests.support.playground import Playground, start_playground

OLD = MessageQuery("orders", follow_start=FROM_EARLIEST, read_limit=40)


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Playground]:
    with start_playground(tmp_path, name_servers=1) as running:
        yield running


@pytest.fixture
def heard_polls() -> Heard:
    return Heard()


@pytest.fixture
def feed(ground: Playground, heard_polls: Heard) -> Iterator[ClusterPoller]:
    running = feed_of(ground.addrs, heard_polls)
    running.start()
    yield running
    running.stop(DEADLINE)
    assert heard_polls.errors == []


def polled(heard: Heard) -> list[MessagesPolled]:
    return heard.of(MessagesPolled)


def test_a_view_that_comes_back_continues_where_it_was(
    feed: ClusterPoller, heard_polls: Heard, ground: Playground
) -> None:
    feed.follow_messages(query_topic("orders"))
    heard_polls.until(lambda: polled(heard_polls) and polled(heard_polls)[-1].state == "waiting")
    feed.follow_messages(None)
    ground.now += 60_000
    feed.follow_messages(query_topic("orders"))
    heard_polls.until(lambda: any(poll.messages for poll in polled(heard_polls)))
    assert {poll.run_id for poll in polled(heard_polls)} == {1}


def test_another_query_begins_another_run_and_a_higher_limit_does_not(
    feed: ClusterPoller, heard_polls: Heard
) -> None:
    feed.follow_messages(OLD)
    heard_polls.until(lambda: polled(heard_polls) and polled(heard_polls)[-1].state == "full")
    feed.follow_messages(OLD._replace(read_limit=80))
    heard_polls.until(lambda: sum(len(poll.messages) for poll in polled(heard_polls)) == 80)
    feed.follow_messages(OLD._replace(topic="payments"))
    heard_polls.until(
        lambda: polled(heard_polls)[-1].query.topic == "payments" and polled(heard_polls)[-1].messages
    )
    runs = {(poll.query.topic, poll.run_id) for poll in polled(heard_polls)}
    assert runs == {("orders", 1), ("payments", 2)}


def test_while_paused_no_message_is_read(feed: ClusterPoller, heard_polls: Heard, ground: Playground) -> None:
    feed.follow_messages(query_topic("orders"))
    heard_polls.until(lambda: polled(heard_polls) and polled(heard_polls)[-1].state == "waiting")
    feed.pause(True)
    ground.now += 60_000
    time.sleep(0.8)
    # One step may have been under way.
    assert len([poll for poll in polled(heard_polls) if poll.messages]) <= 1
    feed.pause(False)
    heard_polls.until(lambda: len([poll for poll in polled(heard_polls) if poll.messages]) > 1)


def test_a_frozen_broker_is_named_and_the_others_are_read(
    feed: ClusterPoller, heard_polls: Heard, ground: Playground
) -> None:
    ground.freeze_broker("broker-a-0", 0)
    ground.freeze_broker("broker-a-0", 1)
    feed.follow_messages(OLD)
    heard_polls.until(lambda: polled(heard_polls) and any(poll.errors for poll in polled(heard_polls)))
    heard_polls.until(lambda: sum(len(poll.messages) for poll in polled(heard_polls)) == 40)
    assert {name for poll in polled(heard_polls) for name in poll.errors} == {"broker-a-0"}
    assert "broker-a-0" not in {row.broker_name for poll in polled(heard_polls) for row in poll.messages}
