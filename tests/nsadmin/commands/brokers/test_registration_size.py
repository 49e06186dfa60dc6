"""registrationSize: of simulated brokers, and of one that has too many topics to register."""

import json
from pathlib import Path

import pytest

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer, closed_port
from tests.support.lab import start_lab
from tests.support.registering_brokers import RegisteringBroker
from tests.support.topic_brokers import topic_config


def test_every_broker_of_a_cluster(run: Run, tmp_path: Path) -> None:
    with start_lab(tmp_path) as there:
        result = run("registrationSize", "-c", "cluster-a", "-n", there.namesrv_addr, "--json")
        assert result.code == 0, result.err
        rows = json.loads(result.out)
        assert [(row["brokerName"], row["brokerId"]) for row in rows] == [
            (f"broker-a-{number}", broker_id) for number in range(3) for broker_id in (0, 1)
        ]
        master, slave = rows[:2]
        assert (master["form"], master["frames"], master["removable"]) == ("JSON", 1, 0)
        assert master["topics"] == slave["topics"] > 40
        assert 8_000 < master["bytes"] < 20_000
        assert master["framePercent"] == round(master["bytes"] / 167_772.16, 4)
        assert 80_000 < master["fits"] < 120_000
        table = run("registrationSize", "-c", "cluster-a", "-n", there.namesrv_addr).out
        assert "KiB" in table


def test_the_largest_topics_of_one(run: Run) -> None:
    topics = [topic_config("T" * length) for length in (3, 9, 5)]
    with RegisteringBroker(*topics) as broker:
        result = run("registrationSize", "-b", broker.addr, "--largest", "2", "--json")
    rows = json.loads(result.out)
    assert [(row["topic"], row["brokerAddr"], row["vanishedGroup"]) for row in rows] == [
        ("T" * 9, broker.addr, None),
        ("T" * 5, broker.addr, None),
    ]
    # Once as the key and once in the config.
    assert rows[0]["bytes"] - rows[1]["bytes"] == 8


def test_one_that_no_name_server_reads(run: Run) -> None:
    huge = [topic_config(name, attributes={"queue.type": "x" * 9_000_000}) for name in ("T", "U")]
    with RegisteringBroker(*huge) as broker:
        result = run("registrationSize", "-b", broker.addr, "--json")
    [row] = json.loads(result.out)
    assert row["framePercent"] > 100
    assert row["fits"] < 0
    assert result.err == (
        f"nsadmin: broker {broker.addr}: name servers do not accept its registration, because "
        "it is larger than 16777216 bytes\n"
    )


def test_compressed_ones_of_5_x_are_refused_by_others(run: Run) -> None:
    with RegisteringBroker() as broker:
        broker.items["compressedRegister"] = "true"
        result = run("registrationSize", "-b", broker.addr, "--json")
        assert json.loads(result.out)[0]["form"] == "compressed"
        assert (
            f"broker {broker.addr}: Java name servers refuse its registration, because 5.x "
            "brokers compress it without a mark: set compressedRegister to false"
        ) in result.err
        broker.version = 407
        assert run("registrationSize", "-b", broker.addr, "--json").err == ""


def test_topics_whose_group_has_vanished(run: Run, first_server: FakeNameServer) -> None:
    topics = [topic_config(name) for name in ("T", "%RETRY%G", "%RETRY%G_T", "%RETRY%gone", "%DLQ%gone")]
    with RegisteringBroker(*topics) as broker:
        broker.groups = {"G": {}}
        first_server.clusters = {"C": {"broker-a": {0: broker.addr}}}
        words = ("registrationSize", "-n", first_server.addr, "--json")
        [row] = json.loads(run(*words).out)
        rows = json.loads(run(*words, "--removable").out)
        assert (row["topics"], row["removable"]) == (5, 2)
        assert {item["topic"]: item["vanishedGroup"] for item in rows} == {
            "%DLQ%gone": "gone",
            "%RETRY%gone": "gone",
        }
        assert json.loads(run(*words, "-b", broker.addr, "--removable").out) == rows
        assert row["removableBytes"] == sum(item["bytes"] for item in rows)
        broker.groups["gone"] = {}
        none_left = run(*words[:-1], "--removable")
        assert none_left.err == "nsadmin: every topic of retries or dead letters still has its group\n"
        # One broker that does not tell its groups may have them all.
        first_server.clusters = {
            "C": {"broker-a": {0: broker.addr}, "broker-b": {0: f"127.0.0.1:{closed_port()}"}}
        }
        result = run(*words)
        assert (result.code, [item.get("removable") for item in json.loads(result.out)]) == (3, [None, None])
        assert "unknown which groups still exist" in result.err


@pytest.mark.parametrize("words", [("-b", "h:1", "-c", "C"), ("--largest", "1", "--removable")])
def test_what_contradicts_itself(run: Run, words: tuple[str, ...]) -> None:
    result = run("registrationSize", *words)
    assert result.code == 2
    assert " exclude each other: pass only one of them\n" in result.err


def test_a_broker_that_does_not_answer(run: Run) -> None:
    result = run("registrationSize", "-b", f"127.0.0.1:{closed_port()}", "--largest", "3")
    assert result.code == 4
    assert "no server listens on this port" in result.err
