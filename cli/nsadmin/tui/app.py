"""The Textual app: connects the poller, the model, the views and the keys."""

import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from threading import BoundedSemaphore
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.driver import Driver
from textual.message import Message
from textual.screen import Screen

from nsadmin.client.wall_clock import time
from nsadmin.tui import themes
from nsadmin.tui.action_controller import ActionController
from nsadmin.tui.actions import prompt_parser
from nsadmin.tui.actions.key_bindings import KEY_BINDINGS
from nsadmin.tui.context import AvailableContexts, ClusterContext
from nsadmin.tui.custom_commands.command_file import CustomCommands
from nsadmin.tui.custom_commands.custom_command_controller import CustomCommandController
from nsadmin.tui.model.agreement import AgreementVerdict, judge_agreement
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.navigation import root_views
from nsadmin.tui.navigation.view_navigation import ViewNavigation, ViewState
from nsadmin.tui.polling.poll_records import AnyPoll, BrokerPolled, NameServerPolled
from nsadmin.tui.polling.poller import ClusterPoller
from nsadmin.tui.preferences import DEFAULT_THEME, Preferences
from nsadmin.tui.prompt_controller import PromptController
from nsadmin.tui.recording.recording_file import PollRecorder
from nsadmin.tui.recording.replay import ReplayPlayer
from nsadmin.tui.row_action_controller import RowActionController
from nsadmin.tui.screens.background_jobs import BackgroundJobs
from nsadmin.tui.screens.renderer import ScreenRenderer
from nsadmin.tui.table_controller import TableController
from nsadmin.tui.terminal_driver import TerminalDriver
from nsadmin.tui.view_settings.settings_file import SettingsFile
from nsadmin.tui.view_settings.view_settings_controller import ViewSettingsController
from nsadmin.tui.views import screen_frame
from nsadmin.tui.views.base_view import CommandTarget, View
from nsadmin.tui.views.table import RowFilter, Tone
from nsadmin.tui.widgets.grid import Grid
from nsadmin.tui.widgets.lines import Lines
from nsadmin.tui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from nsadmin.tui.message_controller import MessageController


class MainScreen(Screen[None]):
    """The screen below all modal screens. The key Tab shows the next tab and does not move the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.tab(1)", show=False, id="nextTab"),
        Binding("shift+tab", "app.tab(-1)", show=False, id="previousTab"),
    ]

    class WidgetsReady(Message):
        """All widgets of the screen exist."""

    def on_mount(self) -> None:
        self.post_message(self.WidgetsReady())

    def compose(self) -> ComposeResult:
        yield Lines("bar", id="header")
        yield Lines("panel", id="screens")
        yield Lines(id="headline")
        with Horizontal(id="body"):
            yield Grid(id="grid")
            yield Lines(id="drawing")
            yield Lines("panel", id="details")
        yield Lines(id="footer")
        yield Lines("panel", id="candidates")
        yield Prompt(id="prompt")
        yield Lines("bar", id="hints")


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


_MAX_LOG_LINES = 1_000
_TERMINAL_CHECK_SECONDS = 1.0
_TICK_SECONDS = 0.25
_CLOCK_SECONDS = 1.0
_MAX_PENDING_BATCHES = 4
_REST_FACTOR = 5
"""After drawing the screen, wait this many times as long as drawing took, so that keys are answered."""


def wall_clock_ms() -> int:
    return int(time() * 1000)


class Tui(App[None]):
    """The state of the screen, its feed of polls and its widgets. Controllers do what the operator asks for.

    `feed_factory` creates the poller. Tests pass their own; a replay uses its player instead.
    `last_message` is the last message with its tone and its time (ms). `all_rows` are the rows of the current
    view, and `filtered_rows` those that pass the filter, also those of folded groups.
    """

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
        super().__init__()
        self.player, self.recorder = player, recorder
        self.available_contexts = available_contexts
        self.cluster_context: ClusterContext = available_contexts.first_context
        self.interval = interval
        self.clock = clock if player is None else player.now_ms
        self.empty_model()
        self.log_lines: deque[tuple[int, str]] = deque(maxlen=_MAX_LOG_LINES)
        self.unread_log_count = 0
        self.last_message: tuple[str, Tone, int] | None = None
        self.all_rows: Sequence[Any] = ()
        self.filtered_rows: Sequence[Any] = ()
        self.is_dirty = False
        self.shows_details = True
        self.preferences = preferences or Preferences()
        self.custom_commands = custom_commands or CustomCommands()
        self.view_settings = ViewSettingsController(self, settings_file)
        self.navigation = self._create_navigation(home)
        self.jobs = BackgroundJobs()
        self.table = TableController(self)
        self.row_actions = RowActionController(self)
        self.action_controller = ActionController(self)
        self.prompt_controller = PromptController(self)
        self.custom_command_controller = CustomCommandController(self)
        self.screen_renderer = ScreenRenderer(self)
        self._pending_slots = BoundedSemaphore(_MAX_PENDING_BATCHES)
        self._feed_factory = feed_factory
        self._is_ready = False
        self._drawn_at = self._next_redraw_at = 0.0
        self.feed = self._create_feed()
        for theme in (*themes.OWN_THEMES, *themes.build_themes(self.preferences.themes)):
            self.register_theme(theme)
        self.set_keymap(self.preferences.keys)

    @cached_property
    def messages(self) -> "MessageController":
        # Imported late, so that the first screen appears sooner.
        from nsadmin.tui.message_controller import MessageController

        return MessageController(self)

    def empty_model(self) -> None:
        """Forget every poll: another cluster, or another moment of a replay, begins."""
        self.model = ClusterModel(self.cluster_context.addrs, is_replay=self.player is not None)
        self.agreement_verdict = AgreementVerdict("unknown")

    def get_driver_class(self) -> type[Driver]:
        return TerminalDriver

    def on_mount(self) -> None:
        self.set_interval(_TERMINAL_CHECK_SECONDS, self._end_without_terminal)

    def _end_without_terminal(self) -> None:
        """End as after SIGHUP, which only the first process of the terminal's session gets."""
        if isinstance(self._driver, TerminalDriver) and self._driver.is_terminal_gone:
            self.exit(return_code=128 + signal.SIGHUP)

    @property
    def row_grid(self) -> Grid:
        return self.screen_stack[0].query_one(Grid)

    @property
    def prompt_input(self) -> Prompt:
        return self.screen_stack[0].query_one(Prompt)

    def find_lines(self, widget_id: str) -> Lines:
        return self.screen_stack[0].query_one(f"#{widget_id}", Lines)

    @property
    def prompt_aliases(self) -> dict[str, str]:
        """The aliases of the prompt: those of nsadmin, and the operator's own."""
        return {**prompt_parser.BUILTIN_ALIASES, **self.custom_commands.aliases}

    @property
    def view_state(self) -> ViewState:
        return self.navigation.current_state

    @property
    def current_view(self) -> View:
        return self.view_state.view

    def add_log_line(self, line: str) -> None:
        """Add a line to the log panel, unless the last line has the same text."""
        if not self.log_lines or self.log_lines[-1][1] != line:
            self.log_lines.append((self.clock(), line))
            self.unread_log_count += 1
        self.is_dirty = True

    def show_message(self, message_text: str, tone: Tone = "accent") -> None:
        """Show a message in the last line for a few seconds. Errors also go to the log panel."""
        self.last_message = (message_text, tone, self.clock())
        if tone == "bad":
            self.add_log_line(message_text)
        self.redraw_screen()

    def choose(
        self,
        title: str,
        choices: Sequence[tuple[str, str]],
        use_choice: Callable[[str], None],
        initial_choice: str | None = None,
        choice_by_letter: Mapping[str, str] | None = None,
    ) -> None:
        """Let the operator choose one of these ids, each with its text. After Esc, nothing happens."""
        from nsadmin.tui.screens.dialogs import ChooseScreen

        screen = ChooseScreen(title, choices, initial_choice, choice_by_letter)
        self.push_screen(screen, lambda choice: None if choice is None else use_choice(choice))

    def ask_fields(
        self,
        title: str,
        initial_values: Sequence[tuple[str, str]],
        use_texts: Callable[[dict[str, str]], None],
    ) -> None:
        """Let the operator type a text for each field. After Esc, nothing happens."""
        from nsadmin.tui.screens.dialogs import FieldsScreen

        screen = FieldsScreen(title, initial_values)
        self.push_screen(screen, lambda texts: None if texts is None else use_texts(texts))

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
            self.call_later(self.receive_polls, polls, feed)

        context = self.cluster_context
        feed = self._feed_factory(context, self.interval, post_polls, self._post_failure, self.clock)
        return feed

    def _create_replay_feed(self, player: ReplayPlayer) -> ReplayPlayer:
        def post_polls(polls: Sequence[AnyPoll]) -> None:
            # Wait until the screen has shown earlier polls: a fast replay would fill the message queue.
            while not self._pending_slots.acquire(timeout=1):
                if not self.is_running:
                    return
            self.call_later(self._pending_slots.release)
            self.call_later(self.receive_polls, polls, player)

        # The replay starts again from another moment: all polls that lead to it follow.
        player.connect(post_polls, lambda: self.call_later(self.empty_model), self._post_failure)
        return player

    def _post_failure(self, error: BaseException) -> None:
        """Tell of an unexpected exception in a polling thread. The thread restarts."""
        self.call_later(self.add_log_line, f"{type(error).__name__}: {error}")

    def receive_polls(self, polls: Sequence[AnyPoll], source_feed: object) -> None:
        if source_feed is not self.feed:
            return
        is_first_poll = not self.model.brokers
        for poll in polls:
            try:
                self.model.apply_poll(poll)
            except Exception as error:
                self.add_log_line(f"{type(poll).__name__}: {type(error).__name__}: {error}")
            if isinstance(poll, NameServerPolled):
                self.agreement_verdict = judge_agreement(self.model)
            # Polls of brokers arrive all the time. The redraw of each second shows them.
            self.is_dirty |= not isinstance(poll, BrokerPolled)
        if self.recorder is not None:
            self.recorder.record_polls(polls)
        if is_first_poll and self.model.brokers:
            # The operator waits for the first screen: draw it at once.
            self.redraw_screen()

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
        from textual.command import CommandPalette

        from nsadmin.tui.palette.palette_provider import PaletteProvider

        placeholder = "Screen, topic, broker, group, context or command"
        self.push_screen(CommandPalette([PaletteProvider], placeholder=placeholder))

    def action_edit(self) -> None:
        # Imported late, so that the first screen appears sooner.
        from nsadmin.tui.editor.edit_controller import EditController

        EditController(self).edit_row()

    def action_log(self) -> None:
        from nsadmin.tui.screens.log_screen import LogScreen

        self.unread_log_count = 0
        self.push_screen(LogScreen(self.log_lines))

    def action_pause(self) -> None:
        self.feed.pause(not self.feed.is_paused)
        self.redraw_screen()

    def action_do(self, method_path: str, *arguments: Any) -> None:
        """Call a method of a controller, such as `table.reverse_order`."""
        attrgetter(method_path)(self)(*arguments)

    # Messages of widgets.

    def on_grid_entered(self, message: Grid.Entered) -> None:
        if self.current_view.message_query is not None:
            self.messages.open_message(message.row)
            return
        target = self.current_view.open_row(message.row)
        if isinstance(target, CommandTarget):
            self.action_controller.run_command(target.words)
        elif target is not None:
            self.push_view(target)

    def on_grid_folded(self, message: Grid.Folded) -> None:
        self.table.fold_group(message.group_name)

    def on_grid_moved(self, message: Grid.Moved) -> None:
        self.view_state.row_key = self.row_grid.cursor_key
        self.screen_renderer.show_details()
        self._send_queries()

    def on_grid_sort_asked(self, message: Grid.SortAsked) -> None:
        self.table.sort_by_column(message.column_key)

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
