"""The palette on the screen: a few letters, and Enter."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from textual.command import CommandPalette, DiscoveryHit, Hit
from textual.pilot import Pilot
from textual.widgets import OptionList

from nsadmin.tui.app import Tui
from nsadmin.tui.context import AvailableContexts
from nsadmin.tui.palette.palette_controller import PaletteProvider, PaletteSource, bind_source
from nsadmin.tui.palette.palette_entries import PaletteEntry
from nsadmin.tui.screens.confirmation import ChangeScreen
from tests.support.screens import (
    compare_golden,
    make_broker_poll,
    make_context,
    make_server_poll,
    make_still_tui,
    open_screen,
    press,
    run_screen_test,
)

A = "10.0.1.1:10911"


def complete(words_before: Sequence[str], typed_word: str) -> list[tuple[str, str]]:
    return [("broker-a", "cluster-a")] if list(words_before) == ["wipeWritePerm"] else []


async def search(app: Tui, pilot: Any, query: str) -> list[str]:
    """Type, and wait until the palette shows what it found."""
    await press(pilot, "ctrl+p")
    assert isinstance(app.screen, CommandPalette)
    await pilot.press(*("space" if letter == " " else letter for letter in query))
    await app.workers.wait_for_complete()
    await pilot.pause()
    options = app.screen.query_one(OptionList)
    return [str(option.prompt).split("\n")[0] for option in options.options]


def opened() -> AbstractAsyncContextManager[tuple[Tui, Pilot[None]]]:
    contexts = AvailableContexts(make_context(complete_line=complete), lambda: ["lab", "prod[x]"])
    return open_screen(make_still_tui(contexts), [make_server_poll(), make_broker_poll(A)], (120, 30))


@run_screen_test
async def test_a_topic_a_broker_and_a_screen_open_at_once() -> None:
    async with opened() as (app, pilot):
        assert (await search(app, pilot, "paym"))[0] == "payments"
        compare_golden(app, "palette")
        await press(pilot, "enter")
        assert (app.current_view.name, app.current_view.title) == ("route", "payments")
        assert (await search(app, pilot, "broka"))[0] == "broker-a"
        await press(pilot, "enter")
        assert app.current_view.title == "broker-a master"
        assert "Drains" in await search(app, pilot, "drains")
        await pilot.press("escape")
        assert "context prod[x]" in await search(app, pilot, "prod[")
        await pilot.press("escape", "escape")


@run_screen_test
async def test_a_command_waits_for_its_arguments_in_the_prompt() -> None:
    async with opened() as (app, pilot):
        assert (await search(app, pilot, "topicRoute"))[0] == "topicRoute"
        await press(pilot, "enter")
        assert (app.prompt_input.display, app.prompt_input.value) == (True, "topicRoute ")


@run_screen_test
async def test_arguments_complete_in_the_palette_and_a_change_is_still_confirmed() -> None:
    async with opened() as (app, pilot):
        found = (await search(app, pilot, "wipeWritePerm b"))[:2]
        assert found == ["wipeWritePerm b", "wipeWritePerm broker-a"]
        await press(pilot, "down", "enter")
        assert isinstance(app.screen, ChangeScreen)
        assert app.screen.words == ["wipeWritePerm", "broker-a", "--dry-run"]


@run_screen_test
async def test_without_letters_it_shows_the_screens() -> None:
    async with opened() as (app, pilot):
        assert (await search(app, pilot, ""))[:3] == ["Home", "Brokers", "Topics"]


ENTRIES = [PaletteEntry("a[/]b\x1b", "topic [x]"), PaletteEntry("topicRoute", "command")]


def complete_orders(words_before: Sequence[str], typed_word: str) -> list[tuple[str, str]]:
    return [("orders", "a topic")]


async def find(provider: PaletteProvider, query: str) -> list[Hit | DiscoveryHit]:
    return [hit async for hit in provider._search(query)]


@run_screen_test
async def test_command_lines_come_first_and_a_chosen_entry_runs() -> None:
    chosen: list[PaletteEntry] = []
    app = make_still_tui()
    async with app.run_test():
        source = PaletteSource(lambda: ENTRIES, complete_orders, chosen.append)
        provider = bind_source(source)(app.screen)
        provider._post_init()
        hits = await find(provider, "topicRoute or")
        assert [hit.text for hit in hits] == ["topicRoute or", "topicRoute orders"]
        assert [hit.help for hit in hits] == ["run this command", "a topic"]
        hits[1].command()
        await asyncio.sleep(0)
        assert [entry.prompt_line for entry in chosen] == ["topicRoute orders"]
        assert [hit.text for hit in await find(provider, "route")] == ["topicRoute"]
        assert await find(provider, "'open") == []


@run_screen_test
async def test_brackets_and_control_characters_of_a_name_are_shown_as_text() -> None:
    app = make_still_tui()
    async with app.run_test():
        provider = bind_source(PaletteSource(lambda: ENTRIES, complete_orders, lambda entry: None))(
            app.screen
        )
        provider._post_init()
        [hit] = await find(provider, "a[/]b")
        assert str(hit.prompt) == "a[/]b\\x1b"
        assert hit.help == "topic \\[x]"
        assert [hit.text for hit in await find(provider, "")] == ["a[/]b\x1b", "topicRoute"]
