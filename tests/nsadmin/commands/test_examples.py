"""Every example of the manual, run in a lab; those that need messages are run by the interop tests."""

import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from io import StringIO
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import PORT_STEP, FleetPlan
from nsadmin.command_line.docstrings import CommandExample
from nsadmin.command_line.registry import take_command
from nsadmin.help_pages.search import read_answers
from tests.nsadmin.conftest import Run
from tests.support.clock import speed_up_drains
from tests.support.examples import (
    ALL,
    BEFORE,
    FILES,
    FINDS_NOTHING,
    IN_THE_LAB,
    ON_BROKERS,
    ON_CONTROLLERS,
    ON_OLD_BROKERS,
    STANDARD_INPUT,
    USES_CONTEXT,
    ExampleCase,
    list_cases,
    split_example,
)
from tests.support.lab import DOCUMENTED_BROKER_PORT, Lab, free_ports, start_lab
from tests.support.name_servers import ROOT, ServerProgram
from tests.support.terminal import CopiedTerminal

COMMANDS = [case for case in IN_THE_LAB if case.entry.kind not in ("program", "screen")]
SCREENS = [case for case in IN_THE_LAB if case.entry.kind == "screen"]
PROGRAMS = [case for case in IN_THE_LAB if case.entry.kind == "program"]
RUNS = ("boot success", "Ctrl-C stops")


def test_a_command_has_one_to_six_examples() -> None:
    for case in ALL:
        assert 1 <= len(case.examples) <= 6, (
            f'{case.entry.name}: add "Examples:" to the docstring of its function'
        )
        assert all(take_command(split_example(example))[0] == case.entry for example in case.examples)
        name = case.entry.typed_name
        assert all(f"{example.command_line} ".startswith(f"nsadmin {name} ") for example in case.examples)


def test_no_line_stands_twice() -> None:
    lines = [example.command_line for case in ALL for example in case.examples]
    lines += [a.example.command_line for answers in read_answers().values() for a in answers if a.example]
    assert [line for line, count in Counter(lines).items() if count > 1] == []


def test_each_example_is_run_in_the_lab_or_on_a_real_broker() -> None:
    names = {case.entry.name for case in ALL}
    assert names >= BEFORE.keys()
    assert sorted(
        [*IN_THE_LAB, *ON_BROKERS, *ON_OLD_BROKERS, *ON_CONTROLLERS, *list_cases("elsewhere")]
    ) == sorted(ALL)


@pytest.fixture(scope="module")
def unchanged_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_lab(tmp_path_factory.mktemp("unchanged")) as lab:
        yield lab


@pytest.mark.parametrize("case", COMMANDS, ids=lambda case: case.entry.name)
def test_the_examples_of_a_command_do_what_they_say(
    case: ExampleCase,
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    speed_up_drains(monkeypatch)
    with ExitStack() as ends:
        is_bundle = case.entry.group == "bundle"
        if case.changes_nothing and not is_bundle:
            there: Lab = request.getfixturevalue("unchanged_lab")
        else:
            # A bundle has all answers of each broker, and needs no dozen of them here.
            plan = FleetPlan(clusters=1, groups=2, topics=10) if is_bundle else None
            there = ends.enter_context(
                start_lab(tmp_path / "lab", plan, name_servers=case.name_servers, producer_period=0.2)
            )
        monkeypatch.setenv("NAMESRV_ADDR", there.namesrv_addr)
        monkeypatch.chdir(tmp_path)
        write_files(case.files)
        for line in case.before:
            assert run(*map(there.with_addresses, line)).code == 0, line
        if case.entry.name in USES_CONTEXT:
            monkeypatch.delenv("NAMESRV_ADDR")
        for example in case.examples:
            monkeypatch.setattr(sys, "stdin", StringIO(case.standard_input))
            if "--watch" in example.command_line:
                monkeypatch.setattr("nsadmin.console.session.sleep", press_ctrl_c)
            result = run(*map(there.with_addresses, split_example(example)))
            assert result.code == example.exit_code, (example.command_line, result.err)
            # A table is its head and at least one row; names and values have no head.
            printed = written(example) if "--out " in example.command_line else result.out
            if example.command_line in FINDS_NOTHING:
                assert (result.out, bool(result.err)) == ("", True)
                continue
            has_head = not re.search("--output name$|value", example.command_line)
            assert example.exit_code or len(printed.splitlines()) >= 1 + has_head, example.command_line


@pytest.mark.parametrize(
    "line",
    [a.example.command_line for answers in read_answers().values() for a in answers if a.example],
)
def test_the_answers_of_the_search_run(
    line: str, run: Run, unchanged_lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Changes are only previewed."""
    words = shlex.split(line)[1:]
    entry = take_command(words)[0]
    assert entry is not None
    if entry.kind not in ("read", "check"):
        if not entry.may_change:
            pytest.skip("a program, a screen or a local change has no preview; another test parses the line")
        words = [*(word for word in words if word not in ("--yes", "--dry-run")), "--dry-run"]
    if entry.name == "consume":
        # An hour of the topic has 125,000 messages here.
        words = ["1m" if word == "1h" else word for word in words]
    monkeypatch.setenv("NAMESRV_ADDR", unchanged_lab.namesrv_addr)
    monkeypatch.chdir(tmp_path)
    write_files(FILES.get(entry.name, {}))
    monkeypatch.setattr(sys, "stdin", StringIO(STANDARD_INPUT.get(entry.name, "")))
    if "--watch" in words:
        monkeypatch.setattr("nsadmin.console.session.sleep", press_ctrl_c)
    result = run(*map(unchanged_lab.with_addresses, words))
    # A check may find something, and a condition may leave no row.
    assert result.code in ({0, 1, 2} if entry.kind == "check" else {0, 5}), result.err
    assert result.code == 0 or result.out or "no " in result.err


def write_files(texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
        # Files with a password have to be their owner's alone.
        Path(name).chmod(0o600)


def press_ctrl_c(seconds: float) -> None:
    raise KeyboardInterrupt


def written(example: CommandExample) -> str:
    """What is in the file that the last word names."""
    return Path(split_example(example)[-1]).read_text()


@pytest.mark.parametrize("case", SCREENS, ids=lambda case: case.entry.name)
def test_the_examples_of_a_screen_come_up_and_one_leaves_them(
    case: ExampleCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_lab(tmp_path / "lab") as there:
        monkeypatch.setenv("NAMESRV_ADDR", there.namesrv_addr)
        for example in case.examples:
            with CopiedTerminal(
                *map(there.with_addresses, split_example(example)), home=tmp_path
            ) as terminal:
                terminal.wait_for_text("quit")
                # A recording of nothing cannot be played.
                terminal.wait_for_text("12 brokers")
                terminal.type_keys("q")
                assert terminal.wait_for_exit() == example.exit_code, example.command_line


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.entry.name)
def test_the_examples_of_a_program_run_until_they_are_told_to_stop(case: ExampleCase, tmp_path: Path) -> None:
    first = free_ports(1 + len(FleetPlan().plan_brokers()))
    stand_ins = {"9876": str(first), str(DOCUMENTED_BROKER_PORT): str(first + PORT_STEP)}
    own = {"NSADMIN_CONFIG": str(tmp_path / "config.yaml"), "TMPDIR": str(tmp_path)}
    for example in case.examples:
        args = [stand_ins.get(word, word).replace("/tmp", str(tmp_path)) for word in split_example(example)]
        command = [sys.executable, "-c", "import sys; from nsadmin.app import main; sys.exit(main())", *args]
        with subprocess.Popen(
            command, cwd=ROOT, env=ServerProgram.make_environment() | own, stdout=subprocess.PIPE, text=True
        ) as child:
            printed = said_until_stopped(child)
        assert (child.returncode, bool(printed)) == (example.exit_code, True), example.command_line


def said_until_stopped(child: subprocess.Popen[str]) -> list[str]:
    """What a program says; one that has come up is told to stop."""
    assert child.stdout is not None
    lines_printed = []
    for line in child.stdout:
        lines_printed.append(line)
        if any(text in line for text in RUNS):
            child.terminate()
    return lines_printed
