"""routeAt: what topicRoute showed at that time, and what nobody knows."""

import json
import random
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.events import Heartbeats, ServerReady, ServerStarted, ServerStopping
from namesrv_core.protocol.command import build_request
from tests.nsadmin.conftest import Run
from tests.support.journals import make_snapshot, registration_events, write_journal
from tests.support.name_servers import ServerProgram, call_server, start_program
from tests.support.wire import broker_ext, registration_body, topic_config

AT = "2025-11-21T14:03:{:02d}Z".format
ALIVE = Heartbeats(1, 0, "10.0.0.1:10911")


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A snapshot at 14:03:00, a broker with T a second later, and no more than proof of life until :03."""
    return write_journal(tmp_path / "first", [make_snapshot("start"), *registration_events("a", "T"), ALIVE])


def test_the_rows_are_those_of_topic_route(run: Run, folder: str) -> None:
    result = run("routeAt", "T", "--at", AT(2), "--journal", folder)
    assert result.code == 0
    assert result.out.splitlines() == [
        "topic  brokerName  clusterName  brokerAddrs       perm  readQueueNums  writeQueueNums  topicSysFlag",
        "T      a           c            0=10.0.0.1:10911  rw-               8               8             0",
    ]
    assert run("routeAt", "T", "--at", AT(2), "--journal", folder, "--json").json == [
        {
            "topic": "T",
            "brokerName": "a",
            "clusterName": "c",
            "brokerAddrs": {"0": "10.0.0.1:10911"},
            "perm": 6,
            "readQueueNums": 8,
            "writeQueueNums": 8,
            "topicSysFlag": 0,
            "logicalQueues": None,
            "server": "s:9876",
        }
    ]


def test_a_topic_that_was_nowhere_is_not_found(run: Run, folder: str) -> None:
    result = run("routeAt", "T", "--at", AT(1), "--journal", folder)
    assert (result.code, result.out) == (5, "")
    assert result.err == 'nsadmin: s:9876: "T" had no route at 2025-11-21T14:03:01.000Z\n'


@pytest.mark.parametrize(
    ("at", "why"),
    [
        ("2025-11-21T14:02Z", "the journal begins at 2025-11-21T14:03:00.000Z"),
        ("-2h", "the journal ends at 2025-11-21T14:03:03.000Z"),
    ],
)
def test_unknown_is_an_answer(run: Run, folder: str, at: str, why: str) -> None:
    result = run("routeAt", "T", "--at", at, "--journal", folder)
    assert result.code == 1
    assert result.err.startswith("nsadmin: s:9876: its state at ")
    assert result.err.endswith(f": {why}\n")


def test_a_name_server_that_was_not_ready_told_no_route(run: Run, tmp_path: Path) -> None:
    events = [
        make_snapshot("start"),
        ServerStarted("1", 1),
        *registration_events("a", "T"),
        ServerReady("s:9876"),
    ]
    journal = write_journal(tmp_path / "j", events)
    assert run("routeAt", "T", "--at", AT(4), "--journal", journal).code == 0
    result = run("routeAt", "T", "--at", AT(3), "--journal", journal)
    assert result.code == 1
    assert "s:9876: the name server was not ready yet at 2025-11-21T14:03:03.000Z" in result.err


def test_each_name_server_has_its_own_answer(run: Run, tmp_path: Path, folder: str) -> None:
    stopped = write_journal(tmp_path / "second", [make_snapshot("start"), ServerStopping("SIGTERM")], "t:1")
    both = ("--journal", folder, "--journal", stopped)
    result = run("routeAt", "T", "--at", AT(2), *both)
    assert result.code == 3
    assert result.out.splitlines()[1].endswith("s:9876")
    assert "t:1: its state at 2025-11-21T14:03:02.000Z is unknown: the name server stopped at" in result.err
    assert run("routeAt", "T", "--at", AT(2), *both, "--namesrv", "s").code == 0
    assert run("routeAt", "T", "--at", AT(2), *both, "--namesrv", "t:1").code == 1
    result = run("routeAt", "T", "--at", AT(2), *both, "--namesrv", "u")
    assert (result.code, result.err) == (5, 'nsadmin: no journal of "u": use one of s:9876, t:1\n')


def test_the_context_may_name_the_journals(run: Run, folder: str, tmp_path: Path) -> None:
    assert run("contextSet", "prod", "-n", "x:1", "--journal", folder).code == 0
    assert run("routeAt", "T", "--at", AT(2)).code == 0
    result = run("routeAt", "T", "--at", AT(2), "--journal", str(tmp_path / "none"))
    assert (result.code, result.err) == (
        2,
        f"nsadmin: cannot read {tmp_path}/none: No such file or directory\n",
    )


def test_without_a_journal_it_says_where_one_may_stand(run: Run, tmp_path: Path) -> None:
    result = run("routeAt", "T", "--at", AT(2))
    assert result.code == 2
    assert result.err.startswith(
        "nsadmin: no journal: record one with nsadmin collect DIR, or pass that of nsadmin's"
    )
    result = run("routeAt", "T", "--at", AT(2), "--journal", str(tmp_path))
    assert (
        result.code,
        "is not a journal: it has no files such as 0000000000000001-*.jsonl" in result.err,
    ) == (2, True)


def test_what_is_still_to_come_is_not_asked_for(run: Run, folder: str) -> None:
    result = run("routeAt", "T", "--at", "2999-01-01", "--journal", folder)
    assert result.code == 2
    assert 'invalid time "2999-01-01" for --at: it is in the future' in result.err


def test_a_damaged_segment_is_one_line(run: Run, folder: str) -> None:
    (path,) = Path(folder).glob("*.jsonl")
    path.with_name(f"{path.name}.zst").write_bytes(b"nonsense")
    result = run("routeAt", "T", "--at", AT(2), "--journal", folder)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "cannot decompress " in result.err
    assert result.err.endswith(f"; run nsadmin journal verify {folder} to check the whole journal\n")


TOPICS = ("T", "U")


class Life:
    """A real server that is asked at random, and what topicRoute showed meanwhile."""

    def __init__(self, run: Run, seed: int) -> None:
        self.run = run
        self.chance = random.Random(seed)
        self.seen: list[tuple[int, str, int, Any]] = []

    def ask(self, connection: socket.socket) -> None:
        choose = self.chance.choice
        name, addr = choose(("a", "b", "c")), f"127.0.0.1:{self.chance.randrange(1, 5)}"
        configs = [
            topic_config(topic, perm=choose((2, 4, 6)))
            for topic in self.chance.sample(TOPICS, choose((0, 1, 2)))
        ]
        ext = broker_ext(name, choose((0, 1)), addr) | {"enableActingMaster": "true"}
        register = build_request(103, ext, registration_body(configs))
        asked = choose(
            (register, register, build_request(205, {"brokerName": name}), build_request(104, ext))
        )
        # Not all is granted: some addresses want a place that another one has.
        call_server(asked, connection)

    def look(self, server: ServerProgram) -> None:
        for topic in TOPICS:
            result = self.run("topicRoute", topic, "-n", server.address, "--json", "--quiet")
            self.seen.append((int(time.time() * 1000), topic, result.code, json.loads(result.out or "null")))
        # What happens from now on has a later time.
        while int(time.time() * 1000) <= self.seen[-1][0]:
            time.sleep(0.0002)


@pytest.mark.parametrize("seed", range(2))
def test_at_any_moment_it_is_what_topic_route_showed_then(run: Run, tmp_path: Path, seed: int) -> None:
    home, life = tmp_path / "home", Life(run, seed)
    folder = str(home / "journal")
    acting = str(tmp_path / "acting.properties")
    Path(acting).write_text("supportActingMaster=true\n")
    args = ("--home", str(home), "--bind", "127.0.0.1", "--port", "0", "--journal-dir", folder)
    for ending in (signal.SIGKILL, signal.SIGTERM):
        with start_program(*args, "-c", acting) as server, server.connect() as near:
            for number in range(25):
                life.ask(near)
                life.look(server)
                if number % 10 == 5:
                    server.process.send_signal(signal.SIGUSR1)
            server.end(ending)
    for moment, topic, code, rows in life.seen:
        result = run("routeAt", topic, "--at", str(moment), "--journal", folder, "--json")
        if " is unknown: " in result.err:
            # The last moment before it was killed: nothing that was written down came after it.
            assert "ended abnormally" in result.err
            continue
        answer = result.json
        assert all(row.pop("server") for row in answer)
        assert (result.code, answer or None) == (code, rows), (moment, result.err)
    assert {code for _, _, code, _ in life.seen} == {0, 5}
