"""Finding servers as Java finds them: an endpoint that a real broker asks too, and a broker behind a map.

The broker calls itself 10.9.9.9, an address that leads nowhere from here, and knows its name servers, a 5.5.0
and a 4.9.7, from the endpoint alone; its file is the one we read.
"""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.interop import jars
from tests.interop.command_line import ENVIRONMENT, CommandResult
from tests.interop.java_parts import JavaBroker, JavaNameServer, Running
from tests.interop.processes import wait_for
from tests.support import forked_commands
from tests.support.endpoint import FakeEndpoint

NOWHERE = "10.9.9.9"


class Place(NamedTuple):
    home: Path
    new: JavaNameServer
    old: JavaNameServer
    broker: JavaBroker
    endpoint: FakeEndpoint

    @property
    def broker_file(self) -> Path:
        return self.broker.home / "broker.properties"

    @property
    def broker_addr(self) -> str:
        return f"{NOWHERE}:{self.broker.port}"


@pytest.fixture(scope="module")
def place(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    home = tmp_path_factory.mktemp("where")
    with ExitStack() as ends, FakeEndpoint() as endpoint:
        new = JavaNameServer(home / "new")
        old = JavaNameServer(home / "old", version=jars.OLD)
        config = {
            "brokerIP1": NOWHERE,
            "brokerIP2": NOWHERE,
            "fetchNamesrvAddrByAddressServer": "true",
            "rmqAddressServerDomain": endpoint.domain,
            "rmqAddressServerSubGroup": "blue",
            # The broker registers for the first time before it has asked the endpoint.
            "registerNameServerPeriod": 10_000,
        }
        broker = JavaBroker(home / "broker", [], config=config)
        broker._config.pop("namesrvAddr", None)
        for part in (new, old, broker):
            ends.callback(end, part)
        new.start()
        old.start()
        endpoint.text = f"{new.address};{old.address}\n"
        broker.start()
        test_place = Place(home, new, old, broker, endpoint)
        wait_for("the broker on both name servers", lambda: is_registered(test_place))
        yield test_place


def end(part: Running) -> None:
    if hasattr(part, "child"):
        part.kill()


def is_registered(place: Place) -> bool:
    cluster_lists = [
        nsadmin(place, "clusterList", "-n", server.address, *MAP) for server in (place.new, place.old)
    ]
    return all(result.code == 0 and result.rows and result.rows[0]["version"] for result in cluster_lists)


MAP = ("--addressMap", "10.0.0.0/8=127.0.0.1")


def nsadmin(place: Place, *args: str) -> CommandResult:
    config = {"NSADMIN_CONFIG": str(place.home / "config.yaml"), "XDG_CACHE_HOME": str(place.home)}
    environment = {**ENVIRONMENT, **config, "NSADMIN_AUDIT": "off"}
    environment.pop("NAMESRV_ADDR", None)
    result = forked_commands.run(["--json", *args], environment)
    return CommandResult(
        result.returncode, json.loads(result.stdout) if result.stdout else None, result.stderr
    )


def by_addr(result: CommandResult) -> dict[str, Any]:
    return {row["namesrvAddr"]: row for row in result.rows}


def test_real_name_servers_answer_with_their_version(place: Place) -> None:
    result = nsadmin(place, "where", "--configFile", os.fspath(place.broker_file))
    assert result.code == 0, result.err
    rows = by_addr(result)
    assert [*rows] == [place.new.address, place.old.address]
    assert [rows[server.address]["version"] for server in (place.new, place.old)] == ["V5_5_0", "V4_9_7"]
    assert {row["source"] for row in result.rows} == {
        f"endpoint http://{place.endpoint.domain}/rocketmq/blue"
    }
    assert all(row["reachable"] and row["latencyMillis"] > 0 for row in result.rows)


def test_we_ask_the_endpoint_as_a_real_broker_asks_it(place: Place) -> None:
    java = next(asked for asked in place.endpoint.asked if "Java" in asked[1].get("User-Agent", ""))
    nsadmin(place, "where", "--configFile", os.fspath(place.broker_file))
    ours = place.endpoint.asked[-1]
    assert "httpx" in ours[1]["User-Agent"]
    assert ours[0] == java[0] == "/rocketmq/blue"
    for name in ("Client-Version", "Content-Type"):
        assert ours[1][name] == java[1][name]
    assert len(ours[1]["Metaq-Client-RequestTS"]) == len(java[1]["Metaq-Client-RequestTS"])


def test_a_broker_whose_address_leads_nowhere_is_read_and_changed_through_the_map(place: Place) -> None:
    assert nsadmin(place, "contextSet", "p", "--configFile", os.fspath(place.broker_file), *MAP).code == 0
    result = nsadmin(place, "clusterList")
    assert result.code == 0, result.err
    [row] = result.rows
    assert (row["brokerAddr"], row["version"], row["reachable"]) == (place.broker_addr, "V5_5_0", True)
    result = nsadmin(place, "updateTopic", "-t", "Mapped", "-b", place.broker_addr, "-r", "3", "-w", "3")
    assert result.code == 0, result.err
    assert result.rows[0]["result"] == "done"
    wait_for("the route", lambda: nsadmin(place, "topicRoute", "Mapped").code == 0)
    assert nsadmin(place, "topicRoute", "Mapped").rows[0]["writeQueueNums"] == 3


def test_when_the_endpoint_fails_what_it_said_last_counts(place: Place) -> None:
    place.endpoint.status = 503
    try:
        result = nsadmin(place, "where", "--endpoint", f"http://{place.endpoint.domain}/rocketmq/blue")
    finally:
        place.endpoint.status = 200
    assert result.code == 0
    assert [*by_addr(result)] == [place.new.address, place.old.address]
    assert "HTTP status 503 instead of 200; using its answer of 2" in result.err
