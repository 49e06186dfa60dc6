"""dlq purge: only a topic that is old as a whole can be deleted."""

from tests.nsadmin.conftest import Run
from tests.support.dead_letter_brokers import DEAD, DeadLetterBroker
from tests.support.fake_servers import FakeNameServer

LATER, BETWEEN = "2023-11-14T22:14:00Z", "2023-11-14T22:13:21Z"


def test_a_topic_with_newer_dead_letters_is_blocked(dlq: Run, dead_letter_broker: DeadLetterBroker) -> None:
    dead_letter_broker.add_letter(b"one")
    dead_letter_broker.add_letter(b"two")
    for more in ("--dry-run", "--yes"):
        result = dlq("purge", "G", "--before", BETWEEN, more)
        [row] = result.json
        assert (result.code, row["older"], row["newer"], row["result"]) == (1, 1, 1, "blocked")
        assert (
            "not deleted, because 1 dead letter arrived since 2023-11-14T22:13:21.000Z: a broker can delete"
            in result.err
        )
    assert 215 not in dead_letter_broker.asked_codes()


def test_an_old_topic_is_deleted(
    dlq: Run, dead_letter_broker: DeadLetterBroker, first_server: FakeNameServer
) -> None:
    dead_letter_broker.add_letter(b"one")
    dead_letter_broker.add_letter(b"two")
    assert dlq("replay", "G", "--limit", "1").code == 0
    preview = dlq("purge", "G", "--before", LATER, "--dry-run").json
    assert preview == [
        {
            "clusterName": "C", "group": "G", "topic": DEAD, "older": 2, "newer": 0, "notReplayed": 1,
            "result": "dry-run", "error": None,
        }
    ]  # fmt: skip
    result = dlq("purge", "G", "--before", LATER)
    loss = "this would delete 2 dead letters of G, 1 of them not replayed by this account"
    yes = "to do it without a terminal, pass --yes"
    assert (result.code, result.err) == (2, f"nsadmin: dlq purge: {loss}: {yes}\n")
    assert 215 not in dead_letter_broker.asked_codes()
    result = dlq("purge", "G", "--before", LATER, "--yes")
    assert [row["result"] for row in result.json] == ["done"]
    assert first_server.routes[DEAD] == {}


def test_a_group_without_dead_letters_has_nothing_to_delete(
    dlq: Run, dead_letter_broker: DeadLetterBroker
) -> None:
    for more in ("--dry-run", "--yes"):
        result = dlq("purge", "G", "--before", "now", more)
        assert (result.code, result.err) == (5, "nsadmin: no dead letters for G\n")
    assert 215 not in dead_letter_broker.asked_codes()


def test_a_time_is_required(dlq: Run) -> None:
    result = dlq("purge", "G", "--yes")
    assert (result.code, "missing --before TIME: pass --before now for all dead letters" in result.err) == (
        2,
        True,
    )
