"""The choice of columns: Space changes one, Enter applies, Esc leaves them as they are."""

from nsadmin.tui.screens.column_chooser import ColumnChooser
from nsadmin.tui.views.table import Column
from tests.support.screens import make_still_tui, run_screen_test

COLUMNS = [Column(key, key.upper(), 5, "", str) for key in ("a", "b", "c")]


@run_screen_test
async def test_the_result_has_the_shown_columns_in_their_order() -> None:
    results: list[list[str] | None] = []
    app = make_still_tui()
    async with app.run_test() as pilot:
        for keys in (("enter",), ("space", "down", "space", "enter"), ("space", "escape")):
            app.push_screen(ColumnChooser(COLUMNS, ("c", "a")), results.append)
            await pilot.pause()
            await pilot.press(*keys)
            await pilot.pause()
        app.push_screen(ColumnChooser(COLUMNS, None), results.append)
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
    assert results == [["a", "c"], ["b", "c"], None, ["a", "b", "c"]]
