"""resetOffsetByTime, skipAccumulatedMessage and cloneGroupOffset."""

from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from tests.nsadmin.conftest import Run
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import Answer, FakeNameServer, answer_json
from tests.support.lab import start_lab

UNDO_HINT = "nsadmin: to undo this move, while it is the last one: nsadmin resetOffsetByTime G T --undo\n"


@pytest.fixture
def filled_broker(consumer_broker: ConsumerBroker) -> ConsumerBroker:
    consumer_broker.ends = {("T", number): (10, 50) for number in range(8)}
    consumer_broker.offsets = {("G", "T", number): 20 for number in range(7)}
    return consumer_broker


@pytest.mark.parametrize("words", [("G", "T", "-s", "15"), ("--group", "G", "-t", "T", "--timestamp", "15")])
def test_a_reset_dry_shows_what_would_be_repeated(
    ask: Run, filled_broker: ConsumerBroker, words: tuple[str, ...]
) -> None:
    result = ask("resetOffsetByTime", *words, "--dry-run", "--json")
    assert (result.code, result.err) == (
        0,
        "nsadmin: this would move G on 8 queues of T to 1970-01-01T00:00:00.015Z, which lets it receive "
        "35 messages again and get an offset on 1 queue where it has none\n",
    )
    rows = result.json
    assert rows[0] == {
        "group": "G",
        "topic": "T",
        "brokerName": "broker-a",
        "brokerAddr": filled_broker.addr,
        "queueId": 0,
        "from": 20,
        "to": 15,
        "skipped": 0,
        "repeated": 5,
        "result": "dry-run",
        "error": None,
    }
    assert (rows[7]["from"], rows[7]["repeated"]) == (None, None)
    assert {15, 222}.isdisjoint(filled_broker.asked_codes())


def test_a_reset_needs_a_yes_and_is_done(ask: Run, filled_broker: ConsumerBroker) -> None:
    words = ["resetOffsetByTime", "G", "T", "-s", "15", "-f", "true", "-c", "C"]
    refused = ask(*words)
    assert (refused.code, refused.err) == (
        2,
        "nsadmin: resetOffsetByTime: this would move G on 8 queues of T to 1970-01-01T00:00:00.015Z, which "
        "lets it receive 35 messages again and get an offset on 1 queue where it has none: to do it without "
        "a terminal, pass --yes\n",
    )
    result = ask(*words, "--yes", "--json")
    assert (result.code, result.err) == (0, UNDO_HINT)
    assert [row["result"] for row in result.json] == ["done"] * 8
    assert set(filled_broker.offsets.values()) == {15}


def test_a_group_without_an_offset_skips_and_repeats_nothing(ask: Run, filled_broker: ConsumerBroker) -> None:
    filled_broker.offsets = {("G", "Other", 0): 20}
    refused = ask("resetOffsetByTime", "G", "T", "-s", "15")
    assert ", where it has none: to do it" in refused.err


def test_the_time_zero_is_the_oldest_message(ask: Run, filled_broker: ConsumerBroker) -> None:
    refused = ask("resetOffsetByTime", "G", "T", "-s", "0")
    assert "this would move G on 8 queues of T to the oldest message, which lets it" in refused.err


def test_a_time_before_the_oldest_message_of_a_broker_is_said(
    ask: Run, filled_broker: ConsumerBroker
) -> None:
    filled_broker.handlers[RequestCode.GET_BROKER_RUNTIME_INFO] = lambda asked: answer_json(
        asked, {"table": {"earliestMessageTimeStamp": "1700000000000"}}
    )
    note = "broker-a: no messages from before 2023-11-14T22:13:20Z: older ones may have expired"
    for time, is_said in (("2023-11-14T22:13:19Z", True), ("2023-11-14T22:13:21Z", False), ("0", False)):
        assert (note in ask("resetOffsetByTime", "G", "T", "-s", time, "--dry-run").err) == is_said


def test_minus_one_and_skipping_go_to_the_end(ask: Run, filled_broker: ConsumerBroker) -> None:
    for words in (
        ["resetOffsetByTime", "G", "T", "-s", "-1"],
        ["skipAccumulatedMessage", "-g", "G", "-t", "T"],
    ):
        filled_broker.offsets = {("G", "T", number): 20 for number in range(7)}
        result = ask(*words, "-y", "--json")
        assert (result.code, result.err) == (0, UNDO_HINT)
        assert result.json[0]["skipped"] == 30
        assert set(filled_broker.offsets.values()) == {50}


@pytest.mark.parametrize("offset", ["10", "0"])
def test_one_queue_goes_to_any_offset_that_it_has(
    ask: Run, filled_broker: ConsumerBroker, offset: str
) -> None:
    filled_broker.ends["T", 3] = (0, 50)
    words = ["resetOffsetByTime", "G", "T", "-b", filled_broker.addr, "-q", "3", "-o", offset]
    result = ask(*words, "-y", "--json")
    assert result.code == 0
    assert [(row["queueId"], row["to"], row["result"]) for row in result.json] == [(3, int(offset), "done")]
    assert filled_broker.offsets["G", "T", 3] == int(offset)
    back = (
        f"nsadmin: offset {offset} is before 20, the offset of G: it receives {20 - int(offset)} messages "
        "again (-o 21 skips one)\n"
    )
    assert result.err == back + UNDO_HINT
    filled_broker.offsets["G", "T", 3] = 9
    # A move forwards is no surprise.
    assert ask(*words[:-2], "-o", "11", "-y").err == UNDO_HINT
    # mqadmin demands -s, and does not look at it.
    assert ask(*words, "-s", "now", "-y").code == 0
    assert filled_broker.offsets["G", "T", 3] == int(offset)
    # No queue would move, so there is nothing to confirm.
    for flags in (["-y"], ["--dry-run"], []):
        result = ask(*words[:-2], "-o", "51", *flags)
        assert (result.code, result.err) == (
            1,
            "nsadmin: failed on 1 of 1 queue: offset 51 is out of range: use 0 to 50\n",
        )


@pytest.mark.parametrize(
    "words",
    [
        ["-s", "tomorrow"],
        [],
        ["-s", "1", "-f", "yes"],
        ["-s", "1", "-q", "1"],
        ["-s", "1", "-b", "h:1"],
        ["-o", "1"],
        ["-s", "1", "-o", "1"],
    ],
)
def test_wrong_words_are_one_line(ask: Run, filled_broker: ConsumerBroker, words: list[str]) -> None:
    result = ask("resetOffsetByTime", "G", "T", *words, "-y")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)


def test_one_queue_is_of_one_topic(ask: Run, filled_broker: ConsumerBroker) -> None:
    result = ask("resetOffsetByTime", "G", "-s", "1", "-b", filled_broker.addr, "-q", "1", "-y")
    assert (result.code, result.err) == (2, "nsadmin: incomplete queue: pass TOPIC\n")


def test_a_reset_to_a_time_in_the_future_is_refused(ask: Run, filled_broker: ConsumerBroker) -> None:
    before = dict(filled_broker.offsets)
    result = ask("resetOffsetByTime", "G", "T", "-s", "2999-01-01", "--yes")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith('nsadmin: invalid time "2999-01-01" for -s: it is in the future, now is ')
    assert result.err.endswith("; to skip all messages, use -s -1\n")
    assert filled_broker.offsets == before


def test_queues_and_brokers_that_are_not_there(ask: Run, filled_broker: ConsumerBroker) -> None:
    for place in (["-b", filled_broker.addr, "-q", "8"], ["-b", "127.0.0.1:1", "-q", "0"]):
        result = ask("resetOffsetByTime", "G", "T", "-s", "1", *place, "-y")
        assert (result.code, result.out) == (5, "")
    assert ask("skipAccumulatedMessage", "X", "T", "-y").code == 5
    assert ask("skipAccumulatedMessage", "G", "X", "-y").code == 5


def test_clients_of_an_old_broker_are_told(
    ask: Run, filled_broker: ConsumerBroker, seconds: list[float]
) -> None:
    filled_broker.properties["useServerSideResetOffset"] = "false"
    filled_broker.clients = {"G": ["c1"]}
    tell = filled_broker.handlers[222]

    def forget(asked: object) -> object:
        before = dict(filled_broker.offsets)
        answer = tell(asked)  # type: ignore[arg-type]
        filled_broker.offsets = before
        return answer

    filled_broker.handlers[222] = forget  # type: ignore[assignment]
    result = ask("skipAccumulatedMessage", "G", "T", "-y", "--json")
    assert result.code == 0
    assert result.err.startswith("nsadmin: pending: ")
    assert {row["result"] for row in result.json} == {"pending"}
    assert len(seconds) == 18


@pytest.mark.parametrize("words", [("G", "Other", "T"), ("-s", "G", "-d", "Other", "-t", "T", "-o", "true")])
def test_a_clone_is_previewed_and_done(
    ask: Run, filled_broker: ConsumerBroker, words: tuple[str, ...]
) -> None:
    filled_broker.configs["Other"] = {}
    filled_broker.offsets["Other", "T", 0] = 45
    command = ["cloneGroupOffset", *words, "--json"]
    assert ask(*command).code == 2
    result = ask(*command, "--dry-run")
    assert [(row["repeated"], row["result"]) for row in result.json[:2]] == [
        (25, "dry-run"),
        (None, "dry-run"),
    ]
    assert filled_broker.offsets["Other", "T", 0] == 45
    result = ask(*command, "-y")
    kept = "nsadmin: Other stays on 1 queue of T: G has no offset there\n"
    assert (result.code, result.err) == (0, kept + UNDO_HINT.replace(" G ", " Other "))
    rows = result.json
    assert [(row["group"], row["from"], row["to"]) for row in rows[:2]] == [
        ("Other", 45, 20),
        ("Other", None, 20),
    ]
    assert [row["result"] for row in rows] == ["done"] * 7 + ["kept"]
    assert filled_broker.offsets["Other", "T", 0] == 20


def test_a_clone_that_cannot_be(ask: Run, filled_broker: ConsumerBroker) -> None:
    assert ask("cloneGroupOffset", "G", "G", "T", "-y").code == 2
    assert ask("cloneGroupOffset", "G", "X", "T", "-y").code == 5
    filled_broker.configs["Other"] = {}
    filled_broker.clients = {"Other": ["c1"]}
    result = ask("cloneGroupOffset", "G", "Other", "T", "-o", "true", "-y")
    assert (result.code, "stop c1" in result.err) == (1, True)


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses of the command, which take no time."""
    paused: list[float] = []
    monkeypatch.setattr("nsadmin.commands.consumers.offset_moves.sleep", paused.append)
    return paused


def commit_later(filled: ConsumerBroker, seconds: list[float], *commits: tuple[int, int]) -> None:
    """A client of G is connected; it commits (second, offset) on queue 0."""
    filled.clients = {"G": ["c1"]}
    query = filled.handlers[14]

    def query_after_commits(asked: RemotingCommand) -> Answer:
        for second, offset in commits:
            if len(seconds) == second:
                filled.offsets["G", "T", 0] = offset
        return query(asked)

    filled.handlers[14] = query_after_commits


def test_a_skip_over_which_a_busy_client_commits_is_failed(
    ask: Run, filled_broker: ConsumerBroker, seconds: list[float]
) -> None:
    commit_later(filled_broker, seconds, (6, 21), (12, 22), (18, 23))
    result = ask("skipAccumulatedMessage", "G", "T", "-y", "--json")
    assert (result.code, len(seconds)) == (3, 18)
    rows = result.json
    assert (rows[0]["to"], rows[0]["result"], rows[0]["error"]) == (
        50, "failed", "overwritten: a client committed 23 after the change",
    )  # fmt: skip
    advice = "stop the clients that nsadmin consumerConnection G lists, then repeat the command"
    assert f"nsadmin: a connected client sets the offset back: {advice}\n" in result.err
    assert {row["result"] for row in rows[1:]} == {"done"}


def test_an_old_commit_that_the_client_corrects_itself_is_waited_for(
    ask: Run, filled_broker: ConsumerBroker, seconds: list[float]
) -> None:
    commit_later(filled_broker, seconds, (6, 21), (12, 50))
    result = ask("skipAccumulatedMessage", "G", "T", "-y", "--json")
    assert (result.code, len(seconds)) == (0, 12)


def test_the_first_look_is_the_last_if_all_holds(
    ask: Run, filled_broker: ConsumerBroker, seconds: list[float]
) -> None:
    commit_later(filled_broker, seconds, (6, 17))
    result = ask("resetOffsetByTime", "G", "T", "-s", "15", "-y", "--json")
    assert (result.code, len(seconds)) == (0, 6)
    assert result.json[0]["result"] == "done"


@pytest.mark.parametrize(("delivered", "code", "pauses"), [(5, 0, 6), (4, 3, 18)])
def test_a_move_back_that_is_consumed_again_at_once_holds(
    ask: Run, filled_broker: ConsumerBroker, seconds: list[float], delivered: int, code: int, pauses: int
) -> None:
    """The offset is the old one again: the broker's count of deliveries says why."""
    commit_later(filled_broker, seconds, (6, 20))
    filled_broker.handlers[315] = lambda asked: answer_json(
        asked, {"statsMinute": {"sum": delivered, "tps": 0.1}}
    )
    result = ask("resetOffsetByTime", "G", "T", "-s", "15", "-y", "--json")
    assert (result.code, len(seconds)) == (code, pauses)
    [asked] = [command for command in filled_broker.asked if command.code == 315][:1]
    assert dict(asked.ext or {}) == {"statsName": "GROUP_GET_NUMS", "statsKey": "T@G"}


def test_a_queue_that_passes_its_old_offset_while_others_are_waited_for_holds(
    ask: Run, filled_broker: ConsumerBroker, seconds: list[float]
) -> None:
    filled_broker.offsets["G", "T", 1] = 14
    commit_later(filled_broker, seconds, (6, 17), (12, 21))
    query = filled_broker.handlers[14]

    def query_with_an_old_commit(asked: RemotingCommand) -> Answer:
        if seconds:
            filled_broker.offsets["G", "T", 1] = 15 if len(seconds) > 6 else 14
        return query(asked)

    filled_broker.handlers[14] = query_with_an_old_commit
    filled_broker.handlers[315] = lambda asked: answer_json(asked, {"statsMinute": {"sum": 1, "tps": 0.1}})
    result = ask("resetOffsetByTime", "G", "T", "-s", "15", "-y", "--json")
    assert (result.code, result.err, len(seconds)) == (0, UNDO_HINT, 12)
    assert [row["result"] for row in result.json] == ["done"] * 8


def test_a_move_back_that_may_have_been_consumed_again_is_unknown_and_not_repeated(
    ask: Run, filled_broker: ConsumerBroker, seconds: list[float]
) -> None:
    commit_later(filled_broker, seconds, (6, 20), (12, 24))
    result = ask("resetOffsetByTime", "G", "T", "-s", "15", "-y", "--json")
    assert (result.code, len(seconds)) == (3, 18)
    assert (result.json[0]["result"], result.json[0]["error"]) == (
        "unknown", "the group read on to 24, or a client committed its former offset",
    )  # fmt: skip
    assert {row["result"] for row in result.json[1:]} == {"done"}
    assert result.err == (
        "nsadmin: unknown on 1 of 8 queues: the group may have moved. Before you repeat the command, see "
        f"what its application received, and compare its offsets: nsadmin consumerProgress G\n{UNDO_HINT}"
    )


@pytest.mark.parametrize("words", [["--no-verify"], ["--dry-run"]])
def test_nothing_is_waited_for_on_demand_or_in_a_dry_run(
    ask: Run, filled_broker: ConsumerBroker, seconds: list[float], words: list[str]
) -> None:
    commit_later(filled_broker, seconds)
    result = ask("skipAccumulatedMessage", "G", "T", "-y", "--json", *words)
    assert (result.code, seconds) == (0, [])


def test_without_clients_nothing_is_waited_for(
    ask: Run, filled_broker: ConsumerBroker, seconds: list[float]
) -> None:
    result = ask("skipAccumulatedMessage", "G", "T", "-y", "--json")
    assert (result.code, seconds) == (0, [])


def test_a_reset_without_a_time_or_an_offset_says_so_before_it_asks_for_a_yes(run: Run) -> None:
    result = run("resetOffsetByTime", "G", "T", "-n", "127.0.0.1:1")
    assert (result.code, result.err) == (
        2,
        "nsadmin: missing option -s TIME or -o OFFSET or --undo: usage: nsadmin resetOffsetByTime"
        " GROUP [TOPIC] (-s TIME | -o OFFSET | --undo)\n",
    )


@pytest.mark.parametrize(
    "words",
    [
        ["resetOffsetByTime", "G", "T", "-s", "-1"],
        ["skipAccumulatedMessage", "G", "T"],
        ["cloneGroupOffset", "H", "G", "T"],
    ],
)
def test_a_move_that_was_a_mistake_is_undone_from_the_audit(
    ask: Run, filled_broker: ConsumerBroker, words: list[str]
) -> None:
    filled_broker.configs["H"] = {"groupName": "H"}
    filled_broker.offsets |= {("H", "T", number): 33 for number in range(8)}
    before = dict(filled_broker.offsets)
    result = ask(*words)
    assert (result.code, "cannot be undone" in result.err) == (2, False)
    result = ask(*words, "--yes", "--json")
    assert (result.code, result.err) == (0, UNDO_HINT)
    undo_words = ["resetOffsetByTime", "G", "T", "--undo", "--json"]
    preview = ask(*undo_words, "--dry-run").json
    assert {row["to"] for row in preview[:7]} == {20}
    result = ask(*undo_words, "--yes")
    # Of queue 7, the group had no offset.
    assert [row["result"] for row in result.json] == ["done"] * 7 + ["failed"]
    assert result.code == 3
    assert {key: filled_broker.offsets[key] for key in before} == before
    # Another --undo continues it.
    assert "--undo" not in result.err


def test_an_undo_of_all_queues_says_what_another_one_does(ask: Run, filled_broker: ConsumerBroker) -> None:
    filled_broker.offsets["G", "T", 7] = 20
    moved = "nsadmin: G was moved on 8 queues of T, which lets it receive 40 messages again\n"
    assert ask("resetOffsetByTime", "G", "T", "-s", "15", "--yes").err == UNDO_HINT + moved
    result = ask("resetOffsetByTime", "G", "T", "--undo", "--yes", "--json")
    assert (result.code, result.err) == (
        0,
        UNDO_HINT.replace(
            "undo this move, while it is the last one", "return to the offsets from before this undo"
        ),
    )
    assert set(filled_broker.offsets.values()) == {20}


def test_an_undo_needs_a_move_in_the_audit_and_no_target(ask: Run, filled_broker: ConsumerBroker) -> None:
    words = ["resetOffsetByTime", "G", "T", "--undo", "--yes"]
    result = ask(*words)
    assert (result.code, result.err) == (
        5,
        'nsadmin: nothing to undo: the audit has no move of "G" on "T" (see nsadmin audit list)\n',
    )
    result = ask(*words, "-s", "1")
    assert (result.code, result.err) == (
        2,
        "nsadmin: --undo has no target: leave out -s, -b, -q, -o and -c\n",
    )
    result = ask("resetOffsetByTime", "G", "--undo", "--yes")
    assert (result.code, result.err) == (
        2,
        "nsadmin: --undo needs TOPIC: `nsadmin audit list` shows the whole command of each move\n",
    )


def test_a_broker_without_the_group_refuses_its_queues_in_the_dry_run_as_well(
    run: Run, tmp_path: Path
) -> None:
    with start_lab(tmp_path, FleetPlan(clusters=1, groups=2, replicas=1, topics=3)) as lab:
        server = ("-n", lab.namesrv_addr)
        assert run("updateSubGroup", "new", "-b", lab.brokers["broker-a-0", 0], *server, "--yes").code == 0
        words = ("resetOffsetByTime", "new", "orders", "-s", "-1", *server, "--json")
        preview = run(*words, "--dry-run")
        moved = run(*words, "--yes", "--no-verify")
    refusal = 'broker-a-1 has no consumer group "new": `nsadmin updateSubGroup new -c cluster-a` creates it'
    for result, done in ((preview, "dry-run"), (moved, "done")):
        assert result.code == 3, result.err
        assert {(row["brokerName"], row["result"], row["error"]) for row in result.json} == {
            ("broker-a-0", done, None),
            ("broker-a-1", "failed", refusal),
        }
    assert moved.err == (
        f"nsadmin: failed on 8 of 16 queues: {refusal}\nnsadmin: the group was moved on 8 queues\n"
    )  # There was no offset to return to with --undo.


@pytest.fixture
def two_topics(filled_broker: ConsumerBroker, first_server: FakeNameServer) -> ConsumerBroker:
    """G has offsets on T, U, its retry topic, and a topic that was deleted."""
    for topic in ("U", "%RETRY%G"):
        first_server.routes[topic] = {"broker-a": 6}
        filled_broker.ends |= {(topic, number): (0, 50) for number in range(8)}
    filled_broker.ends["Gone", 0] = (0, 50)
    filled_broker.offsets |= {("G", topic, 0): 40 for topic in ("U", "%RETRY%G", "Gone")}
    return filled_broker


def test_a_skip_without_a_topic_is_of_all_topics_and_undone_with_one_command(
    ask: Run, two_topics: ConsumerBroker
) -> None:
    before = dict(two_topics.offsets)
    gone = "nsadmin: Gone is left out: the group has offsets of it, but it does not exist\n"
    preview = ask("skipAccumulatedMessage", "G", "--dry-run", "--json")
    assert (preview.code, {row["topic"] for row in preview.json}) == (0, {"%RETRY%G", "T", "U"})
    assert preview.err == (
        f"{gone}nsadmin: this would move G on 24 queues of 3 topics (%RETRY%G, T, U), which lets it skip 230 "
        "messages and get an offset on 15 queues where it has none\n"
    )
    assert two_topics.offsets == before
    result = ask("skipAccumulatedMessage", "-g", "G", "--yes", "--json")
    undo = "nsadmin resetOffsetByTime G %RETRY%G,T,U --undo"
    assert (result.code, result.err) == (
        0,
        f"{gone}nsadmin: to undo this move, while it is the last one: {undo}\n",
    )
    assert {two_topics.offsets[place] for place in before if place[1] != "Gone"} == {50}
    assert ask(*undo.split()[1:], "--yes").code == 3
    assert {place: two_topics.offsets[place] for place in before} == before


def test_a_pattern_is_of_the_topics_of_the_group(ask: Run, two_topics: ConsumerBroker) -> None:
    def list_topics(*words: str) -> set[str]:
        return {row["topic"] for row in ask(*words, "--dry-run", "--json").json}

    assert list_topics("skipAccumulatedMessage", "G", "?") == {"T", "U"}
    assert list_topics("skipAccumulatedMessage", "G", "%*") == {"%RETRY%G"}
    assert list_topics("resetOffsetByTime", "G", "*", "-s", "-1") == {"T", "U"}
    assert list_topics("resetOffsetByTime", "G", "-s", "-1") == {"T", "U"}
    assert list_topics("skipAccumulatedMessage", "G", "U,T") == {"T", "U"}
    nothing = ask("skipAccumulatedMessage", "G", "X*", "--dry-run")
    assert (nothing.code, 'no topic of group "G" matches "X*"' in nothing.err) == (5, True)
    named = ask("skipAccumulatedMessage", "G", "T,Gone", "--dry-run")
    assert (named.code, named.out) == (5, "")


def test_a_clone_without_a_topic_leaves_the_retry_topic_out(ask: Run, two_topics: ConsumerBroker) -> None:
    refused = ask("cloneGroupOffset", "G", "Other", "--dry-run")
    assert refused.code == 5
    assert "create it with `nsadmin updateSubGroup Other -c C`" in refused.err
    two_topics.configs["Other"] = {}
    assert ask("cloneGroupOffset", "-s", "G", "-d", "Other", "--yes").code == 0
    cloned = {topic: offset for (group, topic, _), offset in two_topics.offsets.items() if group == "Other"}
    assert cloned == {"T": 20, "U": 40}


def test_a_topic_that_refuses_the_move_fails_and_the_others_move(
    ask: Run, two_topics: ConsumerBroker, first_server: FakeNameServer
) -> None:
    two_topics.offsets["G", "U", 0] = 40
    first_server.routes["U"] = {"broker-x": 6}
    result = ask("skipAccumulatedMessage", "G", "--yes", "--json")
    assert result.code == 3
    assert {(row["topic"], row["result"]) for row in result.json} == {
        ("%RETRY%G", "done"), ("T", "done"), ("U", "failed"),
    }  # fmt: skip
