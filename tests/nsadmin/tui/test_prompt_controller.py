"""The prompt: the text that it opens with, and what Enter and Esc do."""

from collections.abc import Sequence
from typing import Any

from nsadmin.tui.app import Tui
from nsadmin.tui.context import AvailableContexts
from nsadmin.tui.screens.screen_text import screen_to_text
from tests.support.screens import (
    compare_golden,
    feed_polls,
    make_broker_poll,
    make_context,
    make_server_poll,
    make_still_tui,
    open_screen,
    press,
    run_screen_test,
)

SIZE = (120, 30)


@run_screen_test
async def test_the_prompt_opens_with_the_usual_text_of_its_mode_or_with_a_given_one() -> None:
    app = make_still_tui()
    async with app.run_test(size=SIZE) as pilot:
        await feed_polls(app, pilot, [make_server_poll(), make_broker_poll("10.0.1.1:10911")])
        prompt = app.prompt_controller
        prompt.open_prompt("save")
        assert app.prompt_input.value == "nsadmin-brokers-20251231-120000.svg"
        await pilot.pause()
        prompt.close_prompt("save", None)
        assert not app.prompt_input.display
        prompt.open_prompt("command", "topicRoute ")
        assert app.prompt_input.value == "topicRoute "
        await pilot.pause()
        prompt.close_prompt("command", None)
        prompt.open_prompt("filter")
        assert app.prompt_input.value == ""
        prompt.close_prompt("filter", "!broker")
        assert "no row matches the filter" in screen_to_text(app)
        prompt.open_prompt("filter")
        assert app.prompt_input.value == "!broker"
        await pilot.pause()


@run_screen_test
async def test_a_time_is_asked_for_only_in_a_replay() -> None:
    app = make_still_tui()
    async with app.run_test(size=SIZE):
        app.prompt_controller.open_prompt("seek")
        assert not app.prompt_input.display
        assert "only a replay has a timeline" in screen_to_text(app)


def complete_topics(words_before: Sequence[str], typed_word: str) -> list[tuple[str, str]]:
    names = ["topicList", "topicRoute"] if not words_before else ["orders", "orders-new", "users"]
    return [(name, f"about {name}") for name in names if name.startswith(typed_word)]


async def tab(app: Tui, pilot: Any, key: str = "tab") -> str:
    await pilot.press(key)
    await app.workers.wait_for_complete()
    await pilot.pause()
    return app.prompt_input.value


@run_screen_test
async def test_tab_completes_the_line_and_shows_candidates() -> None:
    app = make_still_tui(
        AvailableContexts(make_context(complete_line=complete_topics), lambda: ["lab", "prod"])
    )
    async with app.run_test(size=SIZE) as pilot:
        await feed_polls(app, pilot, [make_server_poll(), make_broker_poll("10.0.1.1:10911")])
        await pilot.press("colon", *"topicR")
        assert await tab(app, pilot) == "topicRoute "
        await pilot.press("o")
        assert await tab(app, pilot) == "topicRoute orders"
        compare_golden(app, "prompt-candidates")
        assert await tab(app, pilot) == "topicRoute orders"
        assert await tab(app, pilot) == "topicRoute orders-new"
        assert await tab(app, pilot, "shift+tab") == "topicRoute orders"
        assert "about orders-new" in screen_to_text(app)
        await press(pilot, "space")
        assert "about orders-new" not in screen_to_text(app)
        await pilot.press("escape", "colon", *"ctx", "space", "p")
        assert await tab(app, pilot) == "ctx prod "
        await pilot.press("escape")
        assert app.current_view.name == "brokers", "Tab in the prompt is not the next tab"


@run_screen_test
async def test_screens_aliases_and_the_names_after_a_built_in_command_are_offered() -> None:
    contexts = AvailableContexts(make_context(), lambda: ["lab", "prod"])
    async with open_screen(make_still_tui(contexts), size=SIZE) as (app, pilot):

        async def complete(line: str) -> list[str]:
            app.prompt_controller.open_prompt("command", line)
            await tab(app, pilot)
            lines = app.find_lines("candidates").shown_lines
            found = [cells[0].text.strip() for cells in lines] or [app.prompt_input.value]
            await press(pilot, "escape")
            return found

        assert await complete("Th") == ["theme "]
        assert await complete("c") == ["context", "columns", "ctx"]
        assert await complete("theme nord") == ["theme nord "]
        assert await complete("theme nord n") == ["theme nord n"]
        app.prompt_controller.open_prompt("command")
        suggester = app.prompt_input.suggester
        assert suggester is not None
        starts = ("br", "theme no", "context p", "topicr", "kv g", "tui")
        assert [await suggester.get_suggestion(start) for start in starts] == [
            "brokers", "theme nord", "context prod", "topicRoute", "kv get", None,
        ]  # fmt: skip


@run_screen_test
async def test_a_failed_completion_is_a_line_of_the_log() -> None:
    def fail(words_before: Sequence[str], typed_word: str) -> list[tuple[str, str]]:
        raise ValueError("context prod: no such file")

    async with open_screen(make_still_tui(make_context(complete_line=fail)), size=SIZE) as (app, pilot):
        await pilot.press("colon", "x")
        assert await tab(app, pilot) == "x"
        assert app.log_lines[-1][1] == "completion: ValueError: context prod: no such file"


@run_screen_test
async def test_a_screen_opens_with_its_filter() -> None:
    app = make_still_tui()
    async with app.run_test(size=SIZE) as pilot:
        await feed_polls(app, pilot, [make_server_poll(), make_broker_poll("10.0.1.1:10911")])
        app.action_controller.run_prompt_line("topics /pay")
        assert app.current_view.name == "topics"
        assert "1 of 2 rows  filter pay" in screen_to_text(app)
        app.action_controller.run_prompt_line("topics /")
        assert "2 rows" in screen_to_text(app)
        app.action_controller.run_prompt_line("topics //a(/")
        assert "invalid regular expression /a(/: missing )" in screen_to_text(app)
