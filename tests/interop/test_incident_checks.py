"""Incidents on released brokers, each named by its check: what stops a cluster, and nobody sees."""

import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple, Self

import pytest

from nsadmin import AdminClient
from nsadmin.operations.checks import timer
from nsadmin.operations.checks.check import CheckScope
from nsadmin.operations.checks.findings import CheckState
from tests.interop import jars, wire
from tests.interop.cluster import (
    create_topic,
    send,
    send_code,
    wait_for_broker,
    wait_for_runtime_info,
    wait_for_topic,
)
from tests.interop.command_line import ENVIRONMENT, PATIENT
from tests.interop.java_parts import JavaBroker
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.support import forked_commands

TOPIC = "Payments"
V3_2_6 = 79
"""The ordinal of this release in MQVersion: clients send it in each request."""


class Incident(NamedTuple):
    server: OurNameServer
    broker: JavaBroker
    state: Path

    def check(self, *words: str) -> tuple[int, Any]:
        """Exit code and what was found."""
        environment = {**ENVIRONMENT, "NSADMIN_STATE": str(self.state), "NSADMIN_INVENTORY": "on"}
        words = (*PATIENT, "-n", self.server.address, "check", *words, "--json")
        result = forked_commands.run(words, environment, timeout=90)
        assert result.stdout, result.stderr
        return result.returncode, json.loads(result.stdout)

    def configure(self, key: str, value: str) -> None:
        answer = wire.ask(self.broker.port, 25, None, f"{key}={value}".encode())
        assert answer.code == 0, answer

    def send(
        self, properties: Mapping[str, str], *, group: str = "P", born_ms: int = 0, sys_flag: int = 0
    ) -> None:
        """Send a message with these properties. A broker that is too busy gets it again."""
        text = "".join(f"{key}\x01{value}\x02" for key, value in properties.items())
        ext = {
            "a": group, "b": TOPIC, "c": "TBW102", "d": "4", "e": "0", "f": str(sys_flag), "g": str(born_ms),
            "h": "0", "i": text, "j": "0", "k": "false", "l": "0", "m": "false",
        }  # fmt: skip
        wait_for("a send", lambda: wire.ask(self.broker.port, 310, ext, b"hello").code == 0)


class Ending(Event):
    """An event that is set at the end of a block, so that threads of the block end, too."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.set()


@pytest.fixture(scope="module", params=[jars.NEWEST, jars.OLD])
def incident(
    request: pytest.FixtureRequest, released: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Incident]:
    home = tmp_path_factory.mktemp("incidents")
    config = {
        "sendThreadPoolQueueCapacity": 1,
        "transactionTimeOut": 100,
        "transactionCheckInterval": 500,
        "transactionCheckMax": 1,
    }
    with (
        OurNameServer(home / "server") as server,
        JavaBroker(home / "broker", [server.address], version=request.param, config=config) as broker,
    ):
        wait_for_broker([server], broker.name)
        wait_for_runtime_info(broker.port)
        create_topic(broker.port, TOPIC)
        wait_for_topic([server], TOPIC)
        yield Incident(server, broker, home / "state")


def values(found: Any) -> dict[str, Any]:
    return {value["name"]: value["value"] for value in found["values"]}


def test_half_messages_of_a_dead_producer(incident: Incident) -> None:
    born_ms = int(time.time() * 1000) - 120_000

    def send_half(key: str) -> None:
        properties = {"TRAN_MSG": "true", "PGROUP": "gone-producers", "UNIQ_KEY": key * 32}
        incident.send(properties, group="gone-producers", born_ms=born_ms, sys_flag=4)

    send_half("A")
    wait_for("a discarded one", lambda: values(incident.check("transactions")[1])["discarded"] == 1)
    # From now on, the broker waits before it asks the producer.
    incident.configure("transactionTimeOut", "3600000")
    send_half("B")
    send_half("C")
    code, report = incident.check("transactions")
    assert (code, values(report)["half"], values(report)["abandoned"]) == (1, 2, 2), report
    assert values(report)["oldest"] >= 120
    assert report["details"][0].startswith("producer group gone-producers: 2 half messages for Payments on ")
    assert "no client is connected: start a producer of this group" in report["details"][0]
    assert "for Payments of producer group gone-producers" in report["details"][1]


def test_dead_letters_since_the_last_look(incident: Incident) -> None:
    dead = "%DLQ%incident-group"
    create_topic(incident.broker.port, dead, queues=1)
    wait_for_topic([incident.server], dead)
    assert incident.check("dlq")[0] == 0
    send(incident.broker.port, dead, 0, 3)

    def find_new() -> tuple[int, dict[str, Any]] | None:
        code, report = incident.check("dlq")
        # A broker counts a message a moment after it has stored it.
        return (code, report) if values(report)["new"] == 3 else None

    code, report = wait_for("three dead letters", find_new)
    assert code == 1, report
    assert report["details"][0].startswith("incident-group: 3 dead letters, 3 of them since 20")


def test_messages_for_later_delivery_that_wait_and_some_that_are_late(incident: Incident) -> None:
    incident.send({"DELAY": "5"})
    wait_for("a delayed one", lambda: values(incident.check("timer")[1])["pending"] == 1)
    code, report = incident.check("timer")
    assert code == 0
    # On a busy machine, a broker may be a second late.
    assert report["summary"].startswith("1 message for later delivery on 1 master, ")
    with AdminClient(incident.server.address) as admin:
        seen = timer.observe(admin, CheckScope())
    # The level of one minute, looked at three minutes later.
    finding = timer.judge(timer.CHECK.make_scale(), seen._replace(now_ms=seen.now_ms + 180_000))
    assert finding.state is CheckState.WARNING
    assert finding.details[0].startswith("broker-a delivers delay level 5 late, with 1 message: 1")
    if incident.broker.version == jars.OLD:
        return
    incident.configure("timerStopEnqueue", "true")
    incident.send({"TIMER_DELAY_SEC": "1"})
    wait_for("a late one", lambda: incident.check("timer", "--warning", "1")[0] == 1)
    _, report = incident.check("timer", "--warning", "1")
    assert report["details"][0].startswith("broker-a has not sorted 1 timed message into its timer wheel: ")


def test_a_send_queue_of_one(incident: Incident) -> None:
    text = "broker-a refuses a send while 1 others wait: sendThreadPoolQueueCapacity (default 10000)"
    code, report = incident.check("sends")
    assert (code, report["details"]) == (1, [text])
    with ThreadPoolExecutor(8) as pool, Ending() as is_over:

        def send_until_the_end(_: int) -> None:
            while not is_over.is_set():
                send_code(incident.broker.port, TOPIC)

        pool.map(send_until_the_end, range(8))
        full = "broker-a refuses messages as too busy: "
        wait_for("a full queue", lambda: incident.check("sends")[1]["summary"].startswith(full))


def test_an_old_client(incident: Incident) -> None:
    subscription = {"topic": TOPIC, "subString": "*", "tagsSet": [], "codeSet": [], "subVersion": 1}
    consumer = {
        "groupName": "old-group", "consumeType": "CONSUME_PASSIVELY", "messageModel": "CLUSTERING",
        "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET", "subscriptionDataSet": [subscription],
    }  # fmt: skip
    producers = [{"groupName": "old-producers"}]
    body = {"clientID": "old@1", "consumerDataSet": [consumer], "producerDataSet": producers}
    with closing(wire.Connection(incident.broker.port)) as connection:
        connection.send(wire.frame(wire.json_header(34, None, 1, version=V3_2_6), json.dumps(body).encode()))
        wait_for("the client", lambda: values(incident.check("clients")[1])["clients"] == 1)
        code, report = incident.check("clients")
    assert (code, report["summary"]) == (1, "1 of 1 client is older than 5.0.0")
    assert report["details"][0].startswith("old@1 at 127.0.0.1:")
    assert report["details"][0].endswith(": JAVA V3_2_6, groups old-group, old-producers")


def test_one_run_names_all_of_them(incident: Incident) -> None:
    """Without being told a group: `lag` finds the old client's group too, whose client has left."""
    code, report = incident.check("all", "--settle", "0")
    states = {check["check"]: check["state"] for check in report["checks"]}
    assert (code, report["state"]) == (1, "WARNING"), report
    found = {name for name, state in states.items() if state != "OK"}
    assert {"dlq", "sends", "transactions"} <= found, states
    assert states["disk"] == "OK"
    assert [part["check"] for part in report["notChecked"]][-4:] == ["topic", "clients", "backup", "security"]
