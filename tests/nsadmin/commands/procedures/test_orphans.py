"""orphans, of a lab in which topics have lost what they belong to."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.errors import ResponseCode
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_request
from namesrv_core.transport.multiplexed_client import MultiplexedClient
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer, closed_port
from tests.support.lab import Lab, start_lab


@pytest.fixture
def running_lab(tmp_path: Path) -> Iterator[Lab]:
    with start_lab(tmp_path / "lab", name_servers=2) as running:
        orphaned(running)
        yield running


def orphaned(running_lab: Lab) -> None:
    """Have topics deleted in one place only, and some made for a group that nobody has."""
    masters = [addr for (_, number), addr in running_lab.brokers.items() if number == 0]
    drop_at = RequestCode.DELETE_TOPIC_IN_BROKER
    for topic in ("%RETRY%retired", "%DLQ%retired"):
        for name in ("broker-a-0", "broker-b-0"):
            ask(running_lab.brokers[name, 0], RequestCode.UPDATE_AND_CREATE_TOPIC, create(topic))
    # On one broker of each cluster, and on one of many.
    for addr in masters:
        ask(addr, drop_at, headers.write_header(headers.DeleteTopic("accounts")))
    ask(running_lab.brokers["broker-a-0", 0], drop_at, headers.write_header(headers.DeleteTopic("orders")))
    for addr in running_lab.namesrv_addrs:
        ask(addr, RequestCode.DELETE_TOPIC_IN_NAMESRV, headers.write_header(headers.DeleteTopic("carts")))


def create(topic: str) -> dict[str, str]:
    return headers.write_header(
        broker_headers.CreateTopic(
            topic=topic, default_topic="TBW102", read_queue_nums=1, write_queue_nums=1, perm=6,
            topic_filter_type="SINGLE_TAG", topic_sys_flag=0, order=False,
        )
    )  # fmt: skip


def ask(addr: str, code: int, ext: dict[str, str]) -> None:
    with MultiplexedClient() as calls:
        [answer] = calls.send_requests([(addr, build_request(code, ext))], 5)
    assert getattr(answer, "code", None) == ResponseCode.SUCCESS, answer


def rows_of(run: Run, running_lab: Lab, *words: str, code: int = 0) -> list[dict[str, Any]]:
    result = run("orphans", *words, "-n", running_lab.namesrv_addr, "--json")
    assert result.code == code, result.err
    return list(result.json)


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nsadmin.commands.procedures.orphans._SECONDS_BETWEEN_LOOKS", 0.0)


def test_each_kind_is_found(run: Run, running_lab: Lab) -> None:
    rows = rows_of(run, running_lab)
    assert {row["topic"]: (row["kind"], row["group"]) for row in rows} == {
        "accounts": ("noBroker", None),
        "orders": ("notThere", None),
        "carts": ("noNameServer", None),
        "%DLQ%retired": ("noGroup", "retired"),
        "%RETRY%retired": ("noGroup", "retired"),
    }
    by_topic = {row["topic"]: row for row in rows}
    assert by_topic["orders"]["brokers"] == ["broker-a-0"]
    assert by_topic["accounts"]["namesrvAddrs"] == list(running_lab.namesrv_addrs)
    assert by_topic["%RETRY%retired"]["brokers"] == ["broker-a-0", "broker-b-0"]
    assert by_topic["accounts"]["finding"] == "no broker has it"
    result = run("orphans", "-n", running_lab.namesrv_addr)
    assert result.err == "nsadmin: 1 noBroker, 1 notThere, 1 noNameServer, 2 noGroup\n"


def test_what_can_be_cleaned_is_and_no_more(run: Run, running_lab: Lab) -> None:
    planned = rows_of(run, running_lab, "--clean", "--dry-run")
    assert {row["topic"] for row in planned} == {"accounts", "%RETRY%retired"}
    assert {row["result"] for row in planned if row["changes"]} == {"dry-run"}
    assert {row["result"] for row in planned if not row["changes"]} == {"not found"}
    assert len(rows_of(run, running_lab)) == 5
    done = rows_of(run, running_lab, "--clean", "--yes")
    assert [row["result"] for row in done] == [
        "not found" if row["result"] == "not found" else "done" for row in planned
    ]
    assert [(row["server"], row["role"]) for row in done if row["topic"] == "accounts"] == [
        (addr, "namesrv") for addr in running_lab.namesrv_addrs
    ]
    assert {row["topic"] for row in rows_of(run, running_lab)} == {"orders", "carts", "%DLQ%retired"}
    rows_of(run, running_lab, "--clean", "--dlq", "--yes")
    assert {row["topic"] for row in rows_of(run, running_lab)} == {"orders", "carts"}
    done_again = run("orphans", "--clean", "--yes", "-n", running_lab.namesrv_addr)
    assert done_again.code == 0
    assert done_again.err == (
        "nsadmin: not deleted: 2 orphaned topics of other kinds, or with dead letters: nsadmin orphans lists "
        "them\n"
        "nsadmin: nothing to delete\n"
    )


def test_the_question_names_what_goes(run: Run, running_lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("nsadmin.console.confirmation.can_ask_operator", lambda: True)

    def decline(question: str) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr("nsadmin.console.confirmation.ask_yes_no", decline)
    result = run("orphans", "--clean", "-n", running_lab.namesrv_addr)
    assert asked == ["Delete accounts from name servers and %RETRY%retired with their messages from brokers?"]
    assert (result.code, result.err) == (1, "nsadmin: nothing was changed\n")


def test_nothing_is_cleaned_while_somebody_is_silent(run: Run, running_lab: Lab) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    words = ("-n", f"{running_lab.namesrv_addr};{dead}", "--json")
    result = run("orphans", "--clean", "--yes", *words)
    assert result.code == 1
    assert f"nothing was deleted, because the state of {dead} is unknown" in result.err
    result = run("orphans", *words)
    assert (result.code, len(result.json)) == (3, 5)
    assert f"unknown state of {dead}: connection refused" in result.err


def test_none_is_found_on_the_servers_that_answered(run: Run, first_server: FakeNameServer) -> None:
    first_server.clusters, first_server.routes = {}, {}
    dead = f"127.0.0.1:{closed_port()}"
    result = run("orphans", "-n", f"{first_server.addr};{dead}")
    assert (result.code, result.err.splitlines()[:1]) == (
        3,
        ["nsadmin: no orphans on the servers that answered"],
    )


def test_off_a_terminal_it_needs_a_yes(run: Run, running_lab: Lab) -> None:
    result = run("orphans", "--clean", "-n", running_lab.namesrv_addr)
    assert (result.code, "orphans --clean: this would delete " in result.err) == (2, True)
    assert run("orphans", "--dlq").code == 2
