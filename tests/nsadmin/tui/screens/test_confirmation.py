"""Changes on the screen: what they would do, and the words to type before they do it."""

from pathlib import Path
from typing import Any

from textual.widgets import Input

from nsadmin.console.audit import load_audit
from nsadmin.tui.actions.planned_commands import PlannedCommand
from nsadmin.tui.app import Tui
from nsadmin.tui.screens.confirmation import BatchChangeScreen, ChangeScreen
from nsadmin.tui.screens.screen_text import screen_to_text
from tests.support.playground import Playground, start_playground
from tests.support.screens import (
    feed_polls,
    make_context,
    make_still_tui,
    open_screen,
    press,
    run_screen_test,
    until_said,
    until_shown,
)

SIZE = (120, 30)


def on(ground: Playground, **changes: Any) -> Tui:
    return make_still_tui(make_context(words=("-n", ";".join(ground.addrs)), **changes))


def topic_perms(ground: Playground, name: str) -> set[int]:
    """What name servers have for a topic on the broker that may be written."""
    with ground.open_client() as admin:
        return {
            (permission.result or {})["orders"]
            for permission in admin.broker_routes.get_topic_permissions(name)
        }


def is_there(path: Path) -> bool:
    return path.exists()


@run_screen_test
async def test_operator_wipes_a_broker(tmp_path: Path, audit: Path) -> None:
    with start_playground(tmp_path / "lab") as ground:
        async with open_screen(on(ground), ground.poll_everything(), size=SIZE) as (app, pilot):
            await pilot.press("w")
            said = await until_said(app, pilot, "exit code 0")
            assert "rw- -> r--" in said
            assert topic_perms(ground, "broker-a-0") == {6}
            await pilot.press(*"broker-b", "enter")
            assert app.screen.query_one("#confirm", Input).value == ""
            assert not is_there(audit)
            await pilot.press(*"broker-a-0", "enter")
            await until_said(app, pilot, "exit code 0: done")
            assert topic_perms(ground, "broker-a-0") == {4}
            await pilot.press("escape")
            assert app.feed.looks == 1
            await feed_polls(app, pilot, ground.poll_everything())
            assert "⊘ wiped" in app.current_view.columns[4].render_cell(app.row_grid.rows[0]).text
        [record] = load_audit(audit).records
        assert "wipeWritePerm" in record["command"]


@run_screen_test
async def test_what_was_looked_at_and_left_is_not_done(tmp_path: Path, audit: Path) -> None:
    with start_playground(tmp_path / "lab") as ground:
        async with open_screen(on(ground), ground.poll_everything(), size=SIZE) as (app, pilot):
            await pilot.press("colon", *"deleteTopic -t orders -c cluster-a", "enter")
            await until_said(app, pilot, "exit code 0")
            await pilot.press("escape")
            assert len(app.screen_stack) == 1
        assert not is_there(audit)
        with ground.open_client() as admin:
            assert "orders" in admin.topics.list_names()


@run_screen_test
async def test_a_look_that_fails_leads_to_no_question() -> None:
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        app.push_screen(ChangeScreen(["wipeWritePerm", "b"], ["-n", "127.0.0.1:1"], "b"))
        await until_said(app, pilot, "exit code 4")
        assert not app.screen.query_one("#confirm").display


def test_an_option_is_added_before_the_words_that_are_none() -> None:
    screen = ChangeScreen(["wipeWritePerm", "--", "--yes"], (), "--yes")
    assert screen.words == ["wipeWritePerm", "--dry-run", "--", "--yes"]


@run_screen_test
async def test_an_operator_wipes_two_brokers_with_one_confirmation(tmp_path: Path, audit: Path) -> None:
    with start_playground(tmp_path / "lab") as ground:
        async with open_screen(on(ground), ground.poll_everything(), size=SIZE) as (app, pilot):
            await pilot.press("m", "m", "m", "w")
            await until_shown(app, pilot, 'Type "wipe 2" to make all changes')
            assert topic_perms(ground, "broker-a-0") == topic_perms(ground, "broker-a-1") == {6}
            await pilot.press(*"wipe", "enter")
            assert app.screen.query_one("#confirm", Input).value == ""
            await pilot.press(*"wipe", "space", "2", "enter")
            await until_shown(app, pilot, "2 changes: 2 done")
            assert "✓ broker-a-1  done" in screen_to_text(app)
            assert topic_perms(ground, "broker-a-0") == topic_perms(ground, "broker-a-1") == {4}
            assert topic_perms(ground, "broker-b-0") == {6}
            await pilot.press("escape")
            assert app.view_state.marked_keys == set()
            assert app.feed.looks == 1
        assert len(load_audit(audit).records) == 2


@run_screen_test
async def test_a_failed_preview_leads_to_no_question() -> None:
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        plan = [PlannedCommand("one", ["wipeWritePerm", "a"]), PlannedCommand("two", ["wipeWritePerm", "b"])]
        options = ["-n", "127.0.0.1:1"]
        app.push_screen(BatchChangeScreen("two changes", plan, options, "two 2", ["- a", "+ b"]))
        await until_shown(app, pilot, "2 of 2 previews failed: nothing was changed.")
        assert not app.screen.query_one("#confirm").display
        assert "✕ two  preview failed: exit code 4" in screen_to_text(app)
        assert "+ b" in screen_to_text(app)
        await pilot.press("escape")
        assert len(app.screen_stack) == 1


@run_screen_test
async def test_escape_stops_before_the_next_change() -> None:
    results: list[bool | None] = []
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        check = PlannedCommand("check", ["help"], is_check=True)
        planned = [check, *(PlannedCommand(name, ["where", "--watch", "0.2"]) for name in ("one", "two"))]
        screen = BatchChangeScreen("two", planned, ["-n", "127.0.0.1:1"], "go")
        screen.run_commands = lambda: None  # type: ignore[method-assign]
        app.push_screen(screen, results.append)
        await pilot.pause()
        screen.is_confirmed = True
        screen.run_worker(screen.run_changes, thread=True)
        await until_shown(app, pilot, "… one    runs")
        await pilot.press("escape")
        await until_shown(app, pilot, "– two    not run")
        assert results == []
        await press(pilot, "escape")
        assert results == [False]
