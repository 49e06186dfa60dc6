"""Which masters answer, and why a broker takes no messages."""

from nsadmin import AdminClient
from nsadmin.operations.checks.masters import MasterAnswers, ask_masters, explain_unwritable
from tests.support.fake_servers import FakeBroker, FakeNameServer, refuse_with


def test_one_that_answers_with_an_error_is_not_silent_but_nothing_is_known_of_its_disk(
    first_server: FakeNameServer, broker: FakeBroker, dead_addr: str
) -> None:
    broker.handlers[28] = refuse_with(1, "not yet")
    with AdminClient(first_server.addr, timeout=5) as admin:
        answers = ask_masters(admin, [broker.addr, dead_addr, None, dead_addr])
    assert answers.silence_reasons == {dead_addr: "connection refused, no server listens on this port"}
    [unknown_line] = answers.unknown_lines
    assert unknown_line.startswith(f"{broker.addr} did not say whether its disk is full: ")


def test_a_full_disk_is_asked_about_and_an_empty_one_is_not(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    with AdminClient(first_server.addr, timeout=5) as admin:
        assert ask_masters(admin, [broker.addr]) == MasterAnswers()
        assert 26 not in broker.asked_codes()
        broker.table["commitLogDiskRatio"] = "0.94"
        assert ask_masters(admin, [broker.addr]).refusals == {
            broker.addr: (
                "refuses messages: commitLogDiskRatio is 94 %, above diskSpaceWarningLevelRatio 90 %"
            )
        }


def test_why_a_broker_takes_no_messages() -> None:
    nothing = MasterAnswers()
    assert explain_unwritable(6, 8, "h:1", nothing) is None
    assert explain_unwritable(2, 1, "h:1", MasterAnswers({"h:2": "gone"}, {"h:2": "refuses"})) is None
    assert explain_unwritable(None, 0, "h:1", nothing) == "no write queue"
    assert explain_unwritable(6, 0, "h:1", nothing) == "no write queue"
    assert explain_unwritable(4, 8, "h:1", nothing) == "no write permission"
    assert explain_unwritable(6, 8, None, nothing) == "no master"
    # A slave acts as master, so the topic is read-only.
    assert explain_unwritable(4, 8, None, nothing) == "no master"
    assert explain_unwritable(6, 8, "h:1", MasterAnswers({"h:1": "gone"})) == "its master h:1: gone"
    refusing = MasterAnswers(refusals={"h:1": "refuses messages: full"})
    assert explain_unwritable(6, 8, "h:1", refusing) == "its master h:1 refuses messages: full"
