"""Each key of the main screen, and stories of operators, with servers of the lab and a clock that stands."""

from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.binding import Binding

from nsadmin.tui.actions.key_bindings import KEY_BINDINGS
from nsadmin.tui.app import Tui, build_bindings
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.navigation import root_views
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import AnyPoll, NameServerPolled
from nsadmin.tui.screens.screen_text import screen_to_text
from nsadmin.tui.views.brokers.broker_table import BrokersView
from tests.support.playground import start_playground
from tests.support.screens import (
    NOON,
    Clock,
    compare_golden,
    feed_polls,
    join_cells,
    list_row_keys,
    make_broker_poll,
    make_context,
    make_server_poll,
    make_silent_broker,
    make_still_tui,
    open_screen,
    press,
    run_screen_test,
)

WIDE, NARROW, VAST = (120, 30), (80, 24), (200, 50)
NAMES = {f"broker-{letter}": {0: f"10.0.1.{at}:10911"} for at, letter in enumerate("abc", 1)}
THREE: list[AnyPoll] = [
    make_server_poll(groups=NAMES),
    make_broker_poll("10.0.1.1:10911", putTps="10 1 1"),
    make_broker_poll("10.0.1.2:10911", putTps="30 1 1"),
    make_broker_poll("10.0.1.3:10911", putTps="20 1 1"),
]


def names(app: Tui) -> list[str]:
    return [row.split()[0] for row in list_row_keys(app)]


@run_screen_test
async def test_s_sorts_by_the_next_column_and_r_turns_it_round() -> None:
    async with open_screen(make_still_tui(), THREE, size=WIDE) as (app, pilot):
        assert names(app) == ["broker-a", "broker-b", "broker-c"]
        await pilot.press("s")
        assert app.view_state.sort_order is not None
        assert app.view_state.sort_order.key == "cluster"
        await pilot.press("s", "r")
        assert names(app) == ["broker-c", "broker-b", "broker-a"]
        await pilot.press("S", "S")
        assert app.view_state.sort_order is None
        await pilot.press("S", "r")
        assert app.view_state.sort_order is not None


@run_screen_test
async def test_a_click_on_a_column_sorts_by_it_and_a_second_one_turns_it_round() -> None:
    async with open_screen(make_still_tui(), THREE, size=WIDE) as (app, pilot):
        head = screen_to_text(app).splitlines()[4]
        at = head.index("IN/s")
        await pilot.click("#grid", offset=(at, 0))
        assert names(app) == ["broker-b", "broker-c", "broker-a"]
        await pilot.click("#grid", offset=(at, 0))
        assert names(app) == ["broker-a", "broker-c", "broker-b"]
        assert "IN/s▲" in screen_to_text(app)


@run_screen_test
async def test_a_slash_filters_while_one_types_and_escape_shows_all_again() -> None:
    async with open_screen(make_still_tui(), THREE, size=WIDE) as (app, pilot):
        await pilot.press("slash", *"/-[bc] m")
        assert names(app) == ["broker-b", "broker-c"]
        await pilot.press("backspace", "backspace", "$", "enter")
        assert names(app) == []
        await pilot.press("slash")
        app.prompt_input.value = "!broker-b"
        await pilot.press("enter")
        assert names(app) == ["broker-a", "broker-c"]
        assert "2 of 3 rows  filter !broker-b" in screen_to_text(app)
        await pilot.press("escape")
        assert len(names(app)) == 3
        await pilot.press("slash", "c", "escape")
        assert len(names(app)) == 3


@run_screen_test
async def test_half_a_regular_expression_leaves_the_rows_as_they_are() -> None:
    async with open_screen(make_still_tui(), THREE, size=WIDE) as (app, pilot):
        await pilot.press("slash", *"/broker-(a")
        assert len(names(app)) == 3
        await pilot.press(")")
        assert names(app) == ["broker-a"]


@run_screen_test
async def test_a_question_mark_shows_help_and_closes_it() -> None:
    async with open_screen(make_still_tui(), THREE, size=NARROW) as (app, pilot):
        await press(pilot, "question_mark")
        assert "messages put per second" in screen_to_text(app)
        await pilot.press("question_mark")
        assert len(app.screen_stack) == 1


@run_screen_test
async def test_p_stands_still_and_goes_on() -> None:
    async with open_screen(make_still_tui(), size=WIDE) as (app, pilot):
        await pilot.press("p")
        assert app.feed.is_paused
        assert "paused" in screen_to_text(app).splitlines()[0]
        await pilot.press("p")
        assert not app.feed.is_paused


@run_screen_test
async def test_plus_and_underscore_change_the_interval_within_bounds() -> None:
    async with open_screen(make_still_tui(), size=WIDE) as (app, pilot):
        await pilot.press("plus")
        assert (app.feed.interval, app.interval) == (10.0, 10.0)
        await pilot.press(*["underscore"] * 9)
        assert app.feed.interval == 1.0
        await pilot.press(*["plus"] * 9)
        assert app.feed.interval == 60.0


@run_screen_test
async def test_q_leaves_and_stops_the_feed() -> None:
    async with open_screen(make_still_tui(), size=WIDE) as (app, pilot):
        await pilot.press("q")
    assert not app.feed.is_running
    assert app.return_code == 0


@run_screen_test
async def test_the_cursor_moves_and_stays_with_its_row() -> None:
    async with open_screen(make_still_tui(), THREE, size=WIDE) as (app, pilot):
        await pilot.press("down", "j", "up")
        assert app.row_grid.cursor_key == "broker-b 0 10.0.1.2:10911"
        more: dict[str, dict[int, str]] = {"broker-0": {0: "10.0.1.9:10911"}, **NAMES}
        await feed_polls(app, pilot, [make_server_poll(groups=more)])
        assert app.row_grid.cursor_key == "broker-b 0 10.0.1.2:10911"
        assert app.row_grid.cursor_index == 2
        await pilot.press("G")
        assert app.row_grid.cursor_index == 3
        await pilot.press("g")
        assert app.row_grid.cursor_index == 0


@run_screen_test
async def test_what_went_wrong_in_here_goes_to_the_log_and_the_screen_goes_on() -> None:
    async with open_screen(make_still_tui(), size=WIDE) as (app, pilot):
        app._post_failure(ZeroDivisionError("division by zero"))
        await feed_polls(app, pilot, THREE)
        assert "1 in the log" in screen_to_text(app)
        await press(pilot, "L")
        assert "12:00:00  ZeroDivisionError: division by zero" in screen_to_text(app)
        await pilot.press("escape")
        assert len(names(app)) == 3


@run_screen_test
async def test_what_another_feed_still_says_is_not_heard() -> None:
    async with open_screen(make_still_tui(), size=WIDE) as (app, pilot):
        app.call_later(app.receive_polls, THREE, object())
        await pilot.pause()
        assert app.model.poll_count == 0


@pytest.mark.parametrize("size", [NARROW, WIDE, VAST, (40, 10), (20, 5)])
@run_screen_test
async def test_every_size_is_drawn_and_another_one_right_after_it(size: tuple[int, int]) -> None:
    async with open_screen(make_still_tui(), THREE, size=size) as (app, pilot):
        assert "broker-a" in screen_to_text(app) or size[1] < 10
        await pilot.resize_terminal(100, 30)
        await pilot.pause()
        lines = screen_to_text(app).splitlines()
        assert lines[0].endswith("12:00:00")
        assert len(lines) == 30


def dead(addr: str, at: int) -> NameServerPolled:
    return NameServerPolled(at, addr, error="connection refused, no server listens on this port")


@run_screen_test
async def test_a_name_server_that_dies_is_marked_with_the_time_and_hides_nothing() -> None:
    clock = Clock()
    app = make_still_tui(make_context(addrs=("10.0.0.1:9876", "10.0.0.2:9876")), clock)
    async with app.run_test(size=WIDE) as pilot:
        await feed_polls(app, pilot, [*THREE, make_server_poll("10.0.0.2:9876", groups=NAMES)])
        assert "✓ agree" in screen_to_text(app)
        clock.now += 42_000
        await feed_polls(app, pilot, [dead("10.0.0.2:9876", NOON + 2_000)])
        shown = screen_to_text(app)
        assert "✕ 1 of 2 silent (10.0.0.2:9876 does not answer)" in shown
        assert "✕ 10.0.0.2:9876 silent 40 s" in shown
        assert len(names(app)) == 3


@run_screen_test
async def test_figures_of_a_broker_that_does_not_answer_say_since_when_they_are_old() -> None:
    clock = Clock()
    app = make_still_tui(clock=clock)
    async with app.run_test(size=WIDE) as pilot:
        await feed_polls(app, pilot, [*THREE, *2 * [make_silent_broker("10.0.1.2:10911", NOON + 1_000)]])
        clock.now += 13_000
        app.redraw_screen()
        await pilot.pause()
        assert "◐ frozen 12 s" in screen_to_text(app)
        assert "◐ 1 frozen" in screen_to_text(app)


@run_screen_test
async def test_operator_finds_the_broker_that_is_gone(tmp_path: Path) -> None:
    with start_playground(tmp_path) as ground:
        clock = Clock(ground.now)
        app = make_still_tui(make_context(label="prod", color="red"), clock)
        async with app.run_test(size=WIDE) as pilot:
            await feed_polls(app, pilot, ground.poll_everything())
            compare_golden(app, "brokers")
            ground.kill_broker("broker-a-1")
            ground.freeze_broker("broker-b-0", 1)
            ground.now = clock.now = NOON + 20_000
            await feed_polls(app, pilot, ground.poll_everything())
            await feed_polls(app, pilot, ground.poll_everything())
            await pilot.press("slash", *"!up", "enter")
            compare_golden(app, "broker-gone")
            ground.start_broker("broker-a-1")
            ground.thaw_broker("broker-b-0", 1)
            ground.now = clock.now = NOON + 40_000
            await feed_polls(app, pilot, ground.poll_everything())
            assert list_row_keys(app) == []


@run_screen_test
async def test_numbers_choose_screens_tab_their_tabs_and_minus_the_one_before() -> None:
    async with open_screen(make_still_tui(), THREE, size=WIDE) as (app, pilot):
        screens_seen = []
        for number in range(len(root_views.SCREEN_NAMES)):
            await pilot.press(str(number))
            screens_seen.append(app.current_view.name)
        assert tuple(screens_seen) == root_views.SCREEN_NAMES
        await pilot.press("4", "tab")
        assert app.current_view.name == "matrix"
        await pilot.press("shift+tab", "shift+tab")
        assert app.current_view.name == "causes"
        assert app.feed.asked == (DetailQuery("divergence"),)
        await pilot.press("1", "minus")
        assert app.current_view.name == "causes"
        await pilot.press("minus")
        assert app.current_view.name == "brokers"


@run_screen_test
async def test_enter_goes_deeper_and_escape_back_to_the_same_row() -> None:
    async with open_screen(make_still_tui(), THREE, size=WIDE) as (app, pilot):
        await pilot.press("down", "enter")
        assert (app.current_view.name, app.current_view.title) == ("summary", "broker-b master")
        assert "Brokers › broker-b master" in screen_to_text(app)
        await pilot.press("tab", "tab")
        assert app.feed.asked[0] == DetailQuery("config", "10.0.1.2:10911")
        await pilot.press("escape")
        assert app.row_grid.cursor_key == "broker-b 0 10.0.1.2:10911"


@run_screen_test
async def test_the_mouse_chooses_screens_tabs_and_the_way_back() -> None:
    async with open_screen(make_still_tui(), THREE, size=WIDE) as (app, pilot):
        await pilot.click("#screens", offset=(22, 0))
        assert app.current_view.name == "topics"
        await pilot.press("1", "enter")
        at = screen_to_text(app).splitlines()[2].index("config")
        await pilot.click("#screens", offset=(at, 0))
        assert app.current_view.name == "config"
        await pilot.click("#screens", offset=(2, 0))
        assert app.current_view.name == "brokers"


@pytest.fixture(scope="module")
def noon_polls(tmp_path_factory: pytest.TempPathFactory) -> list[AnyPoll]:
    """What a lab tells of itself at noon."""
    with start_playground(tmp_path_factory.mktemp("lab")) as ground:
        return [
            *ground.poll_everything(),
            *ground.poll_details(DetailQuery("topicRow", "orders"), DetailQuery("groups")),
        ]


@pytest.mark.parametrize("size", [NARROW, WIDE, VAST])
@pytest.mark.parametrize("name", root_views.SCREEN_NAMES)
@run_screen_test
async def test_every_screen_reads_well(name: str, size: tuple[int, int], noon_polls: list[AnyPoll]) -> None:
    app = make_still_tui(make_context(label="prod", color="red", read_only=True), home=name)
    async with app.run_test(size=size) as pilot:
        await feed_polls(app, pilot, noon_polls)
        compare_golden(app, f"{name}-{size[0]}x{size[1]}")


@run_screen_test
async def test_operator_follows_a_divergence_to_its_cause(tmp_path: Path) -> None:
    with start_playground(tmp_path) as ground:
        with ground.open_client([ground.addrs[1]]) as admin:
            admin.brokers.wipe_write_perm("broker-b-1")
        async with open_screen(make_still_tui(), ground.poll_everything(), size=WIDE) as (app, pilot):
            await pilot.press("4", "tab")
            compare_golden(app, "matrix")
            await pilot.press("tab", "tab")
            await feed_polls(app, pilot, ground.poll_details(*app.feed.asked))
            await pilot.press("enter")
            compare_golden(app, "cause")


@run_screen_test
async def test_operator_sees_where_a_topic_lives(tmp_path: Path) -> None:
    with start_playground(tmp_path) as ground:
        ground.kill_broker("broker-b-0")
        async with open_screen(make_still_tui(), ground.poll_everything(), size=WIDE) as (app, pilot):
            await pilot.press("2", "slash", *"orders", "enter", "enter", "tab", "tab")
            await feed_polls(app, pilot, ground.poll_details(*app.feed.asked))
            compare_golden(app, "topic-drawn")


@run_screen_test
async def test_operator_sees_which_name_server_does_not_hear_of_a_wipe(tmp_path: Path) -> None:
    with start_playground(tmp_path) as ground:
        async with open_screen(make_still_tui(), size=NARROW) as (app, pilot):
            with ground.open_client([ground.addrs[0]]) as admin:
                admin.brokers.wipe_write_perm("broker-a-0")
            await feed_polls(app, pilot, ground.poll_everything())
            compare_golden(app, "wiped-on-one")
            with ground.open_client() as admin:
                admin.brokers.wipe_write_perm("broker-a-0")
            await feed_polls(app, pilot, ground.poll_everything())
            shown = screen_to_text(app)
            assert ("✓ agree" in shown, "⊘ wiped " in shown) == (True, True)


def test_the_feed_is_given_what_is_looked_at() -> None:
    app = make_still_tui(make_context(namespaces=("NS",)), interval=2.0)
    feed: Any = app.feed
    assert feed.context.addrs == app.cluster_context.addrs
    assert feed.context.namespaces == ("NS",)
    assert feed.interval == 2.0


@run_screen_test
async def test_an_invalid_regular_expression_is_reported() -> None:
    async with open_screen(make_still_tui(), THREE, size=WIDE) as (app, pilot):
        await pilot.press("slash", *"/a(", "enter")
        assert "invalid regular expression /a(: missing )" in screen_to_text(app)
        assert len(names(app)) == 3


@run_screen_test
async def test_the_clock_stands_still_while_polling_is_paused() -> None:
    clock = Clock()
    async with open_screen(make_still_tui(clock=clock), THREE, size=WIDE) as (app, pilot):
        await pilot.press("p")
        clock.now += 60_000
        app.redraw_screen()
        await pilot.pause()
        assert "12:00:00" in screen_to_text(app).splitlines()[0]


@run_screen_test
async def test_a_click_on_a_hint_presses_its_key() -> None:
    async with open_screen(make_still_tui(), THREE, size=WIDE) as (app, pilot):
        hints = app.find_lines("hints")
        column = join_cells(hints.shown_lines[0]).index("filter")
        await pilot.click("#hints", offset=(column, 0))
        await pilot.pause()
        assert app.prompt_input.display
        assert app.prompt_input.prompt_mode == "filter"


@run_screen_test
async def test_the_log_counter_counts_lines_that_were_not_read() -> None:
    async with open_screen(make_still_tui(), THREE, size=WIDE) as (app, pilot):
        app.show_message("first", "bad")
        assert "1 in the log" in screen_to_text(app)
        await pilot.press("L", "escape")
        app.redraw_screen()
        await pilot.pause()
        assert "in the log" not in screen_to_text(app)


@run_screen_test
async def test_who_types_fast_types_into_the_filter() -> None:
    async with open_screen(make_still_tui(), THREE, size=WIDE) as (app, pilot):
        for key in ("2", "slash", "o", "k", "e"):
            app.post_message(events.Key(key, None if len(key) > 1 else key))
        await pilot.pause()
        await pilot.pause()
        await pilot.pause()
        assert app.current_view.name == "topics"
        assert app.prompt_input.value == "oke"
        assert app.prompt_input.prompt_mode == "filter"


@run_screen_test
async def test_a_mistake_in_a_view_is_a_line_of_the_log_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_screen(make_still_tui(), THREE, size=WIDE) as (app, pilot):
        with monkeypatch.context() as patched:
            patched.setattr(BrokersView, "render_headline", lambda view, model: 1 / 0)
            app.redraw_screen()
            app.redraw_screen()
        with monkeypatch.context() as patched:
            patched.setattr(ClusterModel, "apply_poll", lambda model, poll: 1 / 0)
            await feed_polls(app, pilot, THREE[:1])
        assert [text for _, text in app.log_lines] == [
            "brokers: ZeroDivisionError: division by zero",
            "NameServerPolled: ZeroDivisionError: division by zero",
        ]
        app.redraw_screen()
        await pilot.pause()
        assert "2 in the log" in screen_to_text(app)


def test_each_key_and_each_screen_has_a_binding_and_tabs_have_none() -> None:
    bindings = [binding for binding in build_bindings() if isinstance(binding, Binding)]
    binding_ids = [binding.id for binding in bindings]
    assert len(binding_ids) == len(set(binding_ids))
    assert set(binding_ids) == {
        *(key_binding.binding_id for key_binding in KEY_BINDINGS if "Tab" not in key_binding.binding_id),
        *(f"screen{number}" for number in range(len(root_views.SCREEN_NAMES))),
    }
    assert all(binding.priority for binding in bindings)


def test_an_error_goes_to_the_log_once_and_the_message_is_the_last_one() -> None:
    app = make_still_tui()
    app.show_message("closed", "bad")
    app.show_message("closed", "bad")
    app.show_message("saved")
    assert list(app.log_lines) == [(NOON, "closed")]
    assert app.last_message == ("saved", "accent", NOON)
