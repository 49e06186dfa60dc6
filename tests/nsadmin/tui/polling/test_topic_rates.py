"""The samples of topics' rates: a few at a time, those that waited longest first."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nsadmin.operations.collector.request_pace import RequestPace
from nsadmin.tui.polling import server_polls, topic_rates
from nsadmin.tui.polling.poll_records import NameServerPolled
from nsadmin.tui.polling.server_polls import RequestStopwatch, ServerProbe
from nsadmin.tui.polling.topic_rates import TopicRateSampler
from tests.support.playground import start_playground


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServerProbe, NameServerPolled]]:
    with (
        start_playground(tmp_path_factory.mktemp("lab"), name_servers=1) as ground,
        ground.open_client() as admin,
    ):
        probe = ServerProbe(admin, RequestStopwatch(), lambda: 7, RequestPace(10_000), ground.addrs, (), {})
        yield probe, server_polls.poll_name_server(probe, ground.addrs[0])


def test_every_topic_gets_its_turn_users_topics_first_and_none_is_asked_again_before_it_is_due(
    lab: tuple[ServerProbe, NameServerPolled], monkeypatch: pytest.MonkeyPatch
) -> None:
    probe, server_poll = lab
    monkeypatch.setattr(topic_rates, "_TOPICS_PER_TURN", 12)
    sampler = TopicRateSampler(interval=60.0)
    first = sampler.sample_next(probe, [server_poll])
    assert first is not None
    assert "orders" in first.rates
    assert not any(topic.startswith(("%RETRY%", "RMQ_SYS")) for topic in first.rates)
    rates = dict(first.rates)
    while (poll := sampler.sample_next(probe, [server_poll])) is not None:
        assert not rates.keys() & poll.rates.keys()
        rates |= poll.rates
    assert set(server_poll.topics or ()) >= rates.keys()
    assert any(topic.startswith("%RETRY%") for topic in rates)
    sampler.interval = 0.0
    assert sampler.sample_next(probe, [server_poll]) is not None


def test_no_topic_is_sampled_while_no_name_server_answers(
    lab: tuple[ServerProbe, NameServerPolled], tmp_path: Path
) -> None:
    silent = NameServerPolled(7, "10.0.0.1:9876", error="closed")
    assert TopicRateSampler(1.0).sample_next(lab[0], [silent]) is None
