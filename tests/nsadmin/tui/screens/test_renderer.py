"""All of the screen, from what is known."""

from nsadmin.tui.polling.poll_records import AnyPoll, GroupsPolled, NameServerPolled, QueueCounts, TopicPolled
from nsadmin.tui.screens.renderer import ScreenRenderer
from nsadmin.tui.screens.screen_text import screen_to_text
from tests.support.screens import (
    NOON,
    Clock,
    feed_polls,
    make_broker_poll,
    make_context,
    make_server_poll,
    make_still_tui,
    open_screen,
    run_screen_test,
)


@run_screen_test
async def test_what_was_said_stands_for_a_while_in_the_place_of_the_footer() -> None:
    clock = Clock()
    app = make_still_tui(clock=clock)
    async with app.run_test(size=(100, 20)) as pilot:
        await feed_polls(app, pilot, [make_server_poll(), make_broker_poll("10.0.1.1:10911")])
        app.show_message("something")
        await pilot.pause()
        assert screen_to_text(app).splitlines()[-2] == " something"
        clock.now += 7_000
        app.redraw_screen()
        await pilot.pause()
        assert screen_to_text(app).splitlines()[-2].startswith(" 1 row")


def test_a_view_that_is_not_sorted_has_no_column() -> None:
    assert ScreenRenderer(make_still_tui()).sort_column is None


@run_screen_test
async def test_when_all_name_servers_fall_silent_the_last_figures_stay_with_their_age() -> None:
    addrs = make_context().addrs
    clock = Clock()
    app = make_still_tui(clock=clock, home="topics")
    route = {"broker-a": QueueCounts(8, 8, 6)}
    silence: list[AnyPoll] = [
        *(NameServerPolled(NOON, addr, error="refused") for addr in addrs),
        TopicPolled(NOON, "orders", {}, dict.fromkeys(addrs, "refused")),
        GroupsPolled(NOON, (), {"": "refused"}),
    ]
    async with app.run_test(size=(120, 30)) as pilot:
        await feed_polls(app, pilot, [make_server_poll(addr) for addr in addrs])
        await feed_polls(app, pilot, [TopicPolled(NOON, "orders", dict.fromkeys(addrs, route), put_tps={})])
        assert "equal" in screen_to_text(app)
        clock.now = NOON + 12_000
        await feed_polls(app, pilot, silence)
        lines = screen_to_text(app).splitlines()
        assert lines[3] == " 2 topics  2 application topics  no name server answers, for 12 s"
        assert lines[5].split() == ["▌orders", "–", "1", "8", "rw-", "–", "–"]
        assert {cell.tone.split()[0] for cell in app.row_grid._row_cells(0)[1][1:]} == {"dim"}
        await pilot.press("3")
        assert " unknown: no name server answers" in screen_to_text(app).splitlines()
        await pilot.press("5")
        assert " unknown: no name server answers" in screen_to_text(app).splitlines()


@run_screen_test
async def test_rows_that_a_filter_hides_are_not_said_to_be_none() -> None:
    async with open_screen(make_still_tui(home="topics"), [make_server_poll()], (120, 30)) as (app, pilot):
        await pilot.press("slash", *"nobody", "enter")
        assert "no row matches the filter" in screen_to_text(app)


@run_screen_test
async def test_pausing_on_a_narrow_screen_hides_no_verdict() -> None:
    app = make_still_tui(make_context(label="127.0.0.1:25011"))
    async with app.run_test(size=(40, 15)) as pilot:
        addrs = make_context().addrs
        await feed_polls(app, pilot, [make_server_poll(addr, topics=(addr,)) for addr in addrs])
        await pilot.press("p")
        assert screen_to_text(app).splitlines()[0] == " 127.0…   ≠ diverge paused 5 s 12:00:00"
