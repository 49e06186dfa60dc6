"""A list or a pattern of names: the command runs for each of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin.command_line import registry
from nsadmin.command_line.declarations import command_parameters, declaration_of
from nsadmin.command_line.each_name import EACH_COLUMN
from tests.nsadmin.conftest import Run
from tests.support.lab import Lab, start_lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_lab(tmp_path_factory.mktemp("lab"), FleetPlan(clusters=1, groups=1, topics=8)) as running:
        yield running


@pytest.fixture
def names(lab: Lab, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("NAMESRV_ADDR", lab.namesrv_addr)
    return run("topicList", "--no-system", "--output", "value").out.split()


def test_a_column_has_the_topic_of_each_row(run: Run, names: list[str]) -> None:
    several = run("topicClusterList", f"{names[0]},{names[1]}", "--output", "csv")
    assert several.out.splitlines() == [
        "topic,clusterName",
        f"{names[0]},cluster-a",
        f"{names[1]},cluster-a",
    ]
    every = run("topicClusterList", "*", "--columns", "topic", "--output", "value")
    assert (every.code, sorted(every.out.split())) == (0, sorted(names))


def test_a_typed_name_without_a_result_is_reported(run: Run, names: list[str]) -> None:
    result = run("topicStatus", f"{names[0]},nosuch", "--output", "csv")
    assert (result.code, result.out.splitlines()[1].partition(",")[0]) == (3, names[0])
    assert "\nnsadmin: nosuch: TOPIC_NOT_EXIST (17): " in result.err


def test_a_line_about_a_topic_has_its_name_once(run: Run, names: list[str]) -> None:
    lines = run("topicStatus", f"{names[0]},{names[1]}").err.splitlines()
    assert [line.partition(" has ")[0] for line in lines] == [f"nsadmin: {name}" for name in names[:2]]


def test_topics_that_a_pattern_matches_may_have_no_result(run: Run, names: list[str]) -> None:
    result = run("queryMsgByKey", "*", "no-such-key")
    assert result.code == 5
    assert result.err.startswith(f"nsadmin: nothing was found for {len(names)} topics; for {min(names)}: ")


def test_a_pattern_without_a_match(run: Run, names: list[str]) -> None:
    assert run("consumerConnection", "zz*").err.startswith('nsadmin: no consumer group matches "zz*"\n')


def test_a_text_is_of_one_topic(run: Run, names: list[str]) -> None:
    result = run("topicStatus", f"{names[0]},{names[1]}", "--output", "mqadmin")
    assert (result.code, "this form takes one topic, and" in result.err) == (2, True)


def test_the_column_of_the_name_is_declared() -> None:
    for entry in registry.COMMANDS:
        function = entry.load_function()
        for parameter in command_parameters(function):
            if parameter.each and not parameter.each.is_joined:
                assert EACH_COLUMN[parameter.each.noun] in declaration_of(function).column_names, entry.name
