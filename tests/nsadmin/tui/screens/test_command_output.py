"""Commands on the screen: what they say, what they would do, and the word to type before they do it."""

from textual.widgets import Log

from nsadmin.tui.screens.command_output import OutputScreen, PluginScreen
from nsadmin.tui.screens.confirmation import ChangeScreen
from nsadmin.tui.screens.screen_text import screen_to_text
from tests.support.screens import make_context, make_still_tui, open_screen, run_screen_test, until_said

SIZE = (120, 30)


@run_screen_test
async def test_escape_ends_what_still_runs() -> None:
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        app.push_screen(OutputScreen(["where", "--watch", "0.2"], ["-n", "127.0.0.1:1"]))
        await until_said(app, pilot, "127.0.0.1:1")
        await pilot.press("escape")
        assert len(app.screen_stack) == 1


@run_screen_test
async def test_a_name_with_brackets_is_shown_as_it_is() -> None:
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        for screen in (
            OutputScreen(["help", "a[/]b\x1b"]),
            ChangeScreen(["wipeWritePerm", "a[/]b\x1b"], ["-n", "127.0.0.1:1"], "b"),
        ):
            app.push_screen(screen)
            await until_said(app, pilot, "exit code")
            assert "a[/]b\\x1b" in screen_to_text(app)
            await pilot.press("escape")


@run_screen_test
async def test_the_exit_code_of_a_critical_check_says_critical() -> None:
    app = make_still_tui(make_context(words=("-n", "127.0.0.1:1")))
    async with app.run_test(size=SIZE) as pilot:
        app.action_controller.run_command(["check", "namesrv"])
        await until_said(app, pilot, "exit code 2: critical")


@run_screen_test
async def test_commands_run_one_after_the_other() -> None:
    async with open_screen(make_still_tui(), size=(100, 30)) as (app, pilot):
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
    async with open_screen(make_still_tui(), size=(100, 30)) as (app, pilot):
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
