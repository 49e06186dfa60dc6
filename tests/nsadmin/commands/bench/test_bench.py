"""bench: the question, the figures, and what is left behind."""

from collections.abc import Iterator
from typing import Any

import pytest

from nsadmin.client.topics.topic_configs import TopicConfigs
from tests.nsadmin.conftest import CommandResult, Run
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.fake_servers import FakeNameServer


@pytest.fixture
def store(first_server: FakeNameServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[DeadLetterBroker]:
    """The only broker that the first name server knows; every topic that is created has a route."""

    def update_topic(configs: Any, addrs: Any, topic: str, patch: Any) -> list[Any]:
        first_server.routes[topic] = {"broker-a": 6}
        return []

    monkeypatch.setattr(TopicConfigs, "update_topic", update_topic)
    with DeadLetterBroker() as running:
        first_server.clusters = {"C": {"broker-a": {0: running.addr}}}
        yield running


@pytest.fixture
def bench(run: Run, first_server: FakeNameServer, store: DeadLetterBroker) -> Run:
    def bench(*words: str) -> CommandResult:
        return run("bench", *words, "-n", first_server.addr, "--json")

    return bench


@pytest.mark.parametrize("kind", ["produce", "consume"])
def test_throughput_is_per_broker(
    bench: Run, store: DeadLetterBroker, first_server: FakeNameServer, kind: str
) -> None:
    result = bench(kind, "--count", "200", "--size", "10")
    [row] = result.json
    assert (result.code, result.err) == (0, "")
    assert (row["brokerName"], row["messageCount"], row["bodyBytes"], row["result"]) == (
        "broker-a", 200, 2000, "done",
    )  # fmt: skip
    assert 200 / row["messagesPerSecond"] == pytest.approx(row["seconds"], rel=0.01, abs=0.001)
    assert not any(
        first_server.routes[topic] for topic in first_server.routes if topic.startswith("nsadmin-bench-")
    )


def test_latency_has_percentiles_and_a_histogram(bench: Run, store: DeadLetterBroker) -> None:
    result = bench("latency", "--count", "10", "--rate", "500")
    rows = result.json
    assert [(row["kind"], row["messageCount"]) for row in rows] == [("ack", 10), ("end to end", 10)]
    assert all(0 < row["p50"] <= row["p90"] <= row["p999"] <= row["max"] for row in rows)
    assert result.err.startswith("nsadmin: broker-a, end to end:\nnsadmin: ")
    assert "#" in result.err


@pytest.mark.parametrize("kind", ["produce", "consume", "latency"])
def test_a_dry_run_says_what_it_would_cost(bench: Run, store: DeadLetterBroker, kind: str) -> None:
    result = bench(kind, "--count", "2048", "--size", "1024", "--dry-run")
    assert result.err == (
        "nsadmin: would write 2048 messages of 1024 bytes, 2.0 MiB, to a new topic on broker-a\n"
    )
    assert {row["result"] for row in result.json} == {"dry-run"}
    assert (result.code, store.sent) == (0, [])


def test_a_topic_of_another_benchmark_is_named(
    bench: Run, store: DeadLetterBroker, first_server: FakeNameServer
) -> None:
    first_server.routes["nsadmin-bench-0badcafe"] = {"broker-a": 6}
    result = bench("produce", "--count", "1")
    assert result.err == (
        "nsadmin: topic nsadmin-bench-0badcafe is of another benchmark: if that has ended, run "
        "nsadmin deleteTopic nsadmin-bench-0badcafe C\n"
    )


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("produce", "--rate", "0"), 'invalid number "0" for --rate'),
        (("latency", "--rate", "0"), 'invalid number "0" for --rate'),
        (
            ("produce", "--count", "1000000", "--size", "1000000"),
            "too much data, 931.3 GiB, limit 10 GiB: use a smaller --count or --size",
        ),
    ],
)
def test_words_that_do_not_fit(
    bench: Run, store: DeadLetterBroker, words: tuple[str, ...], text: str
) -> None:
    result = bench(*words)
    assert (result.code, text in result.err, store.sent) == (2, True, []), result.err


def test_a_read_only_context_is_not_loaded(
    run: Run, first_server: FakeNameServer, store: DeadLetterBroker
) -> None:
    run("context", "set", "p", "-n", first_server.addr, "--read-only")
    assert run("bench", "produce", "--context", "p", "--yes").code == 6
    assert store.sent == []
