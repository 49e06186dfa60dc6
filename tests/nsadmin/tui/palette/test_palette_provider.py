"""The hits of the palette: completed command lines first, then names, each shown as it is."""

import asyncio
from collections.abc import Sequence

from textual.command import DiscoveryHit, Hit

from nsadmin.tui.palette.palette_entries import PaletteEntry
from nsadmin.tui.palette.palette_provider import PaletteProvider, PaletteSource, bind_source
from tests.support.screens import make_still_tui, run_screen_test

ENTRIES = [PaletteEntry("a[/]b\x1b", "topic [x]"), PaletteEntry("topicRoute", "command")]


def complete(words_before: Sequence[str], typed_word: str) -> list[tuple[str, str]]:
    return [("orders", "a topic")]


async def find(provider: PaletteProvider, query: str) -> list[Hit | DiscoveryHit]:
    return [hit async for hit in provider._search(query)]


@run_screen_test
async def test_command_lines_come_first_and_a_chosen_entry_runs() -> None:
    chosen: list[PaletteEntry] = []
    app = make_still_tui()
    async with app.run_test():
        source = PaletteSource(lambda: ENTRIES, complete, chosen.append)
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
        provider = bind_source(PaletteSource(lambda: ENTRIES, complete, lambda entry: None))(app.screen)
        provider._post_init()
        [hit] = await find(provider, "a[/]b")
        assert str(hit.prompt) == "a[/]b\\x1b"
        assert hit.help == "topic \\[x]"
        assert [hit.text for hit in await find(provider, "")] == ["a[/]b\x1b", "topicRoute"]
