"""consumerStatus."""

from time import time

import pytest

from tests.nsadmin.client.consumers.test_client_runtime import info, popping
from tests.nsadmin.conftest import Run
from tests.support.consumer_brokers import ConsumerBroker

SAME = "nsadmin: both clients have the same subscriptions\n"


@pytest.fixture
def online_broker(consumer_broker: ConsumerBroker) -> ConsumerBroker:
    now = int(time() * 1000)
    queue = {"commitOffset": 7, "cachedMsgCount": 2, "lastConsumeTimestamp": now, "locked": True}
    consumer_broker.clients = {"G": ["c1", "c2"]}
    consumer_broker.running = {"c1": info([0, 1, 2, 3], queue=queue), "c2": info([4, 5, 6, 7], queue=queue)}
    return consumer_broker


@pytest.mark.parametrize("flag", [None, "-g", "--consumerGroup"])
def test_every_queue_of_every_client(ask: Run, online_broker: ConsumerBroker, flag: str | None) -> None:
    result = ask("consumerStatus", *([flag] if flag else []), "G", "--json")
    assert (result.code, result.err) == (0, SAME)
    rows = result.json
    assert [(row["clientId"], row["queueId"]) for row in rows] == [
        *(("c1", number) for number in range(4)),
        *(("c2", number) for number in range(4, 8)),
    ]
    assert (rows[0]["consumerOffset"], rows[0]["cachedMsgCount"], rows[0]["consumeOKTPS"]) == (7, 2, 1.5)
    assert rows[0]["startTime"] == "1970-01-01T00:00:00.005Z"
    assert rows[0]["subscriptions"] == {"T": "*"}


def test_one_client(ask: Run, online_broker: ConsumerBroker) -> None:
    result = ask("consumerStatus", "G", "-i", "c2", "-b", online_broker.addr, "--json")
    assert {row["clientId"] for row in result.json} == {"c2"}
    assert ask("consumerStatus", "G", "-i", "c3").code == 5
    assert ask("consumerStatus", "X").code == 5


def test_what_is_wrong_is_said(ask: Run, online_broker: ConsumerBroker) -> None:
    online_broker.running["c2"] = '{"mqTable":{},"subscriptionSet":[{"topic":"T","subString":"*"}]}'
    result = ask("consumerStatus", "G", "--json")
    assert result.code == 0
    missing = [f"nsadmin: no client consumes T broker-a {number}\n" for number in range(4, 8)]
    assert result.err == "".join([*missing, SAME])
    assert result.json[4]["queueId"] is None


def test_only_equal_subscriptions_are_called_the_same(ask: Run, online_broker: ConsumerBroker) -> None:
    online_broker.running["c2"] = '{"mqTable":{},"subscriptionSet":[{"topic":"T","subString":"red"}]}'
    differing = ask("consumerStatus", "G").err
    assert "c2 and c1 subscribe differently: T=red and T=*" in differing
    assert "same subscriptions" not in differing
    online_broker.clients["G"].append("c3")
    online_broker.running["c2"] = online_broker.running["c1"]
    assert "nsadmin: the 2 clients that report their state have the same subscriptions" in (
        ask("consumerStatus", "G").err
    )


def test_a_client_that_does_not_answer_is_a_row(ask: Run, online_broker: ConsumerBroker) -> None:
    del online_broker.running["c1"]
    result = ask("consumerStatus", "G", "--json")
    assert (result.code, result.err) == (
        3,
        "nsadmin: client c1: SYSTEM_ERROR (1): The Consumer <G> <c1> not online\n",
    )
    rows = result.json
    assert (rows[0]["clientId"], rows[0]["queueId"]) == ("c1", None)
    assert len(rows) == 5


def test_stacks_of_threads(ask: Run, online_broker: ConsumerBroker) -> None:
    online_broker.running["c2"] = '{"mqTable":{},"jstack":"main\\n\\tat x"}'
    done = ask("consumerStatus", "G", "-s")
    assert done == (0, "# c1\nthis client reports no stacks\n# c2\nmain\n	at x\n", "")


def test_a_client_that_pops_has_a_row_for_a_broker(ask: Run, online_broker: ConsumerBroker) -> None:
    online_broker.running = {"c1": popping(-1, 3), "c2": popping(-1, 0)}
    result = ask("consumerStatus", "G", "--json")
    assert (result.code, result.err) == (0, SAME)
    rows = result.json
    assert [(row["clientId"], row["queueId"], row["waitAckCount"]) for row in rows] == [
        ("c1", None, 3),
        ("c2", None, 0),
    ]
    assert (rows[0]["lastPopTime"], rows[0]["consumeOKTPS"]) == ("1970-01-01T00:00:01.000Z", 1.5)
    assert "waitAckCount" in ask("consumerStatus", "G").out
    result = ask("consumerProgress", "G", "-s", "true", "--json")
    assert {row["clientId"] for row in result.json} == {"c1,c2"}


def test_a_client_in_another_language_sends_numbers_as_text_and_null(
    ask: Run, online_broker: ConsumerBroker
) -> None:
    queue = '{"brokerName":"broker-a","queueId":0,"topic":"T"}'
    online_broker.running["c2"] = (
        f'{{"mqTable":{{{queue}:{{"commitOffset":"7","cachedMsgCount":null,"lastPullTimestamp":"1000"}}}},'
        '"statusTable":{"T":{"consumeOKTPS":"1.5","pullTPS":null,"consumeRT":"NaN"}},"subscriptionSet":[]}'
    )
    online_broker.running["c1"] = online_broker.running["c2"].replace('"NaN"', '"0.25"')
    result = ask("consumerStatus", "G", "--json")
    [row, unreadable] = result.json
    assert (row["consumerOffset"], row["cachedMsgCount"], row["consumeOKTPS"]) == (7, None, 1.5)
    assert (row["pullTPS"], row["consumeRT"], row["lastPullTime"]) == (None, 0.25, "1970-01-01T00:00:01.000Z")
    assert (unreadable["clientId"], unreadable["queueId"], result.code) == ("c2", None, 3)
    assert 'client c2: malformed answer (consumeRT is "NaN", not a finite number)' in result.err
