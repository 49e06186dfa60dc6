"""The dialog that searches messages."""

from textual import events
from textual.widgets import Input

from nsadmin.commands.programs.message_tools import create_message_tools
from nsadmin.tui.messages.message_query import MessageQuery
from nsadmin.tui.screens.message_search_screen import MessageSearchScreen
from nsadmin.tui.screens.screen_text import screen_to_text
from tests.support.screens import make_still_tui, press, run_screen_test

SIZE = (100, 30)


@run_screen_test
async def test_the_fields_begin_with_the_present_conditions() -> None:
    app, tools = make_still_tui(), create_message_tools()
    query = tools.parse_query(["orders", "--key", "a b", "--key", "c", "--body", "x y", "--queue", "3"])
    results: list[MessageQuery | None] = []
    async with app.run_test(size=SIZE) as pilot:
        app.push_screen(MessageSearchScreen(query, tools), results.append)
        await pilot.pause()
        assert "'a b' c" in screen_to_text(app)
        await press(pilot, "enter")
        assert results == [query]


@run_screen_test
async def test_a_quote_that_is_open_is_a_mistake() -> None:
    app, tools = make_still_tui(), create_message_tools()
    async with app.run_test(size=SIZE) as pilot:
        app.push_screen(MessageSearchScreen(tools.parse_query(["orders"]), tools))
        await pilot.pause()
        await pilot.press("tab", "tab", "apostrophe", "a", "enter")
        assert "tag: no closing quotation" in screen_to_text(app)
        await pilot.press("escape")
        assert len(app.screen_stack) == 1


@run_screen_test
async def test_a_topic_that_looks_like_an_option_is_searched() -> None:
    app, tools = make_still_tui(), create_message_tools()
    results: list[MessageQuery | None] = []
    async with app.run_test(size=SIZE) as pilot:
        app.push_screen(MessageSearchScreen(MessageQuery("-t"), tools), results.append)
        await pilot.pause()
        await press(pilot, *"earliest", "enter")
        assert [result.topic for result in results if result] == ["-t"]


@run_screen_test
async def test_who_types_fast_types_into_the_next_field() -> None:
    app, tools = make_still_tui(), create_message_tools()
    async with app.run_test(size=SIZE) as pilot:
        app.push_screen(MessageSearchScreen(tools.parse_query(["orders"]), tools))
        await pilot.pause()
        for key in ("1", "h", "down", "down", "A"):
            app.post_message(events.Key(key, None if len(key) > 1 else key))
        for _ in range(4):
            await pilot.pause()
        typed = {field.id: field.value for field in app.screen.query(Input) if field.value}
        assert typed == {"search-from": "1h", "search-tag": "A"}
