"""Messages on the screen: from a row to its messages, the search, and the replay of dead letters."""

import json
from pathlib import Path
from typing import Any

import pytest

from nsadmin.commands.programs.message_tools import create_message_tools
from nsadmin.tui.app import Tui
from nsadmin.tui.context import AvailableContexts
from nsadmin.tui.messages.message_query import BrowsedMessage, MessageQuery
from nsadmin.tui.messages.message_table import MessagesView
from nsadmin.tui.polling.poll_records import AnyPoll, GroupPolled, GroupsPolled, MessagesPolled, QueueLag
from nsadmin.tui.recording.replay import ReplayPlayer
from nsadmin.tui.screens import screen_export
from nsadmin.tui.screens.confirmation import ChangeScreen
from nsadmin.tui.screens.message_screen import MessageScreen
from nsadmin.tui.screens.message_search_screen import MessageSearchScreen
from nsadmin.tui.screens.screen_text import screen_to_text
from tests.support.screens import (
    NOON,
    PollTape,
    compare_golden,
    feed_polls,
    list_row_keys,
    make_browsed_message,
    make_context,
    make_server_poll,
    make_still_tui,
    open_screen,
    press,
    run_screen_test,
)

WIDE, NARROW = (120, 30), (80, 24)
DEAD = "%DLQ%payers"
LAG = QueueLag("orders", "broker-a", 3, 100, 42, None, None)
CLUSTER: list[AnyPoll] = [
    make_server_poll(topics=("orders", DEAD)),
    GroupsPolled(NOON, ("payers",)),
    GroupPolled(NOON, "payers", 1.0, [LAG]),
]


def screen(**options: Any) -> Tui:
    context = make_context(load_message_tools=create_message_tools, **options)
    return make_still_tui(AvailableContexts(context), home="topics")


def arrived(query: MessageQuery, *messages: BrowsedMessage, state: str = "waiting") -> MessagesPolled:
    return MessagesPolled(NOON, query, 1, messages, len(messages), state=state)


def shown_query(app: Tui) -> MessageQuery:
    query: MessageQuery | None = app.feed.message_query
    assert query is not None
    return query


def letters(count: int) -> list[BrowsedMessage]:
    return [
        make_browsed_message(
            b'{"id": %d}' % number, DEAD, offset=number, at=NOON + number, KEYS=f"k{number}",
            RETRY_TOPIC="orders",
        )
        for number in range(count)
    ]  # fmt: skip


@run_screen_test
async def test_v_on_a_topic_follows_its_messages_and_escape_leads_back() -> None:
    async with open_screen(screen(), CLUSTER, WIDE) as (app, pilot):
        await pilot.press("v")
        assert "Topics › messages of orders" in screen_to_text(app)
        query = shown_query(app)
        assert query.is_tail
        await feed_polls(
            app,
            pilot,
            [arrived(query, make_browsed_message(b'{"id":1}', "orders", KEYS="k1", TAGS="created"))],
        )
        compare_golden(app, "messages")
        await pilot.press("escape")
        assert app.current_view.name == "topics"
        assert app.feed.message_query is None


@run_screen_test
async def test_messages_are_the_last_tab_of_a_topic() -> None:
    async with open_screen(screen(), CLUSTER, NARROW) as (app, pilot):
        await pilot.press("enter", "shift+tab")
        assert shown_query(app).topic == "orders"
        await feed_polls(
            app,
            pilot,
            [arrived(shown_query(app), *(make_browsed_message(offset=number) for number in range(3)))],
        )
        await pilot.press("greater_than_sign")
        assert shown_query(app).read_limit == 2000
        await pilot.press("tab", "shift+tab")
        assert app.current_view.name == "messages"
        assert len(list_row_keys(app)) == 3


@run_screen_test
async def test_v_on_a_queue_of_a_group_shows_what_it_did_not_consume() -> None:
    async with open_screen(screen(), CLUSTER, WIDE) as (app, pilot):
        await pilot.press("3", "enter", "v")
        assert shown_query(app).conditions_text == "from offset:42  broker broker-a  queue 3"


@run_screen_test
async def test_v_on_a_group_and_enter_on_its_dead_letter_topic_show_dead_letters() -> None:
    async with open_screen(screen(), CLUSTER, WIDE) as (app, pilot):
        await pilot.press("3", "v")
        assert shown_query(app).topic == DEAD
        await feed_polls(app, pilot, [arrived(shown_query(app), *letters(2))])
        compare_golden(app, "dead-letters")
        await pilot.press("2", "A", "slash", *"DLQ", "enter", "enter")
        assert app.current_view.title == "dead letters of payers"


@run_screen_test
async def test_v_elsewhere_says_where_messages_are() -> None:
    async with open_screen(screen(), CLUSTER, WIDE) as (app, pilot):
        await pilot.press("4", "v")
        assert "this row has no messages: press v on a topic, a queue or a group" in screen_to_text(app)
        await pilot.press("greater_than_sign")
        assert "this view shows no messages" in screen_to_text(app)


@run_screen_test
async def test_the_prompt_opens_messages_with_the_options_of_consume() -> None:
    async with open_screen(screen(), CLUSTER, WIDE) as (app, pilot):
        await pilot.press("colon", *"messages orders --from earliest --key k7", "enter")
        assert shown_query(app).conditions_text == "from earliest  key k7"
        await pilot.press("colon", *"messages orders --from offset:x", "enter")
        assert 'messages: invalid offset "x" in --from' in screen_to_text(app)
        await pilot.press("escape", "4", "colon", *"messages", "enter")
        assert "name a topic: `:messages TOPIC`" in screen_to_text(app)


@run_screen_test
async def test_v_in_a_list_searches_and_a_mistake_keeps_the_dialog_open() -> None:
    async with open_screen(screen(), CLUSTER, WIDE) as (app, pilot):
        await press(pilot, "v", "v")
        assert isinstance(app.screen, MessageSearchScreen)
        await pilot.press(*"1x", "enter")
        assert 'invalid time "1x" for --from' in screen_to_text(app)
        await press(pilot, "backspace", "h", "tab", "tab", *"A B", "down", *"k1", "enter")
        query = shown_query(app)
        assert query.conditions_text == "from 1h  tag A  tag B  key k1"
        assert app.navigation.stack_depth == 2
        await press(pilot, "v")
        compare_golden(app, "message-search")
        await pilot.press("escape")
        assert shown_query(app) == query


@run_screen_test
async def test_the_cursor_on_the_first_row_follows_new_messages_and_stays_on_another_row() -> None:
    async with open_screen(screen(), CLUSTER, WIDE) as (app, pilot):
        await pilot.press("v")
        query = shown_query(app)
        await feed_polls(
            app,
            pilot,
            [
                arrived(
                    query,
                    make_browsed_message(offset=1, at=NOON),
                    make_browsed_message(offset=2, at=NOON + 1),
                )
            ],
        )
        assert app.row_grid.cursor_key == "broker-a/0 2"
        await feed_polls(app, pilot, [arrived(query, make_browsed_message(offset=3, at=NOON + 2))])
        assert app.row_grid.cursor_key == "broker-a/0 3"
        await pilot.press("down")
        await feed_polls(app, pilot, [arrived(query, make_browsed_message(offset=4, at=NOON + 3))])
        assert (app.row_grid.cursor_key, app.row_grid.cursor_index) == ("broker-a/0 2", 2)


@run_screen_test
async def test_a_message_opens_and_the_next_one_follows() -> None:
    async with open_screen(screen(), CLUSTER, WIDE) as (app, pilot):
        await pilot.press("v")
        messages = [
            make_browsed_message(b'{"id": %d}' % number, offset=number, at=NOON + number)
            for number in range(3)
        ]
        await feed_polls(app, pilot, [arrived(shown_query(app), *messages)])
        await press(pilot, "enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        compare_golden(app, "message")
        await pilot.press("n")
        await pilot.press("q")
        assert app.row_grid.cursor_key == "broker-a/0 1"


@run_screen_test
async def test_shown_messages_are_saved_as_lines_and_no_file_is_replaced_silently(tmp_path: Path) -> None:
    app, path = screen(), tmp_path / "messages.jsonl"
    async with app.run_test(size=WIDE) as pilot:
        await feed_polls(app, pilot, CLUSTER)
        await pilot.press("v")
        await feed_polls(app, pilot, [arrived(shown_query(app), *letters(3))])
        await pilot.press("slash", *"!k1", "enter", "o")
        assert app.prompt_input.value == "nsadmin-messages-20251231-120000.jsonl"
        app.prompt_input.value = str(path)
        await press(pilot, "enter")
        assert [json.loads(line)["keys"] for line in path.read_text().splitlines()] == [["k2"], ["k0"]]
        assert path.stat().st_mode & 0o777 == 0o600
        screen_export.save_screen(app, str(path))
        assert "exists: choose another name, or add ! to replace it" in app.log_lines[-1][1]


@run_screen_test
async def test_a_dead_letter_is_replayed_by_a_command_after_a_preview() -> None:
    async with open_screen(screen(), CLUSTER, WIDE) as (app, pilot):
        await pilot.press("3", "v")
        messages = letters(2)
        await feed_polls(app, pilot, [arrived(shown_query(app), *messages)])
        await press(pilot, "R")
        assert isinstance(app.screen, ChangeScreen)
        assert app.screen.words == [
            "dlq", "replay", "payers", "--from", "2025-12-31T12:00:00.000Z", "--until",
            "2025-12-31T12:00:00.001Z", "--id", messages[0].message.offset_msg_id, "--dry-run",
        ]  # fmt: skip
        await pilot.press("escape")
        await press(pilot, "M", "R")
        assert isinstance(app.screen, ChangeScreen)
        assert app.screen.words.count("--id") == 2
        await pilot.press("escape")


@run_screen_test
async def test_the_screen_of_a_dead_letter_replays_only_that_one() -> None:
    async with open_screen(screen(), CLUSTER, WIDE) as (app, pilot):
        await pilot.press("3", "v")
        messages = letters(2)
        await feed_polls(app, pilot, [arrived(shown_query(app), *messages)])
        await press(pilot, "M", "enter", "n", "R")
        assert isinstance(app.screen, ChangeScreen)
        assert messages[0].message.offset_msg_id not in app.screen.words
        assert messages[1].message.offset_msg_id in app.screen.words
        await pilot.press("escape")


@run_screen_test
async def test_a_read_only_context_replays_nothing() -> None:
    async with open_screen(screen(read_only=True), CLUSTER, WIDE) as (app, pilot):
        await pilot.press("3", "v")
        await feed_polls(app, pilot, [arrived(shown_query(app), *letters(1))])
        await pilot.press("R")
        assert "replay: disabled, because the context is read-only" in screen_to_text(app)


@run_screen_test
async def test_a_message_that_is_gone_meanwhile_is_not_replayed() -> None:
    async with open_screen(screen(), CLUSTER, WIDE) as (app, pilot):
        await pilot.press("3", "v")
        query = shown_query(app)
        await feed_polls(app, pilot, [arrived(query, *letters(1))])
        await press(pilot, "enter")
        assert isinstance(app.screen, MessageScreen)
        await feed_polls(app, pilot, [MessagesPolled(NOON, query, 2, tuple(letters(3)[1:]))])
        await press(pilot, "R")
        assert "the message is not in the list any more" in screen_to_text(app)


@run_screen_test
async def test_a_recording_has_no_messages() -> None:
    app = make_still_tui(player=ReplayPlayer(PollTape(CLUSTER)), home="topics")
    async with app.run_test(size=WIDE) as pilot:
        await feed_polls(app, pilot, CLUSTER)
        await pilot.press("v")
        assert "a recording contains no messages" in screen_to_text(app)
        app.push_view(MessagesView(MessageQuery("orders")))
        await pilot.pause()
        app.redraw_screen()
        await pilot.pause()
        assert "a recording contains no messages" in screen_to_text(app).splitlines()[6]


@run_screen_test
async def test_a_wide_screen_shows_the_body_beside_the_table() -> None:
    async with open_screen(screen(), CLUSTER, (200, 30)) as (app, pilot):
        await pilot.press("v")
        await feed_polls(
            app, pilot, [arrived(shown_query(app), make_browsed_message(b'{"id": 7}', color="red"))]
        )
        compare_golden(app, "messages-wide")


@pytest.mark.parametrize("size", [(40, 10), (250, 70)])
@run_screen_test
async def test_messages_are_drawn_at_every_size(size: tuple[int, int]) -> None:
    async with open_screen(screen(), CLUSTER, size) as (app, pilot):
        await pilot.press("3", "v")
        await feed_polls(app, pilot, [arrived(shown_query(app), *letters(3))])
        await press(pilot, "enter")
        assert len(screen_to_text(app).splitlines()) == size[1]
        assert not app.log_lines
