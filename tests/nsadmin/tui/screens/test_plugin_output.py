"""The output of a plugin: each command with its line and its exit code, until Esc."""

from textual.widgets import Log

from nsadmin.tui.screens.plugin_output import PluginScreen
from nsadmin.tui.screens.screen_text import screen_to_text
from tests.support.screens import make_still_tui, run_screen_test


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
