"""The line in which something is typed."""

from textual.app import App, ComposeResult

from nsadmin.tui.widgets.prompt import Prompt
from tests.support.screens import run_screen_test


class Bare(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.ended: list[tuple[str, str | None]] = []
        self.typing: list[str] = []

    def compose(self) -> ComposeResult:
        yield Prompt()

    def on_prompt_ended(self, message: Prompt.Ended) -> None:
        self.ended.append((message.prompt_mode, message.typed_text))

    def on_prompt_typing(self, message: Prompt.Typing) -> None:
        self.typing.append(message.typed_text)


@run_screen_test
async def test_what_is_typed_is_told_with_what_it_is_for() -> None:
    app = Bare()
    async with app.run_test() as pilot:
        prompt = app.query_one(Prompt)
        prompt.open_prompt("filter", "a")
        await pilot.press("b", "enter")
        prompt.open_prompt("save", "x.svg")
        await pilot.press("escape")
        assert app.ended == [("filter", "ab"), ("save", None)]
        assert app.typing[-1:] == ["x.svg"]


@run_screen_test
async def test_commands_of_before_come_back_and_others_are_offered() -> None:
    app = Bare()
    async with app.run_test() as pilot:
        prompt = app.query_one(Prompt)
        prompt.open_prompt("command", "", ["topicRoute"])
        await pilot.press(*"topicR")
        await pilot.pause(0.1)
        await pilot.press("right", "enter")
        prompt.open_prompt("command")
        await pilot.press(*"where", "enter")
        prompt.open_prompt("command")
        await pilot.press("up")
        assert prompt.value == "where"
        await pilot.press("up")
        assert prompt.value == "topicRoute"
        await pilot.press("down", "down")
        assert prompt.value == ""
