"""queryMsgById and queryMsgByUniqueKey where they hand messages over, or send them again."""

import pytest

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer
from tests.support.message_brokers import GroupReader, MessageBroker

KEY = "7F00000126FE7DAF6CD06917D8E20000"
PUSH = ("-g", "G", "-d", "c1")
NOT_FOUND = (
    'nsadmin: no message of T has the id "nothing" (if it is a key: `nsadmin queryMsgByKey T nothing`)\n'
)


@pytest.fixture(autouse=True)
def _filled(message_broker: MessageBroker) -> None:
    message_broker.readers = {"G": GroupReader(("c1",), 7)}
    message_broker.store_message(b"one", UNIQ_KEY=KEY)


@pytest.mark.parametrize("command", ["queryMsgById", "queryMsgByUniqueKey"])
def test_a_message_is_handed_to_a_client(run_json: Run, message_broker: MessageBroker, command: str) -> None:
    result = run_json(command, "T", KEY, *PUSH)
    assert (result.code, "to do it without a terminal" in result.err) == (2, True)
    result = run_json(command, "T", KEY, *PUSH, "--dry-run")
    assert [(row["result"], row["consumeResult"]) for row in result.json] == [("dry-run", None)]
    assert 309 not in message_broker.asked_codes()
    result = run_json(command, "T", KEY, *PUSH, "-y")
    assert (result.code, result.err) == (0, "")
    [row] = result.json
    assert (row["group"], row["clientId"], row["consumeResult"], row["spentMs"], row["result"]) == (
        "G", "c1", "CR_SUCCESS", 29, "done",
    )  # fmt: skip


def test_a_client_that_does_not_take_it(run_json: Run, message_broker: MessageBroker) -> None:
    message_broker.verdict = {"consumeResult": "CR_LATER", "spentTimeMills": 3}
    result = run_json("queryMsgById", "T", KEY, *PUSH, "-y")
    assert (result.code, result.err) == (1, "nsadmin: the client did not consume it: CR_LATER\n")
    [row] = result.json
    assert (row["consumeResult"], row["result"]) == ("CR_LATER", "failed")
    message_broker.handlers[309] = lambda asked: None
    assert run_json("queryMsgById", "T", KEY, "-g", "G", "-d", "nobody", "-y").code == 5


def test_nothing_is_done_unless_every_message_is_there(run_json: Run, message_broker: MessageBroker) -> None:
    for words in (PUSH, ("-s", "true")):
        result = run_json("queryMsgById", "T", f"{KEY},nothing", *words, "-y")
        assert (result.code, result.err) == (5, NOT_FOUND)
    assert {309, 310}.isdisjoint(message_broker.asked_codes())


def test_a_message_is_sent_again(run_json: Run, message_broker: MessageBroker) -> None:
    assert run_json("queryMsgById", "T", KEY, "-s", "true").code == 2
    assert run_json("queryMsgById", "T", KEY, "-s", "true", "--dry-run").json[0]["result"] == "dry-run"
    assert message_broker.sent == []
    result = run_json("queryMsgById", "T", KEY, "-s", "true", "-y")
    assert (result.code, result.err) == (0, "")
    [row] = result.json
    assert (row["msgId"], row["queueId"], row["queueOffset"], row["result"]) == (KEY, 0, 7, "done")
    assert [sent.body for sent in message_broker.sent] == [b"one"]
    message_broker.store_message(b"packed", sys_flag=0x501, UNIQ_KEY=KEY[:-1] + "1")
    result = run_json("queryMsgById", "T", KEY[:-1] + "1", "-s", "true", "-y")
    assert (result.code, "the body of the message is malformed" in result.err) == (1, True)
    assert len(message_broker.sent) == 1


@pytest.mark.parametrize("words", [("-g", "G"), ("-d", "c1"), (*PUSH, "-s", "true"), ("-s", "perhaps")])
def test_words_that_do_not_go_together(run_json: Run, words: tuple[str, ...]) -> None:
    result = run_json("queryMsgById", "T", KEY, *words, "-y")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)


def test_a_read_only_context_shows_messages_and_does_nothing_with_them(
    run: Run, first_server: FakeNameServer, message_broker: MessageBroker
) -> None:
    run("contextSet", "p", "-n", first_server.addr, "--read-only")
    words = ("queryMsgById", "T", KEY, "--context", "p")
    assert run(*words, "--columns", "tracks", "--output", "value") == (0, '{"G": "CONSUMED"}\n', "")
    for more in (PUSH, ("-s", "true")):
        assert run(*words, *more, "-y").code == 6
    assert {309, 310}.isdisjoint(message_broker.asked_codes())


def test_a_dead_letter_is_not_appended_to_its_own_topic(
    run_json: Run, first_server: FakeNameServer, message_broker: MessageBroker
) -> None:
    first_server.routes["%DLQ%G"] = {"broker-a": 6}
    message_broker.store_message(b"dead", "%DLQ%G", UNIQ_KEY=KEY)
    for more in ("-y", "--dry-run"):
        result = run_json("queryMsgById", "%DLQ%G", KEY, "-s", "true", more)
        assert (result.code, result.err) == (
            2,
            'nsadmin: queryMsgById: -s true would only append a copy to the dead-letter topic "%DLQ%G": '
            "deliver dead letters to their group with `nsadmin dlq replay G`\n",
        )
    assert message_broker.sent == []
