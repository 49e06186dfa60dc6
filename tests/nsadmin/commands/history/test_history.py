"""history: out of journals made by hand, and of one that is being written."""

from collections.abc import Callable
from pathlib import Path

import pytest

from namesrv_core.events import (
    BrokerUnregistered,
    Group,
    Heartbeats,
    KvPut,
    Member,
    QueueData,
    ServerStarted,
    ServerStopping,
    TopicChange,
    WritePermWiped,
    group_topic_changes,
)
from namesrv_core.history.record_lines import encode_record_line
from namesrv_core.history.records import RecordOrigin
from nsadmin.commands.history import history
from tests.nsadmin.conftest import Run
from tests.support.journals import JournalPen, make_snapshot, registration_events, write_journal

RW, RO = QueueData("a", 8, 8, 6), QueueData("a", 8, 8, 4)
EVENTS = (
    make_snapshot("start"),
    ServerStarted("1", 1),
    *registration_events("a", "T", "U"),
    Heartbeats(1, 0, "10.0.0.1:10911"),
    WritePermWiped("a", 2, group_topic_changes([TopicChange("T", RW, RO), TopicChange("U", RW, RO)])),
    KvPut("n", "k", None, "v"),
    BrokerUnregistered("c", "a", 0, "10.0.0.1:10911", "expired", 1),
    ServerStopping("SIGTERM"),
)


@pytest.fixture
def journal_folder(tmp_path: Path) -> str:
    """A closed segment with the events up to the wipe, and an open one; a second between two events."""
    pen = JournalPen(tmp_path / "j")
    pen.write_events(*EVENTS[:5])
    pen.close_segment()
    group = Group("c", "a", False, None, (Member(0, "10.0.0.1:10911"),))
    origin = RecordOrigin(pen.now, "roll")
    pen.journal.append_lines(
        encode_record_line(6, pen.server, origin, make_snapshot("roll", groups=(group,))), 1, pen.now
    )
    pen.write_events(EVENTS[5], cause="WIPE_WRITE_PERM_OF_BROKER", client="10.0.0.9:5")
    pen.write_events(*EVENTS[6:])
    pen.journal.close()
    return str(tmp_path / "j")


def types(run: Run, folder: str, *words: str) -> list[str]:
    result = run("history", *words, "--journal", folder, "--columns", "type", "--no-headers")
    assert (result.code, result.err) == (0, "")
    return result.out.split()


def test_the_life_of_a_topic_newest_last_with_cause_and_client(run: Run, journal_folder: str) -> None:
    result = run("history", "topic", "T", "--journal", journal_folder)
    assert result.code == 0
    head, *lines = result.out.splitlines()
    assert head.split() == ["time", "type", "changes", "cause", "client"]
    assert [line.split()[1] for line in lines] == [
        "ServerStarted", "TopicsChanged", "WritePermWiped", "ServerStopping",
    ]  # fmt: skip
    assert "T on a new: readQueueNums 8, writeQueueNums 8, perm rw-" in lines[1]
    assert lines[2].startswith("2025-11-21T14:03:05.000Z  WritePermWiped  T on a perm rw- -> r--  ")
    assert lines[2].endswith("WIPE_WRITE_PERM_OF_BROKER  10.0.0.9:5")
    (wiped,) = run(
        "history", "topic", "T", "--type", "writepermwiped", "--journal", journal_folder, "--json"
    ).json
    assert (wiped["seq"], wiped["server"], wiped["client"]) == (7, "s:9876", "10.0.0.9:5")
    assert [change["topics"] for change in wiped["event"]["changes"]] == [["T"]]


def test_a_subject_without_an_event_is_named(run: Run, journal_folder: str) -> None:
    result = run("history", "topic", "none", "--journal", journal_folder)
    assert (result.code, result.out) == (5, "")
    assert result.err == 'nsadmin: topic "none" has no event in the journal\n'
    selected = run("history", "topic", "T", "--type", "KvPut", "--journal", journal_folder, "--json")
    assert (selected.code, selected.json) == (0, [])
    assert 'topic "T" has no event that matches the options in the journal' in selected.err


def test_whose_history(run: Run, journal_folder: str) -> None:
    frame = ["ServerStarted", "ServerStopping"]
    assert types(run, journal_folder, "kv", "n", "k") == [frame[0], "KvPut", frame[1]]
    life = ["BrokerRegistered", "TopicsChanged", "WritePermWiped", "BrokerUnregistered"]
    assert (
        types(run, journal_folder, "broker", "a")
        == types(run, journal_folder, "cluster", "c")
        == [frame[0], *life, frame[1]]
    )
    assert types(run, journal_folder) == [frame[0], *life[:3], "KvPut", life[3], frame[1]]


def test_a_kv_namespace_that_does_not_exist_is_told_from_one_without_events(
    run: Run, journal_folder: str
) -> None:
    words = ("history", "--journal", journal_folder, "kv")
    assert run(*words, "k").err == (
        'nsadmin: no KV namespace "k": use history kv NAMESPACE [KEY]; the journal has n\n'
    )
    assert run(*words, "n", "other").err == 'nsadmin: kv "n other" has no event in the journal\n'


def test_of_which_time_and_type(run: Run, journal_folder: str) -> None:
    since, until = ("--since", "2025-11-21T14:03:05Z"), ("--until", "2025-11-21T14:03:07Z")
    assert types(run, journal_folder, *since, *until) == ["WritePermWiped", "KvPut"]
    assert types(run, journal_folder, "--type", "Heartbeats", "--type", "snapshot") == [
        "Snapshot", "Heartbeats", "Snapshot",
    ]  # fmt: skip


def test_events_of_several_name_servers_stand_in_the_order_of_their_times(
    run: Run, journal_folder: str, tmp_path: Path
) -> None:
    second = write_journal(tmp_path / "k", [make_snapshot("start"), KvPut("n", "k", None, "w")], "t:1")
    both = ("--journal", journal_folder, "--journal", second)
    result = run(
        "history", "kv", "n", *both, "--columns", "server,changes", "--no-headers", "--output", "tsv"
    )
    assert [line.split("\t")[0] for line in result.out.splitlines()] == ["s:9876", "t:1", "s:9876", "s:9876"]
    assert run("history", *both).out.split()[:3] == ["time", "server", "type"]
    assert run("history", "kv", "n", *both, "--namesrv", "t").out.count("\n") == 2


def test_a_damaged_journal_does_not_hide_the_others(run: Run, journal_folder: str, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "0000000000000001-20251121T140300000Z.jsonl.zst").write_bytes(b"nonsense")
    result = run("history", "kv", "n", "--journal", str(damaged), "--journal", journal_folder)
    assert result.code == 3
    assert "KvPut" in result.out
    assert f"nsadmin: {damaged}: " in result.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("topik", "T"), 'unknown kind "topik": use topic, broker, cluster, kv, then a name'),
        (("topic",), "missing name of the topic: run nsadmin history topic NAME"),
        (("kv",), "missing name of the KV namespace: run nsadmin history kv NAMESPACE [KEY]"),
        (("topic", "T", "U"), 'unexpected argument "U": only kv takes a key; run nsadmin history topic NAME'),
        (("--type", "TopicChanged"), 'unknown event type "TopicChanged" for --type: use TopicsChanged'),
    ],
)
def test_what_cannot_be_is_one_line(run: Run, journal_folder: str, words: tuple[str, ...], said: str) -> None:
    result = run("history", *words, "--journal", journal_folder)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"nsadmin: {said}")


def test_it_goes_on_with_what_comes_and_tells_nothing_twice(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pen = JournalPen(tmp_path / "j")
    pen.write_events(make_snapshot("start"), KvPut("n", "k", None, "1"), *registration_events("a", "T"))

    def end() -> None:
        raise KeyboardInterrupt

    steps: list[Callable[[], None]] = [
        lambda: pen.write_events(KvPut("n", "k", "1", "2"), KvPut("other", "k", None, "3")),
        pen.close_segment,
        lambda: pen.write_events(KvPut("n", "k", "2", "4")),
        end,
    ]
    monkeypatch.setattr(history, "sleep", lambda _: steps.pop(0)())
    result = run(
        "history", "kv", "n", "--follow", "--journal", str(tmp_path / "j"), "--columns", "seq,changes"
    )
    pen.journal.close()
    assert result.code == 0
    assert [line.split(None, 1) for line in result.out.splitlines()] == [
        ["seq", "changes"], ["2", "n k: new: 1"], ["5", "n k: 1 -> 2"], ["7", "n k: 2 -> 4"],
    ]  # fmt: skip


@pytest.fixture
def long_journal(tmp_path: Path) -> str:
    """Ten closed segments and an open one; in each the topic T changes twice."""
    pen = JournalPen(tmp_path / "long")
    for number in range(11):
        pen.write_events(make_snapshot("roll"), *registration_events("a", "T"))
        pen.write_events(KvPut("ORDER_TOPIC_CONFIG", "T", None, str(number)))
        if number < 10:
            pen.close_segment()
    pen.journal.close()
    return str(tmp_path / "long")


def test_the_newest_are_shown_and_that_there_are_older_ones(run: Run, long_journal: str) -> None:
    def changes(*words: str) -> tuple[list[str], str]:
        result = run(
            "history", "topic", "T", "--journal", long_journal, *words, "--columns", "changes", "--no-headers"
        )
        assert result.code == 0
        return [line.rpartition(" ")[2] for line in result.out.splitlines() if "ORDER" in line], result.err

    everything, stderr = changes()
    assert (everything, stderr) == ([str(number) for number in range(11)], "")
    assert changes("--limit", "0") == (everything, "")
    note = (
        "nsadmin: only the newest 4 events are shown: use --limit 0 for all, or --until TIME for older ones\n"
    )
    assert changes("--limit", "4") == (["9", "10"], note)
    assert changes("--limit", "22") == (everything, "")
    assert changes("--limit", "1", "--until", "2025-11-21T14:03:04Z")[0] == ["0"]


def test_no_more_segments_are_read_than_it_takes(run: Run, long_journal: str) -> None:
    for path in sorted(Path(long_journal).glob("*.zst"))[:8]:
        path.chmod(0o644)
        path.write_bytes(b"nonsense")
    line = ("history", "topic", "T", "--journal", long_journal, "--json")
    result = run(*line, "--limit", "5")
    assert (result.code, len(result.json)) == (0, 5)
    assert run(*line, "--limit", "9").code == 1


def test_of_several_journals_the_newest_of_all_are_shown(
    run: Run, long_journal: str, journal_folder: str
) -> None:
    result = run("history", "--journal", long_journal, "--journal", journal_folder, "--limit", "3", "--json")
    times = [row["time"] for row in result.json]
    assert len(times) == 3
    assert times == sorted(times)
    assert min(times) > "2025-11-21T14:03:40"


def test_a_rare_type_is_found_without_reading_the_rest(run: Run, long_journal: str) -> None:
    for path in sorted(Path(long_journal).glob("*.zst")):
        path.chmod(0o644)
        path.write_bytes(b"nonsense")
    result = run("history", "--type", "WritePermWiped", "--journal", long_journal, "--json")
    assert (result.code, result.json) == (0, [])


@pytest.mark.parametrize("words", [(), ("topic", "T"), ("broker", "a"), ("cluster", "c"), ("kv", "n")])
def test_odd_records_are_left_out_and_counted(run: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    pen = JournalPen(tmp_path / "j")
    pen.write_events(*EVENTS)
    for number in range(2):
        line = (
            b'{"v":1,"seq":%d,"time":%d,"server":"s:9876","type":"TopicsChanged","cause":"c","brokerName":"a",'
            b'"clusterName":"c","namespace":"n","changes":[{"x":"T"}]}\n'
        )
        pen.journal.append_lines(line % (pen.journal.next_seq + number, pen.now), 1, pen.now)
    pen.journal.close()
    folder = str(tmp_path / "j")
    result = run("history", *words, "--journal", folder)
    assert "KeyError" not in result.err
    assert result.code == 0
    assert result.err.strip() == (
        f"nsadmin: s:9876: skipped 2 unreadable records: run nsadmin journal verify {folder}"
    )


def test_without_a_journal_it_leads_to_what_other_commands_know(run: Run) -> None:
    result = run("history", "--from", "12h")
    assert (result.code, "nsadmin: no journal: record one with nsadmin collect DIR" in result.err) == (
        2,
        True,
    )
    assert "without a journal: `nsadmin inventory list` shows brokers that left" in result.err
    assert "`nsadmin brokerStatus --filter key=bootTimestamp` when they started" in result.err
