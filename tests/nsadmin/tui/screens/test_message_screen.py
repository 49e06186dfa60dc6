"""The screen of one message: its keys, its decoders, and what it copies."""

from typing import Any

from nsadmin.commands.programs.message_tools import create_message_tools
from nsadmin.tui.app import Tui
from nsadmin.tui.messages.message_query import BrowsedMessage
from nsadmin.tui.screens.message_screen import MessageScreen
from nsadmin.tui.screens.screen_text import screen_to_text
from tests.support.screens import make_browsed_message, make_still_tui, open_screen, run_screen_test

SIZE = (100, 30)
MESSAGES = [
    make_browsed_message(b"eyJpZCI6IDd9", offset=1),
    make_browsed_message(b"\xff\x00", offset=2),
    make_browsed_message(b"\n".join(b"line %d" % number for number in range(200)), offset=3),
]


async def show(app: Tui, pilot: Any, message: BrowsedMessage = MESSAGES[0]) -> MessageScreen:
    screen = MessageScreen(MESSAGES, message, create_message_tools())
    await app.push_screen(screen)
    await settle(app, pilot)
    return screen


async def settle(app: Tui, pilot: Any) -> None:
    await app.workers.wait_for_complete()
    await pilot.pause()


@run_screen_test
async def test_decoders_are_typed_and_an_unknown_one_is_a_line() -> None:
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        await show(app, pilot)
        assert "eyJpZCI6IDd9" in screen_to_text(app)
        await pilot.press("d", *"base64 json", "enter")
        await settle(app, pilot)
        shown = screen_to_text(app)
        assert '"id": 7' in shown
        assert "base64 json" in shown
        await pilot.press("d", "ctrl+u", *"none", "enter")
        await settle(app, pilot)
        assert '"none"' in screen_to_text(app)
        await pilot.press("d", "escape")
        assert isinstance(app.screen, MessageScreen)


@run_screen_test
async def test_x_shows_hexadecimal_numbers_and_text_again() -> None:
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        screen = await show(app, pilot)
        await pilot.press("x")
        await settle(app, pilot)
        assert "00000000  65 79 4a 70" in screen_to_text(app)
        await pilot.press("x")
        await settle(app, pilot)
        assert screen.shown_body.description == "text"


@run_screen_test
async def test_keys_step_through_the_messages_and_stop_at_the_ends() -> None:
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        screen = await show(app, pilot)
        places = []
        for key in ("N", "n", "right", "n", "N"):
            await pilot.press(key)
            places.append(screen.message.message.queue_offset)
        assert places == [1, 2, 3, 3, 2]
        await settle(app, pilot)
        assert "not text, so hexadecimal" in screen_to_text(app)
        assert "2/3" in screen_to_text(app)


@run_screen_test
async def test_a_long_body_scrolls() -> None:
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        await show(app, pilot, MESSAGES[2])
        assert "line 199" not in screen_to_text(app)
        await pilot.press("j", "k", "end")
        await pilot.pause(0.5)
        assert "line 199" in screen_to_text(app)


@run_screen_test
async def test_y_copies_the_body_as_it_is_shown() -> None:
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        await show(app, pilot)
        await pilot.press("d", *"base64 json", "enter")
        await settle(app, pilot)
        await pilot.press("y")
        assert app.clipboard == '{\n  "id": 7\n}'
        assert "copied, if the terminal allows it" in screen_to_text(app)
