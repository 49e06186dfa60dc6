"""A lab writes a context beside the operator's own, and takes it back."""

from pathlib import Path

import pytest

from namesrv_core.lab import java_logs
from nsadmin.app import main
from nsadmin.commands.programs.lab import _parse_addresses, announce_lab_context
from nsadmin.console import contexts
from nsadmin.console.contexts import Context, Contexts
from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.operations.inventory.records import ExpectedBroker

ADDRESSES = ["127.0.0.1:1", "127.0.0.1:2"]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NSADMIN_CONFIG", str(tmp_path / "config.yaml"))
    return tmp_path / "config.yaml"


def known_lab(file: Path) -> Context:
    return contexts.load_contexts(file).require_context("lab")


def test_it_comes_and_goes_and_the_one_in_use_stays(file: Path) -> None:
    own = Contexts({"prod": Context(namesrv_addr="ns:9876")}, current_name="prod")
    contexts.save_contexts(file, own)
    announcement, remove = announce_lab_context(ADDRESSES, ["/tmp/ns-1/journal", "/tmp/ns-2/journal"])
    assert known_lab(file).journals == ("/tmp/ns-1/journal", "/tmp/ns-2/journal")
    assert (
        announcement == f"Context lab in {file}, as long as the lab runs: nsadmin --context lab clusterList"
    )
    known = contexts.load_contexts(file)
    assert (known.current_name, known.require_context("lab").namesrv_addr) == (
        "prod",
        "127.0.0.1:1;127.0.0.1:2",
    )
    remove()
    assert contexts.load_contexts(file) == own


def test_the_brokers_of_an_earlier_lab_are_forgotten(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NSADMIN_INVENTORY")
    monkeypatch.setenv("XDG_STATE_HOME", str(file.parent / "state"))
    store = InventoryKeeper(lambda: "context lab").store
    broker = ExpectedBroker("C", "broker-a", 0, "127.0.0.1:3")
    store.change_brokers(lambda _: [broker])
    _, remove = announce_lab_context(ADDRESSES)
    assert store.load_brokers() == ()
    store.change_brokers(lambda _: [broker])
    remove()
    assert store.load_brokers() == ()


def test_a_file_that_was_not_there_goes_again(file: Path) -> None:
    _, remove = announce_lab_context(ADDRESSES)
    assert file.exists()
    remove()
    assert not file.exists()


def test_one_that_was_left_by_a_killed_lab_is_replaced(file: Path) -> None:
    announce_lab_context(["127.0.0.1:7"], ["/tmp/ns-1/journal"])
    _, remove = announce_lab_context(ADDRESSES)
    assert contexts.load_contexts(file).require_context("lab").namesrv_addr == "127.0.0.1:1;127.0.0.1:2"
    remove()
    assert contexts.load_contexts(file).contexts_by_name == {}


@pytest.mark.parametrize(
    "own", [Context(namesrv_addr="ns:9876"), Context(namesrv_addr="127.0.0.1:1", timeout=3)]
)
def test_the_operator_s_own_stays(file: Path, own: Context) -> None:
    contexts.save_contexts(file, Contexts({"lab": own}))
    announcement, remove = announce_lab_context(ADDRESSES)
    assert announcement == f'The context "lab" in {file} is yours and stays unchanged'
    remove()
    assert contexts.load_contexts(file).require_context("lab") == own


def test_a_file_that_cannot_be_used_is_said(file: Path) -> None:
    file.write_text("[")
    announcement, remove = announce_lab_context(ADDRESSES)
    assert announcement.startswith("No context was written: ")
    file.write_text("")
    remove()


def test_another_lab_s_context_is_not_taken_away(file: Path) -> None:
    _, remove = announce_lab_context(["127.0.0.1:7"])
    announce_lab_context(ADDRESSES)
    remove()
    assert contexts.load_contexts(file).require_context("lab").namesrv_addr == "127.0.0.1:1;127.0.0.1:2"


def test_a_run_ends_with_a_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    assert main(["lab", "run", "undone-wipe", "--dir", str(folder), "--java-logs", "4.x"]) == 0
    assert "wipe write perm of broker[" in (folder / "ns-1" / java_logs.LOG_FILE).read_text()
    stdout = capsys.readouterr().out
    assert "wipe broker-a-0, ns-1, ns-2, ns-3\n             WritePermWiped on ns-1, ns-2, ns-3" in stdout
    assert stdout.endswith(f"0 records are unexplained; see {folder}/truth.jsonl and {folder}/ns-*/journal\n")
    assert main(["lab", "run", "undone-wipe", "--dir", str(folder)]) == 1
    assert "is not empty" in capsys.readouterr().err


def test_the_built_in_ones_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "list"]) == 0
    assert "split-brain           15 min  Half of" in capsys.readouterr().out


def test_each_mistake_in_a_scenario_is_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.yaml").write_text("sed: 1\nduration: soon\n")
    assert main(["lab", "run", str(tmp_path / "x.yaml")]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("nsadmin: ") and "x.yaml: " in line for line in lines)


@pytest.mark.parametrize(
    "argv",
    [
        ["up", "--groups", "0"],
        ["up", "-n", "nowhere"],
        ["up", "-n", ";"],
        ["up", "--topics", "x"],
        ["up", "--speed", "0"],
        ["up", "--scenario", "quiet-day", "--groups", "2"],
        ["up", "quiet-day", "--groups", "2"],
        ["up", "quiet-day", "--scenario", "quiet-day"],
        ["up", "-n", "a:1", "--speed", "2"],
        ["run"],
        ["run", "quiet-day", "--until", "x"],
    ],
)
def test_a_wrong_command_line_is_exit_code_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", *argv]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_size_beside_a_scenario_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "up", "quiet-day", "--groups", "2"]) == 2
    assert capsys.readouterr().err == "nsadmin: leave out --groups: the scenario quiet-day sets it\n"


def test_addresses_are_separated_by_semicolons_commas_and_blanks() -> None:
    assert _parse_addresses("a:1;b:2, [::1]:3") == ["a:1", "b:2", "[::1]:3"]


def test_options_for_own_name_servers_are_refused_with_n(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "up", "-n", "127.0.0.1:1", "--dir", "d"]) == 2
    assert "omit --dir: with -n, the lab starts no name servers" in capsys.readouterr().err
