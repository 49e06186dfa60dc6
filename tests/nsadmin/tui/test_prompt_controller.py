"""The prompt: the text that it opens with, and what Enter and Esc do."""

from nsadmin.tui.screens.screen_text import screen_to_text
from tests.support.screens import broker, driven, hear, server, still

SIZE = (120, 30)


@driven
async def test_the_prompt_opens_with_the_usual_text_of_its_mode_or_with_a_given_one() -> None:
    app = still()
    async with app.run_test(size=SIZE) as pilot:
        await hear(app, pilot, [server(), broker("10.0.1.1:10911")])
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


@driven
async def test_a_time_is_asked_for_only_in_a_replay() -> None:
    app = still()
    async with app.run_test(size=SIZE):
        app.prompt_controller.open_prompt("seek")
        assert not app.prompt_input.display
        assert "only a replay has a timeline" in screen_to_text(app)
