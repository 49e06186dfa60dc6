"""Half messages of a dead transactional producer, on a 5.5.0 and a 4.9.7 broker; discarded and resumed."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.interop import command_line, jars
from tests.interop.cluster import create_topic, wait_for_broker, wait_for_runtime_info, wait_for_topic
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import JavaBroker, start_clients
from tests.interop.our_server import OurNameServer
from tests.interop.processes import Child, wait_for
from tests.support.examples import list_cases_elsewhere, split_example

TOPIC, GROUP = "payments", "payments-producer"
UNTOUCHED, CHECKED = "600000", "100"
"""After how many ms brokers ask about a half message. A change needs no restart."""


class Place(NamedTuple):
    """A broker, and its only topic."""

    server: OurNameServer
    broker: JavaBroker
    topic: str

    def run(self, *args: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *args)

    def list_rows(self, state: str, name: str) -> list[dict[str, Any]]:
        result = self.run("transaction", state, name)
        assert result.code == 0, result
        return list(result.rows)

    def set_timeout(self, milliseconds: str) -> None:
        words = ("updateBrokerConfig", "transactionTimeOut", milliseconds, "-b", self.broker.address, "--yes")
        assert self.run(*words).code == 0

    def count_stored(self) -> int:
        return sum(row["maxOffset"] for row in self.run("topicStatus", self.topic).rows)

    def start_producer(self, home: Path) -> Child:
        return start_clients(home, jars.program("Transactions"), [self.server.address, self.topic, GROUP])


@pytest.fixture(scope="module", params=[jars.NEWEST, jars.OLD])
def place(
    request: pytest.FixtureRequest, released: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    home = tmp_path_factory.mktemp("transactions")
    config: dict[str, object] = {
        "transactionCheckInterval": 500, "transactionTimeOut": UNTOUCHED, "transactionCheckMax": 2,
    }  # fmt: skip
    with (
        OurNameServer(home / "server") as server,
        JavaBroker(home / "broker", [server.address], version=request.param, config=config) as broker,
    ):
        wait_for_broker([server], broker.name)
        wait_for_runtime_info(broker.port)
        create_topic(broker.port, TOPIC, 1)
        wait_for_topic([server], TOPIC)
        yield Place(server, broker, TOPIC)


def list_if(place: Place, state: str, count: int) -> list[dict[str, Any]] | None:
    rows = place.list_rows(state, place.topic)
    return rows if len(rows) == count else None


def test_half_messages_of_a_dead_producer_are_named_discarded_and_resumed(
    place: Place, tmp_path: Path
) -> None:
    producer = place.start_producer(tmp_path / "first")
    for order in ("send 2 COMMIT_MESSAGE", "send 1 ROLLBACK_MESSAGE", "send 3 UNKNOW"):
        output, _ = producer.obey(order, 30)
    sent_ids = [line.removeprefix("sent ") for line in output.splitlines() if line.startswith("sent ")][-3:]
    rows = wait_for("the ends of transactions", partial(list_if, place, "list", 3))
    assert [(r["msgId"], r["topic"], r["producerGroup"], r["connected"], r["checks"]) for r in rows] == [
        (msg_id, place.topic, GROUP, True, 0) for msg_id in sent_ids
    ]

    producer.kill()
    wait_for("the producer's end", lambda: not place.list_rows("list", GROUP)[0]["connected"])
    result = place.run("transaction", "list", GROUP)
    assert f"{GROUP}: no client is connected to broker-a, so nobody answers for 3 half messages" in result.err
    assert place.list_rows("list", "Other") == []

    place.set_timeout(CHECKED)
    discarded = wait_for("the last check", partial(list_if, place, "discarded", 3))
    assert [(r["msgId"], r["checks"], r["connected"]) for r in discarded] == [(i, 2, False) for i in sent_ids]
    assert place.list_rows("list", place.topic) == []
    place.set_timeout(UNTOUCHED)
    resume = partial(place.run, "transaction", "resume", sent_ids[0])
    result = resume("--dry-run")
    assert (result.code, result.rows[0]["result"], place.list_rows("list", place.topic)) == (0, "dry-run", [])
    assert f"no client of {GROUP} is connected to the broker: start one, or the broker discards" in result.err
    assert resume("--yes").rows[0]["result"] == "done"
    [row] = wait_for("the half message", partial(list_if, place, "list", 1))
    assert (row["msgId"], row["checks"]) == (sent_ids[0], 0)
    result = resume("--yes")
    assert (result.code, "the broker checks the message already" in result.err) == (1, True)

    before = place.count_stored()
    producer = place.start_producer(tmp_path / "second")
    producer.obey("answer COMMIT_MESSAGE", 30)
    producer.obey("send 1 ROLLBACK_MESSAGE", 30)
    place.set_timeout(CHECKED)
    # A broker that checks the message while it is resumed delivers it twice.
    wait_for("the commit", lambda: place.count_stored() > before)
    wait_for("the end of the transaction", lambda: not place.list_rows("list", place.topic))
    # A broker notes ends some seconds late: until then, it may still check a copy.
    refused = wait_for("its end", lambda: r if "was committed" in (r := resume("--yes")).err else None)
    assert (refused.code, "the transaction was committed" in refused.err) == (1, True)
    producer.kill()


def test_the_examples_find_no_message(place: Place) -> None:
    for case in list_cases_elsewhere("transactionList", "transactionDiscarded"):
        for example in case.examples:
            assert place.run(*split_example(example)).code == 0
    [case] = list_cases_elsewhere("transactionResume")
    result = place.run(*split_example(case.examples[0]))
    assert (result.code, 'no discarded half message "7F0000010B4B18B4AAC2910F8A1E0000"' in result.err) == (
        5, True,
    )  # fmt: skip
