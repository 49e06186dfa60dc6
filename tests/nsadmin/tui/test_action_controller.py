"""Keys beside moving about: commands, actions, contexts, copies and files."""

import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from textual.widgets import OptionList

from nsadmin.tui.app import Tui
from nsadmin.tui.context import AvailableContexts, ClusterContext
from nsadmin.tui.navigation import root_views
from nsadmin.tui.polling.poll_records import BrokerGroupListing, DrainRecord, DrainsPolled
from nsadmin.tui.recording.recording_file import PollRecorder
from nsadmin.tui.recording.replay import ReplayPlayer
from nsadmin.tui.screens import screen_export
from nsadmin.tui.screens.command_output import OutputScreen
from nsadmin.tui.screens.confirmation import ChangeScreen
from nsadmin.tui.screens.dialogs import ChooseScreen, FieldsScreen
from nsadmin.tui.screens.help_screen import HelpScreen
from nsadmin.tui.screens.screen_text import screen_to_text
from tests.support.screens import (
    NOON,
    PollTape,
    feed_polls,
    make_broker_poll,
    make_context,
    make_server_poll,
    make_silent_broker,
    make_still_tui,
    open_screen,
    press,
    run_screen_test,
)

SIZE = (120, 30)
A = "10.0.1.1:10911"


async def typed(pilot: Any, line: str) -> None:
    await press(pilot, "colon", *("space" if letter == " " else letter for letter in line), "enter")


@run_screen_test
async def test_a_colon_takes_screens_words_of_our_own_and_commands() -> None:
    app = make_still_tui(make_context(words=("-n", "127.0.0.1:1")))
    async with app.run_test(size=SIZE) as pilot:
        await typed(pilot, "topics")
        assert app.current_view.name == "topics"
        await typed(pilot, "help")
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)
        await pilot.press("escape")
        await typed(pilot, "theme nsadmin-light")
        assert app.theme == "nsadmin-light"
        await typed(pilot, "theme mauve")
        assert 'unknown theme "mauve"' in screen_to_text(app)
        await typed(pilot, "topicLst")
        assert 'unknown command "topicLst": did you mean "topicList"?' in screen_to_text(app)
        await typed(pilot, "topicList")
        assert isinstance(app.screen, OutputScreen)
        assert (app.screen.words, app.screen.global_options) == (["topicList"], ["-n", "127.0.0.1:1"])
        await pilot.press("escape")
        await typed(pilot, "q")
    assert app.return_code == 0


@run_screen_test
async def test_read_only_switches_changes_off() -> None:
    app = make_still_tui(make_context(read_only=True))
    async with app.run_test(size=SIZE) as pilot:
        await feed_polls(app, pilot, [make_server_poll(), make_broker_poll(A)])
        await pilot.press("w")
        assert "wipe: disabled, because the context is read-only" in screen_to_text(app)
        await typed(pilot, "wipeWritePerm broker-a")
        assert "wipeWritePerm changes the cluster, and this context is read-only" in screen_to_text(app)
        assert len(app.screen_stack) == 1


@run_screen_test
async def test_space_shows_what_can_be_done_to_a_row() -> None:
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        await pilot.press("space")
        assert "no action applies to this row" in screen_to_text(app)
        await pilot.press("x")
        assert "this action does not apply to this row" in screen_to_text(app)
        await feed_polls(app, pilot, [make_server_poll(), make_broker_poll(A)])
        await press(pilot, "space")
        assert isinstance(app.screen, ChooseScreen)
        assert app.screen.query_one(OptionList).option_count >= 2
        await press(pilot, "enter")
        assert isinstance(app.screen, ChangeScreen)
        assert app.screen.words == ["wipeWritePerm", "broker-a", "--dry-run"]


@run_screen_test
async def test_the_letter_that_the_menu_shows_chooses_the_entry() -> None:
    for letter, command in (("w", "wipeWritePerm"), ("a", "addWritePerm"), ("d", "drain"), ("u", "undrain")):
        app = make_still_tui()
        async with app.run_test(size=SIZE) as pilot:
            await feed_polls(app, pilot, [make_server_poll(), make_broker_poll(A)])
            await press(pilot, "space")
            await press(pilot, letter)
            assert isinstance(app.screen, ChangeScreen)
            assert app.screen.words == [command, "broker-a", "--dry-run"]


@run_screen_test
async def test_a_value_is_asked_for_with_what_it_is_now() -> None:
    app = make_still_tui(home="kv")
    async with app.run_test(size=SIZE) as pilot:
        await feed_polls(app, pilot, [make_server_poll(kv={"NS": {"k": "v"}})])
        await press(pilot, "E")
        assert isinstance(app.screen, FieldsScreen)
        await press(pilot, "end", "2", "enter")
        assert isinstance(app.screen, ChangeScreen)
        assert app.screen.words == ["updateKvConfig", "NS", "k", "v2", "--dry-run"]


@run_screen_test
async def test_the_cluster_of_a_topic_is_known_where_there_is_one() -> None:
    async with open_screen(make_still_tui(home="topics"), [make_server_poll()], size=SIZE) as (app, pilot):
        await press(pilot, "x")
        await press(pilot, "enter")
        assert isinstance(app.screen, ChangeScreen)
        assert app.screen.words == ["deleteTopic", "-t", "orders", "-c", "cluster-a", "--dry-run"]


@run_screen_test
async def test_another_context_is_another_cluster_from_its_first_look(tmp_path: Path) -> None:
    def enter(name: str) -> ClusterContext:
        if name == "broken":
            raise ValueError("context broken: no such file")
        return make_context(label=name, addrs=("10.9.9.9:9876",), color="red")

    app = make_still_tui(AvailableContexts(make_context(), lambda: ["broken", "prod"], enter))
    app.recorder = PollRecorder(tmp_path / "first.zst", "first", [])
    async with app.run_test(size=SIZE) as pilot:
        await feed_polls(app, pilot, [make_server_poll(), make_broker_poll(A)])
        await press(pilot, "c")
        await pilot.press("down", "enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        shown = screen_to_text(app)
        assert app.cluster_context.label == "prod"
        assert " prod " in shown
        assert "· 10.9.9.9:9876" in shown
        assert app.row_grid.rows == []
        assert "the recording of the previous context has ended" in shown
        assert app.recorder is None
        await typed(pilot, "context broken")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "context broken: no such file" in screen_to_text(app)
        assert app.cluster_context.label == "prod"


@run_screen_test
async def test_without_contexts_it_says_how_to_make_one() -> None:
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        await pilot.press("c")
        assert "create one with `nsadmin context set NAME -n HOST:PORT`" in screen_to_text(app)


@run_screen_test
async def test_y_copies_the_row() -> None:
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        await pilot.press("y")
        await feed_polls(app, pilot, [make_server_poll(), make_broker_poll(A)])
        await pilot.press("y")
        assert app.clipboard.split("\t")[:4] == ["cluster-a", "broker-a", "master", A]
        await pilot.press("8", "y")
        assert "Graphs" in app.clipboard


@run_screen_test
async def test_o_saves_the_screen_or_its_rows(tmp_path: Path) -> None:
    async with open_screen(make_still_tui(), [make_server_poll(), make_broker_poll(A)], SIZE) as (app, pilot):
        await pilot.press("o")
        assert app.prompt_input.value == "nsadmin-brokers-20251231-120000.svg"
        for name in ("a.svg", "b.txt", "c.csv", "d.pdf", "none/e.txt"):
            screen_export.save_screen(app, str(tmp_path / name))
        app.prompt_input.value = str(tmp_path / "f.txt")
        await press(pilot, "enter")
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert "broker-a" in (tmp_path / "b.txt").read_text()
    assert (tmp_path / "c.csv").read_text().startswith("cluster,broker,role")
    assert "every 5 s" in (tmp_path / "f.txt").read_text()
    assert "No such file or directory" in app.log_lines[-1][1]
    assert sorted(os.listdir(tmp_path)) == ["a.svg", "b.txt", "c.csv", "f.txt"]


@run_screen_test
async def test_t_shows_the_next_theme() -> None:
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        before = app.theme
        await pilot.press("T")
        assert app.theme != before
        assert f"theme {app.theme}" in screen_to_text(app)


@run_screen_test
async def test_an_incident_is_seen_again_from_any_moment() -> None:
    frozen = [make_silent_broker(A, NOON + second * 1000) for second in range(60, 600, 5)]
    player = ReplayPlayer(PollTape([make_server_poll(), make_broker_poll(A), *frozen]), 0.1)
    app = Tui(AvailableContexts(make_context(read_only=True)), player=player)
    async with app.run_test(size=SIZE) as pilot:
        await shows(app, pilot, "● up")
        assert "replay x0.1" in screen_to_text(app)
        await pilot.press("right_square_bracket", "right_square_bracket")
        await shows(app, pilot, "◐ frozen 1 min")
        await pilot.press("left_curly_bracket")
        await shows(app, pilot, "● 1 up")
        await pilot.press("full_stop")
        app.prompt_input.value = "12:05:00"
        await pilot.press("enter")
        await shows(app, pilot, "◐ frozen 4 min")
        await pilot.press("p", "underscore")
        assert (player.is_paused, player.speed) == (True, 2.0)
        await typed(pilot, "wipeWritePerm broker-a")
        assert "this context is read-only" in screen_to_text(app)
        app.action_controller.seek_moment("never")
        assert 'invalid time "never"' in app.log_lines[-1][1]


async def shows(app: Tui, pilot: Any, text: str) -> None:
    """Wait for what a thread brings."""
    for _ in range(200):
        app.redraw_screen()
        await pilot.pause(0.02)
        if text in screen_to_text(app):
            return
    raise AssertionError(screen_to_text(app))


@run_screen_test
async def test_live_there_is_nothing_to_seek_in() -> None:
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        await pilot.press("full_stop")
        assert "only a replay has a timeline" in screen_to_text(app)
        await pilot.press("left_square_bracket")
        assert "only a replay has a timeline" in screen_to_text(app)


@run_screen_test
async def test_an_operator_folds_clusters_to_see_one() -> None:
    broker_addrs = {"broker-a": {0: A, 1: "10.0.1.2:10911"}}
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        poll = make_server_poll(groups=broker_addrs)
        groups = {**poll.groups, "broker-b": BrokerGroupListing("cluster-b", {0: "10.0.2.1:10911"})}
        await feed_polls(
            app,
            pilot,
            [msgspec.structs.replace(poll, groups=groups), *map(make_broker_poll, (A, "10.0.2.1:10911"))],
        )
        await pilot.press("b")
        assert [line[1:12] for line in screen_to_text(app).splitlines()[5:10]] == [
            "▾ cluster-a", "cluster-a  ", "cluster-a  ", "▾ cluster-b", "cluster-b  ",
        ]  # fmt: skip
        await pilot.press("f")
        assert "▸ cluster-a  2 brokers  · 1 listed  ● 1 up  in 100/s  out 200/s" in screen_to_text(app)
        assert app.row_grid.cursor_item is None
        await pilot.press("down", "enter")
        assert app.current_view.name == "brokers", "Enter on a heading folds it"
        assert [type(row).__name__ for row in app.row_grid.rows] == ["Heading", "Heading"]
        await pilot.press("up", "enter", "down", "enter")
        assert app.current_view.name == "summary", "Enter on a row goes deeper"
        await pilot.press("escape", "F", "F", "b")
        assert len(app.row_grid.rows) == 3
        await pilot.press("F")
        assert len(app.row_grid.rows) == 2


@run_screen_test
async def test_local_commands_run_without_the_options_of_connections() -> None:
    """Issue 30: with --context, 17 commands such as `journal stat` could not run behind the colon."""
    app, started = make_still_tui(make_context(words=("--context", "prod"))), []
    async with app.run_test(size=SIZE) as pilot:
        await feed_polls(app, pilot, [make_server_poll(), make_broker_poll(A)])
        app.push_screen = lambda screen, then=None: started.append(  # type: ignore[method-assign,assignment]
            (screen.words[0], screen.global_options)
        )
        for line in ("clusterList", "journal stat DIR", "mqadminMap topicRoute"):
            app.action_controller.run_prompt_line(line)
    assert started == [("clusterList", ["--context", "prod"]), ("journal", []), ("mqadminMap", [])]


@run_screen_test
async def test_a_change_behind_the_colon_is_confirmed_with_its_target() -> None:
    targets: list[str] = []
    app = make_still_tui(make_context(find_target=lambda words: words[1] if len(words) > 1 else None))
    async with app.run_test(size=SIZE) as pilot:
        await feed_polls(app, pilot, [make_server_poll(), make_broker_poll(A)])
        app.push_screen = lambda screen, then=None: targets.append(  # type: ignore[method-assign,assignment]
            screen.confirm_text
        )
        for line in ("wipeWritePerm broker-a", "orphans"):
            app.action_controller.run_prompt_line(line)
    assert targets == ["broker-a", "orphans"]


@run_screen_test
async def test_what_has_no_groups_says_so_and_a_folded_row_is_saved(tmp_path: Path) -> None:
    async with open_screen(make_still_tui(), [make_server_poll(), make_broker_poll(A)], SIZE) as (app, pilot):
        await pilot.press("F")
        screen_export.save_screen(app, str(tmp_path / "all.csv"))
        assert "broker-a" in (tmp_path / "all.csv").read_text()
        await pilot.press("2", "b")
        assert "this view has no groups" in screen_to_text(app)


@run_screen_test
async def test_each_key_that_changes_something_shows_first_what_it_would_do() -> None:
    app, commands_shown = make_still_tui(), []
    async with app.run_test(size=SIZE) as pilot:
        await feed_polls(app, pilot, [make_server_poll(), make_broker_poll(A)])
        app.push_screen = lambda screen, then=None: commands_shown.append(screen.words)  # type: ignore[method-assign,assignment]
        await pilot.press("w", "a", "d", "u")
        assert commands_shown == [
            ["wipeWritePerm", "broker-a", "--dry-run"], ["addWritePerm", "broker-a", "--dry-run"],
            ["drain", "broker-a", "--dry-run"], ["undrain", "broker-a", "--dry-run"],
        ]  # fmt: skip


@run_screen_test
async def test_each_number_is_a_screen() -> None:
    async with open_screen(make_still_tui(), size=SIZE) as (app, pilot):
        for at, name in enumerate(root_views.SCREEN_NAMES):
            await pilot.press(str(at))
            assert app.current_view.name == name
        await pilot.press("right_curly_bracket")
        assert "only a replay has a timeline" in screen_to_text(app)


@run_screen_test
async def test_no_signal_is_sent_to_a_process_that_is_not_known_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a lock is taken, its file has no process id: 0 would be the whole process group."""
    signals: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: signals.append((pid, number)))
    app = make_still_tui()
    drain = DrainRecord("cluster-a", "broker-a", "wait", NOON, "me", 0, True, 0, None, "")
    async with app.run_test(size=SIZE) as pilot:
        await feed_polls(app, pilot, [DrainsPolled(NOON, [drain])])
        await typed(pilot, "drains")
        await pilot.press("K")
        assert "stop: the process of this row is not known yet" in screen_to_text(app)
        assert "pid –" in screen_to_text(app)
        await feed_polls(app, pilot, [DrainsPolled(NOON, [msgspec.structs.replace(drain, pid=77)])])
        await pilot.press("K")
    assert signals == [(77, signal.SIGINT)]
