"""Slaves whose master refuses their copies: found and named (`make replica-proof`).

The brokers check accounts, and the slave signs its requests with a wrong password, or not at all (4.9.7).
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.interop import command_line, jars
from tests.interop.cluster import wait_for_broker
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import JavaBroker, acl_config, write_plain_acl
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for

pytestmark = pytest.mark.skipif(
    os.environ.get("NSADMIN_REPLICAS") != "full", reason="waits for two sync intervals: make replica-proof"
)

USER, SECRET = "operator", "12345678"


class Pair(NamedTuple):
    server: OurNameServer
    master: JavaBroker
    slave: JavaBroker
    home: Path

    def run(self, *args: str) -> CommandResult:
        environment = {
            "NSADMIN_ACCESS_KEY": USER,
            "NSADMIN_SECRET_KEY": SECRET,
            "NSADMIN_STATE": str(self.home / "state"),
        }
        return command_line.nsadmin(self.server.address, *args, env=environment)

    def has_drift(self) -> bool:
        rows = self.run("replicaDiff", "-b", self.master.name).rows or []
        return [row["state"] for row in rows if row["name"] == "invoices"] == ["drift"]


@pytest.fixture(params=[jars.NEWEST, jars.OLD])
def pair(
    released: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    home, version = tmp_path_factory.mktemp("blocked"), request.param
    with OurNameServer(home / "namesrv") as server, ExitStack() as ends:
        brokers = []
        for broker_id, folder in enumerate(("master", "slave")):
            config: dict[str, object] = {"aclEnable": "true"}
            if version == jars.OLD:
                write_plain_acl(home / folder, [{"accessKey": USER, "secretKey": SECRET, "admin": True}])
            else:
                config = {**acl_config(USER, SECRET)}
                if broker_id:
                    wrong = acl_config(USER, "wrong-password")["innerClientAuthenticationCredentials"]
                    config["innerClientAuthenticationCredentials"] = wrong
            broker = JavaBroker(
                home / folder, [server.address], broker_id=broker_id, version=version, config=config
            )
            brokers.append(broker)
        with ThreadPoolExecutor() as threads:
            list(threads.map(JavaBroker.start, brokers))
        for broker_id, broker in enumerate(brokers):
            ends.callback(broker.kill)
            wait_for_broker([server], broker.name, broker_id)
        master, slave = brokers
        yield Pair(server, master, slave, home)


def test_a_slave_whose_copies_are_refused_is_found_and_named(pair: Pair) -> None:
    created = pair.run("updateTopic", "invoices", "-b", pair.master.address, "--yes")
    assert created.code == 0, created.err
    wait_for("drift", pair.has_drift, 240, interval=2)
    compared = pair.run("replicaDiff", "-b", pair.master.name)
    [row] = [row for row in compared.rows if row["name"] == "invoices"]
    assert (compared.code, row["brokerId"], row["brokerAddr"]) == (1, 1, pair.slave.address)
    assert (row["slave"], row["kind"]) == (None, "topic")
    checked = pair.run("check", "replicas", "--clusterName", "DefaultCluster")
    assert checked.code == 2, checked.err
