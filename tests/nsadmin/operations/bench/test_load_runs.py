"""Runs of a benchmark against a broker that stores messages."""

import time

import pytest

from nsadmin import AdminClient
from nsadmin.client.messages.message_sender import SendQueue
from nsadmin.operations.bench.load_runs import run_consume, run_latency, run_produce
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.fake_servers import refuse_with


def test_what_is_written_is_read_and_counted(admin: AdminClient, store: DeadLetterBroker) -> None:
    steps: list[int] = []
    [written] = run_produce(admin, "T", 150, 100, None, steps.append)
    assert (written.broker_name, written.message_count, written.body_bytes) == ("broker-a", 150, 15_000)
    assert (sum(steps), written.failed_count, written.error, written.seconds > 0) == (150, 0, None, True)
    steps.clear()
    [read] = run_consume(admin, "T", 150, steps.append)
    assert (read.message_count, read.body_bytes, sum(steps)) == (150, 15_000, 150)


def test_a_reader_ends_if_nothing_is_left(admin: AdminClient, store: DeadLetterBroker) -> None:
    store.store_message(b"one")
    [read] = run_consume(admin, "T", 5, lambda _: None)
    assert read.message_count == 1


def test_refused_messages_are_counted(admin: AdminClient, store: DeadLetterBroker) -> None:
    store.refusals = [13, 13]
    [written] = run_produce(admin, "T", 10, 10, None, lambda _: None)
    assert (written.message_count, written.failed_count, written.error is not None) == (8, 2, True)


def test_a_latency_is_measured_for_each_message(admin: AdminClient, store: DeadLetterBroker) -> None:
    queue = SendQueue("T", "broker-a", store.addr, 0)
    load = run_latency(admin, queue, 20, 10, 500, lambda _: None)
    assert (load.message_count, load.failed_count, load.error) == (20, 0, None)
    assert (len(load.ack_latencies), len(load.end_latencies)) == (20, 20)
    assert all(latency > 0 for latency in (*load.ack_latencies, *load.end_latencies))
    assert len(store.stored_messages("T")) == 21


def test_a_slow_broker_is_a_long_latency(admin: AdminClient, store: DeadLetterBroker) -> None:
    store.on_send = lambda: time.sleep(0.05)
    queue = SendQueue("T", "broker-a", store.addr, 0)
    load = run_latency(admin, queue, 3, 10, 500, lambda _: None)
    assert min(load.ack_latencies) >= 50


@pytest.mark.parametrize("code", [310, 11])
def test_an_error_is_in_the_figures(admin: AdminClient, store: DeadLetterBroker, code: int) -> None:
    store.handlers[code] = refuse_with(16, "no permission")
    load = run_latency(admin, SendQueue("T", "broker-a", store.addr, 0), 3, 10, 500, lambda _: None)
    assert load.end_latencies == ()
    assert str(load.error) == "NO_PERMISSION (16): no permission"
