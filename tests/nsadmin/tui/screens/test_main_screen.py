"""The parts of the main screen."""

from nsadmin.tui.app import MainScreen
from nsadmin.tui.widgets.grid import Grid
from nsadmin.tui.widgets.prompt import Prompt
from tests.support.screens import make_still_tui, run_screen_test


@run_screen_test
async def test_the_parts_stand_one_below_the_other_and_the_rows_have_the_room() -> None:
    app = make_still_tui()
    async with app.run_test(size=(80, 24)):
        main = app.screen
        assert isinstance(main, MainScreen)
        assert [widget.id for widget in main.children] == [
            "header", "screens", "headline", "body", "footer", "candidates", "prompt", "hints"
        ]  # fmt: skip
        assert main.query_one(Grid).size.height == 18
        assert not main.query_one(Prompt).display
