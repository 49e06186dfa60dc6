"""Own keys on the screen: hotkeys, plugins in their scopes, and what a read-only context refuses."""

import json
import sys
from pathlib import Path
from typing import Any

from textual.widgets import Log

from nsadmin.tui.app import Tui
from nsadmin.tui.custom_commands.command_file import CustomCommands, Plugin
from nsadmin.tui.polling.poll_records import AnyPoll
from nsadmin.tui.screens.command_output import PluginScreen
from nsadmin.tui.screens.confirmation import BatchChangeScreen, ChangeScreen
from nsadmin.tui.screens.dialogs import ChooseScreen
from nsadmin.tui.screens.screen_text import screen_to_text
from tests.support.screens import (
    make_broker_poll,
    make_context,
    make_server_poll,
    make_still_tui,
    open_screen,
    press,
    run_screen_test,
)

SIZE = (120, 30)
A = "10.0.1.1:10911"
ONE_BROKER: list[AnyPoll] = [make_server_poll(), make_broker_poll(A)]
NAMES = {f"broker-{letter}": {0: f"10.0.1.{at}:10911"} for at, letter in enumerate("ab", 1)}
ECHO = [sys.executable, "-c", "import json, sys; print(json.dumps(sys.argv[1:]))"]


def having(*plugins: Plugin, read_only: bool = False, **more: Any) -> Tui:
    return make_still_tui(
        make_context(read_only=read_only, words=("-n", "127.0.0.1:1")),
        custom_commands=CustomCommands(plugins=plugins, **more),
    )


async def until_said(app: Tui, pilot: Any, text: str) -> list[str]:
    for _ in range(400):
        lines = [line for log in app.screen.query(Log) for line in log.lines]
        if any(text in line for line in lines):
            return lines
        await pilot.pause(0.05)
    raise AssertionError(f"{text!r} was not said")


@run_screen_test
async def test_a_hotkey_runs_its_line_and_an_alias_its_text() -> None:
    app = having(aliases={"pay": "topics /pay"}, hotkeys={"f2": "pay", "ctrl+t": "theme nord"})
    async with open_screen(app, ONE_BROKER, SIZE) as (app, pilot):
        await pilot.press("f2")
        assert "1 of 2 rows  filter pay" in screen_to_text(app)
        await pilot.press("ctrl+t")
        assert app.theme == "nord"
        await pilot.press("slash", "f2")
        assert app.prompt_input.display, "an open prompt keeps the keys"


@run_screen_test
async def test_a_plugin_gets_the_values_of_the_row_as_arguments() -> None:
    app = having(Plugin("show", "P", [*ECHO, "{broker}", "{addr} {cluster}", "{context}"], ["brokers"]))
    async with open_screen(app, ONE_BROKER, SIZE) as (app, pilot):
        await pilot.press("P")
        lines = await until_said(app, pilot, "-- exit code 0")
        assert json.loads(lines[0]) == ["broker-a", f"{A} cluster-a", "lab"]
        await pilot.press("escape", "enter", "P")
        lines = await until_said(app, pilot, "-- exit code 0")
        assert json.loads(lines[0])[0] == "broker-a", "the tabs of a broker are in the scope"
        await pilot.press("escape", "2", "P")
        assert "this key works only in brokers" in screen_to_text(app)


@run_screen_test
async def test_a_plugin_runs_for_each_marked_row() -> None:
    app = having(Plugin("show", "P", [*ECHO, "{broker}"]))
    async with open_screen(app, [make_server_poll(groups=NAMES), make_broker_poll(A)], SIZE) as (app, pilot):
        await pilot.press("M", "P")
        await until_said(app, pilot, '["broker-b"]')
        lines = await until_said(app, pilot, "-- exit code 0")
        assert [line for line in lines if line.startswith("[")] == ['["broker-a"]', '["broker-b"]']


@run_screen_test
async def test_a_read_only_context_refuses_plugins_that_are_not_marked() -> None:
    app = having(
        Plugin("one", "P", [*ECHO]),
        Plugin("two", "f2", [*ECHO], is_read_only=True),
        Plugin("three", "f3", ["nsadmin", "wipeWritePerm", "{broker}"], is_read_only=True),
        read_only=True,
    )
    async with open_screen(app, ONE_BROKER, SIZE) as (app, pilot):
        await pilot.press("P")
        assert "plugin one is not marked readOnly, and this context is read-only" in screen_to_text(app)
        await pilot.press("f3")
        assert "plugin three: wipeWritePerm changes the cluster" in screen_to_text(app)
        await pilot.press("f2")
        await until_said(app, pilot, "-- exit code 0")


@run_screen_test
async def test_a_command_of_nsadmin_uses_the_context_and_a_change_has_its_preview() -> None:
    app = having(
        Plugin("route", "P", ["nsadmin", "where", "{broker}"]),
        Plugin("wipe", "f2", ["nsadmin", "wipeWritePerm", "{broker}"]),
        Plugin("lost", "f3", ["nsadmin", "topicLst"]),
    )
    async with open_screen(app, [make_server_poll(groups=NAMES), make_broker_poll(A)], SIZE) as (app, pilot):
        await pilot.press("f3")
        assert 'plugin lost: unknown command "topicLst"' in screen_to_text(app)
        await press(pilot, "f2")
        assert isinstance(app.screen, ChangeScreen)
        assert app.screen.words == ["wipeWritePerm", "broker-a", "--dry-run"]
        await press(pilot, "escape", "M", "f2")
        assert isinstance(app.screen, BatchChangeScreen)
        await press(pilot, "escape", "M", "P")
        assert isinstance(app.screen, PluginScreen)
        assert app.screen._arguments_list[0][-4:] == ["-n", "127.0.0.1:1", "where", "broker-a"]


@run_screen_test
async def test_a_plugin_can_ask_first() -> None:
    app = having(Plugin("show", "P", [*ECHO, "{broker}"], needs_confirmation=True))
    async with open_screen(app, ONE_BROKER, SIZE) as (app, pilot):
        await press(pilot, "P")
        assert isinstance(app.screen, ChooseScreen)
        await pilot.press("enter")
        assert len(app.screen_stack) == 1, "the first choice is to cancel"
        await press(pilot, "P")
        await pilot.press("down", "enter")
        await until_said(app, pilot, '["broker-a"]')


@run_screen_test
async def test_a_plugin_in_the_background_reports_its_end(tmp_path: Path) -> None:
    writer = [sys.executable, "-c", "import sys; open(sys.argv[1], 'w').close()", str(tmp_path / "made")]
    app = having(
        Plugin("make", "P", writer, runs_in_background=True),
        Plugin("none", "f2", [str(tmp_path / "none")], runs_in_background=True),
        Plugin("gone", "f3", [str(tmp_path / "none")]),
    )
    async with open_screen(app, ONE_BROKER, SIZE) as (app, pilot):
        await pilot.press("P")
        assert "runs in the background" in screen_to_text(app)
        for _ in range(200):
            app.action_controller.report_ended_jobs()
            if "ended with exit code 0" in screen_to_text(app):
                break
            await pilot.pause(0.05)
        assert "ended with exit code 0" in screen_to_text(app)
        await pilot.press("f2")
        assert "No such file or directory" in app.log_lines[-1][1]
        await pilot.press("f3")
        await until_said(app, pilot, "did not start: No such file or directory")
    assert (tmp_path / "made").exists()


@run_screen_test
async def test_a_row_without_a_value_and_an_unknown_name_are_a_line() -> None:
    async with open_screen(having(Plugin("show", "P", [*ECHO, "{group}"])), ONE_BROKER, SIZE) as (app, pilot):
        await pilot.press("P")
        assert "plugin show: this row has no group" in screen_to_text(app)
        app.action_controller.run_prompt_line("plugin lost")
        assert 'unknown plugin "lost": choose from show' in screen_to_text(app)
        app.custom_commands = CustomCommands()
        app.action_controller.run_prompt_line("plugin")
        assert "tui-commands.yaml has none" in screen_to_text(app)


@run_screen_test
async def test_mistakes_of_the_file_are_lines_of_the_log() -> None:
    app = having(error_lines=["/x/tui-commands.yaml:2: one", "/x/tui-commands.yaml:5: two"])
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert "/x/tui-commands.yaml:2: one (L shows all)" in screen_to_text(app)
        assert [line for _, line in app.log_lines] == [
            "/x/tui-commands.yaml:2: one", "/x/tui-commands.yaml:5: two",
        ]  # fmt: skip


@run_screen_test
async def test_escape_interrupts_a_plugin_and_its_children(tmp_path: Path) -> None:
    script = tmp_path / "slow.sh"
    script.write_text("#!/bin/sh\necho started\nsleep 60\n")
    script.chmod(0o755)
    async with open_screen(having(Plugin("slow", "P", [str(script)])), ONE_BROKER, SIZE) as (app, pilot):
        await pilot.press("P")
        await until_said(app, pilot, "started")
        await pilot.press("escape")
        await app.workers.wait_for_complete()
        assert len(app.screen_stack) == 1
