"""Counts of queues that a registration may choose: nothing lists them one by one."""

from pathlib import Path

import pytest

from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.results import OverReadLimit
from nsadmin.client.topic_routes import MAX_LISTED_QUEUES, QueueRoute, list_read_queues, list_write_queues
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer, answer_json
from tests.support.message_brokers import MessageBroker

MOST = 2**31 - 1
TOO_MANY = f"the route has {MOST} queues, more than the {MAX_LISTED_QUEUES} that nsadmin lists"


def route_of(queue_count: int) -> QueueRoute:
    return QueueRoute("b", "C", {0: "h:1"}, 6, queue_count, queue_count, 0)


def test_queues_are_listed_up_to_a_limit_of_the_topic() -> None:
    half = route_of(MAX_LISTED_QUEUES // 2)
    assert len(list_read_queues([half, half])) == MAX_LISTED_QUEUES
    for list_queues in (list_read_queues, list_write_queues):
        with pytest.raises(OverReadLimit, match=f"the route has {MAX_LISTED_QUEUES + 1} queues"):
            list_queues([half, half, route_of(1)])
    assert list_read_queues([route_of(MOST)], MOST - 1) == [(route_of(MOST), MOST - 1)]
    assert list_read_queues([route_of(MOST)], MOST) == []


@pytest.fixture
def claimed_queues(first_server: FakeNameServer, message_broker: MessageBroker) -> dict[str, object]:
    """The topic T has a message in queue 0, and claims 2^31-1 queues. The mapping can be replaced."""
    first_server.clusters = {"C": {"broker-a": {0: message_broker.addr}}}
    message_broker.store_message(b"hello")
    mapping: dict[str, object] = {}

    def answer_route(asked: RemotingCommand) -> RemotingCommand:
        queue_data = {"brokerName": "broker-a", "perm": 6, "readQueueNums": MOST, "writeQueueNums": MOST}
        broker_data = {"brokerName": "broker-a", "cluster": "C", "brokerAddrs": {"0": message_broker.addr}}
        return answer_json(
            asked,
            {"brokerDatas": [broker_data], "queueDatas": [queue_data], "topicQueueMappingByBroker": mapping},
        )

    first_server.handlers[105] = answer_route
    return mapping


@pytest.mark.parametrize(
    "words",
    [("allocateMQ", "T", "10.0.0.1"), ("printMsg", "T"), ("consume", "T"), ("consumeMessage", "T")],
    ids=lambda words: str(words[0]),
)
def test_a_topic_that_claims_two_billion_queues_is_an_error_of_that_topic(
    run: Run, first_server: FakeNameServer, claimed_queues: dict[str, object], words: tuple[str, ...]
) -> None:
    result = run(*words, "-n", first_server.addr)
    assert (result.code, result.err) == (1, f"nsadmin: {TOO_MANY}\n")


@pytest.mark.parametrize(
    "words",
    [
        ("printMsgByQueue", "T", "broker-a", "0", "-d", "true"),
        ("consumeMessage", "T", "-b", "broker-a", "-i", "0"),
        ("consume", "T", "--queue", "0"),
    ],
    ids=lambda words: str(words[0]),
)
def test_one_of_two_billion_queues_can_be_read(
    run: Run, first_server: FakeNameServer, claimed_queues: dict[str, object], words: tuple[str, ...]
) -> None:
    result = run(*words, "-n", first_server.addr, "--output", "json")
    assert (result.code, result.err) == (0, "")
    assert '"hello"' in result.out


@pytest.mark.parametrize(
    "words", [("topicRoute", "T"), ("route", "explain", "T"), ("snapshot", "save", "{}")]
)
def test_a_mapping_of_two_billion_queues_is_shown(
    run: Run,
    first_server: FakeNameServer,
    claimed_queues: dict[str, object],
    words: tuple[str, ...],
    tmp_path: Path,
) -> None:
    claimed_queues["broker-a"] = {"totalQueues": MOST, "currIdMap": {"0": 0}}
    filled_words = [word.format(tmp_path / "snapshot") for word in words]
    assert run(*filled_words, "-n", first_server.addr).code == 0
    result = run("allocateMQ", "T", "10.0.0.1", "-n", first_server.addr)
    assert (result.code, result.err) == (1, f"nsadmin: {TOO_MANY}\n")
