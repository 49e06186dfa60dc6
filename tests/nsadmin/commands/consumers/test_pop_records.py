"""exportPopRecord: only brokers that keep such records are asked, and -d never does what mqadmin's does."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.command import build_reply
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer
from tests.support.topic_brokers import TopicBroker

MOVE, CONFIG = 200056, 26


@pytest.fixture
def broker() -> Iterator[TopicBroker]:
    with TopicBroker() as running:
        running.items["popConsumerKVServiceInit"] = "true"
        running.handlers[MOVE] = build_reply
        yield running


def test_only_who_keeps_records_is_asked(run: Run, broker: TopicBroker, dead_addr: str) -> None:
    with (
        TopicBroker() as other,
        FakeNameServer({"C": {"a": {0: broker.addr, 1: other.addr, 2: dead_addr}}}) as server,
    ):
        result = run("exportPopRecord", "-c", "C", "-n", server.addr, "-y", "--json")
        assert other.asked_codes() == [CONFIG]
    rows = result.json
    assert (result.code, [row["result"] for row in rows]) == (3, ["done", "unchanged", "failed"])
    assert rows[0]["changes"].startswith("moves all pop records")
    assert rows[1]["changes"].startswith("nothing: it keeps no pop records in RocksDB")
    assert broker.asked_codes() == [CONFIG, MOVE]


def test_a_dry_run_asks_no_broker_to_move_anything(run: Run, broker: TopicBroker) -> None:
    result = run("exportPopRecord", broker.addr, "--dry-run", "--json")
    assert (result.code, result.json[0]["result"]) == (0, "dry-run")
    assert set(broker.asked_codes()) == {CONFIG}


@pytest.mark.parametrize("value", ["true", "false"])
def test_the_flag_that_means_the_opposite_is_refused(run: Run, broker: TopicBroker, value: str) -> None:
    result = run("exportPopRecord", "-b", broker.addr, "-d", value, "-y")
    assert result.code == 2
    assert (
        "-d has the opposite meaning in mqadmin: pass --dry-run for a preview, or omit it to move the records"
    ) in result.err
    assert run("exportPopRecord", "-y").code == 2
    assert broker.asked_codes() == []


def test_a_broker_that_fails_at_it(run: Run, broker: TopicBroker) -> None:
    broker.handlers[MOVE] = lambda asked: build_reply(asked, 1, remark="disk full")
    result = run("exportPopRecord", broker.addr, "-y", "--json")
    [row] = result.json
    assert (result.code, row["result"]) == (1, "failed")
    assert "disk full" in row["error"]
