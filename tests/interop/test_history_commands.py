"""history and routeAt about a real broker that was wiped, whose topic changed, and that was killed."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.interop import wire
from tests.interop.cluster import (
    brokers,
    create_topic,
    route,
    wait_for_broker,
    wait_for_runtime_info,
    wait_for_topic,
)
from tests.interop.command_line import ENVIRONMENT
from tests.interop.java_parts import JavaBroker
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.support import forked_commands

TOPIC = "HistoryTopic"


def nsadmin(*args: str) -> tuple[int, Any]:
    """Exit code and rows of a command."""
    result = forked_commands.run([*args, "--json"], ENVIRONMENT)
    return result.returncode, json.loads(result.stdout)


class Told(NamedTuple):
    """A journal, and at some moments (ms) what topicRoute showed and the file of a snapshot taken then."""

    folder: str
    shown: dict[int, tuple[int, Any]]
    saved: dict[int, str]


@pytest.fixture(scope="module")
def recorded_routes(released: None, tmp_path_factory: pytest.TempPathFactory) -> Told:
    home = tmp_path_factory.mktemp("history")
    folder, routes_shown, saved = str(home / "kept"), dict[int, tuple[int, Any]](), dict[int, str]()
    with OurNameServer(home / "ours", {"journalDir": folder}) as server:

        def look() -> None:
            answer = nsadmin("topicRoute", TOPIC, "-n", server.address) if route(server, TOPIC) else (5, [])
            file = str(home / f"{len(saved)}.snapshot.zst")
            assert nsadmin("snapshotSave", file, "-n", server.address)[0] == 0
            moment = int(time.time() * 1000)
            routes_shown[moment], saved[moment] = answer, file
            time.sleep(0.01)

        def queues(count: int, perm: int) -> Callable[[], bool]:
            def is_so() -> bool:
                first_queue = (route(server, TOPIC) or {"queueDatas": [{}]})["queueDatas"][0]
                return (first_queue.get("readQueueNums"), first_queue.get("perm")) == (count, perm)

            return is_so

        broker = JavaBroker(home / "broker", [server.address])
        broker.start()
        try:
            wait_for_broker([server], "broker-a")
            wait_for_runtime_info(broker.port)
            look()
            create_topic(broker.port, TOPIC, queues=3)
            wait_for_topic([server], TOPIC)
            look()
            assert wire.ask(server.port, 205, {"brokerName": "broker-a"}).code == 0
            look()
            create_topic(broker.port, TOPIC, queues=5)
            wait_for("the changed topic", queues(5, 6))
            look()
        finally:
            broker.kill()
        wait_for("the end of the broker", lambda: not brokers(server))
        look()
    return Told(folder, routes_shown, saved)


def test_route_at_is_what_topic_route_showed_at_each_moment(recorded_routes: Told) -> None:
    moments_seen: list[Any] = []
    for moment, (code, rows) in recorded_routes.shown.items():
        past_route, past = nsadmin("routeAt", TOPIC, "--at", str(moment), "--journal", recorded_routes.folder)
        assert past_route == code
        assert [{name: row[name] for name in row if name != "server"} for row in past] == rows
        moments_seen += [(row["readQueueNums"], row["perm"]) for row in past] or [None]
    assert moments_seen == [None, (3, 6), (3, 4), (5, 6), None]


def test_a_snapshot_of_a_past_moment_is_the_one_that_was_taken_then(
    recorded_routes: Told, tmp_path: Path
) -> None:
    sizes = []
    for number, (moment, then) in enumerate(recorded_routes.saved.items()):
        file = str(tmp_path / f"{number}.snapshot.zst")
        code, [row] = nsadmin("snapshotSave", file, "--at", str(moment), "--journal", recorded_routes.folder)
        assert code == 0
        sizes.append((row["brokers"], row["topics"] > 3))
        assert nsadmin("routeDiff", "--from", then, "--to", file) == (0, [])
        assert nsadmin(
            "routeDiff", "--from", file, "--to", str(moment), "--journal", recorded_routes.folder
        ) == (0, [])
    assert sizes == [(1, True)] * 4 + [(0, False)]
    first, second = (f"{tmp_path}/{number}.snapshot.zst" for number in (1, 2))
    code, rows = nsadmin("routeDiff", TOPIC, "--from", first, "--to", second)
    assert (code, [row["changes"] for row in rows]) == (1, ["perm rw- -> r--"])


def test_the_history_of_the_topic_tells_it_all(recorded_routes: Told) -> None:
    code, rows = nsadmin("history", "topic", TOPIC, "--journal", recorded_routes.folder)
    assert code == 0
    changes = [
        (row["type"], row["cause"], row["changes"]) for row in rows if not row["type"].startswith("Server")
    ]
    created, wiped, changed, gone = changes
    assert created[2] == f"{TOPIC} on broker-a new: readQueueNums 3, writeQueueNums 3, perm rw-"
    assert wiped == ("WritePermWiped", "WIPE_WRITE_PERM_OF_BROKER", f"{TOPIC} on broker-a perm rw- -> r--")
    assert "readQueueNums 3 -> 5" in changed[2]
    assert "perm r-- -> rw-" in changed[2]
    assert gone[1:] == (
        "channel closed",
        f"{TOPIC} on broker-a removed: readQueueNums 5, writeQueueNums 5, perm rw-",
    )
    assert all(row["client"] for row in rows if row["cause"].isupper())


def test_the_history_of_the_broker_begins_and_ends_with_it(recorded_routes: Told) -> None:
    code, rows = nsadmin("history", "broker", "broker-a", "--journal", recorded_routes.folder)
    assert code == 0
    own = [row for row in rows if not row["type"].startswith("Server")]
    assert own[0]["type"] == "BrokerRegistered"
    assert own[0]["changes"].startswith("new: broker-a 0=127.0.0.1:")
    (ended,) = [row for row in own if row["type"] == "BrokerUnregistered"]
    assert ended["changes"].endswith(": channel closed")
    (wiped,) = [row for row in own if row["type"] == "WritePermWiped"]
    assert wiped["client"].startswith("127.0.0.1:")
