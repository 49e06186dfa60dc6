"""Commands on the screen: what they say, what they would do, and the word to type before they do it."""

from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, Log

from nsadmin.console.audit import load_audit
from nsadmin.tui.app import Tui
from nsadmin.tui.context import AvailableContexts
from nsadmin.tui.screens.command_output import ChangeScreen, OutputScreen, PluginScreen
from nsadmin.tui.screens.screen_text import screen_to_text
from tests.support.playground import Playground, start_playground
from tests.support.screens import feed_polls, make_context, make_still_tui, run_screen_test

SIZE = (120, 30)


async def until_said(app: Tui, pilot: Any, text: str) -> str:
    """Wait until the command has said this; all that it said."""
    for _ in range(400):
        log_text = "\n".join(line for log in app.screen.query(Log) for line in log.lines)
        if text in log_text:
            return log_text
        await pilot.pause(0.05)
    raise AssertionError(f"{text!r} was not said")


def on(ground: Playground, **changes: Any) -> Tui:
    return make_still_tui(AvailableContexts(make_context(words=("-n", ";".join(ground.addrs)), **changes)))


def perms(ground: Playground, name: str) -> set[int]:
    """What name servers have for a topic on the broker that may be written."""
    with ground.open_client() as admin:
        return {
            (permission.result or {})["orders"] for permission in admin.brokers.get_topic_permissions(name)
        }


def is_there(path: Path) -> bool:
    return path.exists()


@pytest.fixture
def audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NSADMIN_AUDIT", str(tmp_path / "audit.jsonl"))
    monkeypatch.setenv("NSADMIN_CONFIG", str(tmp_path / "config.yaml"))
    return tmp_path / "audit.jsonl"


def test_operator_wipes_a_broker(tmp_path: Path, audit: Path) -> None:
    @run_screen_test
    async def story() -> None:
        with start_playground(tmp_path / "lab") as ground:
            app = on(ground)
            async with app.run_test(size=SIZE) as pilot:
                await feed_polls(app, pilot, ground.poll_everything())
                await pilot.press("w")
                log_text = await until_said(app, pilot, "exit code 0")
                assert "rw- -> r--" in log_text
                assert perms(ground, "broker-a-0") == {6}
                await pilot.press(*"broker-b", "enter")
                assert app.screen.query_one("#confirm", Input).value == ""
                assert not is_there(audit)
                await pilot.press(*"broker-a-0", "enter")
                await until_said(app, pilot, "exit code 0: done")
                assert perms(ground, "broker-a-0") == {4}
                await pilot.press("escape")
                assert app.feed.looks == 1
                await feed_polls(app, pilot, ground.poll_everything())
                assert "⊘ wiped" in app.current_view.columns[4].render_cell(app.row_grid.rows[0]).text
            [record] = load_audit(audit).records
            assert "wipeWritePerm" in record["command"]

    story()


def test_what_was_looked_at_and_left_is_not_done(tmp_path: Path, audit: Path) -> None:
    @run_screen_test
    async def story() -> None:
        with start_playground(tmp_path / "lab") as ground:
            app = on(ground)
            async with app.run_test(size=SIZE) as pilot:
                await feed_polls(app, pilot, ground.poll_everything())
                await pilot.press("colon", *"deleteTopic -t orders -c cluster-a", "enter")
                await until_said(app, pilot, "exit code 0")
                await pilot.press("escape")
                assert len(app.screen_stack) == 1
            assert not is_there(audit)
            with ground.open_client() as admin:
                assert "orders" in admin.topics.list_names()

    story()


@run_screen_test
async def test_a_look_that_fails_leads_to_no_question() -> None:
    app = make_still_tui()
    async with app.run_test(size=SIZE) as pilot:
        app.push_screen(ChangeScreen(["wipeWritePerm", "b"], ["-n", "127.0.0.1:1"], "b"))
        await until_said(app, pilot, "exit code 4")
        assert not app.screen.query_one("#confirm").display


@run_screen_test
async def test_escape_ends_what_still_runs() -> None:
    app = make_still_tui()
    async with app.run_test(size=SIZE) as pilot:
        app.push_screen(OutputScreen(["where", "--watch", "0.2"], ["-n", "127.0.0.1:1"]))
        await until_said(app, pilot, "127.0.0.1:1")
        await pilot.press("escape")
        assert len(app.screen_stack) == 1


@run_screen_test
async def test_a_name_with_brackets_is_shown_as_it_is() -> None:
    app = make_still_tui()
    async with app.run_test(size=SIZE) as pilot:
        for screen in (
            OutputScreen(["help", "a[/]b\x1b"]),
            ChangeScreen(["wipeWritePerm", "a[/]b\x1b"], ["-n", "127.0.0.1:1"], "b"),
        ):
            app.push_screen(screen)
            await until_said(app, pilot, "exit code")
            assert "a[/]b\\x1b" in screen_to_text(app)
            await pilot.press("escape")


def test_an_option_is_added_before_the_words_that_are_none() -> None:
    screen = ChangeScreen(["wipeWritePerm", "--", "--yes"], (), "--yes")
    assert screen.words == ["wipeWritePerm", "--dry-run", "--", "--yes"]


@run_screen_test
async def test_the_exit_code_of_a_critical_check_says_critical() -> None:
    app = make_still_tui(AvailableContexts(make_context(words=("-n", "127.0.0.1:1"))))
    async with app.run_test(size=SIZE) as pilot:
        app.action_controller.run_command(["check", "namesrv"])
        await until_said(app, pilot, "exit code 2: critical")


@run_screen_test
async def test_commands_run_one_after_the_other() -> None:
    app = make_still_tui()
    async with app.run_test(size=(100, 30)) as pilot:
        commands = [["sh", "-c", "echo one; exit 3"], ["echo", "a\x1b[/]"]]
        app.push_screen(PluginScreen("show", commands, commands))
        await app.workers.wait_for_complete()
        await pilot.pause()
        lines = [line for line in app.screen.query_one(Log).lines if line]
        assert lines == [
            "── sh -c echo one; exit 3", "one", "-- exit code 3",
            "── echo a\\x1b[/]", "a\\x1b[/]", "-- exit code 0",
        ]  # fmt: skip
        assert "show: sh -c echo one; exit 3" in screen_to_text(app)


@run_screen_test
async def test_escape_skips_the_commands_that_have_not_started() -> None:
    app = make_still_tui()
    async with app.run_test(size=(100, 30)) as pilot:
        commands = [["sh", "-c", "echo started; sleep 60"], ["false"]]
        screen = PluginScreen("slow", commands, commands)
        app.push_screen(screen)
        for _ in range(200):
            if screen.query(Log) and "started" in screen.query_one(Log).lines:
                break
            await pilot.pause(0.05)
        await pilot.press("escape")
        await app.workers.wait_for_complete()
        assert screen.exit_code != 1, "false has not run"
