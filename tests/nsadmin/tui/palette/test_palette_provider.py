"""The palette on the screen: a few letters, and Enter."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from textual.command import CommandPalette, DiscoveryHit, Hit
from textual.pilot import Pilot
from textual.widgets import OptionList

from nsadmin.tui.app import Tui
from nsadmin.tui.context import AvailableContexts
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.palette.palette_provider import PaletteEntry, PaletteProvider
from nsadmin.tui.screens.command_output import OutputScreen
from nsadmin.tui.screens.confirmation import ChangeScreen
from nsadmin.tui.views.brokers.broker_detail import BrokerSummaryView
from nsadmin.tui.views.topics.topic_detail import TopicRouteView
from tests.support.screens import (
    compare_golden,
    make_broker_poll,
    make_context,
    make_model,
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


async def find(provider: PaletteProvider, query: str) -> list[Hit | DiscoveryHit]:
    return [hit async for hit in provider._search(query)]


@asynccontextmanager
async def provided(model: ClusterModel | None = None) -> AsyncIterator[PaletteProvider]:
    app = make_still_tui(make_context(complete_line=lambda words, typed: [("orders", "a topic")]))
    async with app.run_test():
        if model is not None:
            app.model = model
        provider = PaletteProvider(app.screen)
        provider._post_init()
        yield provider


@run_screen_test
async def test_brokers_and_topics_of_the_cluster_open_their_views() -> None:
    async with provided(make_model(make_server_poll(groups={"broker-a": {0: "h:1", 2: "h:2"}}))) as provider:
        assert [entry for entry in provider.list_entries() if entry.view is not None] == [
            PaletteEntry("broker-a", "broker h:1", view=BrokerSummaryView("broker-a", 0, "h:1", "cluster-a")),
            PaletteEntry(
                "broker-a 2", "broker h:2", view=BrokerSummaryView("broker-a", 2, "h:2", "cluster-a")
            ),
            PaletteEntry("orders", "topic", view=TopicRouteView("orders")),
            PaletteEntry("payments", "topic", view=TopicRouteView("payments")),
        ]


@run_screen_test
async def test_the_others_are_lines_for_the_prompt_and_commands_wait_for_their_arguments() -> None:
    async with provided() as provider:
        entries = {entry.name: entry for entry in provider.list_entries()}
        names = ("KV", "theme nord", "q", "kv get")
        assert [entries[name].prompt_line for name in names] == ["kv", "theme nord", "q", "kv get "]
        assert [entries[name].awaits_arguments for name in names] == [False, False, False, True]
        assert {"tui", "lab", "batch"}.isdisjoint(entries)


@run_screen_test
async def test_command_lines_come_first_and_a_chosen_entry_runs() -> None:
    async with provided() as provider:
        hits = await find(provider, "topicRoute or")
        assert [hit.text for hit in hits] == ["topicRoute or", "topicRoute orders"]
        assert [hit.help for hit in hits] == ["run this command", "a topic"]
        hits[1].command()
        await asyncio.sleep(0)
        screen = provider.app.screen
        assert isinstance(screen, OutputScreen)
        assert screen.words == ["topicRoute", "orders"]
        assert (await find(provider, "topicroute"))[0].text == "topicRoute"
        assert await find(provider, "'open") == []


@run_screen_test
async def test_brackets_and_control_characters_of_a_name_are_shown_as_text() -> None:
    name = "a[/]b\x1b"
    async with provided(make_model(make_server_poll(topics=(name,)))) as provider:
        [hit] = await find(provider, "a[/]b")
        assert str(hit.prompt) == "a[/]b\\x1b"
        provider._named_entries = [("x", PaletteEntry("x", "topic [x]"))]
        assert [hit.help for hit in await find(provider, "")] == ["topic \\[x]"]
