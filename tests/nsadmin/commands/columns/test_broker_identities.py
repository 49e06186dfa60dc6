"""Names and ids of brokers that were given by their address."""

import json

import pytest

from nsadmin.commands.columns.broker_identities import lacks_identities
from nsadmin.console.output import ResultRow, ResultRows
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer
from tests.support.topic_brokers import TopicBroker

COLUMNS = ("brokerName", "brokerId", "brokerAddr", "result", "error")


@pytest.mark.parametrize(
    "words",
    [
        ("getBrokerConfig", "--filter", "key=brokerName"),
        ("cleanExpiredCQ", "--yes"),
        ("cleanExpiredCQ", "--dry-run"),
    ],
)
def test_a_broker_that_is_given_by_its_address_has_its_name_and_id_in_the_rows(
    run: Run, words: tuple[str, ...]
) -> None:
    with TopicBroker() as broker:
        result = run(words[0], "-b", broker.addr, *words[1:], "--json")
        [row] = json.loads(result.out)
        assert (result.code, row["brokerName"], row["brokerId"]) == (0, "broker-a", 0)


def test_brokers_of_a_cluster_are_not_asked_again(run: Run) -> None:
    with TopicBroker() as broker, FakeNameServer({"C": {"a": {0: broker.addr}}}) as server:
        assert run("cleanExpiredCQ", "-c", "C", "-n", server.addr, "--yes").code == 0
        assert 26 not in broker.asked_codes()


def test_a_broker_that_does_not_tell_stays_without_a_name(run: Run) -> None:
    with TopicBroker() as broker:
        del broker.handlers[26]
        result = run("cleanExpiredCQ", "-b", broker.addr, "--yes", "--json")
        [row] = json.loads(result.out)
        assert (result.code, row["brokerName"], row["result"]) == (0, None, "done")


@pytest.mark.parametrize(
    ("row", "lacks"),
    [
        ({"brokerAddr": "h:1"}, True),
        ({"server": "h:1"}, False),
        ({"server": "h:1", "role": "master"}, True),
        ({"server": "h:1", "role": "namesrv"}, False),
        ({"brokerAddr": "h:1", "brokerName": "a"}, False),
        ({"brokerAddr": "h:1", "error": "refused"}, False),
        ({"brokerAddr": None}, False),
    ],
)
def test_only_a_broker_that_answered_is_asked(row: ResultRow, lacks: bool) -> None:
    assert lacks_identities(ResultRows(COLUMNS, [row])) is lacks
    assert not lacks_identities(ResultRows(("brokerAddr",), [row]))
