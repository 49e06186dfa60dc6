"""collect, as a command and as a program that is told to stop."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from namesrv_core.history.records import event_of_record
from namesrv_core.storage.journal import reader
from namesrv_core.storage.journal.rolling_writer import JournalLimits
from nsadmin.operations.collector.runner import Collector, SinglePollResult, journal_folder_of
from tests.nsadmin.conftest import Run
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer, closed_port
from tests.support.hostile_folder import foreign_link, needs_root

ROOT = Path(__file__).parents[4]


def test_once_has_a_line_for_each_name_server(run: Run, tmp_path: Path) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    with FakeNameServer({"C": {"a": {0: "h:1"}}}) as server:
        server.routes = {"T": {"a": 6}}
        line = ("collect", "--dir", str(tmp_path / "c"), "--once", "--json", "-n", f"{server.addr};{dead}")
        assert run(*line).code == 3
        server.routes["T"]["a"] = 4
        result = run(*line)
    [one, other] = json.loads(result.out)
    assert one["took"] >= 0
    del one["took"], other["took"]
    assert one == {
        "namesrvAddr": server.addr, "result": "done", "brokers": 1, "topics": 1, "events": 1,
        "journal": str(journal_folder_of(tmp_path / "c", server.addr)), "error": None,
    }  # fmt: skip
    assert (other["result"], other["topics"]) == ("failed", None)
    assert result.err == f"nsadmin: name server {dead}: connection refused, no server listens on this port\n"
    changes = run("journalCat", one["journal"], "--filter", "type=TopicsChanged", "--json")
    [record] = json.loads(changes.out)
    assert (record["cause"], record["client"]) == ("collector", None)


def test_a_route_of_wrong_types_is_the_failure_of_its_name_server_alone(run: Run, tmp_path: Path) -> None:
    with FakeNameServer({"C": {"a": {0: "h:1"}}}) as good, FakeNameServer({"C": {"a": {0: "h:1"}}}) as bad:
        good.routes = {"T": {"a": 6}}
        bad.routes = {"T": {"a": [6]}}  # type: ignore[dict-item]
        addrs = f"{bad.addr};{good.addr}"
        result = run("collect", str(tmp_path / "c"), "--once", "--json", "-n", addrs)
    [bad_row, good_row] = json.loads(result.out)
    assert (result.code, good_row["result"], bad_row["result"]) == (3, "done", "failed")
    assert 'perm is "[6]", not a finite number' in bad_row["error"]
    assert good_row["topics"] == 1


def test_debug_shows_what_name_servers_and_brokers_are_asked(
    run: Run, tmp_path: Path, first_server: FakeNameServer, consumer_broker: ConsumerBroker
) -> None:
    result = run("collect", str(tmp_path), "--once", "--lag", "--debug", "-n", first_server.addr)
    assert f"{first_server.addr} GET_ROUTEINFO_BY_TOPIC (105): SUCCESS (0)" in result.err
    assert f"{consumer_broker.addr} GET_CONSUME_STATS (208): SUCCESS (0)" in result.err
    assert "polled 1 broker in" in result.err


def test_values_of_a_namespace_are_polled(run: Run, tmp_path: Path) -> None:
    with FakeNameServer() as server:
        server.kv = {"N": {"k": "v"}, "ORDER_TOPIC_CONFIG": {"T": "a:4"}}
        assert run("collect", str(tmp_path), "--once", "--namespace", "N", "-n", server.addr).code == 0
        assert reader.replay_to_end(journal_folder_of(tmp_path, server.addr)).kv_tables == server.kv


@pytest.mark.parametrize("interval", ["", "15", "0", "-1s", "15 s", "1d", "2h", "1ms"])
def test_an_interval_that_cannot_be(run: Run, tmp_path: Path, interval: str) -> None:
    if interval == "15":
        return
    result = run("collect", str(tmp_path), f"--interval={interval}", "-n", "127.0.0.1:1")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(
        f'nsadmin: invalid time "{interval}" for --interval: use 100ms to 1h, such as 15s or 1m'
    )


def test_brokers_are_asked_too_and_have_a_line_of_their_own(
    run: Run, tmp_path: Path, first_server: FakeNameServer, consumer_broker: ConsumerBroker
) -> None:
    line = ("collect", str(tmp_path), "--once", "--runtime", "--lag", "--json", "-n", first_server.addr)
    result = run(*line)
    assert result.code == 0
    [_, brokers] = json.loads(result.out)
    assert (brokers["namesrvAddr"], brokers["brokers"], brokers["events"]) == (None, 1, 3)
    assert brokers["journal"] == str(tmp_path / "brokers")
    history_result = run(
        "history", "broker", "broker-a", "--journal", brokers["journal"], "--type", "ConsumerLag"
    )
    assert "G on broker-a behind: T 10" in history_result.out
    consumer_broker.close()
    result = run(*line)
    assert result.code == 3
    assert json.loads(result.out)[1]["error"] == "1 of 1 brokers did not answer"
    history_result = run("history", "--journal", brokers["journal"], "--type", "BrokerPollFailed")
    assert (
        "did not report its runtime: connection refused, no server listens on this port  collector  -"
    ) in history_result.out


@pytest.mark.parametrize("given", [("--broker-rate", "7"), ("--broker-interval", "5s")])
def test_a_flag_about_brokers_that_nobody_asks_is_refused(
    run: Run, tmp_path: Path, given: tuple[str, str]
) -> None:
    result = run("collect", str(tmp_path), "--once", *given, "-n", "127.0.0.1:1")
    assert result.code == 2
    assert f"{given[0]} needs --runtime or --lag" in result.err


def test_what_is_kept_is_bounded(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept_sizes = []

    def remember(self: Collector) -> SinglePollResult:
        kept_sizes.append(self._collector_plan.journal_limits)
        return SinglePollResult([], None)

    monkeypatch.setattr(Collector, "poll_once", remember)
    line = ("collect", str(tmp_path), "--once", "-n", "127.0.0.1:1")
    run(*line)
    run(*line, "--keep-days", "30", "--keep-megabytes", "100")
    assert kept_sizes == [JournalLimits(), JournalLimits(keep_bytes=100 << 20, keep_millis=30 * 86_400_000)]


def test_a_folder_that_cannot_be_is_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("collect", str(tmp_path / "file"), "--once", "-n", "127.0.0.1:1")
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert "Not a directory" in result.err


@needs_root
def test_a_link_of_another_user_in_place_of_the_folder_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = foreign_link(tmp_path / "link", tmp_path / "real")
    result = run("collect", "--dir", str(link), "--once", "-n", "127.0.0.1:1")
    assert (result.code, result.err) == (
        2,
        f"nsadmin: cannot write {link}: not followed, because it is a symbolic link of another user\n",
    )
    assert list((tmp_path / "real").iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_goes_on_until_a_signal_and_ends_in_order(tmp_path: Path, number: signal.Signals) -> None:
    with FakeNameServer() as server:
        words = ["collect", str(tmp_path), "--interval", "100ms", "-n", server.addr]
        path = os.pathsep.join((str(ROOT), str(ROOT / "cli")))
        with subprocess.Popen(
            [sys.executable, "-m", "nsadmin", *words],
            env={
                **os.environ,
                "PYTHONPATH": path,
                "HOME": str(tmp_path),
                "NSADMIN_CONFIG": str(tmp_path / "none"),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            started = process.stderr.readline()
            while server.asked_codes().count(106) < 2:
                assert process.poll() is None
            process.send_signal(number)
            out, err = process.communicate(timeout=30)
    assert started == (
        f"nsadmin: polling {server.addr} every 0.1 s, journals in {tmp_path}; stop with Ctrl-C or SIGTERM\n"
    )
    # On a busy machine it may say before that a poll took longer than the interval.
    assert (process.returncode, out) == (0, "")
    assert err.endswith(f"nsadmin: stopped by {number.name}: run the same command to resume\n")
    [last] = reader.read_last_records(journal_folder_of(tmp_path, server.addr), 1)
    assert str(event_of_record(last)) == f"CollectorStopping(reason='{number.name}')"
