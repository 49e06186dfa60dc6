"""updateStaticTopic and remappingStaticTopic."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.protocol.codes import RequestCode
from tests.nsadmin.conftest import CommandResult, Run
from tests.support.fake_servers import FakeNameServer, refuse_with
from tests.support.static_brokers import StaticBroker


@pytest.fixture
def brokers() -> Iterator[list[StaticBroker]]:
    with StaticBroker("a") as a, StaticBroker("b") as b:
        yield [a, b]


@pytest.fixture
def run_json(run: Run, brokers: list[StaticBroker]) -> Iterator[Run]:
    with FakeNameServer({"C": {broker.name: {0: broker.addr} for broker in brokers}}) as server:

        def run_json(*words: str) -> CommandResult:
            return run(*words, "-n", server.addr, "--json")

        yield run_json


def lie(result: CommandResult) -> list[tuple[int, str | None, str, str]]:
    return [(row["queueId"], row["before"], row["after"], row["result"]) for row in json.loads(result.out)]


def test_a_topic_is_planned_created_enlarged_and_moved(
    run_json: Run, brokers: list[StaticBroker], tmp_path: Path
) -> None:
    words = ("updateStaticTopic", "-t", "T")
    planned = run_json(*words, "-qn", "3", "-c", "C", "--dry-run")
    assert lie(planned) == [(0, None, "a", "dry-run"), (1, None, "b", "dry-run"), (2, None, "a", "dry-run")]
    assert brokers[0].static == {}
    result = run_json(*words, "--totalQueueNum", "3", "--clusters", "C")
    assert (result.code, [row[3] for row in lie(result)]) == (0, ["done"] * 3)
    kept = sorted(tmp_path.glob("state/installations/*/static-topics/T/*"))
    assert [path.suffix for path in kept] == [".after", ".before"]
    assert f"nsadmin: the mapping is saved in {kept[0]}" in result.err.splitlines()
    again = run_json(*words, "-qn", "3", "-c", "C")
    assert (again.code, lie(again), again.err) == (0, [], "nsadmin: T already has this mapping\n")
    nothing = run_json("remappingStaticTopic", "Other", "-b", "b")
    assert (nothing.code, nothing.err) == (
        5,
        'nsadmin: no static topic "Other"\n',
    )
    brokers[0].ends = {0: 1, 1: 1}
    moved = run_json("remappingStaticTopic", "T", "-b", "b")
    assert lie(moved) == [(0, "a", "b", "done"), (2, "a", "b", "done")]
    assert [row["logicOffset"] for row in json.loads(moved.out)] == [10_000, 10_000]


def test_what_was_stopped_says_how_to_carry_on(run_json: Run, brokers: list[StaticBroker]) -> None:
    run_json("updateStaticTopic", "T", "-qn", "2", "-b", "a")
    stats = brokers[0].handlers[202]
    brokers[0].handlers[202] = refuse_with(2, "busy")
    stopped = run_json("remappingStaticTopic", "T", "-b", "b")
    assert (stopped.code, {row[3] for row in lie(stopped)}) == (3, {"failed"})
    line = next(line for line in stopped.err.splitlines() if "resume with: " in line)
    assert line.startswith(
        "nsadmin: stopped while reading the end of each queue; resume with: nsadmin remapping"
    )
    # A new plan would begin from what is half done.
    assert run_json("remappingStaticTopic", "T", "-b", "b").code == 1
    brokers[0].handlers[202] = stats
    brokers[0].ends = {0: 1, 1: 1}
    words = line.partition("resume with: nsadmin ")[2].split()
    result = run_json(*words, "-fr", "true")
    assert result.code == 0, result.err
    assert brokers[1].told[-1]["force"] == "true"
    hosted = brokers[1].static["T"]["mappingDetail"]["hostedQueues"]
    assert [items[-1]["logicOffset"] for items in hosted.values()] == [10_000, 10_000]


def test_a_topic_that_no_broker_took(run_json: Run, brokers: list[StaticBroker]) -> None:
    for broker in brokers:
        broker.handlers[RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC] = refuse_with(1, "no")
    refused = run_json("updateStaticTopic", "T", "-qn", "2", "-c", "C")
    assert "stopped while sending the mapping: no broker confirmed it; resume with: " in refused.err


@pytest.mark.parametrize(
    "words",
    [
        ("updateStaticTopic", "T", "-c", "C"),
        ("updateStaticTopic", "T", "-qn", "3"),
        ("updateStaticTopic", "T", "-mf", "nothing.after"),
        ("remappingStaticTopic", "T"),
        ("remappingStaticTopic", "T", "-b", "a", "-fr", "maybe"),
    ],
)
def test_lines_that_say_too_little(run_json: Run, words: tuple[str, ...]) -> None:
    assert run_json(*words).code == 2


def test_a_mapping_file_of_another_topic(run_json: Run, tmp_path: Path) -> None:
    run_json("updateStaticTopic", "T", "-qn", "1", "-b", "a")
    [file] = tmp_path.glob("state/installations/*/static-topics/T/*.after")
    result = run_json("remappingStaticTopic", "U", "-mf", str(file))
    assert (result.code, 'is for the topic "T": pass its file' in result.err) == (2, True)


def test_nothing_is_changed_where_the_mapping_cannot_be_kept(
    run_json: Run, brokers: list[StaticBroker], tmp_path: Path
) -> None:
    (tmp_path / "state").write_text("a file in the way")
    result = run_json("updateStaticTopic", "T", "-qn", "1", "-b", "a")
    assert (result.code, "nothing was changed" in result.err, brokers[0].static) == (1, True, {})
