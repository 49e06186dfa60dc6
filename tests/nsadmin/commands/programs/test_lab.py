"""A lab writes a context beside the operator's own, and takes it back."""

from pathlib import Path

import pytest

from nsadmin import contexts
from nsadmin.commands.programs.lab import announce_lab_context
from nsadmin.contexts import Context, Contexts

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
    assert announcement == f"Context lab in {file}: nsadmin --context lab clusterList"
    known = contexts.load_contexts(file)
    assert (known.current_name, known.require_context("lab").namesrv_addr) == (
        "prod",
        "127.0.0.1:1;127.0.0.1:2",
    )
    remove()
    assert contexts.load_contexts(file) == own


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
