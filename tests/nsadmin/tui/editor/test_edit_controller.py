"""`e` with a script as the editor: on a real terminal, and what changes nothing."""

import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from nsadmin.tui.app import Tui
from nsadmin.tui.screens.screen_text import screen_to_text
from tests.support.lab import start_lab
from tests.support.playground import Playground, start_playground
from tests.support.screens import feed_polls, make_context, make_still_tui, open_screen, run_screen_test
from tests.support.terminal import CopiedTerminal

SIZE = (120, 30)


def write_editor(folder: Path, script: str) -> str:
    """An editor that runs a line of shell on the file, which is $1."""
    editor = folder / "editor.sh"
    editor.write_text(f"#!/bin/sh\n{script}\n")
    editor.chmod(0o755)
    return str(editor)


def on(ground: Playground, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, **changes: Any) -> Tui:
    monkeypatch.setattr(Tui, "suspend", lambda app: nullcontext())
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "tmp").mkdir(exist_ok=True)
    return make_still_tui(make_context(words=("-n", ";".join(ground.addrs)), **changes))


async def until_shown(app: Tui, pilot: Any, text: str) -> None:
    for _ in range(400):
        if text in screen_to_text(app):
            return
        await pilot.pause(0.05)
    raise AssertionError(screen_to_text(app))


@pytest.fixture
def audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NSADMIN_AUDIT", str(tmp_path / "audit.jsonl"))
    monkeypatch.setenv("NSADMIN_CONFIG", str(tmp_path / "config.yaml"))
    return tmp_path / "audit.jsonl"


@run_screen_test
async def test_a_value_is_edited_and_confirmed(
    tmp_path: Path, audit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_playground(tmp_path / "lab") as ground:
        with ground.open_client() as admin:
            admin.kv.put_value("ORDER_TOPIC_CONFIG", "orders", "broker-a-0:4")
        app = on(ground, monkeypatch, tmp_path)
        async with app.run_test(size=SIZE) as pilot:
            await feed_polls(app, pilot, ground.poll_everything())
            await pilot.press("5", "slash", *"orders", "enter")
            monkeypatch.setenv("EDITOR", write_editor(tmp_path, "sed -i s/:4/:8/ $1"))
            await pilot.press("e")
            await until_shown(app, pilot, 'Type "orders" to make all changes')
            shown = screen_to_text(app)
            assert ("-broker-a-0:4" in shown, "+broker-a-0:8" in shown) == (True, True)
            await pilot.press(*"orders", "enter")
            await until_shown(app, pilot, "1 change: 1 done")
            await pilot.press("escape")
        with ground.open_client() as admin:
            entries = [result.result or {} for result in admin.kv.get_entries_each("ORDER_TOPIC_CONFIG")]
        assert {entry["orders"] for entry in entries} == {"broker-a-0:8"}
        assert os.listdir(tmp_path / "tmp") == []


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("exit 0", "nothing was changed"),
        ("sed -i s/:4/:8/ $1; exit 3", "nothing was changed: the editor failed with exit code 3"),
    ],
)
@run_screen_test
async def test_an_editor_that_changes_nothing_or_fails_sends_nothing(
    script: str, message: str, tmp_path: Path, audit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_playground(tmp_path / "lab") as ground:
        with ground.open_client() as admin:
            admin.kv.put_value("ORDER_TOPIC_CONFIG", "orders", "broker-a-0:4")
        app = on(ground, monkeypatch, tmp_path)
        async with app.run_test(size=SIZE) as pilot:
            await feed_polls(app, pilot, ground.poll_everything())
            await pilot.press("5", "slash", *"orders", "enter")
            monkeypatch.setenv("EDITOR", write_editor(tmp_path, script))
            await pilot.press("e")
            await until_shown(app, pilot, message)
            assert len(app.screen_stack) == 1
        with ground.open_client() as admin:
            assert admin.kv.get_value("ORDER_TOPIC_CONFIG", "orders") == "broker-a-0:4"
    assert os.listdir(tmp_path / "tmp") == []


@run_screen_test
async def test_a_read_only_context_and_a_row_without_an_object() -> None:
    async with open_screen(make_still_tui(make_context(read_only=True)), size=SIZE) as (app, pilot):
        await pilot.press("e")
        assert "edit: disabled, because the context is read-only" in screen_to_text(app)
        app.cluster_context = make_context()
        await pilot.press("e")
        assert "this row has nothing to edit" in screen_to_text(app)


def test_the_editor_has_the_terminal_and_an_invalid_text_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f"""\
if [ ! -e {tmp_path}/seen ]; then touch {tmp_path}/seen; echo nonsense >> $1; exit 0; fi
echo the editor runs; read line; sed -i -E "/^(clusterTest|orderMessageEnable)=/s/=false/=true/" $1"""
    monkeypatch.setenv("EDITOR", write_editor(tmp_path, script))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("VISUAL", raising=False)
    with start_lab(tmp_path / "lab") as there, CopiedTerminal(
        "tui", "servers", "-n", there.namesrv_addr, home=tmp_path
    ) as terminal:  # fmt: skip
        terminal.wait_for_text("NAME SERVER")
        terminal.read_for(1)
        terminal.type_keys("\r")
        terminal.wait_for_text("SETTING")
        terminal.type_keys("e")
        terminal.wait_for_text("expected KEY=VALUE; your text")
        terminal.type_keys("e")
        terminal.wait_for_text("the editor runs")
        terminal.type_keys("\n")
        terminal.wait_for_text("to make all changes")
        terminal.type_keys("\x1b")
        terminal.read_for(0.5)
        terminal.type_keys("q")
        assert terminal.wait_for_exit() == 0
    [kept_file] = tmp_path.glob("nsadmin-edit-*/namesrv.properties")
    assert "nonsense" in kept_file.read_text()
    assert not (tmp_path / "audit.jsonl").exists()
