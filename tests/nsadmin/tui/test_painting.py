"""All of the screen, from what is known."""

from nsadmin.tui.painting import Painting
from nsadmin.tui.picture import text_of
from tests.support.screens import Clock, broker, driven, hear, server, still


@driven
async def test_what_was_said_stands_for_a_while_in_the_place_of_the_footer() -> None:
    clock = Clock()
    app = still(clock=clock)
    async with app.run_test(size=(100, 20)) as pilot:
        await hear(app, pilot, [server(), broker("10.0.1.1:10911")])
        app.say("something")
        await pilot.pause()
        assert text_of(app).splitlines()[-2] == " something"
        clock.now += 7_000
        app.redraw()
        await pilot.pause()
        assert text_of(app).splitlines()[-2].startswith(" 1 rows")


def test_a_view_that_is_not_sorted_has_no_column() -> None:
    assert Painting(still()).column is None
