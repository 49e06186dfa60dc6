"""Two brokers of one name and id, of which one is German, and then is renamed."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nsadmin import AdminClient
from tests.interop import command_line
from tests.interop.cluster import NameServer, register_now, wait_for_broker, wait_for_runtime_info
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import QUICK_START, JavaBroker
from tests.interop.processes import wait_for

CLUSTER = "name-cluster"
GERMAN = ("-Duser.language=de", "-Duser.country=DE")


class Twins(NamedTuple):
    servers: list[NameServer]
    home: Path
    first: JavaBroker
    german: JavaBroker

    def run(self, *args: str) -> CommandResult:
        # Which address a broker had before is in the inventory.
        addrs = ";".join(server.address for server in self.servers)
        return command_line.nsadmin(
            addrs, *args, env={"NSADMIN_STATE": str(self.home), "NSADMIN_INVENTORY": "on"}
        )


@pytest.fixture(scope="module")
def twins(name_servers: list[NameServer], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twins]:
    home = tmp_path_factory.mktemp("twins")
    addrs = [server.address for server in name_servers]
    # Both ask again and again for the place of the other.
    config = {"registerNameServerPeriod": 10_000}
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        pair = [
            JavaBroker(
                home / str(i), addrs, "broker-twin", CLUSTER, config=config, jvm_flags=(*QUICK_START, *flags)
            )
            for i, flags in enumerate(((), GERMAN))
        ]
        for broker in pool.map(JavaBroker.__enter__, pair):
            ends.push(broker)
        wait_for_broker(name_servers, "broker-twin")
        for broker in pair:
            wait_for_runtime_info(broker.port)
        yield Twins(name_servers, home, *pair)


def test_two_brokers_of_one_name_are_found_and_named(twins: Twins) -> None:
    for broker in (twins.first, twins.german):

        def is_listed(broker: JavaBroker = broker) -> bool:
            # Both register every ten seconds. One that is the second shortly after the other hides it.
            with AdminClient(twins.servers[0].address) as admin:
                admin.broker_configs.force_registration(broker.address).value()
            [row] = twins.run("clusterList", CLUSTER).rows
            return bool(row["brokerAddr"] == broker.address)

        wait_for("its address in the list", is_listed)
    text = "broker-twin 0 is two processes, at "
    listed = twins.run("clusterList", CLUSTER)
    assert (listed.code, text in listed.err) == (0, True)
    checked = twins.run("check", "brokers", "--clusterName", CLUSTER)
    assert (checked.code, text in str(checked.rows["details"])) == (1, True), checked
    for words in (("drain", "broker-twin"), ("rollingRestart", "-c", CLUSTER)):
        refused = twins.run(*words, "--dry-run")
        assert (refused.code, text in f"{refused.err}{refused.rows}") == (1, True), refused
    for words in (("whatIf", "--down", "broker-twin"), ("exportConfigs", CLUSTER)):
        assert text in twins.run(*words).err


def test_a_german_broker_reports_numbers(twins: Twins) -> None:
    def read_figures() -> dict[str, str] | None:
        figures = {row["key"]: row["value"] for row in twins.run("brokerStatus", twins.german.address).rows}
        # A broker samples its rates every second.
        return figures if figures["putTps"].strip() else None

    figures = wait_for("rates", read_figures)
    assert "." in figures["putTps"], figures["putTps"]
    assert float(figures["commitLogDiskRatio"]) >= 0


def test_a_broker_that_is_renamed_is_one_process_with_two_names(twins: Twins) -> None:
    renamed = twins.run(
        "updateBrokerConfig", "brokerName", "broker-german", "-b", twins.german.address, "--yes"
    )
    assert renamed.code == 0, renamed.err
    register_now(twins.german.port)

    def names() -> Any:
        rows = twins.run("clusterList", CLUSTER).rows
        found = {row["brokerName"] for row in rows if row["brokerAddr"] == twins.german.address}
        return "broker-german" in found

    wait_for("the new name", names, 60, interval=0.5)
    checked = twins.run("check", "brokers", "--clusterName", CLUSTER)
    assert "two processes" not in str(checked.rows["details"])
    probed = [row["brokerAddr"] for row in twins.run("clusterRT", "-c", CLUSTER, "-a", "1", "--yes").rows]
    assert probed.count(twins.german.address) <= 1, probed


def test_a_kv_entry_that_one_server_has_is_found(twins: Twins) -> None:
    words = ("updateKvConfig", "Naming", "former", "value", "--yes")
    assert command_line.nsadmin(twins.servers[0].address, *words).code == 0
    checked = twins.run("check", "divergence")
    assert (checked.code, "former" in str(checked.rows)) == (1, True), checked


def test_a_broker_that_registers_where_nobody_listens_and_with_one_server_only(twins: Twins) -> None:
    broker = twins.first
    wait_for(
        "its name", lambda: broker.address in str(twins.run("clusterList", CLUSTER).rows), 60, interval=0.5
    )
    broker.kill()
    known_at, unknown_at = (server.address for server in twins.servers)
    broker._config |= {"brokerIP1": "127.0.0.9", "bindAddress": "127.0.0.1", "namesrvAddr": known_at}
    broker.start()
    former = f"brokerIP1 or listenPort; it was at {broker.address} before"
    is_named = lambda: former in str(twins.run("check", "brokers", "--clusterName", CLUSTER).rows["details"])  # noqa: E731
    wait_for("the former address", is_named, 60, interval=0.5)
    only = f"name server {unknown_at} does not list 127.0.0.9:{broker.port}, but another name server does"
    assert only in twins.run("check", "brokers", "--clusterName", CLUSTER).rows["details"]
    diverging = twins.run("check", "divergence", "--settle", "1s")
    assert (diverging.code, "broker-twin" in str(diverging.rows)) != (0, False), diverging
