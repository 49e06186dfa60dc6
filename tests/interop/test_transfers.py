"""Transfers between real brokers, 4.9.7 to 5.5.0 and 5.5.0 to 5.5.0, under writes, with kills of nsadmin."""

import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.interop import jars, popping
from tests.interop.cluster import create_topic, send, wait_for_broker, wait_for_topic
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import JavaBroker
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.interop.transferring import TransferLoad, count_stored, run_without_servers, start_transfer
from tests.support.examples import list_cases_elsewhere, split_example

MESSAGE_COUNT = int(os.environ.get("NSADMIN_TRANSFER", "5000"))
"""Messages before the live writes. In a large run, a broker of each side is killed and started again, too."""
IS_LARGE = MESSAGE_COUNT >= 100_000
# A broker of a large run is too busy at times, and refuses what has waited for 200 ms.
PATIENT = {"waitTimeMillsInSendQueue": 20_000}
QUEUES, GROUP, FOREIGN = 4, "payments-consumer", 10


class Side(NamedTuple):
    server: OurNameServer
    broker: JavaBroker


class Transfer(NamedTuple):
    source: Side
    target: Side
    topic: str
    load: TransferLoad
    state: Path

    @property
    def ends(self) -> tuple[str, ...]:
        return ("--from", self.source.server.address, "--to", self.target.server.address)

    def __call__(self, command: str, *args: str) -> CommandResult:
        return run_without_servers(self.state, "transfer", command, *args, *self.ends)

    def copied(self) -> int:
        return count_stored(self.target.broker.port, self.topic, QUEUES)

    def has_copied(self, message_count: int) -> bool:
        return self.copied() > message_count


@pytest.fixture(scope="module")
def target(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Side]:
    home = tmp_path_factory.mktemp("target")
    with (
        OurNameServer(home / "ns") as server,
        JavaBroker(home / "broker", [server.address], config=PATIENT) as broker,
    ):
        wait_for_broker([server], broker.name)
        yield Side(server, broker)


@pytest.fixture(scope="module", params=[jars.OLD, jars.NEWEST])
def transfer(
    request: pytest.FixtureRequest, target: Side, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Transfer]:
    home = tmp_path_factory.mktemp("source")
    topic = f"payments-{request.param.replace('.', '-')}"
    with (
        OurNameServer(home / "ns") as server,
        JavaBroker(home / "broker", [server.address], version=request.param, config=PATIENT) as broker,
    ):
        wait_for_broker([server], broker.name)
        for side in (Side(server, broker), target):
            create_topic(side.broker.port, topic, QUEUES)
            popping.create_group(side.broker.port, GROUP)
            wait_for_topic([side.server], topic)
        place = (server.address, target.server.address, topic, GROUP, QUEUES)
        with TransferLoad(home / "load", *place) as load:
            yield Transfer(Side(server, broker), target, topic, load, home / "state")


def test_a_consumer_that_is_switched_over_misses_nothing(transfer: Transfer) -> None:
    load, topic = transfer.load, transfer.topic
    load.order(f"fill {MESSAGE_COUNT}")
    load.order("write 300")
    load.order("join source")
    wait_for(
        "consumed messages",
        lambda: load.order("report /dev/null").source > MESSAGE_COUNT // 3,
        120,
        interval=0.2,
    )
    load.order("leave")
    copy_with_kills(transfer)
    load.order(f"foreign {FOREIGN}")
    sent = load.order("stop").sent
    result = transfer("messages", topic, "--yes")
    assert (result.code, result.err) == (0, "")
    assert sum(row["nextOffset"] for row in result.rows) == sent

    verified = transfer("verify", topic)
    assert (verified.code, {row["result"] for row in verified.rows} <= {"equal", "duplicates"}) == (0, True)
    duplicates = sum_of(verified, "duplicates")
    assert sum_of(verified, "compared") == sent
    assert transfer.copied() == sent + duplicates + FOREIGN
    print(f"{topic}: {sent} messages, {duplicates} duplicates")
    switch_over(transfer, sent)


@pytest.mark.parametrize("transfer", [jars.NEWEST], indirect=True)
def test_the_examples_of_the_manual(transfer: Transfer, tmp_path: Path) -> None:
    def run(*words: str) -> CommandResult:
        return run_without_servers(tmp_path, *words)

    for name, side in (("prod", transfer.source), ("dr", transfer.target)):
        assert run("context", "set", name, "-n", side.server.address).code == 0
        for topic in ("orders", "payments"):
            create_topic(side.broker.port, topic, QUEUES)
            wait_for_topic([side.server], topic)
    send(transfer.source.broker.port, "payments", 0, 3)
    queue = ("-b", f"127.0.0.1:{transfer.source.broker.port}", "-q", "0", "-o", "2")
    reset = ("resetOffsetByTime", GROUP, "payments", *queue, "--context", "prod", "--yes")
    assert run(*reset).code == 0
    for case in list_cases_elsewhere("transferMessages", "transferVerify", "transferOffsets"):
        for example in case.examples:
            # One of them follows the topic without an end.
            more = ("--dry-run",) if "--follow" in example.command_line else ()
            result = run(*split_example(example), *more)
            assert result.code == example.exit_code, (example.command_line, result.err)


def copy_with_kills(transfer: Transfer) -> None:
    """Follow the topic, with two kills of nsadmin and, in a large run, one of a broker on each side."""
    limits = () if IS_LARGE else ("--rate", str(MESSAGE_COUNT))
    for part, restart in ((1, restart_source), (2, restart_target)):
        with start_transfer(transfer.state, transfer.topic, *transfer.ends, "--follow", *limits) as child:
            try:
                wait_for(
                    "copies", partial(transfer.has_copied, part * MESSAGE_COUNT // 4), 300, interval=0.01
                )
                if IS_LARGE:
                    restart(transfer)
                    copied = (2 * part + 1) * MESSAGE_COUNT // 8
                    wait_for("copies", partial(transfer.has_copied, copied), 300, interval=0.1)
            finally:
                child.kill()
        assert child.returncode == -signal.SIGKILL
    with start_transfer(transfer.state, transfer.topic, *transfer.ends, "--follow") as child:
        try:
            wait_for("copies", partial(transfer.has_copied, MESSAGE_COUNT), 300, interval=0.05)
        finally:
            child.send_signal(signal.SIGINT)
            out, stderr = child.communicate(timeout=30)
    assert (child.returncode, "run the same command to resume" in stderr) == (0, True), (out, stderr)


def restart_source(transfer: Transfer) -> None:
    """Kill the source broker while it is read, and start it. Its producer pauses: each message is known."""
    server, broker = transfer.source
    transfer.load.order("stop")
    broker.kill()
    broker.start()
    wait_for_broker([server], broker.name)
    wait_for_topic([server], transfer.topic)
    transfer.load.order("write 300")


def restart_target(transfer: Transfer) -> None:
    """Kill the target broker while copies are sent, and start it."""
    transfer.target.broker.kill()
    transfer.target.broker.start()


def switch_over(transfer: Transfer, sent: int) -> None:
    """Move the group, and compare what its consumers got with the report."""
    preview = transfer("offsets", GROUP, "--dry-run")
    result = transfer("offsets", GROUP, "--yes")
    assert (preview.code, result.code) == (0, 0), result.err
    assert {row["result"] for row in result.rows} == {"done"}
    assert [row["to"] for row in result.rows] == [row["to"] for row in preview.rows]
    assert (sum_of(result, "missed"), {row["from"] for row in preview.rows}) == (0, {None})
    repeated = sum_of(result, "repeated")
    expected = transfer.copied() - sum_of(result, "to")
    transfer.load.order("join target")
    wait_for(
        "deliveries", lambda: transfer.load.order("report /dev/null").target >= expected, 120, interval=0.2
    )
    transfer.load.order("leave")
    report = transfer.load.report()
    assert len(report) == sent + FOREIGN
    assert {key for key in report if key.startswith("f")} == {f"f{number}" for number in range(FOREIGN)}
    assert all(report[f"f{number}"] == (0, 1) for number in range(FOREIGN))
    assert sum(source + target for source, target in report.values()) == sent + FOREIGN + repeated
    print(f"{transfer.topic}: the consumer got {repeated} messages again, as reported")


def sum_of(result: CommandResult, column: str) -> int:
    rows: list[dict[str, Any]] = result.rows
    return sum(int(row[column]) for row in rows)
