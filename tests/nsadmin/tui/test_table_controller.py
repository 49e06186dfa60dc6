"""Rows with problems, and rows that are hidden at first."""

from nsadmin.tui.polling.poll_records import AnyPoll
from nsadmin.tui.screens.screen_text import screen_to_text
from tests.support.screens import (
    NOON,
    feed_polls,
    list_row_keys,
    make_broker_poll,
    make_server_poll,
    make_silent_broker,
    make_still_tui,
    open_screen,
    run_screen_test,
)

SIZE = (120, 30)
ADDRS = [f"10.0.1.{number}:10911" for number in (1, 2, 3)]
GROUPS = {f"broker-{letter}": {0: addr} for letter, addr in zip("abc", ADDRS, strict=True)}
POLLS: list[AnyPoll] = [
    make_server_poll(groups=GROUPS),
    make_broker_poll(ADDRS[0]),
    *2 * [make_silent_broker(ADDRS[1])],
    make_broker_poll(ADDRS[2], commitLogDiskRatio="0.95"),
]


@run_screen_test
async def test_n_goes_to_the_next_row_with_a_problem_and_round() -> None:
    async with open_screen(make_still_tui(), POLLS, size=SIZE) as (app, pilot):
        places = []
        for key in ("n", "n", "n", "N"):
            await pilot.press(key)
            item = app.row_grid.cursor_item
            assert item is not None
            places.append(item.broker.key.name)
    assert places == ["broker-c", "broker-b", "broker-c", "broker-b"]


@run_screen_test
async def test_rows_with_problems_come_first_until_the_operator_chooses_an_order() -> None:
    async with open_screen(make_still_tui(), POLLS, size=SIZE) as (app, _):
        assert [row.split()[0] for row in list_row_keys(app)] == ["broker-b", "broker-c", "broker-a"]
        app.table.sort_by_column("broker")
        assert [row.split()[0] for row in list_row_keys(app)] == ["broker-a", "broker-b", "broker-c"]


@run_screen_test
async def test_tabs_have_the_number_of_rows_with_problems() -> None:
    async with open_screen(make_still_tui(), POLLS, size=SIZE) as (app, pilot):
        assert " 1 Brokers (2)  2 Topics " in screen_to_text(app)
        await feed_polls(app, pilot, [make_broker_poll(ADDRS[1], NOON + 1000)])
        assert " 1 Brokers (1)  2 Topics " in screen_to_text(app)


@run_screen_test
async def test_a_wide_screen_shows_the_details_of_the_row_at_the_cursor_and_i_hides_them() -> None:
    async with open_screen(make_still_tui(), POLLS, size=(170, 40)) as (app, pilot):
        assert "broker-b 0 10.0.1.2:10911" in screen_to_text(app)
        await pilot.press("down")
        shown = screen_to_text(app)
        assert "broker-c 0 10.0.1.3:10911" in shown
        assert "up for" in shown
        await pilot.press("i")
        assert "up for" not in screen_to_text(app)
        await pilot.press("i")
        await pilot.resize_terminal(150, 40)
        await pilot.pause()
        app.redraw_screen()
        await pilot.pause()
        assert "up for" not in screen_to_text(app)


@run_screen_test
async def test_without_a_problem_n_says_so() -> None:
    app = make_still_tui()
    async with app.run_test(size=SIZE) as pilot:
        await feed_polls(app, pilot, [make_server_poll(), make_broker_poll(ADDRS[0])])
        await pilot.press("n")
        assert "no row here has a problem" in screen_to_text(app)


@run_screen_test
async def test_an_exclamation_mark_leaves_rows_with_problems_only() -> None:
    async with open_screen(make_still_tui(), POLLS, size=SIZE) as (app, pilot):
        await pilot.press("exclamation_mark")
        assert "2 of 3 rows  filter problems only" in screen_to_text(app)
        await pilot.press("exclamation_mark")
        assert len(list_row_keys(app)) == 3


@run_screen_test
async def test_topics_of_the_system_are_hidden_until_they_are_asked_for() -> None:
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        topics = ["orders", "TBW102", "%RETRY%g", "%DLQ%g"]
        await feed_polls(app, pilot, [make_server_poll(topics=topics), make_broker_poll(ADDRS[0])])
        await pilot.press("2")
        assert len(list_row_keys(app)) == 1
        assert "1 of 4 rows  filter 3 hidden (A shows them)" in screen_to_text(app)
        await pilot.press("A")
        assert len(list_row_keys(app)) == 4
