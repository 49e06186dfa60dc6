"""The Textual app: connects the poller, the model, the views and the keys."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import BoundedSemaphore
from time import monotonic
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen

from nsadmin.client.wall_clock import time
from nsadmin.tui import themes
from nsadmin.tui.action_controller import KEY_ACTIONS, ActionController
from nsadmin.tui.actions.key_bindings import KEY_BINDINGS
from nsadmin.tui.base_app import BaseTui
from nsadmin.tui.context import AvailableContexts, ClusterContext
from nsadmin.tui.custom_commands.command_file import CustomCommands
from nsadmin.tui.custom_commands.custom_command_controller import CustomCommandController
from nsadmin.tui.model.agreement import judge_agreement
from nsadmin.tui.navigation import root_views
from nsadmin.tui.navigation.view_navigation import ViewNavigation
from nsadmin.tui.polling.poll_records import AnyPoll, BrokerPolled, NameServerPolled
from nsadmin.tui.polling.poller import ClusterPoller
from nsadmin.tui.preferences import DEFAULT_THEME, Preferences
from nsadmin.tui.prompt_controller import PromptController
from nsadmin.tui.recording.recording_file import PollRecorder
from nsadmin.tui.recording.replay import ReplayFeed, ReplayPlayer
from nsadmin.tui.screens.main_screen import MainScreen
from nsadmin.tui.screens.renderer import ScreenRenderer
from nsadmin.tui.view_settings.settings_file import SettingsFile
from nsadmin.tui.view_settings.view_settings_controller import ViewSettingsController
from nsadmin.tui.views import screen_frame
from nsadmin.tui.views.base_view import CommandTarget, MessageTarget, View
from nsadmin.tui.views.table import RowFilter
from nsadmin.tui.widgets.grid import Grid
from nsadmin.tui.widgets.lines import Lines
from nsadmin.tui.widgets.prompt import Prompt, PromptMode


def build_bindings() -> list[BindingType]:
    """All bindings of the app, except the keys for tabs, which the main screen binds."""
    return [
        *(
            Binding(b.key_names, b.app_action, b.help_text, show=False, id=b.binding_id, priority=True)
            for b in KEY_BINDINGS
            if "Tab" not in b.binding_id
        ),
        *(
            Binding(str(number), f"screen({number})", name, show=False, id=f"screen{number}", priority=True)
            for number, name in enumerate(root_views.SCREEN_NAMES)
        ),
    ]


@dataclass
class PollsReceived(Message):
    """Polls from a thread of the poller. The app calls `mark_handled`; a replay thread waits for that."""

    polls: Sequence[AnyPoll]
    source_feed: object
    mark_handled: Callable[[], object] = lambda: None


@dataclass
class FeedFailed(Message):
    """An unexpected exception in a polling thread. The thread restarts."""

    error: BaseException


class ReplayRewound(Message):
    """The replay continues from another time. All polls that lead to that time follow."""


_TICK_SECONDS = 0.25
_CLOCK_SECONDS = 1.0
_MAX_PENDING_BATCHES = 4
_REST_FACTOR = 5
"""After drawing the screen, wait this many times as long as drawing took, so that keys are answered."""


def wall_clock_ms() -> int:
    return int(time() * 1000)


class Tui(BaseTui):
    """`feed_factory` creates the poller. Tests pass their own; a replay uses `ReplayFeed` instead."""

    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = False
    TITLE = "nsadmin"
    BINDINGS: ClassVar = build_bindings()

    def __init__(
        self,
        available_contexts: AvailableContexts,
        *,
        interval: float = 5.0,
        home: str = "brokers",
        clock: Callable[[], int] = wall_clock_ms,
        feed_factory: Callable[..., Any] = ClusterPoller,
        preferences: Preferences | None = None,
        player: ReplayPlayer | None = None,
        recorder: PollRecorder | None = None,
        custom_commands: CustomCommands | None = None,
        settings_file: SettingsFile | None = None,
    ) -> None:
        super().__init__(available_contexts, interval, home, clock, player, recorder)
        self.preferences = preferences or Preferences()
        self.custom_commands = custom_commands or CustomCommands()
        self.view_settings = ViewSettingsController(self, settings_file)
        self.navigation = self._create_navigation(home)
        self.action_controller = ActionController(self)
        self.prompt_controller = PromptController(self, self.action_controller)
        self.custom_command_controller = CustomCommandController(self, self.action_controller)
        self.screen_renderer = ScreenRenderer(self)
        self._pending_slots = BoundedSemaphore(_MAX_PENDING_BATCHES)
        self._feed_factory = feed_factory
        self._is_ready = False
        self._drawn_at = self._next_redraw_at = 0.0
        self.feed = self._create_feed()
        for theme in (*themes.OWN_THEMES, *themes.build_themes(self.preferences.themes)):
            self.register_theme(theme)
        self.set_keymap(self.preferences.keys)

    def check_action(self, action_name: str, parameters: tuple[object, ...]) -> bool | None:
        """The app handles keys before its widgets, unless a prompt or a modal screen is open."""
        if not self._is_ready or not self.screen_stack[0].query(Prompt):
            return False
        return len(self.screen_stack) == 1 and not self.prompt_input.display

    def get_default_screen(self) -> Screen[None]:
        return MainScreen()

    def on_main_screen_widgets_ready(self) -> None:
        self._use_remembered_theme()
        if self.preferences.theme not in self.available_themes:
            self.show_message(f'unknown theme "{self.preferences.theme}": see :theme', "warn")
        self._is_ready = True
        if self.recorder is not None:
            self.recorder.report_failure = self._post_failure
        self.feed.start()
        self._show_current_view()
        self.custom_command_controller.bind_keys()
        self.set_interval(_TICK_SECONDS, self._redraw_if_due)
        self.set_interval(_CLOCK_SECONDS, self.action_controller.report_ended_jobs)
        self.set_interval(_CLOCK_SECONDS, self.view_settings.remember_changes)
        if self.view_settings.error_text is not None:
            self.show_message(self.view_settings.error_text, "bad")

    def _use_remembered_theme(self) -> None:
        """Use the theme that the operator chose last in this context, or that of the preferences."""
        preferred_theme = self.preferences.theme
        known_theme = preferred_theme if preferred_theme in self.available_themes else DEFAULT_THEME
        self.theme = self.view_settings.remembered_theme or known_theme
        self.view_settings.remember_theme()

    def _create_navigation(self, screen_name: str) -> ViewNavigation:
        return ViewNavigation(root_views.make_view(screen_name), self.view_settings.prepare_state)

    def on_unmount(self) -> None:
        self.view_settings.remember_changes()
        self.feed.stop()
        if self.recorder is not None:
            self.recorder.close()

    def _create_feed(self) -> Any:
        if self.player is not None:
            return self._create_replay_feed(self.player)
        feed: Any = None

        def post_polls(polls: Sequence[AnyPoll]) -> None:
            self.post_message(PollsReceived(polls, feed))

        context = self.cluster_context
        feed = self._feed_factory(context, self.interval, post_polls, self._post_failure, self.clock)
        return feed

    def _create_replay_feed(self, player: ReplayPlayer) -> ReplayFeed:
        def post_polls(polls: Sequence[AnyPoll]) -> None:
            # Wait until the screen has shown earlier polls: a fast replay would fill the message queue.
            while not self._pending_slots.acquire(timeout=1):
                if not self.is_running:
                    return
            self.post_message(PollsReceived(polls, feed, self._pending_slots.release))

        feed = ReplayFeed(player, post_polls, lambda: self.post_message(ReplayRewound()), self._post_failure)
        return feed

    def _post_failure(self, error: BaseException) -> None:
        self.post_message(FeedFailed(error))

    # Messages of the poller.

    def on_polls_received(self, message: PollsReceived) -> None:
        message.mark_handled()
        if message.source_feed is not self.feed:
            return
        is_first_poll = not self.model.brokers
        for poll in message.polls:
            try:
                self.model.apply_poll(poll)
            except Exception as error:
                self.add_log_line(f"{type(poll).__name__}: {type(error).__name__}: {error}")
            if isinstance(poll, NameServerPolled):
                self.agreement_verdict = judge_agreement(self.model)
            # Polls of brokers arrive all the time. The redraw of each second shows them.
            self.is_dirty |= not isinstance(poll, BrokerPolled)
        if self.recorder is not None:
            self.recorder.record_polls(message.polls)
        if is_first_poll and self.model.brokers:
            # The operator waits for the first screen: draw it at once.
            self.redraw_screen()

    def on_replay_rewound(self) -> None:
        """Start with an empty model, because the replay starts again from another moment."""
        self.empty_model()

    def on_feed_failed(self, message: FeedFailed) -> None:
        self.add_log_line(f"{type(message.error).__name__}: {message.error}")

    def switch_context(self, cluster_context: ClusterContext) -> None:
        """Show another cluster. The model starts empty, and a recording of the earlier cluster ends."""
        self.view_settings.remember_changes()
        self.feed.stop()
        recording_notice = ""
        if self.recorder is not None:
            self.recorder.close()
            self.recorder, recording_notice = None, "; the recording of the previous context has ended"
        self.cluster_context = cluster_context
        self.empty_model()
        self.view_settings.load_settings()
        self.navigation = self._create_navigation(root_views.SCREEN_NAMES[0])
        self._use_remembered_theme()
        self.feed = self._create_feed()
        self.feed.start()
        self._show_current_view()
        self.show_message(f"context {cluster_context.label}{recording_notice}")

    def show_view(self, view: View) -> None:
        self.navigation.open_root_view(view)
        self._show_current_view()

    def push_view(self, view: View) -> None:
        self.navigation.push_view(view)
        self._show_current_view()

    def replace_view(self, view: View) -> None:
        self.navigation.replace_view(view)
        self._show_current_view()

    # Drawing.

    def _show_current_view(self) -> None:
        """Fill the widgets for the view on top of the navigation stack."""
        state = self.view_state
        self.screen_stack[0].set_class(state.view.is_drawing, "drawn")
        self.row_grid.show_view(state.view, state.row_key)
        if state.view.is_drawing:
            # Textual knows the size of the drawing only after the layout.
            self.call_after_refresh(self.redraw_screen)
        self.focus_rows()
        self.call_after_refresh(self.focus_rows)
        self.redraw_screen()

    def focus_rows(self) -> None:
        """Focus the table at once, so that it gets keys typed meanwhile. An open prompt keeps the focus."""
        if self._is_ready and self.screen_stack[0].query(Grid) and not self.prompt_input.display:
            self.screen_stack[0].set_focus(self.row_grid)

    def _redraw_if_due(self) -> None:
        """Redraw if the model changed or if a second has passed since the last redraw."""
        now = monotonic()
        if now >= self._next_redraw_at and (self.is_dirty or now >= self._drawn_at + _CLOCK_SECONDS):
            self.redraw_screen()

    def redraw_screen(self) -> None:
        """Draw the whole screen from the model. An exception becomes a line of the log panel."""
        if not self._is_ready or not self.size.width or not self.screen_stack[0].query(Grid):
            return
        self.is_dirty, self._drawn_at = False, monotonic()
        if not self.feed.is_paused:
            self.model.now_ms = max(self.model.now_ms, self.clock())
        try:
            self.screen_renderer.render_screen()
            self._send_queries()
        except Exception as error:
            self.add_log_line(f"{self.current_view.name}: {type(error).__name__}: {error}")
        now = monotonic()
        self._next_redraw_at = now + _REST_FACTOR * (now - self._drawn_at)

    def _send_queries(self) -> None:
        self.feed.ask(self.screen_renderer.list_queries())
        self.feed.follow_messages(self.current_view.message_query)

    # Keys. Textual finds these methods by the names in the bindings.

    def action_screen(self, screen_index: int) -> None:
        self.show_view(root_views.make_view(root_views.SCREEN_NAMES[screen_index]))

    async def action_back(self) -> None:
        state = self.view_state
        if state.row_filter:
            state.row_filter = RowFilter()
            self.redraw_screen()
        elif self.navigation.pop_view():
            self._show_current_view()

    def action_last(self) -> None:
        if self.navigation.swap_with_previous():
            self._show_current_view()

    def action_tab(self, step: int) -> None:
        if tabs := self.current_view.list_tabs():
            self.replace_view(tabs[(tabs.index(self.current_view) + step) % len(tabs)])

    def action_help(self) -> None:
        from nsadmin.tui.screens.help_screen import HelpScreen

        self.push_screen(HelpScreen(self.current_view, self.custom_commands))

    def action_palette(self) -> None:
        # Imported late, so that the first screen appears sooner.
        from nsadmin.tui.palette.palette_controller import PaletteController

        PaletteController(self, self.action_controller, self.prompt_controller).open_palette()

    def action_run_custom(self, key: str) -> None:
        self.custom_command_controller.run_key(key)

    def action_open_saved_view(self) -> None:
        self.view_settings.open_view(None)

    def action_columns(self) -> None:
        self.view_settings.choose_columns()

    def action_edit(self) -> None:
        # Imported late, so that the first screen appears sooner.
        from nsadmin.tui.editor.edit_controller import EditController

        EditController(self, self.action_controller).edit_row()

    def action_log(self) -> None:
        from nsadmin.tui.screens.log_screen import LogScreen

        self.unread_log_count = 0
        self.push_screen(LogScreen(self.log_lines))

    def action_pause(self) -> None:
        self.feed.pause(not self.feed.is_paused)
        self.redraw_screen()

    def action_prompt(self, mode: PromptMode) -> None:
        self.prompt_controller.open_prompt(mode)

    def action_run_key(self, binding_id: str) -> None:
        KEY_ACTIONS[binding_id](self.action_controller)

    def action_act(self, key: str) -> None:
        self.action_controller.row_actions.act_by_key(key)

    # Messages of widgets.

    def on_grid_entered(self, message: Grid.Entered) -> None:
        target = self.current_view.open_row(message.row)
        if isinstance(target, CommandTarget):
            self.action_controller.run_command(target.words)
        elif isinstance(target, MessageTarget):
            self.action_controller.messages.open_message(target.message)
        elif target is not None:
            self.push_view(target)

    def on_grid_folded(self, message: Grid.Folded) -> None:
        self.action_controller.table.fold_group(message.group_name)

    def on_grid_moved(self, message: Grid.Moved) -> None:
        self.view_state.row_key = self.row_grid.cursor_key
        self.screen_renderer.show_details()
        self._send_queries()

    def on_grid_sort_asked(self, message: Grid.SortAsked) -> None:
        self.action_controller.table.sort_by_column(message.column_key)

    async def on_lines_clicked(self, message: Lines.Clicked) -> None:
        if message.lines_widget.id == "hints":
            # Each hint has two cells: its key and its word.
            hints = screen_frame.list_hints(self.current_view.has_messages)
            await self.run_action(hints[message.cell_index // 2].app_action)
        if message.lines_widget.id != "screens":
            return
        tabs = self.current_view.list_tabs()
        if self.navigation.stack_depth == 1 and not tabs:
            self.action_screen(message.cell_index)
        elif message.cell_index == 0:
            await self.run_action("back")
        elif tabs:
            self.replace_view(tabs[message.cell_index - 1])

    def on_prompt_typing(self, message: Prompt.Typing) -> None:
        self.prompt_controller.follow_typing(message.prompt_mode, message.typed_text)

    def on_prompt_completion_asked(self, message: Prompt.CompletionAsked) -> None:
        self.prompt_controller.complete_line(message.line_text, message.step)

    def on_prompt_ended(self, message: Prompt.Ended) -> None:
        self.prompt_controller.close_prompt(message.prompt_mode, message.typed_text)

    def on_resize(self) -> None:
        self.call_after_refresh(self.redraw_screen)
